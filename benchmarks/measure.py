"""Running a command as a whole process: its time and its peak memory."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import NamedTuple

# The kernel gives kilobytes, on macOS bytes.
_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


class Failed(Exception):
    """A command failed; a benchmark of failures would say nothing. The text is what it said."""


class Run(NamedTuple):
    """One finished process: seconds from its start to its end, user and system seconds of the processor,
    peak memory in bytes (of the process or the largest of its children)."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


def environment() -> dict[str, str]:
    """The environment for children: bytecode may be cached, as it is after an ordinary installation."""
    dropped = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "PYTHONPROFILEIMPORTTIME")
    return {name: value for name, value in os.environ.items() if name not in dropped}


def run(command: list[str], **more: str) -> Run:
    """Run a command to its end; `more` are further environment variables. Raises Failed."""
    start = time.perf_counter()
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**environment(), **more},
    )
    assert child.stderr is not None
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    child.stderr.close()
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        words = said.decode("utf-8", "replace").strip()
        raise Failed(f"{' '.join(command)}\nfailed with {child.returncode}:\n{words}")
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _MAXRSS_UNIT)
