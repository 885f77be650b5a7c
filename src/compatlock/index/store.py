"""The on-disk store: what an index said, digested, and what was derived from it for targets.

It is only a cache: versioned by its file name, every row checksummed with its key (a damaged one counts
as missing), safe to delete at any time and to share between processes. Writes are gathered and made in
short transactions, so that a killed run leaves either all of a batch or nothing. Nothing is ever
unpickled; rows are JSON, the long ones compressed.
"""

from __future__ import annotations

import json
import os
from collections.abc import MutableMapping
from time import monotonic
from zlib import crc32

from compatlock.index.database import Database
from compatlock.model.listing import ABSENT, File, Listing, Release, Skipped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

FILE_NAME = "store-v10.sqlite"

# In seconds.
_OFTEN = 0.25

# How many keys a query asks for. Few different numbers, since every one is a statement to prepare, which
# takes as long as answering it; the last key fills up what is left.
_KEYS = (1, 10, 100)

_PACKAGES_QUERY = """
select l.project, l.fetched, l.digest, v.body, r.body from listing l
left join view v on v.source = l.source and v.key = ? and v.project = l.project and v.digest = l.digest
left join runs r on r.source = l.source and r.project = l.project and r.digest = l.digest
where l.source = ? and l.project in ({})
"""

# One statement, so that no other process writes in between.
_LISTING_QUERY = """
select l.digest, l.found, l.body, f.body from listing l
left join files f on f.source = l.source and f.project = l.project and f.digest = l.digest
where l.source = ? and l.project = ?
"""

_INSTALLABLE_QUERY = """
select project, version, digest, body from installable where source = ? and key = ? and project in ({})
"""

_decode = json.JSONDecoder().raw_decode


def _pack(value: Any, *key: str) -> bytes:
    body = json.dumps(value, separators=(",", ":"), ensure_ascii=True).encode("ascii")
    return _checksum(body, key) + body


def _unpack(blob: object, *key: str) -> Any:
    """The value of the row with this key, or None when it is absent or damaged (it is then made again)."""
    body = _checked(blob, key)
    return None if body is None else _decode(body.decode("ascii"))[0]


def _checked(blob: object, key: tuple[str, ...]) -> bytes | None:
    if not isinstance(blob, bytes) or len(blob) < 5 or blob[:4] != _checksum(blob[4:], key):
        return None
    return blob[4:]


def _checksum(body: bytes, key: tuple[str, ...]) -> bytes:
    return crc32(body, crc32("\n".join(key).encode())).to_bytes(4, "big")


class PackageRow:
    """What the store knows of a project for one view: `view` and `runs` are None when not made yet."""

    __slots__ = ("digest", "fetched", "runs", "view")

    def __init__(self, fetched: int, digest: str, view: Any, runs: dict[str, list[int]] | None) -> None:
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
        files = deflate(listing.encoded or encode_files(listing.releases))
        self._write(
            "insert or replace into files values(?,?,?,?)",
            source, project, digest, _checksum(files, (source, project, digest)) + files,
        )  # fmt: skip
        self._write(
            "insert or replace into listing values(?,?,?,?,?,?,?)",
            source, project, now, etag, digest, int(listing.found), _pack(head, source, project, digest),
        )  # fmt: skip

    def touch_listing(self, source: str, project: str, now: int) -> None:
        """Note that the listing is still what the index says at time `now`."""
        self._write("update listing set fetched = ? where source = ? and project = ?", now, source, project)

    def etag(self, source: str, project: str) -> str:
        """The entity tag of the stored listing, `""` when there is none."""
        row = self._database.row(
            "select etag from listing where source = ? and project = ?", (source, project)
        )
        return str(row[0] or "") if row else ""

    def listing(self, source: str, project: str) -> Listing | None:
        """The whole stored listing, or None."""
        row = self._database.row(_LISTING_QUERY, (source, project))
        if row is None:
            return None
        digest, found = str(row[0]), bool(row[1])
        head = _unpack(row[2], source, project, digest)
        files = _checked(row[3], (source, project, digest))
        if head is None or files is None:
            return None
        from compatlock.index.stored_listing import decode_files, inflate

        versions, skipped, *status = head
        releases = map(Release, versions, decode_files(inflate(files)))
        return Listing(project, tuple(releases), tuple(Skipped(*s) for s in skipped), found, digest, *status)

    def drop_damaged(self) -> None:
        """Forget the listings that cannot be read whole, so that they are fetched anew."""
        for source, project in self._database.rows("select source, project from listing", ()):
            if self.listing(source, project) is None:
                self._write("delete from listing where source = ? and project = ?", source, project)
        self.flush()

    def versions(self, source: str, project: str, digest: str) -> list[str] | None:
        """All release versions of the stored listing with this digest, newest first; None without it."""
        row = self._database.row(
            "select body from listing where source = ? and project = ? and digest = ?",
            (source, project, digest),
        )
        head = _unpack(row[0], source, project, digest) if row else None
        return None if head is None else list(head[0])

    def skipped(self, source: str, project: str, digest: str) -> tuple[Skipped, ...]:
        """The files of the stored listing with this digest that cannot be used; none without it."""
        row = self._database.row(
            "select body from listing where source = ? and project = ? and digest = ?",
            (source, project, digest),
        )
        head = _unpack(row[0], source, project, digest) if row else None
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
                    _unpack(view, source, view_key, project, digest),
                    _unpack(runs, source, project, digest),
                )
        return found

    def _select(self, query: str, parameters: tuple[str, ...], keys: Sequence[str]) -> Iterator[Any]:
        """The rows of a query that ends in "in ({})", for these keys."""
        for start in range(0, len(keys), _KEYS[-1]):
            some = [*keys[start : start + _KEYS[-1]]]
            count = next(count for count in _KEYS if count >= len(some))
            some += some[-1:] * (count - len(some))
            yield from self._database.rows(query.format(",".join("?" * count)), (*parameters, *some))

    def put_view(self, source: str, view_key: str, project: str, digest: str, view: Any) -> None:
        """Store a project's view for a target and policies."""
        self._write(
            "insert or replace into view values(?,?,?,?,?)",
            source, view_key, project, digest, _pack(view, source, view_key, project, digest),
        )  # fmt: skip

    def put_runs(self, source: str, project: str, digest: str, runs: dict[str, tuple[int, ...]]) -> None:
        """Store the specifiers answered so far over a project's full list of releases."""
        self._write(
            "insert or replace into runs values(?,?,?,?)",
            source, project, digest, _pack(runs, source, project, digest),
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
                files = _unpack(body, source, view_key, project, version, digest)
                if files is not None:
                    found[project] = [File(*f) for f in files]
        return found

    def put_installable(
        self, source: str, view_key: str, project: str, version: str, digest: str, files: Iterable[File]
    ) -> None:
        """Store which files of a release a target could install."""
        body = _pack(list(files), source, view_key, project, version, digest)
        self._write(
            "insert or replace into installable values(?,?,?,?,?,?)",
            source, view_key, project, version, digest, body,
        )  # fmt: skip

    # Metadata and edges

    def metadata(self, source: str, file_key: str) -> list[Any] | None:
        """The stored core metadata of a file, as fields of `model.metadata.Metadata`."""
        row = self._database.row(
            "select body from metadata where source = ? and file = ?", (source, file_key)
        )
        value: list[Any] | None = _unpack(row[0], source, file_key) if row else None
        return value

    def put_metadata(self, source: str, file_key: str, metadata: Iterable[Any]) -> None:
        """Store the core metadata of a file."""
        row = _pack(list(metadata), source, file_key)
        self._write("insert or replace into metadata values(?,?,?)", source, file_key, row)

    def edges(self, source: str, environment: str, file_keys: Sequence[str]) -> dict[str, list[Any]]:
        """The dependencies of files as evaluated for a marker environment, as `index.stored_edges` encodes
        them; those that are not stored are left out."""
        query = "select file, body from edges where source = ? and environment = ? and file in ({})"
        found = {}
        for key, body in self._select(query, (source, environment), file_keys):
            value = _unpack(body, source, environment, key)
            if value is not None:
                found[key] = value
        return found

    def put_edges(self, source: str, environment: str, file_key: str, edges: list[Any]) -> None:
        """Store evaluated dependencies."""
        self._write(
            "insert or replace into edges values(?,?,?,?)",
            source, environment, file_key, _pack(edges, source, environment, file_key),
        )  # fmt: skip

    def get_memo(self, key: str) -> str | None:
        """A memoised text."""
        row = self._database.row("select body from memo where key = ?", (key,))
        value: str | None = _unpack(row[0], key) if row else None
        return value

    def put_memo(self, key: str, value: str) -> None:
        """Memoise a text under a key that names all it depends on."""
        self._write("insert or replace into memo values(?,?)", key, _pack(value, key))


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
