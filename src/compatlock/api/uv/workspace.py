"""Workspaces of uv: several projects with one uv.lock, beside the pyproject.toml of their root."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase

from compatlock.errors import InputError
from compatlock.inputs.file_bytes import PYPROJECT, read_bytes
from compatlock.model.toml import parse_toml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any


def refuse_member(path: str) -> None:
    """Raise InputError when the pyproject.toml at `path` is that of a member of a workspace: its uv.lock is
    its root's, which is for all members."""
    folder = os.path.dirname(os.path.realpath(path))
    for root, workspace in _above(folder):
        place = os.path.relpath(folder, root).replace(os.sep, "/")
        if _matches(place, workspace.get("members")) and not _matches(place, workspace.get("exclude")):
            shown = os.path.relpath(os.path.join(root, PYPROJECT))
            raise InputError(
                f"{path} is of a member of the workspace of {shown}, whose uv.lock is for all members",
                hints=[f"name both, the root first: `compatlock lock {shown} {path} ...`"],
            )


def _above(folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The folders above whose pyproject.toml describes a workspace. One that cannot be read is none."""
    while folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
        path = os.path.join(folder, PYPROJECT)
        if not os.path.isfile(path):
            continue
        try:
            value: Any = parse_toml(read_bytes(path, PYPROJECT), path)
        except InputError:
            continue
        for key in ("tool", "uv", "workspace"):
            value = value.get(key, {}) if isinstance(value, dict) else {}
        if isinstance(value, dict) and value:
            yield folder, value


def _matches(place: str, patterns: Iterable[str] | None) -> bool:
    """Whether one of the patterns (`packages/*`) is about a folder. A star stands for one part of a path."""
    parts = place.split("/")
    return any(
        len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))
        for pattern in patterns or ()
        if isinstance(pattern, str)
        for wanted in [pattern.strip("/").removeprefix("./").split("/")]
    )
