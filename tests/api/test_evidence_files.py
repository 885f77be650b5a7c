"""Which file of a release a piece of evidence is about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from compatlock.api.audit.evidence_files import EvidenceFiles, is_sdist, package_of
from compatlock.api.options import LockOptions
from compatlock.api.session import with_supply
from compatlock.model.index import parse_indexes
from compatlock.model.lock import LockedFile
from compatlock.model.target import Target
from tests.support.index_server import IndexServer

Look = Callable[..., object]


@pytest.fixture
def look(index: IndexServer, tmp_path: Path) -> Look:
    """Ask something of the index's files, for Python 3.12 on Linux."""

    def ask(work: Callable[[EvidenceFiles], object], exclude_newer: str = "") -> object:
        options = LockOptions(
            target=Target("3.12", "x86_64-manylinux_2_28"),
            indexes=parse_indexes(index.url, (), ()),
            cache_dir=str(tmp_path / "cache"),
            exclude_newer=exclude_newer,
        )
        return with_supply(options, lambda _, supply: work(EvidenceFiles(supply)), needs_roots=False)

    return ask


def name(file: LockedFile | str | None) -> str:
    return file.filename if isinstance(file, LockedFile) else str(file)


LINUX, MUSL, MAC = "manylinux_2_28_x86_64", "musllinux_1_2_x86_64", "macosx_11_0_arm64"


def test_the_wheel_that_the_target_would_take(index: IndexServer, look: Look) -> None:
    tags = [f"cp{minor}-cp{minor}-{platform}" for minor in (311, 312, 313) for platform in (LINUX, MUSL, MAC)]
    index.add("a", "1.0", tags=tags)
    assert look(lambda files: name(files.file("a", "1.0", "a/x.py"))) == f"a-1.0-cp312-cp312-{LINUX}.whl"


def test_the_wheel_that_can_have_an_extension(index: IndexServer, look: Look) -> None:
    tags = [f"cp{minor}-cp{minor}-{platform}" for minor in (310, 312) for platform in (LINUX, MUSL, MAC)]
    index.add("a", "1.0", tags=tags)
    index.add("a", "0.9", tags=tags[3:])
    index.add("a", "0.8", tags=["cp310-abi3-manylinux_2_17_x86_64"])
    member = "a/_C.cpython-310-x86_64-linux-gnu.so"
    assert look(lambda files: name(files.file("a", "1.0", member))) == f"a-1.0-cp310-cp310-{LINUX}.whl"
    assert look(lambda files: files.versions("a", member)) == ["1.0", "0.8"]
    assert look(lambda files: files.file("a", "0.9", member)) == (
        f"a 0.9 has no wheel that could have `{member}`"
    )


def test_releases_that_are_not_for_the_target(index: IndexServer, look: Look) -> None:
    index.add("a", "1.0", tags=[f"cp39-cp39-{MAC}", f"cp38-cp38-{LINUX}", f"cp39-cp39-{LINUX}"])
    assert look(lambda files: name(files.file("a", "1.0"))) == f"a-1.0-cp39-cp39-{LINUX}.whl"


def test_releases_without_wheels(index: IndexServer, look: Look) -> None:
    index.add("a", "1.0", tags=[], sdist=True)
    index.add("a", "0.9")
    index.add("a", "0.8", yanked=True)
    assert look(lambda files: files.versions("a")) == ["0.9"]
    assert look(lambda files: files.all_versions("a")) == ["1.0", "0.9", "0.8"]
    assert look(lambda files: files.file("a", "1.0")) == (
        "a 1.0 has only a source distribution, which is not looked into"
    )
    assert look(lambda files: name(files.any_file("a", "1.0"))) == "a-1.0.tar.gz"
    assert look(lambda files: name(files.any_file("a", "0.8"))) == "a-0.8-py3-none-any.whl"
    assert look(lambda files: files.any_file("a", "7")) is None
    assert look(lambda files: files.file("none", "1.0")) == "the index has no none 1.0"


def test_files_by_name(index: IndexServer, look: Look) -> None:
    index.add("a-b", "1.0", sdist=True)
    both = ["a_b-1.0-py3-none-any.whl", "a_b-1.0.tar.gz"]
    assert look(lambda files: [name(files.named(filename)) for filename in both]) == both
    assert look(lambda files: files.named("a_b-2.0.tar.gz")) == "the index has no a_b-2.0.tar.gz"
    assert look(lambda files: files.named("a.exe")) == (
        "a.exe is the name of neither a wheel nor a source distribution"
    )


def test_versions_however_they_are_spelled(index: IndexServer, look: Look) -> None:
    index.add("a", "1.0.post1")
    asked = ["1.0.post1", "1.0-1", "1.0.0.post1", "2", "no version"]
    assert look(lambda files: [files.spelled("a", version) for version in asked]) == (
        ["1.0.post1", "1.0.post1", "1.0.post1", "2", "no version"]
    )


def test_a_cut(index: IndexServer, look: Look) -> None:
    index.add("a", "1.0", upload_time="2025-01-01T00:00:00Z")
    index.add("a", "2.0", upload_time="2026-01-01T00:00:00Z")
    assert look(lambda files: files.versions("a")) == ["2.0", "1.0"]
    assert look(lambda files: files.versions("a"), "2025-06-01") == ["1.0"]
    assert look(lambda files: files.file("a", "2.0"), "2025-06-01") == "the index has no a 2.0"


@pytest.mark.parametrize(
    ("filename", "package", "sdist"),
    [
        ("flash_attn_4-4.0.0b9-py3-none-any.whl", "flash-attn-4", False),
        ("flash_attn-2.8.3.post2.tar.gz", "flash-attn", True),
        ("old-name-1.0.zip", "old-name", True),
        ("a.exe", "", False),
    ],
)
def test_names(filename: str, package: str, sdist: bool) -> None:
    assert (package_of(filename), is_sdist(filename)) == (package, sdist)
