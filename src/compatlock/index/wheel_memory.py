"""A wheel reader that remembers directories and metadata by file hash: a second look needs no network."""

from __future__ import annotations

import struct
import zlib

from compatlock.model.artefact import MEMBER_LIMIT, Content, Directory, Member, WheelReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from compatlock.model.artefact import Observations
    from compatlock.model.lock import LockedFile

KIND = "directory/1"
CONTENT_KIND = "content/1"

# Up to where, in bytes, what a wheel says of itself (METADATA, WHEEL, entry points) is remembered as it is.
_SMALL = 256 * 1024

# Number of members, and whether sizes and offsets take 8 bytes (wheels beyond 4 GB).
_HEAD = struct.Struct("<L?")


class RememberedWheels(WheelReader):
    """Asks `observations` before `reader`. Directories that could be read are remembered there; the same
    object does not try again what it could not read. Of contents, only small members of `.dist-info` are."""

    def __init__(self, reader: WheelReader, observations: Observations) -> None:
        self._reader = reader
        self._observations = observations
        self._known: dict[LockedFile, Directory] = {}

    def directories(self, files: Iterable[LockedFile]) -> dict[str, Directory]:
        """See `WheelReader.directories`."""
        wanted = list(files)
        self._recall([file for file in wanted if file not in self._known])
        left = [file for file in wanted if file not in self._known]
        if left:
            read = self._reader.directories(left)
            self._known.update((file, read[file.filename]) for file in left)
            self._remember(left)
        return {file.filename: self._known[file] for file in wanted}

    def _recall(self, files: list[LockedFile]) -> None:
        stored = self._observations.get(KIND, [(file.sha256, "") for file in files if file.sha256])
        for file in files:
            directory = decode_directory(stored.get((file.sha256, ""), b""))
            if directory is not None:
                self._known[file] = directory

    def _remember(self, files: list[LockedFile]) -> None:
        known = [(file.sha256, self._known[file]) for file in files if file.sha256]
        summaries = {(sha256, ""): encode_directory(one) for sha256, one in known if not one.problem}
        self._observations.put(KIND, summaries)

    def each_content(
        self, wanted: Iterable[tuple[LockedFile, Member]], *, limit: int = MEMBER_LIMIT
    ) -> Iterator[tuple[LockedFile, Member, Content]]:
        """See `WheelReader.each_content`."""
        pairs = list(dict.fromkeys(wanted))
        keys = [(file.sha256, member.path) for file, member in pairs if _is_kept(file, member)]
        stored = self._observations.get(CONTENT_KIND, keys) if keys else {}
        left = []
        for file, member in pairs:
            data = stored.get((file.sha256, member.path))
            if data is not None and len(data) == member.size and zlib.crc32(data) == member.crc:
                yield file, member, Content(data)
            else:
                left.append((file, member))
        learned: dict[tuple[str, str], bytes] = {}
        try:
            for file, member, content in self._reader.each_content(left, limit=limit) if left else ():
                if _is_kept(file, member) and content.complete and not content.problem:
                    learned[file.sha256, member.path] = content.data
                yield file, member, content
        finally:
            if learned:
                self._observations.put(CONTENT_KIND, learned)


def _is_kept(file: LockedFile, member: Member) -> bool:
    folder = member.path.partition("/")[0]
    return bool(file.sha256) and member.size <= _SMALL and folder.endswith(".dist-info")


def encode_directory(directory: Directory) -> bytes:
    """A directory without a problem as bytes: its members' columns, then their paths as lines."""
    members = directory.members
    count = len(members)
    is_wide = any(max(member.size, member.packed, member.offset) > 0xFFFFFFFF for member in members)
    columns = [
        struct.pack(f"<{count}{'Q' if is_wide else 'L'}", *(getattr(member, field) for member in members))
        for field in ("size", "packed", "offset")
    ]
    columns.append(struct.pack(f"<{count}L", *(member.crc for member in members)))
    columns.append(struct.pack(f"<{count}H", *(member.method for member in members)))
    # No path has a line end: wheels with such ones have a problem.
    paths = "\n".join(member.path for member in members).encode()
    return b"".join((_HEAD.pack(count, is_wide), *columns, paths))


def decode_directory(data: bytes) -> Directory | None:
    """What `encode_directory` made; None for anything else."""
    try:
        count, is_wide = _HEAD.unpack_from(data)
        at = _HEAD.size
        columns = []
        for letter in "QQQLH" if is_wide else "LLLLH":
            column = struct.Struct(f"<{count}{letter}")
            columns.append(column.unpack_from(data, at))
            at += column.size
        paths = data[at:].decode().split("\n") if count else []
    except (struct.error, UnicodeDecodeError):
        return None
    if len(paths) != count:
        return None
    sizes, packed, offsets, crcs, methods = columns
    rows = zip(paths, sizes, packed, crcs, offsets, methods, strict=True)
    return Directory(tuple(map(Member._make, rows)))
