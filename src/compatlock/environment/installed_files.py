"""The files of installed distributions against what was recorded of them (RECORD, PEP 376 and 427)."""

from __future__ import annotations

import base64
import csv
import hashlib
import os

from compatlock.model.named_tuple import NamedTuple
from compatlock.model.names import normalise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from compatlock.environment.locate import Environment

# What can be wrong with a file: it is not there, it is not as recorded, distributions disagree about it; or
# it is not as recorded though nobody touched it since (some wheels are patched after their RECORD was made).
GONE, CHANGED, SHARED, MISRECORDED = "gone", "changed", "shared", "misrecorded"
# Files up to this size (bytes) are hashed; of larger ones only the size is compared, as reading all of a
# large environment takes minutes. Files that several distributions claim are always hashed.
HASHED_UP_TO = 128 * 1024
_INFO = ".dist-info"
_BLOCK = 1 << 20
# Seconds for which a file may be younger than the RECORD that was written after it.
_SLACK = 1.0
_NAMESPACE = (b"extend_path", b"declare_namespace")


class FileState(NamedTuple):
    """A file that is not as it was recorded.

    path:   relative to the folder of packages, with `/`
    state:  one of the constants above
    owners: `name version` of the distributions that recorded it
    there:  which of them the content that is there is of, `""` for none
    is_namespace: it only declares a namespace package, so that it does not matter whose it is
    """

    path: str
    state: str
    owners: tuple[str, ...]
    there: str = ""
    is_namespace: bool = False


class _Entry(NamedTuple):
    """`time` is when the RECORD was written, in seconds since the epoch."""

    owner: str
    digest: str
    size: int | None
    time: float


def changed_files(environment: Environment, *, hashed_up_to: int = HASHED_UP_TO) -> tuple[FileState, ...]:
    """Return what of an environment's files is not as the distributions recorded it, sorted by path. Compiled
    files and those without a recorded hash do not count, nor do distributions without a RECORD."""
    found: list[FileState] = []
    seen: set[str] = set()
    for folder in environment.folders:
        entries: dict[str, list[_Entry]] = {}
        for info in _infos(folder):
            name = normalise(info.partition("-")[0])
            if name not in seen:
                for path, entry in _record(folder, info):
                    entries.setdefault(path, []).append(entry)
        seen.update(normalise(info.partition("-")[0]) for info in _infos(folder))
        for path, owners in entries.items():
            state = _state(folder, path, owners, hashed_up_to)
            if state is not None:
                found.append(state)
    return tuple(sorted(found))


def _infos(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(_INFO))
    except OSError:
        return []


def _record(folder: str, info: str) -> Iterator[tuple[str, _Entry]]:
    """The recorded files with hashes, of what a distribution installed for use."""
    owner = " ".join(info.removesuffix(_INFO).split("-", 1))
    owner = f"{normalise(owner.partition(' ')[0])} {owner.partition(' ')[2]}".rstrip()
    try:
        with open(os.path.join(folder, info, "RECORD"), encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
            time = os.fstat(file.fileno()).st_mtime
    except (OSError, UnicodeDecodeError, csv.Error):
        return
    for row in rows:
        if len(row) < 3 or not row[0] or not row[1] or row[0].endswith(".pyc") or "\0" in row[0]:
            continue
        path = os.path.normpath(row[0].replace("\\", "/")).replace(os.sep, "/")
        if path.partition("/")[0].endswith(_INFO):
            continue
        yield path, _Entry(owner, row[1], int(row[2]) if row[2].isdecimal() else None, time)


def _state(folder: str, path: str, entries: Sequence[_Entry], hashed_up_to: int) -> FileState | None:
    owners = tuple(dict.fromkeys(entry.owner for entry in entries))
    full = os.path.join(folder, path)
    disagree = len({entry.digest for entry in entries}) > 1
    try:
        found = os.stat(full)
        size = found.st_size
        if disagree:
            there = next((e.owner for e in entries if _has(full, e)), "")
            return FileState(path, SHARED, owners, there, _is_namespace(full, size))
        recorded = entries[0]
        same = recorded.size in (None, size) and (size > hashed_up_to or _has(full, recorded))
    except FileNotFoundError:
        return FileState(path, GONE, owners)
    except OSError:
        return FileState(path, CHANGED, owners)
    if same:
        return None
    is_untouched = len(owners) == 1 and found.st_mtime <= recorded.time + _SLACK
    return FileState(path, MISRECORDED if is_untouched else CHANGED, owners)


def _has(path: str, entry: _Entry) -> bool:
    """Whether the file has the recorded hash; one of an unknown kind is believed. Raises OSError."""
    algorithm, _, wanted = entry.digest.partition("=")
    try:
        digest = hashlib.new(algorithm)
    except ValueError:
        return True
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode() == wanted.rstrip("=")


def _is_namespace(path: str, size: int) -> bool:
    if os.path.basename(path) != "__init__.py" or size > 2048:
        return False
    with open(path, "rb") as file:
        content = file.read()
    lines = [line.strip() for line in content.splitlines()]
    code = [line for line in lines if line and not line.startswith(b"#")]
    return not code or any(word in content for word in _NAMESPACE)
