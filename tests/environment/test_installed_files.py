"""Files of a real environment against what was recorded of them."""

from __future__ import annotations

import io
import os
import time
import zipfile
from pathlib import Path

import pytest

from compatlock.environment.installed_files import (
    CHANGED,
    GONE,
    MISRECORDED,
    SHARED,
    FileState,
    changed_files,
)
from compatlock.environment.locate import locate
from tests.support.artifacts import build_wheel, build_zip, core_metadata
from tests.support.index_server import IndexServer
from tests.support.real_environment import RealEnvironment


@pytest.fixture
def environment(index: IndexServer, tmp_path: Path) -> RealEnvironment:
    """Two distributions that share files of which one differs, and one by itself."""
    index.add(
        "one", "1.0", files={"both/same.py": b"x = 1\n", "both/other.py": b"x = 1\n", "both/__init__.py": b""}
    )
    index.add(
        "two",
        "2.0",
        files={"both/same.py": b"x = 1\n", "both/other.py": b"x = 2\n", "both/__init__.py": b"# two\n"},
    )
    index.add("alone", "1.0", files={"alone/a.py": b"x = 1\n", "alone/large.bin": b"0" * 1000})
    return RealEnvironment(tmp_path / "venv", index, tmp_path / "uv-cache")


def states(environment: RealEnvironment, **options: int) -> tuple[FileState, ...]:
    return changed_files(locate(str(environment.root)), **options)


def edited(path: Path, content: bytes) -> None:
    """Change a file (not the cache's, which it may be linked to), a while after its installation."""
    path.unlink()
    path.write_bytes(content)
    later = time.time() + 60
    os.utime(path, (later, later))


def test_what_was_just_installed_is_as_recorded(environment: RealEnvironment, index: IndexServer) -> None:
    index.add(
        "scripts",
        "1.0",
        files={
            "scripts-1.0.data/scripts/tool": b"#!python\nprint(1)\n",
            "scripts-1.0.dist-info/entry_points.txt": b"[console_scripts]\nrun = scripts:main\n",
            "scripts.py": b"def main(): pass\n",
        },
    )
    environment.install("one", "alone", "scripts")
    assert states(environment) == ()
    environment.pip("install", "--force-reinstall", "--no-deps", "one", "scripts")
    assert states(environment) == ()


def test_files_that_two_distributions_recorded_differently(environment: RealEnvironment) -> None:
    environment.install("one")
    environment.install("two")
    owners = ("one 1.0", "two 2.0")
    assert states(environment) == (
        FileState("both/__init__.py", SHARED, owners, "two 2.0", is_namespace=True),
        FileState("both/other.py", SHARED, owners, "two 2.0"),
    )
    (environment.packages / "both" / "other.py").write_text("x = 3\n", encoding="utf-8")
    assert states(environment)[1].there == ""


def test_files_that_are_gone_or_changed(environment: RealEnvironment) -> None:
    environment.install("alone", "one", "two")
    environment.uv("pip", "uninstall", "--quiet", "--python", str(environment.python), "two")
    folder = environment.packages / "alone"
    edited(folder / "a.py", b"x = 2\n")
    gone = [FileState(f"both/{name}.py", GONE, ("one 1.0",)) for name in ("__init__", "other", "same")]
    assert states(environment) == (FileState("alone/a.py", CHANGED, ("alone 1.0",)), *gone)


def test_of_large_files_only_the_size_counts(environment: RealEnvironment) -> None:
    environment.install("alone")
    large = environment.packages / "alone" / "large.bin"
    edited(large, b"1" * 1000)
    assert [state.path for state in states(environment)] == ["alone/large.bin"]
    assert states(environment, hashed_up_to=999) == ()
    edited(large, b"1" * 999)
    assert [state.path for state in states(environment, hashed_up_to=500)] == ["alone/large.bin"]


def test_odd_records_are_passed_over(environment: RealEnvironment) -> None:
    environment.install("alone")
    record = environment.packages / "alone-1.0.dist-info" / "RECORD"
    record.unlink()
    for content in (b"\xff\xfe", b"short\n", b"x.py,odd=abc,\n,,\n", b'"open', b"gone.py,,\n"):
        record.write_bytes(content)
        assert all(state.path == "x.py" for state in states(environment))
    record.unlink()
    assert states(environment) == ()


def test_a_wheel_that_records_itself_wrongly(environment: RealEnvironment, index: IndexServer) -> None:
    wheel = build_wheel("patched", "1.0", core_metadata("patched", "1.0"), files={"patched.py": b"x = 1\n"})
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    filename = "patched-1.0-py3-none-any.whl"
    index.add_file("patched", filename, build_zip({**contents, "patched.py": b"x = 'patched'\n"}))
    environment.install("patched")
    assert states(environment) == (FileState("patched.py", MISRECORDED, ("patched 1.0",)),)
    edited(environment.packages / "patched.py", b"x = 3\n")
    assert states(environment) == (FileState("patched.py", CHANGED, ("patched 1.0",)),)
