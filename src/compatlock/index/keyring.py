"""Passwords that the user keeps in a keyring: its library where it is installed, else its command."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec

from compatlock.model.secret import Secret

# A locked keyring may ask the user for a password first.
_PATIENCE = 120


def ask_keyring(services: Iterable[str], user: str | None) -> tuple[str, Secret] | None:
    """Return the user and password kept for the first of `services` that has any, for `user` if one is given.

    None when there is no keyring, or nothing in it. Never raises: a broken keyring counts as an empty one.
    """
    ask = _ask_library if find_spec("keyring") is not None else _ask_command
    for service in services:
        found = ask(service, user)
        if found is not None:
            return found
    return None


def _ask_library(service: str, user: str | None) -> tuple[str, Secret] | None:
    try:
        found = import_module("keyring").get_credential(service, user)
        return (
            (found.username or "", Secret(found.password)) if found is not None and found.password else None
        )
    except Exception:  # Back ends are other people's code.
        return None


def _ask_command(service: str, user: str | None) -> tuple[str, Secret] | None:
    import shutil

    command = shutil.which("keyring")
    if command is None or (user or "").startswith("-"):
        return None
    arguments = ["get", service, user] if user else ["--mode", "creds", "get", service]
    try:
        run = subprocess.run(
            [command, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=True,
            text=True,
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    lines = run.stdout.splitlines()
    if user:
        lines.insert(0, user)
    return (lines[0], Secret(lines[1])) if len(lines) == 2 and lines[1] else None
