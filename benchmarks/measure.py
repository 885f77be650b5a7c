"""Running a command as a whole process: its time and its peak memory."""

from __future__ import annotations

import os
import signal
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


# Linux counts what a process held before it became another program as that one's memory, so commands are
# started by a process that is smaller than all of them.
_STARTER = """
import os, sys, time
start = time.perf_counter()
child = os.fork()
if not child:
    try:
        os.execvp(sys.argv[2], sys.argv[2:])
    except OSError as error:
        print(sys.argv[2], error, file=sys.stderr)
        os._exit(127)
_, status, usage = os.wait4(child, 0)
seconds = time.perf_counter() - start
words = f"{seconds} {usage.ru_utime + usage.ru_stime} {usage.ru_maxrss} {os.waitstatus_to_exitcode(status)}"
os.write(int(sys.argv[1]), words.encode())
"""


def attempt(command: list[str], env: dict[str, str], timeout: float | None = None) -> Attempt:
    """Run a command in a process group of its own, which is killed after `timeout` seconds."""
    reading, writing = os.pipe()
    starter = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _STARTER, str(writing), *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=env,
        start_new_session=True,
        pass_fds=(writing,),
    )
    os.close(writing)
    start = time.perf_counter()
    try:
        _, said = starter.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(starter.pid, signal.SIGKILL)
        _, said = starter.communicate()
    late = time.perf_counter() - start
    with os.fdopen(reading) as answer:
        words = answer.read().split()
    text = said.decode("utf-8", "replace").strip()
    if not words:
        return Attempt(Run(late, 0.0, 0), None, text)
    seconds, cpu, peak, code = words
    return Attempt(Run(float(seconds), float(cpu), int(peak) * _MAXRSS_UNIT), int(code), text)


def run(command: list[str], **more: str) -> Run:
    """Run a command to its end; `more` are further environment variables. Raises Failed."""
    done = attempt(command, {**environment(), **more})
    if done.code:
        raise Failed(f"{' '.join(command)}\nfailed with {done.code}:\n{done.said}")
    return done.run
