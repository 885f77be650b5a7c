"""Profiles of the user's own: `[profiles.NAME]` in compatlock.toml, `[tool.compatlock.profiles.NAME]` in
pyproject.toml.

On the warm path: remembered by content, as the shipped files are.
"""

from __future__ import annotations

import os

from compatlock.errors import FactError
from compatlock.knowledge.memo import decode_profile, remembered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import MutableMapping
    from pathlib import Path
    from typing import Any

    from compatlock.model.profile import Profile

OWN_FILE = "compatlock.toml"
PROJECT_FILE = "pyproject.toml"


def find_user_profiles(
    start: str | Path = ".", *, memo: MutableMapping[str, str] | None = None
) -> dict[str, Profile]:
    """Return the user's own profiles by name: those of the nearest folder, from `start` upwards, that has a
    compatlock.toml or a pyproject.toml with profiles. The two files of one folder count together.

    A profile's `origin` is its file as seen from `start`. `memo` remembers compiled files by content.
    Raises FactError for a file that cannot be read or is wrong, with a line for every problem, and for a
    name that both files of the folder use.
    """
    for folder in _upwards(os.fspath(start)):
        found: dict[str, Profile] = {}
        is_there = False
        for name in (OWN_FILE, PROJECT_FILE):
            path = os.path.join(folder, name)
            content = _content(path)
            # A pyproject.toml without these words says nothing to us, whatever else may be wrong with it.
            if content is None or (name == PROJECT_FILE and not _may_concern_us(content)):
                continue
            profiles = _profiles_of(content, path, name, memo)
            is_there = is_there or name == OWN_FILE or bool(profiles)
            _add(found, profiles)
        if is_there:
            return found
    return {}


def _upwards(start: str) -> list[str]:
    """`start` and the folders above it, as seen from the current one: `""`, `..`, `../..`."""
    try:
        depth = len([part for part in os.path.abspath(start).split(os.sep) if part])
    except FileNotFoundError:  # the current folder was removed
        return []
    base = "" if start in ("", os.curdir) else start
    return [os.path.join(base, *[os.pardir] * steps) if steps else base for steps in range(depth + 1)]


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        if not os.path.lexists(path):
            return None
        raise FactError(f"{path}: cannot be read: {error.strerror or error}") from None


def _may_concern_us(content: bytes) -> bool:
    return b"compatlock" in content and b"profile" in content


def _profiles_of(
    content: bytes, path: str, name: str, memo: MutableMapping[str, str] | None
) -> list[Profile]:
    def parse() -> list[Profile]:
        from compatlock.knowledge.parse import parse_user_profiles

        return parse_user_profiles(content, path, nested=name == PROJECT_FILE)

    def decode(rows: list[Any]) -> list[Profile]:
        return [decode_profile(row) for row in rows]

    profiles = remembered(f"own profiles:{name}", content, memo, parse, decode)
    return [profile._replace(origin=path) for profile in profiles]


def _add(found: dict[str, Profile], profiles: list[Profile]) -> None:
    problems = [
        f"{profile.origin}: profile {profile.name}: also in {found[profile.name].origin}; choose another name"
        for profile in profiles
        if profile.name in found
    ]
    if problems:
        raise FactError("\n".join(problems))
    found.update((profile.name, profile) for profile in profiles)
