"""The Python program of an environment."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Below the root of an environment: POSIX, Windows environments, Windows installations and conda there.
_PROGRAMS = (("bin", "python"), ("bin", "python3"), ("Scripts", "python.exe"), ("python.exe",))
# How many folders the root of an environment can be above its packages (ROOT/lib/python3.12/site-packages).
_LEVELS = 5


def interpreter_of(path: str = "") -> str:
    """Return the program that runs the environment at `path` (see `locate.locate`; `""` is the running
    interpreter), `""` when a folder of packages belongs to no environment with a Python."""
    if not path:
        return sys.executable or ""
    full = os.path.abspath(path)
    if os.path.isfile(full):
        return full
    return next((program for root in _roots(full) for program in programs_of(root)), "")


def programs_of(root: str) -> Iterator[str]:
    """Yield the programs that are there of an environment with its root at `root`."""
    for parts in _PROGRAMS:
        program = os.path.join(root, *parts)
        if os.path.isfile(program) and os.access(program, os.X_OK):
            yield program


def _roots(folder: str) -> Iterator[str]:
    """The folder, and those above it when it is one of packages."""
    yield folder
    if os.path.basename(folder) in ("site-packages", "dist-packages"):
        for _ in range(_LEVELS):
            folder = os.path.dirname(folder)
            yield folder
