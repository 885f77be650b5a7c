"""Wheels that are at hand, in a folder or in memory, looked into in the same way as those of a server."""

from __future__ import annotations

import os

from compatlock.errors import IndexUnavailable
from compatlock.index.reply import Reply
from compatlock.index.wheel_archive import (
    TAIL,
    MissingError,
    Packed,
    RemoteFile,
    open_tail,
    plan_parts,
    read_directory,
    read_part,
)
from compatlock.index.wheel_member import unpack
from compatlock.model.artefact import MEMBER_LIMIT, Content, Directory, WheelReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable, Iterator, Mapping
    from typing import Any, TypeVar

    from compatlock.model.artefact import Member
    from compatlock.model.lock import LockedFile

    _T = TypeVar("_T")


class LocalWheels(WheelReader):
    """Reads wheels of a folder, or of `{file name: bytes}`. `missing` is the problem of a wheel that is not
    among them."""

    def __init__(self, wheels: str | Mapping[str, bytes], missing: str = "there is no such file") -> None:
        self._wheels = wheels
        self._missing = missing

    def directories(self, files: Iterable[LockedFile]) -> dict[str, Directory]:
        """See `WheelReader.directories`."""
        return {file.filename: self._directory(file) for file in files}

    def each_content(
        self, wanted: Iterable[tuple[LockedFile, Member]], *, limit: int = MEMBER_LIMIT
    ) -> Iterator[tuple[LockedFile, Member, Content]]:
        """See `WheelReader.each_content`."""
        files: dict[str, LockedFile] = {}
        members: dict[str, list[Member]] = {}
        for file, member in wanted:
            files[file.filename] = file
            members.setdefault(file.filename, []).append(member)
        for name, some in members.items():
            remote = RemoteFile(self._fetch, name)
            for part in plan_parts(some, limit):
                try:
                    found = _finish(read_part(remote, part, limit))
                except (IndexUnavailable, MissingError) as error:
                    problem = self._in_words(error)
                    found = [Packed(member, problem=problem) for member in part.members]
                for member, data, problem in found:
                    content = Content(complete=False, problem=problem) if problem else unpack(data, member)
                    yield files[name], member, content

    def _directory(self, file: LockedFile) -> Directory:
        try:
            return _finish(self._read(file.filename))
        except (IndexUnavailable, MissingError) as error:
            return Directory(problem=self._in_words(error))

    async def _read(self, name: str) -> Directory:
        return await read_directory(await open_tail(self._fetch, name, 0, TAIL))

    def _in_words(self, error: IndexUnavailable | MissingError) -> str:
        return self._missing if isinstance(error, MissingError) else error.message

    async def _fetch(self, name: str, *, method: str = "GET", byte_range: str = "", limit: int = 0) -> Reply:
        """Answer like a server that knows ranges."""
        first, _, last = byte_range.removeprefix("bytes=").partition("-")
        try:
            size = self._size(name)
            if method == "HEAD":
                return Reply(200, {"content-length": str(size)}, b"", name)
            start = int(first) if first else max(0, size - int(last))
            end = min(size, int(last) + 1) if first else size
            end = min(end, start + limit)
            data = self._slice(name, start, end)
        except (OSError, KeyError):
            return Reply(404, {}, b"", name)
        if not data:
            return Reply(416, {}, b"", name)
        return Reply(206, {"content-range": f"bytes {start}-{end - 1}/{size}"}, data, name)

    def _size(self, name: str) -> int:
        return os.path.getsize(self._path(name)) if isinstance(self._wheels, str) else len(self._wheels[name])

    def _slice(self, name: str, start: int, end: int) -> bytes:
        if not isinstance(self._wheels, str):
            return self._wheels[name][start:end]
        with open(self._path(name), "rb") as file:
            file.seek(start)
            return file.read(max(0, end - start))

    def _path(self, name: str) -> str:
        # The name comes from a lock: it must not lead out of the folder.
        if not isinstance(self._wheels, str) or os.path.basename(name) != name or not name.endswith(".whl"):
            raise FileNotFoundError(name)
        return os.path.join(self._wheels, name)


def _finish(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine that waits for nothing."""
    try:
        work.send(None)
    except StopIteration as end:
        result: _T = end.value
        return result
    raise RuntimeError("a local file does not let one wait")
