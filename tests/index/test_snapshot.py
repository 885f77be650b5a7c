"""Recorded snapshots replay to the same answers, and keep no addresses."""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from pathlib import Path

import pytest

from compatlock.errors import InputError
from compatlock.index.lazy_network import LazyNetwork
from compatlock.index.snapshot import Snapshot
from compatlock.index.store import Store
from compatlock.index.supply import Supply
from compatlock.model.policy import Policy
from compatlock.model.target import Target
from tests.support.index_server import IndexServer

TARGET = Target("3.12", "x86_64-manylinux_2_28").resolved()
NOW = 1_800_000_000


@pytest.fixture
def server() -> Iterator[IndexServer]:
    with IndexServer() as server:
        server.add("app", "2.0", requires=["lib>=1"], upload_time="2026-01-02T00:00:00Z")
        server.add("app", "1.0", requires=["lib<1"], upload_time="2025-01-02T00:00:00Z", yanked="broken")
        server.add("lib", "1.5", requires_python=">=3.10", tags=["cp312-cp312-win_amd64"], sdist=False)
        server.add("lib", "1.0", requires_python=">=3.9", extras={"x": ["app"]})
        yield server


def read_all(supply: Supply) -> dict[str, object]:
    """Everything that a search could see of app, lib and a project that does not exist."""
    packages = supply.packages(["app", "lib", "missing"])
    releases = [(name, i) for name, p in sorted(packages.items()) for i in range(p.size)]
    dependencies = supply.dependencies(releases)
    return {
        "candidates": {n: (list(p.versions), list(p.times), p.gates, p.found) for n, p in packages.items()},
        "runs": packages["lib"].runs(">=1.2"),
        "hidden": [(h.version, h.reason) for h in supply.hidden("lib")],
        "dependencies": {r: (d.base, d.extras, d.provides, d.problem) for r, d in dependencies.items()},
    }


def recorded(server: IndexServer, pins: dict[str, str]) -> tuple[bytes, dict[str, object]]:
    network = LazyNetwork(server.url)
    supply = Supply(Store(None), "live", TARGET, Policy(), network, now=NOW)
    seen = read_all(supply)
    snapshot = Snapshot()
    snapshot.record(supply, pins)
    network.close()
    return snapshot.dump(), seen


def replay(document: bytes) -> Supply:
    store = Store(None)
    offline = Supply(store, "recorded", TARGET, Policy(), None, now=NOW)
    Snapshot.load(document, "test").fill(store, "recorded", NOW)
    return offline


def test_a_replayed_snapshot_shows_what_the_index_showed(server: IndexServer) -> None:
    document, seen = recorded(server, {"app": "2.0"})
    assert read_all(replay(document)) == seen


def test_only_pinned_releases_keep_hashes_and_nothing_keeps_addresses(server: IndexServer) -> None:
    document, _ = recorded(server, {"app": "2.0"})
    text = lzma.decompress(document).decode()
    assert "127.0.0.1" not in text
    assert "http" not in text
    supply = replay(document)
    supply.packages(["app", "lib"])
    assert all(f.sha256 and f.size for f in supply.installable_files({"app": 0})["app"])
    assert not any(f.sha256 for f in supply.installable_files({"lib": 0})["lib"])


def test_recording_twice_gives_the_same_bytes(server: IndexServer) -> None:
    assert recorded(server, {})[0] == recorded(server, {})[0]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (b"not xz", "test is no snapshot"),
        (lzma.compress(b"{"), "test is no snapshot"),
        (lzma.compress(b'{"format": 99}'), "test is a snapshot of format 99, this version reads 1"),
        (lzma.compress(b'{"format": 1, "projects": {"a": [1]}, "metadata": []}'), "test is no snapshot"),
    ],
)
def test_what_is_no_snapshot_is_an_input_error(document: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Snapshot.load(document, "test")


def test_a_snapshot_survives_being_written_to_a_file(server: IndexServer, tmp_path: Path) -> None:
    document, seen = recorded(server, {})
    path = tmp_path / "index.json.xz"
    path.write_bytes(document)
    assert read_all(replay(path.read_bytes())) == seen
