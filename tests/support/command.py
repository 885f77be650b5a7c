"""Runs the command line, within this process or in one of its own."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from compatlock.cli.main import main

SOURCE = Path(__file__).resolve().parents[2] / "src"


class Run(NamedTuple):
    """Exit code, standard output and standard error of one run."""

    code: int
    out: str
    err: str

    @property
    def pins(self) -> dict[str, str]:
        """The pins of a lock on standard output."""
        return pins_of(self.out)


Cli = Callable[..., Run]


def pins_of(text: str) -> dict[str, str]:
    """The pins of a requirements.lock."""
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text, re.MULTILINE))


def run_here(
    arguments: tuple[str, ...],
    stdin: bytes,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """Run within this process."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    captured = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    assert "Traceback" not in captured.err
    return Run(ended.value.code, captured.out, captured.err)


def start(
    *arguments: str, cwd: str | os.PathLike[str], env: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """Start `compatlock` as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "compatlock", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(SOURCE), **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> Run:
    """Wait for a process."""
    out, err = process.communicate(timeout=120)
    return Run(process.returncode, out, err)


def run_apart(*arguments: str, cwd: str | os.PathLike[str], env: Mapping[str, str] | None = None) -> Run:
    """Run as a process of its own, to its end."""
    return finish(start(*arguments, cwd=cwd, env=env))
