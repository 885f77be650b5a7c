"""The environment that something is to be installed into."""

from __future__ import annotations

import os
import sys

from compatlock.environment.interpreter import programs_of
from compatlock.errors import InputError
from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT = ".venv"


class Place(NamedTuple):
    """An environment: its root as it was named, its Python program (`""`: it is still to be made), and the
    Python to make it with (`""`: not said)."""

    root: str
    program: str = ""
    base: str = ""

    @property
    def is_new(self) -> bool:
        """Whether it is still to be made."""
        return not self.program


def find_place(
    env: str = "", python: str = "", *, create: bool = False, environ: Mapping[str, str] | None = None
) -> Place:
    """Return the environment with the root `env` (or with its Python, that program); else that of the program
    `python`; else the active one, or `.venv` here. One that does not exist is to be made if it was named, or
    with `create`; then `python` is a program or a version to make it with.

    Raises InputError when it is not said, is none, or is the one that compatlock itself runs in.
    """
    given = os.environ if environ is None else environ
    if env and os.path.isfile(env):
        return _existing(os.path.dirname(os.path.dirname(os.path.abspath(env))), env)
    if not env and python and not create:
        if not os.path.isfile(python):
            hint = "name a program, or the root of an environment with `--env`"
            raise InputError(f"there is no Python program at {python}", hints=[hint])
        return _existing(os.path.dirname(os.path.dirname(os.path.abspath(python))), python)
    root = env or given.get("VIRTUAL_ENV", "") or DEFAULT
    program = next(programs_of(root), "")
    if program:
        return _existing(root, program)
    if not env and not create:
        raise InputError(
            "it is not said which environment to install into, and none is active",
            hints=[f"name one with `--env PATH`, or make {DEFAULT} with `--create`"],
        )
    if os.path.lexists(root) and not (os.path.isdir(root) and not os.listdir(root)):
        raise InputError(f"{root} is no environment: it has no Python", hints=["name another place"])
    return Place(root, "", python)


def _existing(root: str, program: str) -> Place:
    if _is_own(root):
        raise InputError(
            f"{root} is the environment that compatlock itself runs in, which it does not change",
            hints=[
                "name another environment with `--env PATH`, or install compatlock apart from it "
                "(`uv tool install compatlock`, `pipx install compatlock`)"
            ],
        )
    return Place(root, program)


def _is_own(root: str) -> bool:
    try:
        return os.path.samefile(root, sys.prefix)
    except OSError:
        return False
