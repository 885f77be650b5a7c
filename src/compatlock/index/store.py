"""The on-disk store: what an index said, digested, and what was derived from it for targets.

It is only a cache: versioned by its file name, every row checksummed, safe to delete at any time and to
share between processes (SQLite in WAL mode; writes are gathered and made in short transactions, so that
a killed run leaves either all of a batch or nothing). Nothing is ever unpickled; rows are JSON.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import MutableMapping
from zlib import crc32

from compatlock.errors import CompatlockError
from compatlock.model.listing import File, Listing, Release, Skipped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

FILE_NAME = "store-v2.sqlite"

_SCHEMA = """
create table if not exists listing(source text, project text, fetched integer, etag text, digest text,
  found integer, body blob, primary key(source, project)) without rowid;
create table if not exists release(source text, project text, version text, body blob,
  primary key(source, project, version)) without rowid;
create table if not exists runs(source text, project text, digest text, body blob,
  primary key(source, project)) without rowid;
create table if not exists view(source text, key text, project text, digest text, body blob,
  primary key(source, key, project)) without rowid;
create table if not exists metadata(source text, file text, body blob,
  primary key(source, file)) without rowid;
create table if not exists edges(source text, environment text, file text, body blob,
  primary key(source, environment, file)) without rowid;
create table if not exists memo(key text primary key, body blob) without rowid;
"""

_PACKAGE_QUERY = """
select l.fetched, l.digest, v.body, r.body from listing l
left join view v on v.source = l.source and v.key = ? and v.project = l.project and v.digest = l.digest
left join runs r on r.source = l.source and r.project = l.project and r.digest = l.digest
where l.source = ? and l.project = ?
"""


def _pack(value: Any) -> bytes:
    body = json.dumps(value, separators=(",", ":"), ensure_ascii=True).encode("ascii")
    return crc32(body).to_bytes(4, "big") + body


def _unpack(blob: bytes | None) -> Any:
    """The row's value, or None when it is absent or damaged (it is then made again)."""
    if blob is None or len(blob) < 5 or crc32(blob[4:]).to_bytes(4, "big") != blob[:4]:
        return None
    return json.loads(blob[4:].decode("ascii"))


class PackageRow:
    """What the store knows of a project for one view: `view` and `runs` are None when not made yet."""

    __slots__ = ("digest", "fetched", "runs", "view")

    def __init__(self, fetched: int, digest: str, view: Any, runs: dict[str, list[int]] | None) -> None:
        self.fetched = fetched
        self.digest = digest
        self.view = view
        self.runs = runs


class Store:
    """One cache file. `directory` None keeps everything in memory (`--no-cache`)."""

    def __init__(self, directory: str | None) -> None:
        self.path = None if directory is None else os.path.join(directory, FILE_NAME)
        self._writes: list[tuple[str, tuple[Any, ...]]] = []
        self._database = self._open()
        self.memo: MutableMapping[str, str] = _Memo(self)

    def _open(self) -> sqlite3.Connection:
        if self.path is None:
            return self._prepare(sqlite3.connect(":memory:", isolation_level=None))
        directory = os.path.dirname(self.path)
        try:
            os.makedirs(directory, exist_ok=True)
            return self._prepare(sqlite3.connect(self.path, isolation_level=None, timeout=60))
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise _unusable(directory, error) from error
            # Not a database, or a damaged one: it is only a cache, so start it afresh.
            self._discard()
            return self._prepare(sqlite3.connect(self.path, isolation_level=None, timeout=60))
        except OSError as error:
            raise _unusable(directory, error) from error

    def _prepare(self, database: sqlite3.Connection) -> sqlite3.Connection:
        if not database.execute("select 1 from sqlite_master where name = 'memo'").fetchone():
            database.execute("pragma journal_mode = wal")
            database.executescript(_SCHEMA)
        database.execute("pragma synchronous = normal")
        return database

    def _discard(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            try:
                os.remove(f"{self.path}{suffix}")
            except FileNotFoundError:
                pass

    def _row(self, query: str, parameters: tuple[Any, ...]) -> Any:
        try:
            return self._database.execute(query, parameters).fetchone()
        except sqlite3.DatabaseError as error:
            raise self._damaged(error) from error

    def _rows(self, query: str, parameters: tuple[Any, ...]) -> list[Any]:
        try:
            return self._database.execute(query, parameters).fetchall()
        except sqlite3.DatabaseError as error:
            raise self._damaged(error) from error

    def _damaged(self, error: sqlite3.Error) -> CompatlockError:
        return CompatlockError(
            f"the cache {self.path} is damaged: {error}",
            hints=["delete it (it is only a cache) or use `--no-cache`"],
        )

    def _write(self, statement: str, *parameters: Any) -> None:
        self._writes.append((statement, parameters))

    def flush(self) -> None:
        """Write what was gathered, whole or not at all."""
        if not self._writes:
            return
        try:
            self._database.execute("begin immediate")
            for statement, parameters in self._writes:
                self._database.execute(statement, parameters)
            self._database.execute("commit")
        except sqlite3.DatabaseError as error:
            if self._database.in_transaction:
                self._database.execute("rollback")
            # A cache that cannot be written (read-only, full, locked for a minute) must not fail the run.
            if not isinstance(error, sqlite3.OperationalError):
                raise self._damaged(error) from error
        self._writes.clear()

    def close(self) -> None:
        """Write what was gathered and close the file."""
        self.flush()
        self._database.close()

    # Listings

    def put_listing(self, source: str, listing: Listing, etag: str, now: int) -> None:
        """Store what index `source` said of a project at time `now` (seconds since the epoch)."""
        head = [[r.version for r in listing.releases], [list(s) for s in listing.skipped]]
        self._write("delete from release where source = ? and project = ?", source, listing.project)
        for release in listing.releases:
            self._write(
                "insert or replace into release values(?,?,?,?)",
                source, listing.project, release.version, _pack([list(f) for f in release.files]),
            )  # fmt: skip
        self._write(
            "insert or replace into listing values(?,?,?,?,?,?,?)",
            source, listing.project, now, etag, listing.digest, int(listing.found), _pack(head),
        )  # fmt: skip

    def touch_listing(self, source: str, project: str, now: int) -> None:
        """Note that the listing is still what the index says at time `now`."""
        self._write("update listing set fetched = ? where source = ? and project = ?", now, source, project)

    def etag(self, source: str, project: str) -> str:
        """The entity tag of the stored listing, `""` when there is none."""
        row = self._row("select etag from listing where source = ? and project = ?", (source, project))
        return str(row[0] or "") if row else ""

    def listing(self, source: str, project: str) -> Listing | None:
        """The whole stored listing, or None."""
        row = self._row(
            "select digest, found, body from listing where source = ? and project = ?", (source, project)
        )
        head = _unpack(row[2]) if row else None
        if head is None:
            return None
        files = dict(
            self._rows(
                "select version, body from release where source = ? and project = ?", (source, project)
            )
        )
        releases = []
        for version in head[0]:
            rows = _unpack(files.get(version))
            if rows is None:
                return None
            releases.append(Release(version, tuple(File(*f) for f in rows)))
        return Listing(project, tuple(releases), tuple(Skipped(*s) for s in head[1]), bool(row[1]), row[0])

    def versions(self, source: str, project: str) -> list[str]:
        """All release versions of a stored listing, newest first."""
        row = self._row("select body from listing where source = ? and project = ?", (source, project))
        head = _unpack(row[0]) if row else None
        return list(head[0]) if head else []

    def files(self, source: str, project: str, version: str) -> tuple[File, ...] | None:
        """The files of one release, or None when not stored."""
        row = self._row(
            "select body from release where source = ? and project = ? and version = ?",
            (source, project, version),
        )
        rows = _unpack(row[0]) if row else None
        return None if rows is None else tuple(File(*f) for f in rows)

    # What is derived from listings

    def package(self, source: str, view_key: str, project: str) -> PackageRow | None:
        """The derived state of a project for one view; None when its listing is not stored."""
        row = self._row(_PACKAGE_QUERY, (view_key, source, project))
        if row is None:
            return None
        return PackageRow(row[0], row[1], _unpack(row[2]), _unpack(row[3]))

    def put_view(self, source: str, view_key: str, project: str, digest: str, view: Any) -> None:
        """Store a project's view for a target and policies."""
        self._write(
            "insert or replace into view values(?,?,?,?,?)", source, view_key, project, digest, _pack(view)
        )

    def put_runs(self, source: str, project: str, digest: str, runs: dict[str, tuple[int, ...]]) -> None:
        """Store the specifiers answered so far over a project's full list of releases."""
        self._write("insert or replace into runs values(?,?,?,?)", source, project, digest, _pack(runs))

    # Metadata and edges

    def metadata(self, source: str, file_key: str) -> list[Any] | None:
        """The stored core metadata of a file, as fields of `model.metadata.Metadata`."""
        row = self._row("select body from metadata where source = ? and file = ?", (source, file_key))
        value: list[Any] | None = _unpack(row[0]) if row else None
        return value

    def put_metadata(self, source: str, file_key: str, metadata: Iterable[Any]) -> None:
        """Store the core metadata of a file."""
        self._write("insert or replace into metadata values(?,?,?)", source, file_key, _pack(list(metadata)))

    def edges(self, source: str, environment: str, file_key: str) -> list[Any] | None:
        """The dependencies of a file as evaluated for a marker environment, see `index.compile`."""
        row = self._row(
            "select body from edges where source = ? and environment = ? and file = ?",
            (source, environment, file_key),
        )
        value: list[Any] | None = _unpack(row[0]) if row else None
        return value

    def put_edges(self, source: str, environment: str, file_key: str, edges: list[Any]) -> None:
        """Store evaluated dependencies."""
        self._write(
            "insert or replace into edges values(?,?,?,?)", source, environment, file_key, _pack(edges)
        )

    def get_memo(self, key: str) -> str | None:
        """A memoised text."""
        row = self._row("select body from memo where key = ?", (key,))
        value: str | None = _unpack(row[0]) if row else None
        return value

    def put_memo(self, key: str, value: str) -> None:
        """Memoise a text under a key that names all it depends on."""
        self._write("insert or replace into memo values(?,?)", key, _pack(value))


class _Memo(MutableMapping[str, str]):
    """Parsed texts by key, on disk; reads what is not written yet too."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._new: dict[str, str] = {}

    def __getitem__(self, key: str) -> str:
        value = self._new.get(key)
        if value is None:
            value = self._store.get_memo(key)
        if value is None:
            raise KeyError(key)
        return value

    def __setitem__(self, key: str, value: str) -> None:
        self._new[key] = value
        self._store.put_memo(key, value)

    def __delitem__(self, key: str) -> None:
        raise TypeError("the memo only grows")

    def __iter__(self) -> Iterator[str]:
        return iter(self._new)

    def __len__(self) -> int:
        return len(self._new)


def _unusable(directory: str, error: Exception) -> CompatlockError:
    return CompatlockError(
        f"the cache directory {directory} cannot be used: {error}",
        hints=["name another with `--cache-dir`, or use `--no-cache`"],
    )
