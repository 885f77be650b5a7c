"""Running a command as a whole process: its time and its peak memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
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


class Attempt(NamedTuple):
    """A process that may have failed: `code` is its exit code, negative for a signal, None when it was
    stopped after its time was over; `said` is what it wrote to standard error."""

    run: Run
    code: int | None
    said: str


def environment() -> dict[str, str]:
    """The environment for children: bytecode may be cached, as it is after an ordinary installation."""
    dropped = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "PYTHONPROFILEIMPORTTIME")
    return {name: value for name, value in os.environ.items() if name not in dropped}


def attempt(command: list[str], env: dict[str, str], timeout: float | None = None) -> Attempt:
    """Run a command in a process group of its own, which is killed after `timeout` seconds."""
    late = threading.Event()
    start = time.perf_counter()
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=env,
        start_new_session=True,
    )

    def stop() -> None:
        late.set()
        os.killpg(child.pid, signal.SIGKILL)

    timer = threading.Timer(timeout, stop) if timeout is not None else None
    if timer is not None:
        timer.start()
    assert child.stderr is not None
    said = child.stderr.read()
    if timer is not None:
        # Not after the process is reaped: its number may then be another's.
        timer.cancel()
        timer.join()
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    child.stderr.close()
    child.returncode = os.waitstatus_to_exitcode(status)
    run = Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _MAXRSS_UNIT)
    return Attempt(run, None if late.is_set() else child.returncode, said.decode("utf-8", "replace").strip())


def run(command: list[str], **more: str) -> Run:
    """Run a command to its end; `more` are further environment variables. Raises Failed."""
    done = attempt(command, {**environment(), **more})
    if done.code:
        raise Failed(f"{' '.join(command)}\nfailed with {done.code}:\n{done.said}")
    return done.run
