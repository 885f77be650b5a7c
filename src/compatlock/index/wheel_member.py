"""Single members of a wheel's zip archive, unpacked from the bytes at their place: bounded and checked."""

from __future__ import annotations

import io
import struct
import zlib

from compatlock.index.wheel_directory import (
    DEFLATED,
    ENCRYPTED,
    LOCAL_HEADER,
    STORED,
    UnusableError,
    decode_name,
)
from compatlock.model.artefact import Content, Member
from compatlock.model.display import excerpt

TYPE_CHECKING = False
if TYPE_CHECKING:
    Bytes = bytes | memoryview

# Bytes of a member that are unpacked at most, whatever it says.
MAX_UNPACKED = 128 * 1024 * 1024
# A local header's extra field is not known beforehand; zip writers put a few dozen bytes there at most.
SLACK = 128

# Bytes of packed and unpacked data that large members are taken by.
_SLICE, _PIECE = 128 * 1024, 1024 * 1024
_LOCAL = struct.Struct("<4s5H3L2H")
_IS_ENCRYPTED = 0x1


def reach(member: Member, limit: int) -> int:
    """Where the bytes that reading a member takes will probably end; it is begun at its offset."""
    name = len(member.path.encode("utf-8", "replace"))
    return member.offset + LOCAL_HEADER + name + SLACK + min(member.packed, limit)


def data_start(header: Bytes, member: Member) -> int:
    """How far behind the local header's begin a member's data begins; `header` has the bytes at its offset.

    Raises UnusableError when the header is not this member's.
    """
    if len(header) < LOCAL_HEADER:
        raise UnusableError("the wheel's zip directory points to the wrong place")
    mark, _, flags, method, *_, name_length, extra = _LOCAL.unpack_from(header)
    name = bytes(header[LOCAL_HEADER : LOCAL_HEADER + name_length])
    if mark != b"PK\3\4":
        raise UnusableError("the wheel's zip directory points to the wrong place")
    path = decode_name(name, flags)
    if path != member.path and [s for s in path.split("/") if s not in ("", ".")] != member.path.split("/"):
        raise UnusableError("the wheel's zip directory and its members name different files")
    if flags & _IS_ENCRYPTED or member.method == ENCRYPTED:
        raise UnusableError("it is encrypted")
    if method != member.method:
        raise UnusableError("the wheel's zip directory and its members tell of different compressions")
    return LOCAL_HEADER + int(name_length) + int(extra)


def unpack(packed: Bytes, member: Member, what: str = "") -> Content:
    """Unpack the data of a member, or as much of it as `packed` has; `what` names it in problems.

    Nothing is unpacked beyond the size that the directory tells, nor beyond MAX_UNPACKED. What is complete
    is held to its checksum.
    """
    what = what or f"`{excerpt(member.path)}`"
    bound = min(member.size, MAX_UNPACKED)
    try:
        data = _inflate(packed, member.method, bound, what)
    except zlib.error as error:
        return Content(complete=False, problem=f"{what} is damaged ({error})")
    except UnusableError as error:
        return Content(complete=False, problem=str(error))
    if len(packed) < member.packed or bound < member.size:
        return Content(data, complete=False)
    if zlib.crc32(data) != member.crc:
        return Content(complete=False, problem=f"{what} is damaged (its checksum is wrong)")
    if len(data) != member.size:
        return Content(complete=False, problem=f"{what} is damaged (it has another size than it says)")
    return Content(data)


def _inflate(packed: Bytes, method: int, bound: int, what: str) -> bytes:
    if method == STORED:
        return bytes(packed[:bound])
    if method == ENCRYPTED:
        raise UnusableError(f"{what} is encrypted")
    if method != DEFLATED:
        raise UnusableError(f"{what} is packed by method {method}; only deflate is known")
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    if bound <= _PIECE:
        # No bound at all is what 0 means to zlib.
        return unpacker.decompress(packed, bound or 1)
    # Piece by piece: zlib gathers what it gives at once in parts that it joins, which takes twice the memory.
    unpacked = io.BytesIO()
    for at in range(0, len(packed), _SLICE):
        rest: Bytes = packed[at : at + _SLICE]
        while rest and unpacked.tell() < bound:
            unpacked.write(unpacker.decompress(rest, min(_PIECE, bound - unpacked.tell())))
            rest = unpacker.unconsumed_tail
    while unpacked.tell() < bound:
        last = unpacker.decompress(b"", bound - unpacked.tell())
        if not last:
            break
        unpacked.write(last)
    return unpacked.getvalue()
