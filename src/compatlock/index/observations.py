"""What was read off files, by their hashes: summaries that make a second look into the same wheel free.

It is only a cache, never facts in force: versioned by its file name, every row checksummed with its key (a
damaged one counts as missing), safe to delete at any time and to share between processes. It is bounded:
files that were not looked at for the longest time are forgotten. Nothing is ever unpickled.
"""

from __future__ import annotations

import os
import time
import zlib

from compatlock.index.database import Database, Tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

FILE_NAME = "observations-v1.sqlite"

# Bounds of what is kept: bytes of summaries, and files. When one is crossed, a fifth is forgotten.
MAX_BYTES = 256 * 1024 * 1024
MAX_FILES = 20_000
# A single summary that takes more than this part of all is not worth remembering.
_SHARE = 16

_TABLES = Tables(
    """
create table if not exists file(id integer primary key, sha256 blob unique, used integer, size integer);
create table if not exists summary(file integer, kind text, subject text, body blob,
  primary key(file, kind, subject)) without rowid;
""",
    "summary",
)
_ADD_FILE = "insert or ignore into file(sha256, used, size) values(?, ?, 0)"
_ADD_SUMMARY = "insert or replace into summary select id, ?, ?, ? from file where sha256 = ?"
_ADD_SIZE = "update file set size = size + ?, used = ? where sha256 = ?"
_ONE = "select subject, body from summary where file = ? and kind = ? and subject = ?"
_ALL = "select subject, body from summary where file = ? and kind = ?"
# From so many subjects of a file on, reading all of its summaries of a kind is faster.
_FEW = 8
# Compressed, or as it is because that is no longer.
_PLAIN, _COMPRESSED = b"\0", b"\1"
_DAY = 86_400


class StoredObservations:
    """One cache file: `model.artefact.Observations`. `directory` None keeps everything in memory.

    `max_bytes` and `max_files` bound what it keeps. Raises InputError for a directory that cannot be used.
    """

    def __init__(
        self, directory: str | None, *, max_bytes: int = MAX_BYTES, max_files: int = MAX_FILES
    ) -> None:
        self._database = Database(None if directory is None else os.path.join(directory, FILE_NAME), _TABLES)
        self._max_bytes = max_bytes
        self._max_files = max_files
        self._today = int(time.time()) // _DAY
        self._used: set[int] = set()
        self._has_grown = False

    def get(self, kind: str, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], bytes]:
        """See `Observations.get`."""
        by_file: dict[str, list[str]] = {}
        for sha256, subject in keys:
            by_file.setdefault(sha256, []).append(subject)
        found = {}
        for sha256, subjects in by_file.items():
            key = _key(sha256)
            row = self._database.row("select id, used from file where sha256 = ?", (key,)) if key else None
            if row is None:
                continue
            rows = self._summaries(row[0], kind, subjects)
            for subject in subjects:
                body = _unpack(rows.get(subject), sha256, kind, subject)
                if body is not None:
                    found[sha256, subject] = body
            if row[1] != self._today:
                self._used.add(row[0])
        return found

    def put(self, kind: str, summaries: Mapping[tuple[str, str], bytes]) -> None:
        """See `Observations.put`. Summaries that are far too large are not remembered either."""
        statements: list[tuple[str, tuple[Any, ...]]] = []
        sizes: dict[bytes, int] = {}
        for (sha256, subject), summary in summaries.items():
            key = _key(sha256)
            if not key or len(summary) > self._max_bytes // _SHARE:
                continue
            body = _pack(summary, sha256, kind, subject)
            if key not in sizes:
                statements.append((_ADD_FILE, (key, self._today)))
            statements.append((_ADD_SUMMARY, (kind, subject, body, key)))
            sizes[key] = sizes.get(key, 0) + len(body) + len(subject)
        statements += [(_ADD_SIZE, (size, self._today, key)) for key, size in sizes.items()]
        if statements:
            self._database.write(statements)
            self._has_grown = True

    def of_file(self, sha256: str) -> Iterator[tuple[str, str, bytes]]:
        """Yield all that is remembered of a file, in order: kind, subject, summary."""
        query = (
            "select kind, subject, body from summary join file on file.id = summary.file where sha256 = ? "
            "order by kind, subject"
        )
        for kind, subject, stored in self._database.rows(query, (_key(sha256),)):
            body = _unpack(stored, sha256, kind, subject)
            if body is not None:
                yield kind, subject, body

    def close(self) -> None:
        """Note what was used, forget what is too much, and close the file."""
        if self._used:
            note = "update file set used = ? where id = ?"
            self._database.write([(note, (self._today, number)) for number in self._used])
        if self._has_grown:
            self._forget()
        self._database.close()

    def __enter__(self) -> StoredObservations:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def _summaries(self, file: int, kind: str, subjects: Iterable[str]) -> dict[str, Any]:
        wanted = list(subjects)
        if len(wanted) > _FEW:
            return dict(self._database.rows(_ALL, (file, kind)))
        return dict(row for one in wanted for row in self._database.rows(_ONE, (file, kind, one)))

    def _forget(self) -> None:
        """Forget the files that were not used for the longest time, when the bounds are crossed."""
        files = self._database.rows("select id, size from file order by used, id")
        total, count = sum(size for _, size in files), len(files)
        if total <= self._max_bytes and count <= self._max_files:
            return
        gone: list[tuple[str, tuple[Any, ...]]] = []
        for number, size in files:
            if total <= self._max_bytes * 4 // 5 and count <= self._max_files * 4 // 5:
                break
            gone.append(("delete from summary where file = ?", (number,)))
            gone.append(("delete from file where id = ?", (number,)))
            total, count = total - size, count - 1
        self._database.write(gone)


def _key(sha256: str) -> bytes:
    """A hash as it is stored; empty for what is none."""
    try:
        return bytes.fromhex(sha256) if len(sha256) == 64 else b""
    except ValueError:
        return b""


def _pack(body: bytes, *key: str) -> bytes:
    short = zlib.compress(body, 1)
    stored = _COMPRESSED + short if len(short) < len(body) else _PLAIN + body
    return _checksum(stored, key) + stored


def _unpack(blob: object, *key: str) -> bytes | None:
    if not isinstance(blob, bytes) or len(blob) < 5 or blob[:4] != _checksum(blob[4:], key):
        return None
    if blob[4:5] == _PLAIN:
        return blob[5:]
    try:
        return zlib.decompress(blob[5:])
    except zlib.error:
        return None


def _checksum(body: bytes, key: tuple[str, ...]) -> bytes:
    return zlib.crc32(body, zlib.crc32("\n".join(key).encode("utf-8", "replace"))).to_bytes(4, "big")
