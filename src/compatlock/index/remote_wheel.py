"""Core metadata of a wheel on a server, read with HTTP range requests instead of a download.

A wheel is a zip archive: its directory is at the end and `*.dist-info/METADATA`, by convention, close
before it, so that one request for the tail is mostly enough. The directory is walked by hand (APPNOTE.TXT
4.3): wheels of machine learning have ten thousand members, for which `zipfile` needs ten times as long.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Awaitable
from typing import NamedTuple, Protocol

from compatlock.errors import IndexUnavailable
from compatlock.index.metadata import parse_metadata
from compatlock.index.refusals import GONE, check_hash, missing_file
from compatlock.index.reply import ContentRange, Reply
from compatlock.model.display import redact
from compatlock.model.metadata import Metadata

TAIL = 64 * 1024
MAX_TAIL = 4 * 1024 * 1024
MAX_METADATA = 16 * 1024 * 1024
# The largest known zip directories of wheels (10,000 files and more) have some 2 MB.
MAX_DIRECTORY = 16 * 1024 * 1024
MAX_DOWNLOAD = 32 * 1024 * 1024

_NOT_A_ZIP = "the wheel is not a zip archive, or a damaged one"
_MEMBER = b".dist-info/METADATA"
_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ2H2L4Q")
_END64_LOCATOR = struct.Struct("<4sLQL")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
# A local header's extra field is not known beforehand; zip writers put a few dozen bytes there at most.
_SLACK = 128
_STORED, _DEFLATED = 0, 8


class Fetch(Protocol):
    """One HTTP request; `byte_range` is the value of a Range header, `limit` the most bytes to read.

    Raises IndexUnavailable when there is no answer or the server failed (5xx, 429).
    """

    def __call__(
        self, url: str, /, *, method: str = ..., byte_range: str = ..., limit: int = ...
    ) -> Awaitable[Reply]: ...


async def wheel_metadata(
    fetch: Fetch, url: str, *, size: int = 0, tail: int = TAIL, sha256: str = ""
) -> tuple[Metadata, int]:
    """Read the metadata of the wheel at `url`; `size` in bytes if it is known, else 0.

    Returns the metadata and a good `tail`, in bytes, for the next wheel of the same project. The metadata
    of an archive that is broken, hostile or not there has a `problem`. A part of a file cannot be checked
    against its hash; a server that gives the whole file is held to `sha256`.

    Raises IndexUnavailable when the server does not give the bytes.
    """
    try:
        archive = await _open(fetch, url, size, tail)
        if sha256 and archive.is_whole:
            check_hash(url, archive.data, sha256)
        directory, shift = await _directory(archive)
        member = _find(directory, shift)
        text = await _read_member(archive, member)
    except _MissingError as error:
        return missing_file(error.reply), TAIL
    except _UnusableError as error:
        return Metadata(source="wheel", problem=str(error)), TAIL
    except struct.error:
        return Metadata(source="wheel", problem=_NOT_A_ZIP), TAIL
    used = archive.size - member.offset
    return parse_metadata(text, "wheel"), used + used // 4 if used <= MAX_TAIL else TAIL


class _UnusableError(Exception):
    """The wheel has no usable metadata; the text is the reason."""


class _MissingError(Exception):
    """There is no wheel."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


class _Entry(NamedTuple):
    """Where the zip directory says a member is; sizes in bytes, `packed` as stored."""

    offset: int
    name_length: int
    packed: int
    unpacked: int
    method: int
    crc: int


class _Archive:
    """A remote file of which `data`, from `start` to the end, is here already."""

    def __init__(self, fetch: Fetch, url: str, start: int, data: bytes) -> None:
        self.size = start + len(data)
        self.start = start
        self.data = data
        self._fetch = fetch
        self._url = url

    @property
    def is_whole(self) -> bool:
        """Whether all of the file is here."""
        return self.start == 0

    async def extend(self, start: int) -> None:
        """Have everything from `start` on."""
        if start < self.start:
            self.data = await self._read(start, self.start) + self.data
            self.start = start

    async def read(self, start: int, end: int) -> bytes:
        """Return the bytes from `start` to `end` (exclusive), less where the file ends before."""
        end = min(end, self.size)
        if start >= self.start:
            return self.data[start - self.start : end - self.start]
        return await self._read(start, end)

    async def _read(self, start: int, end: int) -> bytes:
        reply = await self._fetch(self._url, byte_range=f"bytes={start}-{end - 1}", limit=MAX_DOWNLOAD)
        if reply.content_range != ContentRange(start, end, self.size):
            raise _unreadable(self._url, reply)
        return reply.body


async def _open(fetch: Fetch, url: str, size: int, tail: int) -> _Archive:
    """Get the last `tail` bytes, in the way that this server understands."""
    wanted = f"bytes={max(0, size - tail)}-{size - 1}" if size else f"bytes=-{tail}"
    reply = await fetch(url, byte_range=wanted, limit=MAX_DOWNLOAD)
    start = _tail_start(reply)
    ranges_ignored = reply.status == 200 and size > 0
    if start is None and reply.status in (200, 206, 400, 405, 416, 501) and not ranges_ignored:
        # The size was wrong, or ranges counted from the end are not supported (servers answer with an error,
        # the whole file or its start): ask for the size, then for the bytes by their numbers.
        size = await _size(fetch, url)
        wanted = f"bytes={max(0, size - tail)}-{size - 1}"
        reply = await fetch(url, byte_range=wanted, limit=MAX_DOWNLOAD)
        start = _tail_start(reply)
    if start is None:
        raise _unreadable(url, reply)
    return _Archive(fetch, url, start, reply.body)


def _tail_start(reply: Reply) -> int | None:
    """Where in the file the answer's bytes begin; None unless they reach to its end."""
    if reply.status == 200 and reply.complete:
        return 0
    part = reply.content_range
    return part.start if part is not None and part.end == part.size else None


async def _size(fetch: Fetch, url: str) -> int:
    reply = await fetch(url, method="HEAD")
    length = reply.headers.get("content-length", "")
    if reply.status != 200 or not length.isdecimal() or int(length) == 0:
        raise _unreadable(url, reply)
    return int(length)


async def _directory(archive: _Archive) -> tuple[bytes, int]:
    """Return the zip directory, and what to add to its offsets (0 unless something precedes the archive)."""
    at = archive.data.rfind(b"PK\5\6")
    if at < 0:
        raise _UnusableError(_NOT_A_ZIP)
    length, offset = _END.unpack_from(archive.data, at)[5:7]
    end = archive.start + at
    locator = await archive.read(max(0, end - _END64_LOCATOR.size), end)
    if locator.startswith(b"PK\6\7"):
        _, _, record, _ = _END64_LOCATOR.unpack(locator)
        if record >= end:
            raise _UnusableError(_NOT_A_ZIP)
        end = record
        length, offset = _END64.unpack(await archive.read(end, end + _END64.size))[8:10]
    start = end - length
    if length > MAX_DIRECTORY or offset > start:
        raise _UnusableError(f"the wheel's zip directory claims {length} bytes at {offset}, which is absurd")
    if start < archive.start:
        # RECORD, which lists all members once more, mostly lies between METADATA and the directory.
        await archive.extend(max(0, start - length * 3 // 4))
    return await archive.read(start, end), start - offset


def _find(directory: bytes, shift: int) -> _Entry:
    """Return the entry of the one METADATA in the zip directory."""
    found = []
    at = 0
    lengths = struct.Struct("<3H")
    while at < len(directory):
        if directory[at : at + 4] != b"PK\1\2":
            raise _UnusableError("the wheel's zip directory is damaged")
        name, extra, comment = lengths.unpack_from(directory, at + 28)
        end = at + _ENTRY.size + name
        if directory.endswith(_MEMBER, at, end) and b"/" not in directory[at + _ENTRY.size : end - 9]:
            _, _, _, _, method, _, _, crc, packed, unpacked, *_, offset = _ENTRY.unpack_from(directory, at)
            if offset == 0xFFFFFFFF:
                offset = _offset64(directory[end : end + extra])
            found.append(_Entry(offset + shift, name, packed, unpacked, method, crc))
        at = end + extra + comment
    if len(found) != 1:
        raise _UnusableError(f"the wheel has {len(found) or 'no'} .dist-info/METADATA")
    return found[0]


def _offset64(extra: bytes) -> int:
    """A member's offset in an archive beyond 4 GB; its sizes, being small, are not in the extra field."""
    while extra:
        kind, length = struct.unpack_from("<2H", extra)
        if kind == 1:
            return int(struct.unpack_from("<Q", extra, 4)[0])
        extra = extra[4 + length :]
    raise _UnusableError(_NOT_A_ZIP)


async def _read_member(archive: _Archive, entry: _Entry) -> bytes:
    if max(entry.packed, entry.unpacked) > MAX_METADATA:
        raise _UnusableError(f"its METADATA has {entry.unpacked} bytes; the limit is {MAX_METADATA}")
    length = _LOCAL.size + entry.name_length + entry.packed
    data = await archive.read(entry.offset, entry.offset + length + _SLACK)
    mark, *_, name, extra = _LOCAL.unpack_from(data)
    start = _LOCAL.size + name + extra
    if mark != b"PK\3\4":
        raise _UnusableError("the wheel's zip directory points to the wrong place")
    if start + entry.packed > len(data):
        data = await archive.read(entry.offset, entry.offset + start + entry.packed)
    text = _inflate(data[start : start + entry.packed], entry)
    if zlib.crc32(text) != entry.crc:
        raise _UnusableError("the wheel's METADATA is damaged (its checksum is wrong)")
    return text


def _inflate(packed: bytes, entry: _Entry) -> bytes:
    if entry.method == _STORED:
        return packed
    if entry.method != _DEFLATED:
        raise _UnusableError(
            f"the wheel's METADATA is packed by method {entry.method}; only deflate is known"
        )
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, entry.unpacked or 1)
    except zlib.error as error:
        raise _UnusableError(f"the wheel's METADATA is damaged ({error})") from None


def _unreadable(url: str, reply: Reply) -> Exception:
    name = redact(url)
    if reply.status in GONE:
        return _MissingError(reply)
    if reply.status == 200:
        return IndexUnavailable(
            f"`{name}` cannot be read in part (the server ignores ranges) and is larger than "
            f"{MAX_DOWNLOAD // 2**20} MB",
            hints=["use an index that serves metadata files or byte ranges (--default-index)"],
        )
    return IndexUnavailable(
        f"`{name}` could not be read: the server answered {reply.status} to a request for a part of it",
        hints=["try again later, or use another index (--default-index)"],
    )
