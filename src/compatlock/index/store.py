"""The on-disk store: what an index said, digested, and what was derived from it for targets.

It is only a cache: versioned by its file name, every row checksummed with its key (a damaged one counts
as missing), safe to delete at any time and to share between processes. Writes are gathered and made in
short transactions, so that a killed run leaves either all of a batch or nothing. Nothing is ever
unpickled; what a warm run reads most is plain text, other rows are JSON, and files are compressed.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from time import monotonic
from zlib import crc32

from compatlock.index.database import Database
from compatlock.model.json_text import loads
from compatlock.model.listing import ABSENT, File, Listing, Skipped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

FILE_NAME = "store-v12.sqlite"

# In seconds.
_OFTEN = 0.25

# How many keys a query asks for. Few different numbers, since every one is a statement to prepare, which
# takes as long as answering it; the last key fills up what is left.
_KEYS = (1, 10, 100)

_PACKAGES_QUERY = """
select l.project, l.fetched, l.digest, v.body, r.body from listing l
left join view v on v.project = l.project and v.key = ? and v.source = l.source and v.digest = l.digest
left join runs r on r.project = l.project and r.source = l.source and r.digest = l.digest
where l.source = ? and l.project in ({})
"""

# One statement, so that no other process writes in between.
_LISTING_QUERY = """
select l.digest, l.found, l.body, f.body from listing l
left join files f on f.project = l.project and f.source = l.source and f.digest = l.digest
where l.project = ? and l.source = ?
"""

_INSTALLABLE_QUERY = """
select project, version, digest, body from installable where source = ? and key = ? and project in ({})
"""

# A row ends in the CRC-32 of its key and content, least byte first: that of the whole is then always this.
_INTACT = 0x2144DF1C


def _seal(body: bytes, *key: str) -> bytes:
    return body + crc32(body, _seed(key)).to_bytes(4, "little")


def _unseal(blob: object, *key: str) -> bytes | None:
    """The content of the row with this key, or None when it is absent or damaged (it is then made again)."""
    return blob[:-4] if isinstance(blob, bytes) and crc32(blob, _seed(key)) == _INTACT else None


def _seed(key: tuple[str, ...]) -> int:
    return crc32("\n".join(key).encode())


def _pack(value: Any, *key: str) -> bytes:
    import json

    return _seal(json.dumps(value, separators=(",", ":"), ensure_ascii=True).encode("ascii"), *key)


def _unpack(blob: object, *key: str) -> Any:
    body = _unseal(blob, *key)
    return None if body is None else loads(body.decode("ascii"))


def _pack_text(text: str, *key: str) -> bytes:
    return _seal(text.encode("utf-8", "surrogatepass"), *key)


def _unpack_text(blob: object, *key: str) -> str | None:
    body = _unseal(blob, *key)
    return None if body is None else body.decode("utf-8", "surrogatepass")


class PackageRow:
    """What the store knows of a project for one view: `view` and `runs` (see `index.stored_view` and
    `Answers` there) are None when not made yet."""

    __slots__ = ("digest", "fetched", "runs", "view")

    def __init__(self, fetched: int, digest: str, view: str | None, runs: str | None) -> None:
        self.fetched = fetched
        self.digest = digest
        self.view = view
        self.runs = runs

    @property
    def is_absent(self) -> bool:
        """Whether the index said that it does not have the project."""
        return self.digest == ABSENT


class Store:
    """One cache file. `directory` None keeps everything in memory (`--no-cache`)."""

    def __init__(self, directory: str | None) -> None:
        self._writes: list[tuple[str, tuple[Any, ...]]] = []
        self._flushed = monotonic()
        self._database = Database(None if directory is None else os.path.join(directory, FILE_NAME))
        self.memo: MutableMapping[str, str] = _Memo(self)

    def _write(self, statement: str, *parameters: Any) -> None:
        self._writes.append((statement, parameters))

    def flush(self) -> None:
        """Write what was gathered, whole or not at all."""
        if self._writes:
            self._database.write(self._writes)
            self._writes.clear()
        self._flushed = monotonic()

    def flush_soon(self) -> None:
        """Write what was gathered, unless that was done a moment ago: transactions cost more than rows. What
        is lost when a run is killed is asked for again."""
        if monotonic() - self._flushed > _OFTEN:
            self.flush()

    def start_afresh(self) -> None:
        """Throw the whole store away."""
        self._database.start_afresh()

    def close(self) -> None:
        """Write what was gathered and close the file."""
        self.flush()
        self._database.close()

    # Listings

    def put_listing(self, source: str, listing: Listing, etag: str, now: int) -> None:
        """Store what index `source` said of a project at time `now` (seconds since the epoch)."""
        from compatlock.index.sent_listing import versions_of
        from compatlock.index.stored_listing import deflate, encode_files

        project, digest = listing.project, listing.digest
        head = [versions_of(listing), listing.skipped, listing.status, listing.status_reason]
        files = listing.kept or deflate(encode_files(listing.releases))
        self._write(
            "insert or replace into files values(?,?,?,?)",
            project, source, digest, _seal(files, project, source, digest),
        )  # fmt: skip
        self._write(
            "insert or replace into listing values(?,?,?,?,?,?,?)",
            project, source, now, etag, digest, int(listing.found), _pack(head, project, source, digest),
        )  # fmt: skip

    def touch_listing(self, source: str, project: str, now: int) -> None:
        """Note that the listing is still what the index says at time `now`."""
        self._write("update listing set fetched = ? where project = ? and source = ?", now, project, source)

    def etag(self, source: str, project: str) -> str:
        """The entity tag of the stored listing, `""` when there is none."""
        row = self._database.row(
            "select etag from listing where project = ? and source = ?", (project, source)
        )
        return str(row[0] or "") if row else ""

    def listing(self, source: str, project: str) -> Listing | None:
        """The whole stored listing, or None."""
        row = self._database.row(_LISTING_QUERY, (project, source))
        if row is None:
            return None
        digest, found = str(row[0]), bool(row[1])
        key = (project, source, digest)
        head, files = _unpack(row[2], *key), _unseal(row[3], *key)
        if head is None or files is None:
            return None
        from compatlock.index.kept_listing import kept_releases

        versions, skipped, *status = head
        releases = kept_releases(project, versions, files)
        return Listing(project, releases, tuple(Skipped(*s) for s in skipped), found, digest, *status)

    def drop_damaged(self) -> None:
        """Forget the listings that cannot be read whole, so that they are fetched anew."""
        for source, project in self._database.rows("select source, project from listing", ()):
            if self.listing(source, project) is None:
                self._write("delete from listing where project = ? and source = ?", project, source)
        self.flush()

    def versions(self, source: str, project: str, digest: str) -> list[str] | None:
        """All release versions of the stored listing with this digest, newest first; None without it."""
        row = self._database.row(
            "select body from listing where project = ? and source = ? and digest = ?",
            (project, source, digest),
        )
        head = _unpack(row[0], project, source, digest) if row else None
        return None if head is None else list(head[0])

    def skipped(self, source: str, project: str, digest: str) -> tuple[Skipped, ...]:
        """The files of the stored listing with this digest that cannot be used; none without it."""
        row = self._database.row(
            "select body from listing where project = ? and source = ? and digest = ?",
            (project, source, digest),
        )
        head = _unpack(row[0], project, source, digest) if row else None
        return () if head is None else tuple(Skipped(*skipped) for skipped in head[1])

    # What is derived from listings

    def packages(self, source: str, view_key: str, projects: Sequence[str]) -> dict[str, PackageRow]:
        """The derived state of projects for one view; those whose listing is not stored are left out."""
        found = {}
        for row in self._select(_PACKAGES_QUERY, (view_key, source), projects):
            project, fetched, digest, view, runs = row
            if isinstance(fetched, int) and isinstance(digest, str):
                found[project] = PackageRow(
                    fetched,
                    digest,
                    _unpack_text(view, project, view_key, source, digest),
                    _unpack_text(runs, project, source, digest),
                )
        return found

    def _select(self, query: str, parameters: tuple[str, ...], keys: Sequence[str]) -> Iterator[Any]:
        """The rows of a query that ends in "in ({})", for these keys."""
        for start in range(0, len(keys), _KEYS[-1]):
            some = [*keys[start : start + _KEYS[-1]]]
            count = next(count for count in _KEYS if count >= len(some))
            some += some[-1:] * (count - len(some))
            yield from self._database.rows(query.format(",".join("?" * count)), (*parameters, *some))

    def put_view(self, source: str, view_key: str, project: str, digest: str, view: str) -> None:
        """Store a project's view for a target and policies."""
        self._write(
            "insert or replace into view values(?,?,?,?,?)",
            project, view_key, source, digest, _pack_text(view, project, view_key, source, digest),
        )  # fmt: skip

    def put_runs(self, source: str, project: str, digest: str, runs: str) -> None:
        """Store the specifiers answered so far over a project's full list of releases."""
        self._write(
            "insert or replace into runs values(?,?,?,?)",
            project, source, digest, _pack_text(runs, project, source, digest),
        )  # fmt: skip

    def installable(
        self, source: str, view_key: str, releases: Mapping[str, tuple[str, str]]
    ) -> dict[str, list[File]]:
        """The files of a release of each project, `{project: (version, digest of the listing)}`, that the
        target could install, best first; those that are not stored are left out."""
        found = {}
        for row in self._select(_INSTALLABLE_QUERY, (source, view_key), list(releases)):
            project, version, digest, body = row
            if releases[project] == (version, digest):
                files = _unpack(body, project, view_key, source, version, digest)
                if files is not None:
                    found[project] = [File(*f) for f in files]
        return found

    def put_installable(
        self, source: str, view_key: str, project: str, version: str, digest: str, files: Iterable[File]
    ) -> None:
        """Store which files of a release a target could install."""
        body = _pack(list(files), project, view_key, source, version, digest)
        self._write(
            "insert or replace into installable values(?,?,?,?,?,?)",
            project, version, view_key, source, digest, body,
        )  # fmt: skip

    # Metadata and edges

    def metadata(self, source: str, file_key: str) -> list[Any] | None:
        """The stored core metadata of a file, as fields of `model.metadata.Metadata`."""
        row = self._database.row(
            "select body from metadata where file = ? and source = ?", (file_key, source)
        )
        value: list[Any] | None = _unpack(row[0], file_key, source) if row else None
        return value

    def put_metadata(self, source: str, file_key: str, metadata: Iterable[Any]) -> None:
        """Store the core metadata of a file."""
        row = _pack(list(metadata), file_key, source)
        self._write("insert or replace into metadata values(?,?,?)", file_key, source, row)

    def edges(self, source: str, environment: str, file_keys: Sequence[str]) -> dict[str, str]:
        """The dependencies of files as evaluated for a marker environment, as `index.stored_edges` encodes
        them; those that are not stored are left out."""
        query = "select file, body from edges where source = ? and environment = ? and file in ({})"
        found = {}
        for key, body in self._select(query, (source, environment), file_keys):
            value = _unpack_text(body, key, environment, source)
            if value is not None:
                found[key] = value
        return found

    def put_edges(self, source: str, environment: str, file_key: str, edges: str) -> None:
        """Store evaluated dependencies."""
        self._write(
            "insert or replace into edges values(?,?,?,?)",
            file_key, environment, source, _pack_text(edges, file_key, environment, source),
        )  # fmt: skip

    def get_memo(self, key: str) -> str | None:
        """A memoised text."""
        row = self._database.row("select body from memo where key = ?", (key,))
        return _unpack_text(row[0], "memo", key) if row else None

    def put_memo(self, key: str, value: str) -> None:
        """Memoise a text under a key that names all it depends on."""
        self._write("insert or replace into memo values(?,?)", key, _pack_text(value, "memo", key))


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
