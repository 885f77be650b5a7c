"""Looks into source distributions as into wheels. Their archives have no directory that could be read apart:
they are read whole, up to a limit, and nothing in them is run."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from compatlock.index.sdist import UnusableError, archive_members
from compatlock.model.artefact import MEMBER_LIMIT, Content, Directory, Member, WheelReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from compatlock.model.lock import LockedFile

_T = TypeVar("_T")

# Bytes of an archive, of all that is in it, and members.
MAX_ARCHIVE = 32 * 1024 * 1024
MAX_UNPACKED = 128 * 1024 * 1024
MAX_MEMBERS = 50_000
# Unpacked archives that are kept, in bytes: what is asked for after a directory is mostly of the same one.
_KEPT = 96 * 1024 * 1024
# Archives that are read at once.
_AT_ONCE = 4


class SdistReader(WheelReader):
    """Reads source distributions (.tar.gz, .tgz, .tar.bz2, .zip).

    `read` returns the bytes of files of up to so many bytes by name, or none, and why. Paths of members begin
    with the archive's top folder.
    """

    def __init__(self, read: Callable[[Iterable[LockedFile], int], dict[str, tuple[bytes, str]]]) -> None:
        self._read = read
        self._directories: dict[str, Directory] = {}
        self._kept: dict[str, dict[str, bytes]] = {}

    def directories(self, files: Iterable[LockedFile]) -> dict[str, Directory]:
        """See `WheelReader.directories`."""
        wanted = {file.filename: file for file in files}
        missing = [file for name, file in wanted.items() if name not in self._directories]
        for at in range(0, len(missing), _AT_ONCE):
            self._load(missing[at : at + _AT_ONCE])
        return {name: self._directories[name] for name in wanted}

    def each_content(
        self, wanted: Iterable[tuple[LockedFile, Member]], *, limit: int = MEMBER_LIMIT
    ) -> Iterator[tuple[LockedFile, Member, Content]]:
        """See `WheelReader.each_content`; `limit` counts unpacked bytes."""
        by_file: dict[LockedFile, list[Member]] = {}
        for file, member in dict.fromkeys(wanted):
            by_file.setdefault(file, []).append(member)
        for file, some in by_file.items():
            members = self._kept.get(file.filename)
            if members is None:
                members = self._load([file])[file.filename]
            problem = self._directories[file.filename].problem or "it has no such member"
            for member in some:
                data = members.get(member.path)
                if data is None:
                    yield file, member, Content(complete=False, problem=problem)
                else:
                    yield file, member, Content(data[:limit], complete=len(data) <= limit)

    def _load(self, files: Sequence[LockedFile]) -> dict[str, dict[str, bytes]]:
        """Read files; their members, of which no more are kept than is sensible."""
        loaded = {}
        for name, (data, problem) in self._read(files, MAX_ARCHIVE).items():
            members, problem = ({}, problem) if problem else unpack_sdist(data, name)
            self._directories[name] = _directory(members, problem)
            self._kept[name] = loaded[name] = members
        while len(self._kept) > 1 and sum(map(_size, self._kept.values())) > _KEPT:
            del self._kept[next(iter(self._kept))]
        return loaded


def _size(members: dict[str, bytes]) -> int:
    return sum(map(len, members.values()))


class SeveralReaders(WheelReader):
    """Asks one reader for wheels, and another for all other files."""

    def __init__(self, wheels: WheelReader, others: WheelReader) -> None:
        self._wheels = wheels
        self._others = others

    def directories(self, files: Iterable[LockedFile]) -> dict[str, Directory]:
        """See `WheelReader.directories`."""
        wheels, others = _parted(files, lambda file: file)
        return {**self._wheels.directories(wheels), **self._others.directories(others)}

    def each_content(
        self, wanted: Iterable[tuple[LockedFile, Member]], *, limit: int = MEMBER_LIMIT
    ) -> Iterator[tuple[LockedFile, Member, Content]]:
        """See `WheelReader.each_content`."""
        wheels, others = _parted(wanted, lambda pair: pair[0])
        yield from self._wheels.each_content(wheels, limit=limit)
        yield from self._others.each_content(others, limit=limit)


def _parted(items: Iterable[_T], file_of: Callable[[_T], LockedFile]) -> tuple[list[_T], list[_T]]:
    """Those of wheels, and the others."""
    both: tuple[list[_T], list[_T]] = [], []
    for item in items:
        both[not file_of(item).filename.endswith(".whl")].append(item)
    return both


def _directory(members: dict[str, bytes], problem: str) -> Directory:
    if problem:
        return Directory(problem=problem)
    return Directory(
        tuple(Member(path, len(data), len(data), zlib.crc32(data)) for path, data in members.items())
    )


def unpack_sdist(data: bytes, filename: str) -> tuple[dict[str, bytes], str]:
    """Return the regular files of a source distribution; or none, and why. Never raises for its bytes."""
    members: dict[str, bytes] = {}
    left = MAX_UNPACKED
    try:
        for path, stream in archive_members(data, filename, lambda path: "\n" not in path):
            text = stream.read(left + 1)
            left -= len(text)
            if left < 0 or len(members) >= MAX_MEMBERS:
                return {}, f"the sdist is larger than {MAX_UNPACKED // 2**20} MB, or has too many members"
            members[path] = text
    except UnusableError as error:
        return {}, str(error)
    except Exception as error:  # Archives are other people's bytes: what can go wrong is not a closed set.
        return {}, f"the sdist is not a readable archive ({error})"
    return members, ""
