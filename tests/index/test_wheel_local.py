"""Wheels in a folder or in memory are read like those of a server."""

from __future__ import annotations

from pathlib import Path

import pytest

from compatlock.index.wheel_local import LocalWheels
from compatlock.model.artefact import Content, Directory, Member
from compatlock.model.lock import LockedFile
from tests.support.artifacts import build_zip

FILE = LockedFile("app-1.0-py3-none-any.whl")
DATA = build_zip({"app/__init__.py": b"x = 1\n", "app/data.bin": bytes(range(256)) * 1000})


@pytest.fixture(params=["memory", "folder"])
def reader(request: pytest.FixtureRequest, tmp_path: Path) -> LocalWheels:
    if request.param == "memory":
        return LocalWheels({FILE.filename: DATA, "empty.whl": b""}, missing="it is gone")
    (tmp_path / FILE.filename).write_bytes(DATA)
    (tmp_path / "empty.whl").write_bytes(b"")
    (tmp_path / "secret.txt").write_bytes(DATA)
    return LocalWheels(str(tmp_path), missing="it is gone")


def test_members_are_read(reader: LocalWheels) -> None:
    members = reader.directories([FILE])[FILE.filename].members
    assert [member.path for member in members] == ["app/__init__.py", "app/data.bin"]
    found = reader.contents([(FILE, member) for member in members])
    assert found[FILE.filename, "app/__init__.py"] == Content(b"x = 1\n")
    assert found[FILE.filename, "app/data.bin"] == Content(bytes(range(256)) * 1000)


@pytest.mark.parametrize("name", ["other.whl", "../app.whl", "/etc/passwd", "secret.txt", ""])
def test_what_is_not_there_is_a_problem(reader: LocalWheels, name: str) -> None:
    file = LockedFile(name)
    assert reader.directories([file]) == {name: Directory(problem="it is gone")}
    found = reader.contents([(file, Member("a.py", 1, 1, 0))])
    assert found == {(name, "a.py"): Content(complete=False, problem="it is gone")}


def test_an_empty_file_is_a_problem(reader: LocalWheels) -> None:
    file = LockedFile("empty.whl")
    assert reader.directories([file])["empty.whl"].problem
    assert reader.contents([(file, Member("a.py", 1, 1, 0))])["empty.whl", "a.py"].problem
