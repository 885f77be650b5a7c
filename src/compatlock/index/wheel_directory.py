"""The central directory of a wheel's zip archive (APPNOTE.TXT 4.3.12), parsed from its bytes with distrust.

It is walked by hand: wheels of machine learning have ten thousand members and more, for which `zipfile`
needs ten times as long.
"""

from __future__ import annotations

import re
import struct

from compatlock.model.artefact import Directory, Member
from compatlock.model.display import excerpt

# The largest known zip directories of wheels (10,000 files and more) have some 2 MB.
MAX_DIRECTORY = 16 * 1024 * 1024
MAX_MEMBERS = 250_000
LOCAL_HEADER = 30

NOT_A_ZIP = "the wheel is not a zip archive, or a damaged one"
STORED, DEFLATED, ENCRYPTED = 0, 8, 99  # APPNOTE.TXT 4.4.5; 99 stands for any encryption here

# Mark, flags, method, checksum, both sizes, three lengths and the offset; the rest is of no interest.
_ENTRY = struct.Struct("<4s4x2H4x3L3H8xL")
_LENGTHS = struct.Struct("<3H")
_IN_EXTRA = 0xFFFFFFFF
_IS_ENCRYPTED, _IS_UTF8 = 0x1, 0x800
# Backslashes, control characters, drives, and segments that are empty, "." or "..".
_UNUSUAL = re.compile(r"[\x00-\x1f\x7f\\]|^[A-Za-z]:|(?:^|/)\.{0,2}(?:/|\Z)")


class UnusableError(Exception):
    """The archive, or what is wanted of it, cannot be used; the text is the reason, for people."""


class Entry:
    """One entry of a directory: the `member`, whether it is a folder, the bytes of the file that it takes
    at least (`end` exclusive), and where the `following` entry is in the directory."""

    __slots__ = ("end", "following", "is_folder", "member")

    def __init__(self, member: Member, name_length: int, following: int) -> None:
        self.member = member
        self.is_folder = member.path.endswith("/")
        self.end = member.offset + LOCAL_HEADER + name_length + member.packed
        self.following = following


def read_entry(directory: bytes, at: int, shift: int) -> Entry:
    """Parse the entry at `at`; `shift` is to be added to its offset. Raises UnusableError, struct.error."""
    fields = _ENTRY.unpack_from(directory, at)
    mark, flags, method, crc, packed, size, name_length, extra_length, comment_length, offset = fields
    name_at = at + _ENTRY.size
    extra_at = name_at + name_length
    if mark != b"PK\1\2":
        raise UnusableError("the wheel's zip directory is damaged")
    path = decode_name(directory[name_at:extra_at], flags)
    if _IN_EXTRA in (size, packed, offset):
        extra = directory[extra_at : extra_at + extra_length]
        size, packed, offset = _zip64(extra, size, packed, offset)
    if flags & _IS_ENCRYPTED:
        method = ENCRYPTED
    member = Member(path, size, packed, crc, offset + shift, method)
    return Entry(member, name_length, extra_at + extra_length + comment_length)


def decode_name(name: bytes, flags: int) -> str:
    """A member's name as its flags say it is written (APPNOTE.TXT 4.4.4). Raises UnusableError."""
    try:
        return name.decode("utf-8" if flags & _IS_UTF8 or name.isascii() else "cp437")
    except UnicodeDecodeError:
        raise UnusableError("the wheel has a member whose name is not UTF-8, though it says so") from None


def parse_directory(directory: bytes, *, shift: int, start: int, count: int) -> Directory:
    """Return the members that a directory's bytes name.

    `start` is where the directory begins in the file, `shift` what is to be added to its offsets, `count`
    how many entries the archive claims. Paths are relative and normal; an archive with a path that would
    leave the place of installation, with two different members of one path, with members that overlap or
    lie outside has a `problem`.
    """
    try:
        return Directory(_members(directory, shift, start, count))
    except UnusableError as error:
        return Directory(problem=str(error))
    except struct.error:
        return Directory(problem=NOT_A_ZIP)


def _members(directory: bytes, shift: int, start: int, count: int) -> tuple[Member, ...]:
    members: list[Member] = []
    spans: list[tuple[int, int]] = []
    at = 0
    while at < len(directory):
        entry = read_entry(directory, at, shift)
        member = entry.member
        spans.append((member.offset, entry.end))
        at = entry.following
        if len(spans) > MAX_MEMBERS:
            raise UnusableError(f"the wheel has more than {MAX_MEMBERS} members")
        if _UNUSUAL.search(member.path):
            member = member._replace(path=_normal_path(member.path))
        if not entry.is_folder:
            members.append(member)
    # Old writers count no further than 16 bits.
    if at != len(directory) or count not in (len(spans), len(spans) & 0xFFFF):
        raise UnusableError(
            f"the wheel's zip directory is damaged: it has {len(spans)} entries and claims {count}"
        )
    _check_spans(spans, start)
    return _without_duplicates(members)


def _check_spans(spans: list[tuple[int, int]], start: int) -> None:
    """Members that share bytes make bombs; and what lies behind the directory is none."""
    last = 0
    for offset, end in sorted(spans):
        if offset < last:
            raise UnusableError("members of the wheel overlap each other in the archive")
        last = end
    if last > start:
        raise UnusableError("the wheel's zip directory points to the wrong place")


def _without_duplicates(members: list[Member]) -> tuple[Member, ...]:
    by_path = {member.path: member for member in members}
    if len(by_path) == len(members):
        return tuple(members)
    for member in members:
        other = by_path[member.path]
        if (member.size, member.crc) != (other.size, other.crc):
            raise UnusableError(f"the wheel has two different members `{excerpt(member.path)}`")
    return tuple(by_path.values())


def _normal_path(path: str) -> str:
    """A path without empty and "." segments. Raises UnusableError when it is one that no wheel may have."""
    segments = path.split("/")
    is_safe = not re.search(r"[\x00-\x1f\x7f\\]|^/|^[A-Za-z]:", path) and ".." not in segments
    kept = [segment for segment in segments if segment not in ("", ".")]
    if not is_safe or not (kept or path.endswith("/")):
        raise UnusableError(f"the wheel has a member with an unsafe path: `{excerpt(path)}`")
    return "/".join(kept)


def find_entries(directory: bytes, suffix: bytes, shift: int) -> list[Member]:
    """The members in the archive's top folders whose path ends in `suffix` (which has one "/"); the fast way
    for who wants no other. Raises UnusableError and struct.error."""
    found = []
    at = 0
    while at < len(directory):
        if directory[at : at + 4] != b"PK\1\2":
            raise UnusableError("the wheel's zip directory is damaged")
        name, extra, comment = _LENGTHS.unpack_from(directory, at + 28)
        name_at, end = at + _ENTRY.size, at + _ENTRY.size + name
        if directory.endswith(suffix, name_at, end) and directory.count(b"/", name_at, end) == 1:
            found.append(read_entry(directory, at, shift).member)
        at = end + extra + comment
    return found


def _zip64(extra: bytes, size: int, packed: int, offset: int) -> tuple[int, int, int]:
    """The values that the ZIP64 extra field holds for those that do not fit (APPNOTE.TXT 4.5.3)."""
    while extra:
        kind, length = struct.unpack_from("<2H", extra)
        if kind == 1:
            given = iter(struct.unpack_from(f"<{length // 8}Q", extra, 4))
            try:
                size = next(given) if size == _IN_EXTRA else size
                packed = next(given) if packed == _IN_EXTRA else packed
                offset = next(given) if offset == _IN_EXTRA else offset
            except StopIteration:
                raise UnusableError(NOT_A_ZIP) from None
            return size, packed, offset
        extra = extra[4 + length :]
    raise UnusableError(NOT_A_ZIP)
