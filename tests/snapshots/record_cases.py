"""Record the snapshot that the tests of real cases replay: `python -m tests.snapshots.record_cases [CACHE]`.

Runs those tests on the real index and writes what they read to cases.json.xz, without the files of systems
that no case is about. A test that fails then has found that the index or the answer changed: look at it
before committing.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest

from compatlock.model.listing import File, Listing, Release
from tests.snapshots.replay_cases import DOCUMENT, start_recording

SCENARIOS = Path(__file__).parent.parent / "scenarios"


def without_other_systems(listing: Listing) -> Listing:
    """The listing with sources and wheels for any system or Linux on x86_64; of a release that has only other
    wheels one is kept, because having wheels at all makes a difference."""
    return listing._replace(releases=tuple(map(_fitting, listing.releases)))


def _fitting(release: Release) -> Release:
    wheels = [file for file in release.files if file.filename.endswith(".whl")]
    kept = [file for file in wheels if _is_for_linux(file)] or wheels[:1]
    return release._replace(files=tuple(f for f in release.files if f not in wheels or f in kept))


def _is_for_linux(wheel: File) -> bool:
    platforms = wheel.filename.removesuffix(".whl").rpartition("-")[2].split(".")
    return any(
        p == "any" or (p.startswith(("manylinux", "linux")) and p.endswith("x86_64")) for p in platforms
    )


def main(cache: str) -> int:
    snapshot = start_recording(cache)
    files = sorted(map(str, SCENARIOS.glob("test_case*.py")))
    code = pytest.main(["-n0", "-q", "-p", "no:cacheprovider", "--timeout=600", "-m", "not network", *files])
    for name, listing in snapshot.listings.items():
        snapshot.listings[name] = without_other_systems(listing)
    DOCUMENT.write_bytes(snapshot.dump())
    print(f"{DOCUMENT.name}: {DOCUMENT.stat().st_size} bytes, {len(snapshot.listings)} projects")
    return int(code)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(main(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            sys.exit(main(folder))
