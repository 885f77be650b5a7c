"""Writing whole files: content, mode, links, and what is left when it fails."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from compatlock.errors import InputError
from compatlock.lockfile.write import write_atomically

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes and links")


def test_writes_exactly_the_text(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    write_atomically(str(path), "é\n\ud800\n")
    assert path.read_bytes() == b"\xc3\xa9\n\\ud800\n"
    write_atomically(str(path), "new\r\n")
    assert path.read_bytes() == b"new\r\n"
    assert os.listdir(tmp_path) == ["a.lock"]


def test_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_atomically("a.lock", "x")
    assert (tmp_path / "a.lock").read_text() == "x"


@posix
def test_keeps_the_mode_and_gives_new_files_the_usual_one(tmp_path: Path) -> None:
    old, new, plain = tmp_path / "old", tmp_path / "new", tmp_path / "plain"
    old.write_text("x")
    old.chmod(0o604)
    write_atomically(str(old), "y")
    write_atomically(str(new), "y")
    plain.write_text("y")
    assert stat.S_IMODE(old.stat().st_mode) == 0o604
    assert new.stat().st_mode == plain.stat().st_mode


@posix
def test_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "real", tmp_path / "link"
    link.symlink_to(target)
    write_atomically(str(link), "y")
    assert link.is_symlink()
    assert target.read_text() == "y"


@posix
def test_device_is_written_directly() -> None:
    write_atomically(os.devnull, "x")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_says_why_it_cannot_write(tmp_path: Path) -> None:
    missing = str(tmp_path / "no" / "a.lock")
    with pytest.raises(InputError) as caught:
        write_atomically(missing, "x")
    assert caught.value.message == f"{missing} cannot be written: there is no such directory"
    with pytest.raises(InputError, match="cannot be written: it is a directory"):
        write_atomically(str(tmp_path), "x")
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="cannot be written: "):
        write_atomically(str(tmp_path / "file" / "a.lock"), "x")
    with pytest.raises(InputError, match=r"cannot be written: .*embedded null"):
        write_atomically("a\0b", "x")


@pytest.mark.parametrize("failing", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str, error: BaseException
) -> None:
    path = tmp_path / "a.lock"
    path.write_text("old")

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises((InputError, KeyboardInterrupt)) as caught:
        write_atomically(str(path), "new")
    if isinstance(error, OSError):
        assert str(caught.value) == f"{path} cannot be written: No space left on device"
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.lock"]
