"""The Python program of an environment."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from compatlock.environment.interpreter import interpreter_of
from tests.support.site_packages import virtual_environment


@pytest.mark.parametrize("program", ["bin/python", "bin/python3", "Scripts/python.exe", "python.exe"])
def test_root_program_and_packages_have_the_same(tmp_path: Path, program: str) -> None:
    site = virtual_environment(tmp_path / "venv")
    path = tmp_path / "venv" / program
    path.parent.mkdir(exist_ok=True)
    path.touch(mode=0o755)
    for given in (tmp_path / "venv", path, site):
        assert interpreter_of(str(given)) == str(path)


def test_without_a_path_it_is_the_running_one() -> None:
    assert interpreter_of() == sys.executable


def test_a_folder_without_a_python_has_none(tmp_path: Path) -> None:
    assert interpreter_of(str(virtual_environment(tmp_path / "venv"))) == ""
    (tmp_path / "target").mkdir()
    assert interpreter_of(str(tmp_path / "target")) == ""
