"""The SQLite file under the store. Being only a cache, it never fails a run that has begun: a damaged file
is started afresh, one that cannot be written (read-only, full) is continued in memory."""

from __future__ import annotations

import os
import sqlite3

from compatlock.errors import InputError
from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

# Keys begin with what differs most: comparing them is most of what looking up a row takes. Rows are apart
# from their keys (no `without rowid`): wide ones would make the trees of keys deep.
_SCHEMA = """
create table if not exists listing(project text, source text, fetched integer, etag text, digest text,
  found integer, body blob, primary key(project, source));
create table if not exists files(project text, source text, digest text, body blob,
  primary key(project, source));
create table if not exists runs(project text, source text, digest text, body blob,
  primary key(project, source));
create table if not exists view(project text, key text, source text, digest text, body blob,
  primary key(project, key, source));
create table if not exists installable(project text, version text, key text, source text, digest text,
  body blob, primary key(project, key, source, version));
create table if not exists metadata(file text, source text, body blob, primary key(file, source));
create table if not exists edges(file text, environment text, source text, body blob,
  primary key(file, environment, source));
create table if not exists memo(key text primary key, body blob);
"""

# What a damaged file shows as; SQLite may quote garbage in its messages.
_DAMAGE = (sqlite3.DatabaseError, UnicodeDecodeError)


class Tables(NamedTuple):
    """What a file holds: the statements that make its tables, and the table that is made last, which tells
    that all are there."""

    schema: str
    last: str


STORE = Tables(_SCHEMA, "memo")


class Database:
    """Tables, those of the store by default, in the file at `path`, or in memory for None; in WAL mode, for
    several processes at once. Raises InputError for a file that cannot be opened or made."""

    def __init__(self, path: str | None, tables: Tables = STORE) -> None:
        self._path = path
        self._tables = tables
        self._connection = _memory(tables) if path is None else _open(path, tables)

    def rows(self, query: str, parameters: tuple[Any, ...] = ()) -> list[Any]:
        """All rows that a query gives; none when the file turns out to be damaged."""
        try:
            return self._connection.execute(query, parameters).fetchall()
        except _DAMAGE:
            self.start_afresh()
            return []

    def row(self, query: str, parameters: tuple[Any, ...]) -> Any:
        """The first row that a query gives, or None."""
        rows = self.rows(query, parameters)
        return rows[0] if rows else None

    def write(self, statements: Sequence[tuple[str, tuple[Any, ...]]]) -> None:
        """Execute statements with their parameters in one transaction."""
        try:
            self._transact(statements)
        except sqlite3.OperationalError:
            # Read-only, full, or locked for a minute.
            self._continue_in_memory()
            self._transact(statements)
        except _DAMAGE:
            self.start_afresh()
            self._transact(statements)

    def start_afresh(self) -> None:
        """Throw everything away. Processes that still use the old file keep it."""
        self._connection.close()
        try:
            self._connection = self._afresh()
        except (OSError, sqlite3.Error):
            self._connection = _memory(self._tables)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _transact(self, statements: Sequence[tuple[str, tuple[Any, ...]]]) -> None:
        self._connection.execute("begin immediate")
        try:
            for statement, parameters in statements:
                self._connection.execute(statement, parameters)
            self._connection.execute("commit")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("rollback")
            raise

    def _afresh(self) -> sqlite3.Connection:
        return _memory(self._tables) if self._path is None else _afresh(self._path, self._tables)

    def _continue_in_memory(self) -> None:
        memory = _memory(self._tables)
        try:
            self._connection.backup(memory)
        except _DAMAGE:
            memory = _memory(self._tables)
        self._connection.close()
        self._connection = memory


def _open(path: str, tables: Tables) -> sqlite3.Connection:
    directory = os.path.dirname(path)
    try:
        os.makedirs(directory, exist_ok=True)
        try:
            return _prepare(_connect(path), tables)
        except sqlite3.OperationalError:
            return _copy(path, tables)
        except _DAMAGE:  # or no database at all
            return _afresh(path, tables)
    except (OSError, sqlite3.Error) as error:
        raise InputError(
            f"the cache directory {directory} cannot be used: {_reason(error, directory)}",
            hints=["name another with `--cache-dir`, or use `--no-cache`"],
        ) from error


def _reason(error: OSError | sqlite3.Error, directory: str) -> str:
    if isinstance(error, (FileExistsError, NotADirectoryError)):
        return "it is not a directory" if os.path.exists(directory) else "a part of its path is a file"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    # SQLite's words do not tell that it is about rights.
    return str(error) if os.access(directory, os.R_OK | os.W_OK | os.X_OK) else "Permission denied"


def _copy(path: str, tables: Tables) -> sqlite3.Connection:
    """A copy in memory of a file that can only be read. Raises sqlite3.Error when not even that."""
    from urllib.parse import quote

    memory = _memory(tables)
    # `immutable`: without the lock files that a read-only folder does not take.
    source = sqlite3.connect(f"file:{quote(os.path.abspath(path))}?immutable=1", uri=True)
    try:
        source.backup(memory)
    finally:
        source.close()
    return memory


def _afresh(path: str, tables: Tables) -> sqlite3.Connection:
    for suffix in ("", "-wal", "-shm"):
        try:
            os.remove(f"{path}{suffix}")
        except FileNotFoundError:
            pass
    return _prepare(_connect(path), tables)


def _connect(path: str) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None, timeout=60)


def _memory(tables: Tables) -> sqlite3.Connection:
    return _prepare(_connect(":memory:"), tables)


def _prepare(database: sqlite3.Connection, tables: Tables) -> sqlite3.Connection:
    """Make the tables when they are missing."""
    if not database.execute("select 1 from sqlite_master where name = ?", (tables.last,)).fetchone():
        # Rows of some kilobytes are the rule: larger pages halve the time that it takes to read them.
        database.execute("pragma page_size = 16384")
        database.execute("pragma journal_mode = wal")
        database.executescript(tables.schema)
    database.execute("pragma synchronous = normal")
    # In pages: more than a cold run writes, so that it waits for the disk once, at its end.
    database.execute("pragma wal_autocheckpoint = 4000")
    return database
