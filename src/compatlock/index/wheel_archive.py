"""A wheel on a server, looked into with HTTP range requests (RFC 9110, 14) instead of a download.

Its zip directory is at the end, so that one request for the tail is mostly enough to have it. Members that
are near to each other are got by one request.
"""

from __future__ import annotations

import struct
from collections.abc import Awaitable, Iterable, Sequence
from typing import Protocol

from compatlock.errors import IndexUnavailable
from compatlock.index.refusals import GONE
from compatlock.index.reply import Reply
from compatlock.index.wheel_directory import MAX_DIRECTORY, NOT_A_ZIP, UnusableError, parse_directory
from compatlock.index.wheel_member import data_start, reach
from compatlock.model.artefact import Directory, Member
from compatlock.model.display import redact
from compatlock.model.named_tuple import NamedTuple

TAIL = 64 * 1024
# Of a server that does not know ranges: how large a file is read whole.
MAX_DOWNLOAD = 32 * 1024 * 1024
# Bytes that nobody wants between two members are read along, rather than asking twice.
GAP = 32 * 1024
# Members are not gathered beyond this many bytes; a single one may be larger.
MAX_PART = 4 * 1024 * 1024

_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ2H2L4Q")
_END64_LOCATOR = struct.Struct("<4sLQL")
_MAX_COMMENT = 0xFFFF


class Fetch(Protocol):
    """One HTTP request; `byte_range` is the value of a Range header, `limit` the most bytes to read.

    Raises IndexUnavailable when there is no answer or the server failed (5xx, 429).
    """

    def __call__(
        self, url: str, /, *, method: str = ..., byte_range: str = ..., limit: int = ...
    ) -> Awaitable[Reply]: ...


class MissingError(Exception):
    """There is no such file."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


class RemoteFile:
    """A file at `url` of `size` bytes (0: not known yet), of which `data`, the end, is here already.

    What is read raises IndexUnavailable when the server does not give it, MissingError when there is no file.
    """

    def __init__(self, fetch: Fetch, url: str, size: int = 0, data: bytes = b"") -> None:
        self.size = size
        self.data = data
        self._fetch = fetch
        self._url = url

    @property
    def start(self) -> int:
        """From where on the file is here."""
        return self.size - len(self.data)

    @property
    def is_whole(self) -> bool:
        """Whether all of the file is here."""
        return len(self.data) == self.size > 0

    async def extend(self, start: int) -> None:
        """Have everything from `start` on."""
        if start < self.start:
            data = await self._read(start, self.start)
            if not self.is_whole:
                self.data = data + self.data

    async def read(self, start: int, end: int) -> bytes:
        """Return the bytes from `start` to `end` (exclusive), less where the file ends before."""
        end = min(end, self.size or end)
        if self.data and start >= self.start:
            return self.data[start - self.start : end - self.start]
        return await self._read(start, end)

    async def _read(self, start: int, end: int) -> bytes:
        limit = _most(self.size, end - start)
        reply = await self._fetch(self._url, byte_range=f"bytes={start}-{end - 1}", limit=limit)
        if reply.status == 200 and reply.complete and self.size in (0, len(reply.body)):
            self.size, self.data = len(reply.body), reply.body
            return self.data[start:end]
        part = reply.content_range
        fits = part is not None and part.start == start and part.end == min(end, part.size)
        if part is None or not fits or self.size not in (0, part.size):
            raise unreadable(self._url, reply)
        self.size = part.size
        return reply.body


async def open_tail(fetch: Fetch, url: str, size: int, tail: int) -> RemoteFile:
    """Get the last `tail` bytes of a file (of `size` bytes if that is known, else 0), in the way that this
    server understands. Raises IndexUnavailable and MissingError."""
    wanted = f"bytes={max(0, size - tail)}-{size - 1}" if size else f"bytes=-{tail}"
    reply = await fetch(url, byte_range=wanted, limit=_most(size, tail))
    start = _tail_start(reply)
    ranges_ignored = reply.status == 200 and size > 0
    if start is None and reply.status in (200, 206, 400, 405, 416, 501) and not ranges_ignored:
        # The size was wrong, or ranges counted from the end are not supported (servers answer with an error,
        # the whole file or its start): ask for the size, then for the bytes by their numbers.
        size = await _size(fetch, url)
        wanted = f"bytes={max(0, size - tail)}-{size - 1}"
        reply = await fetch(url, byte_range=wanted, limit=_most(size, tail))
        start = _tail_start(reply)
    if start is None:
        raise unreadable(url, reply)
    return RemoteFile(fetch, url, start + len(reply.body), reply.body)


def _most(size: int, wanted: int) -> int:
    """How many bytes of an answer to read: of a file that is too large to be read whole, what was wanted."""
    return wanted if size > MAX_DOWNLOAD else max(wanted, MAX_DOWNLOAD)


def _tail_start(reply: Reply) -> int | None:
    """Where in the file the answer's bytes begin; None unless they reach to its end."""
    if reply.status == 200 and reply.complete:
        return 0
    part = reply.content_range
    return part.start if part is not None and part.end == part.size else None


async def _size(fetch: Fetch, url: str) -> int:
    reply = await fetch(url, method="HEAD")
    length = reply.headers.get("content-length", "")
    if reply.status != 200 or not length.isdecimal() or int(length[:18]) == 0:
        raise unreadable(url, reply)
    return int(length[:18])


class DirectoryBytes(NamedTuple):
    """A zip directory as it is in the file, from `start` on; `shift` is to be added to its offsets (0 unless
    something precedes the archive), `entries` how many it is said to have."""

    data: bytes
    start: int
    shift: int
    entries: int


async def directory_bytes(file: RemoteFile, ahead: float = 0.0) -> DirectoryBytes:
    """Return the zip directory of an open archive. When another request is needed for it, `ahead` times as
    much as it has is read before it too.

    Raises UnusableError, struct.error, and what reading raises.
    """
    at = await _end_record(file)
    disk, first_disk, _, count, length, offset = _END.unpack_from(file.data, at - file.start)[1:7]
    end = at
    locator = await file.read(max(0, end - _END64_LOCATOR.size), end)
    if locator.startswith(b"PK\6\7") and len(locator) == _END64_LOCATOR.size:
        _, _, record, _ = _END64_LOCATOR.unpack(locator)
        # Something may precede the archive: the record is then not where the locator says.
        for place in (record, end - _END64_LOCATOR.size - _END64.size):
            found = await file.read(place, place + _END64.size) if 0 <= place < end else b""
            if found.startswith(b"PK\6\6"):
                break
        else:
            raise UnusableError(NOT_A_ZIP)
        end = place
        disk, first_disk, _, count, length, offset = _END64.unpack(found)[4:10]
    start = end - length
    if disk or first_disk:
        raise UnusableError("the wheel is one part of a zip archive in several files")
    if length > MAX_DIRECTORY or offset > start:
        raise UnusableError(f"the wheel's zip directory claims {length} bytes at {offset}, which is absurd")
    if start < file.start:
        await file.extend(max(0, start - int(length * ahead)))
    return DirectoryBytes(await file.read(start, end), start, start - offset, count)


async def _end_record(file: RemoteFile) -> int:
    """Where the end of central directory record is (APPNOTE.TXT 4.3.16): mostly at the very end, before a
    comment otherwise."""
    furthest = max(0, file.size - _MAX_COMMENT - _END.size)
    while True:
        first = -1
        at = len(file.data)
        while (at := file.data.rfind(b"PK\5\6", max(0, furthest - file.start), at + 3)) >= 0:
            if first < 0 and at + _END.size <= len(file.data):
                first = at
            comment = file.data[at + 20 : at + 22]
            if at + _END.size + int.from_bytes(comment, "little") == len(file.data):
                return file.start + at
        if first >= 0:
            return file.start + first
        if file.start <= furthest:
            raise UnusableError(NOT_A_ZIP)
        await file.extend(furthest)


async def read_directory(file: RemoteFile) -> Directory:
    """Return the members of an open archive. Raises IndexUnavailable and MissingError."""
    try:
        found = await directory_bytes(file)
    except UnusableError as error:
        return Directory(problem=str(error))
    except struct.error:
        return Directory(problem=NOT_A_ZIP)
    return parse_directory(found.data, shift=found.shift, start=found.start, count=found.entries)


class Part(NamedTuple):
    """Members that are got by one request for the bytes from `start` to `end` (exclusive)."""

    members: tuple[Member, ...]
    start: int
    end: int


def plan_parts(members: Iterable[Member], limit: int) -> list[Part]:
    """Gather members of one file into parts; of each member `limit` packed bytes are enough."""
    parts: list[Part] = []
    gathered: list[Member] = []
    first = last = 0
    for member in sorted(set(members), key=lambda member: (member.offset, member.path)):
        end = reach(member, limit)
        if gathered and (member.offset > last + GAP or end - first > MAX_PART):
            parts.append(Part(tuple(gathered), first, last))
            gathered = []
        if not gathered:
            first = last = member.offset
        gathered.append(member)
        last = max(last, end)
    if gathered:
        parts.append(Part(tuple(gathered), first, last))
    return parts


class Packed(NamedTuple):
    """A member's data as it is in the archive, or why there is none."""

    member: Member
    data: bytes | memoryview = b""
    problem: str = ""


async def read_part(file: RemoteFile, part: Part, limit: int) -> Sequence[Packed]:
    """Return the packed data of a part's members, at most `limit` bytes of each.

    Raises IndexUnavailable and MissingError.
    """
    data = memoryview(await file.read(part.start, part.end))
    found = []
    for member in part.members:
        at = member.offset - part.start
        try:
            start = at + data_start(data[at:], member)
            end = start + min(member.packed, limit)
            packed = data[start:end]
            if len(packed) < end - start:
                # An extra field that is longer than one would think.
                packed = memoryview(await file.read(part.start + start, part.start + end))
            if len(packed) < end - start:
                raise UnusableError("the wheel ends before this member does")
            found.append(Packed(member, packed))
        except UnusableError as error:
            found.append(Packed(member, problem=str(error)))
    return found


def unreadable(url: str, reply: Reply) -> Exception:
    """The error for an answer that is not the part of the file that was asked for."""
    name = redact(url)
    if reply.status in GONE:
        return MissingError(reply)
    if reply.status == 200 and not reply.complete:
        return IndexUnavailable(
            f"`{name}` cannot be read in part (the server ignores ranges) and is larger than "
            f"{MAX_DOWNLOAD // 2**20} MB",
            hints=["use an index that serves metadata files or byte ranges (--default-index)"],
        )
    return IndexUnavailable(
        f"`{name}` could not be read: the server answered {reply.status} to a request for a part of it",
        hints=["try again later, or use another index (--default-index)"],
    )
