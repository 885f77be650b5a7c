"""Starting the second process of `index.parsing`. It is started before anything else of the network is
imported, so that it is ready for the first answer."""

from __future__ import annotations

import os
import sys
from subprocess import DEVNULL, PIPE, Popen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

# In bytes: what a pipe holds, so that the second process need not wait until an answer is fetched.
_PIPE_SIZE = 1024 * 1024
_SET_PIPE_SIZE = 1031  # F_SETPIPE_SZ, which `fcntl` names from Python 3.10 on, on Linux only

# Its modules are found where those of this process are, and no others are run first.
CODE = """
import sys
sys.path[:] = sys.argv[1:]
from compatlock.index.parse_server import serve
serve(sys.stdin.buffer, sys.stdout.buffer)
"""


def start(command: list[str] | None = None) -> Popen[bytes] | None:
    """Start the second process, by `command` where one is given; None where there can be none."""
    command = own_command() if command is None else command
    try:
        child = Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL) if command else None
    except (OSError, ValueError):
        return None
    if child is not None:
        for pipe in (child.stdin, child.stdout):
            _widen(pipe)
    return child


def end(child: Popen[bytes]) -> None:
    """End a process that nobody uses."""
    child.kill()
    child.communicate()


def own_command() -> list[str]:
    """How to start this Python once more; empty where that is not known, or is of no use."""
    name = os.path.basename(sys.executable or "").lower()
    if getattr(sys, "frozen", False) or not name.startswith("python") or (os.cpu_count() or 1) < 2:
        return []
    options = ["-I", "-S", *(["-B"] if sys.dont_write_bytecode else [])]
    return [sys.executable, *options, "-c", CODE, *filter(None, map(os.path.abspath, sys.path))]


def _widen(pipe: IO[bytes] | None) -> None:
    try:
        import fcntl

        if pipe is not None:
            fcntl.fcntl(pipe.fileno(), _SET_PIPE_SIZE, _PIPE_SIZE)
    except (ImportError, OSError):
        pass  # Not Linux, or not allowed: then with more waiting.
