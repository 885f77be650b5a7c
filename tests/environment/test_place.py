"""Which environment is installed into."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from compatlock.environment.place import Place, find_place
from compatlock.errors import InputError

NOTHING: dict[str, str] = {}


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    program = tmp_path / "venv" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.touch(mode=0o755)
    return tmp_path / "venv"


def test_an_environment_that_is_there(venv: Path) -> None:
    program = str(venv / "bin" / "python")
    expected = Place(str(venv), program)
    assert find_place(str(venv), environ=NOTHING) == expected
    assert find_place(program, environ=NOTHING) == expected
    assert find_place(python=program, environ=NOTHING) == expected
    assert find_place(environ={"VIRTUAL_ENV": str(venv)}) == expected
    assert not expected.is_new


def test_what_is_here_when_nothing_is_said(venv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(venv.parent)
    with pytest.raises(InputError, match="it is not said which environment") as caught:
        find_place(environ=NOTHING)
    assert "--create" in caught.value.hints[0]
    assert find_place(create=True, environ=NOTHING) == Place(".venv")
    venv.rename(venv.parent / ".venv")
    assert not find_place(environ=NOTHING).is_new


def test_one_that_is_named_and_not_there_is_made(tmp_path: Path) -> None:
    place = find_place(str(tmp_path / "new"), "3.12", environ=NOTHING)
    assert place == Place(str(tmp_path / "new"), "", "3.12")
    assert place.is_new
    (tmp_path / "empty").mkdir()
    assert find_place(str(tmp_path / "empty"), environ=NOTHING).is_new


def test_what_is_no_environment_stays_alone(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    with pytest.raises(InputError, match="is no environment: it has no Python"):
        find_place(str(tmp_path / "other"), create=True, environ=NOTHING)
    with pytest.raises(InputError, match="there is no Python program at"):
        find_place(python=str(tmp_path / "gone"), environ=NOTHING)


def test_the_own_environment_is_never_taken(tmp_path: Path) -> None:
    for env, python in ((sys.prefix, ""), (sys.executable, ""), ("", sys.executable)):
        with pytest.raises(InputError, match="that compatlock itself runs in"):
            find_place(env, python, environ=NOTHING)
    with pytest.raises(InputError, match="that compatlock itself runs in"):
        find_place(environ={"VIRTUAL_ENV": sys.prefix})
    link = tmp_path / "link"
    link.symlink_to(sys.prefix)
    with pytest.raises(InputError, match="that compatlock itself runs in"):
        find_place(str(link), environ=NOTHING)
