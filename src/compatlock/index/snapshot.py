"""Recorded snapshots of an index: what runs read, small, replayed without a network.

A snapshot is a JSON document, compressed by xz unless people are to read it. It keeps file names, upload
times, Requires-Python, yanks and the metadata that was read, but no addresses. What does not compress is kept
only where it shows: hashes and sizes of the releases that a recorded lock pins; a file uploaded within an
hour of its release's first file gets that one's time.
"""

from __future__ import annotations

import json
import lzma

from compatlock.index.snapshot_reading import DEFAULTS, FORMAT, read_document
from compatlock.index.view import file_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from compatlock.index.store import Store
    from compatlock.index.supply import Supply
    from compatlock.model.listing import File, Listing, Release
    from compatlock.model.metadata import Metadata

# In seconds.
_SAME_TIME = 3600


class Snapshot:
    """Listings by project, and metadata by (project, file name)."""

    def __init__(self) -> None:
        self.listings: dict[str, Listing] = {}
        self.metadata: dict[tuple[str, str], Metadata] = {}
        self._pinned: set[tuple[str, str]] = set()

    def record(self, supply: Supply, pins: Mapping[str, str]) -> None:
        """Add what a run read; the files of `pins` keep their hashes."""
        self._pinned.update(pins.items())
        for listing in supply.listings_read():
            self.listings[listing.project] = listing
        for project, file, metadata in supply.metadata_read():
            self.metadata[project, file.filename] = metadata

    def dump(self, *, plain: bool = False) -> bytes:
        """The snapshot as a document, JSON as it is or compressed."""
        value = {
            "format": FORMAT,
            "projects": {name: self._encode(self.listings[name]) for name in sorted(self.listings)},
            "metadata": [[*key, *self.metadata[key]] for key in sorted(self.metadata)],
        }
        text = json.dumps(value, separators=(",", ":")).encode()
        return text + b"\n" if plain else lzma.compress(text, preset=9)

    def _encode(self, listing: Listing) -> list[Any] | None:
        if not listing.found:
            return None
        return [
            self._encode_release(release, pinned=(listing.project, release.version) in self._pinned)
            for release in listing.releases
        ]

    def _encode_release(self, release: Release, *, pinned: bool) -> list[Any]:
        times = [file.upload_time for file in release.files if file.upload_time is not None]
        first = min(times, default=None)
        files = [self._encode_file(file, first, pinned) for file in release.files]
        return [release.version, first, files]

    def _encode_file(self, file: File, first: int | None, pinned: bool) -> list[Any]:
        time = None if file.upload_time is None or first is None else file.upload_time - first
        if time is not None and time < _SAME_TIME:
            time = 0
        size, digest = (file.size, file.sha256) if pinned else (0, "")
        fields = [file.filename, file.requires_python, time, file.yanked, size, digest]
        while tuple(fields[len(fields) - 1 :]) == DEFAULTS[len(fields) - 2 : len(fields) - 1]:
            fields.pop()
        return fields

    @classmethod
    def load(cls, document: bytes, origin: str) -> Snapshot:
        """Read a document, compressed or not; `origin` names it in messages. Raises InputError when it is no
        snapshot, or when an entry of it is wrong."""
        snapshot = cls()
        snapshot.listings, snapshot.metadata = read_document(document, origin)
        return snapshot

    def fill(self, store: Store, source: str, now: int) -> None:
        """Put everything into a store, as if index `source` had said it at time `now`."""
        for name, listing in self.listings.items():
            store.put_listing(source, listing, "", now)
            for release in listing.releases:
                for file in release.files:
                    metadata = self.metadata.get((name, file.filename))
                    if metadata is not None:
                        store.put_metadata(source, file_key(file), metadata)
        store.flush()
