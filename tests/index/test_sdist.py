"""Metadata of sdists, read in memory: every archive kind, old setuptools, and hostile archives."""

from __future__ import annotations

import io
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compatlock.index import sdist
from compatlock.index.sdist import sdist_metadata
from compatlock.model.metadata import Metadata
from tests.support.artifacts import build_sdist, build_tar, build_zip, core_metadata

SUFFIXES = [".tar.gz", ".tgz", ".tar.bz2", ".zip"]
OLD = core_metadata("app", "1.0", metadata_version="1.1")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_static_metadata_is_trusted(suffix: str) -> None:
    metadata = core_metadata(
        "app", "1.0", requires=["lib>=2"], requires_python=">=3.9", metadata_version="2.2"
    )
    data = build_sdist("app", "1.0", metadata, suffix=suffix)
    assert sdist_metadata(data, f"app-1.0{suffix}") == Metadata(("lib>=2",), (), ">=3.9", "sdist")


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("place", ["my_app.egg-info", "src/my_app.egg-info"])
def test_old_metadata_is_completed_from_requires_txt(suffix: str, place: str) -> None:
    files = {
        f"{place}/requires.txt": b"lib>=2\n\n[fast]\nspeed\n",
        "tests/data/other.egg-info/requires.txt": b"wrong\n",
        "vendor/deep/my_app.egg-info/requires.txt": b"wrong\n",
    }
    data = build_sdist("my-app", "1.0", OLD, suffix=suffix, files=files)
    assert sdist_metadata(data, f"My.App-1.0{suffix}") == Metadata(
        ("lib>=2", 'speed ; extra == "fast"'), ("fast",), "", "sdist-unverified"
    )


def test_requires_txt_does_not_replace_what_metadata_says() -> None:
    for version, source in (("2.1", "sdist-unverified"), ("2.2", "sdist")):
        metadata = core_metadata("app", "1.0", requires=["lib"], metadata_version=version)
        data = build_sdist("app", "1.0", metadata, files={"app.egg-info/requires.txt": b"other\n"})
        assert sdist_metadata(data, "app-1.0.tar.gz") == Metadata(("lib",), (), "", source)
    static = build_sdist(
        "app",
        "1.0",
        core_metadata("app", "1.0", metadata_version="2.2"),
        files={"app.egg-info/requires.txt": b"x\n"},
    )
    assert sdist_metadata(static, "app-1.0.tar.gz") == Metadata(source="sdist")


def test_only_the_top_level_counts() -> None:
    nested = {
        "app-1.0/sub/PKG-INFO": OLD,
        "PKG-INFO": OLD,
        "app-1.0/setup.py": b"raise SystemExit('executed')",
    }
    for data, suffix in ((build_tar(nested), ".tar.gz"), (build_zip(nested), ".zip")):
        assert sdist_metadata(data, f"app-1.0{suffix}").problem == "the sdist has no PKG-INFO"


def test_a_leading_dot_is_no_level() -> None:
    assert sdist_metadata(build_tar({"./app-1.0/PKG-INFO": OLD}), "app-1.0.tar.gz").problem == ""


def test_links_are_not_followed() -> None:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        link = tarfile.TarInfo("app-1.0/PKG-INFO")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    assert sdist_metadata(stream.getvalue(), "app-1.0.tar.gz").problem == "the sdist has no PKG-INFO"


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(noise=st.binary(max_size=60))
def test_damaged_archives_are_a_problem(suffix: str, noise: bytes) -> None:
    good = build_sdist("app", "1.0", OLD, suffix=suffix)
    assert sdist_metadata(noise, f"app-1.0{suffix}").problem
    assert sdist_metadata(good[: len(good) // 3], f"app-1.0{suffix}").problem


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_sizes_are_bounded(suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sdist, "MAX_MEMBER", 1000)
    data = build_sdist("app", "1.0", OLD + b"x" * 2000, suffix=suffix)
    problem = sdist_metadata(data, f"app-1.0{suffix}").problem
    assert problem == "its app-1.0/PKG-INFO is larger than 1000 bytes"


def test_an_archive_that_unpacks_without_end_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sdist, "MAX_UNPACKED", 2**20)
    data = build_sdist("app", "1.0", OLD, files={"zeros": bytes(4 * 2**20)})
    assert len(data) < 10_000
    assert sdist_metadata(data, "app-1.0.tar.gz").problem == "the sdist unpacks to more than 1 MB"


def test_members_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sdist, "MAX_MEMBERS", 5)
    data = build_sdist("app", "1.0", OLD, files={f"f{number}": b"" for number in range(9)})
    assert sdist_metadata(data, "app-1.0.tar.gz").problem == "the sdist has more than 5 members"
