"""Imports in another Python, and how they fail."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from compatlock.environment.imports import try_imports
from tests.support.index_server import IndexServer
from tests.support.real_environment import RealEnvironment

posix = pytest.mark.skipif(os.name != "posix", reason="signals and process groups are POSIX's")


@pytest.fixture
def environment(index: IndexServer, tmp_path: Path) -> RealEnvironment:
    return RealEnvironment(tmp_path / "venv", index, tmp_path / "uv-cache")


def error(environment: RealEnvironment, code: str, *, timeout: float = 60.0) -> str:
    (environment.packages / "subject.py").write_text(code, encoding="utf-8")
    (result,) = try_imports(str(environment.python), ["subject"], timeout=timeout)
    assert result.module == "subject"
    return result.error


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("value = 1", ""),
        ("print('loud')", ""),
        ("import atexit\natexit.register(lambda: 1 / 0)", ""),
        ("import threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()", ""),
        ("import sys\nsys.stdout = sys.stderr = None", ""),
        ("from json import gone", "ImportError: cannot import name 'gone' from 'json'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("import sys\nsys.exit(0)", "the process ended with exit code 0"),
        ("import sys\nsys.exit('no GPU')", "no GPU"),
        (
            "raise ValueError('at https://me:secret@index.example/')",
            "ValueError: at https://****@index.example/",
        ),
    ],
)
def test_the_last_line_of_an_error_is_told(environment: RealEnvironment, code: str, expected: str) -> None:
    found = error(environment, code)
    assert found == expected or (expected and found.startswith(expected))


@posix
def test_a_process_that_crashes_or_takes_too_long(environment: RealEnvironment) -> None:
    crash = "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)"
    assert error(environment, crash) == "the process was ended by SIGSEGV"
    # Its child holds the streams open, and is ended too.
    slow = "import subprocess, sys, time\nsubprocess.Popen([sys.executable, '-c', 'input()'], stdin=-1)\n"
    assert error(environment, slow + "time.sleep(600)", timeout=0.5) == "it takes longer than 0.5 seconds"


def test_neither_the_current_folder_nor_variables_help(
    environment: RealEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here.py").write_text("", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (result,) = try_imports(str(environment.python), ["here"])
    assert result.error == "ModuleNotFoundError: No module named 'here'"


def test_a_program_that_is_none(tmp_path: Path) -> None:
    (result,) = try_imports(str(tmp_path / "gone"), ["json"])
    assert result.error.startswith(f"{tmp_path / 'gone'} cannot be run: ")
