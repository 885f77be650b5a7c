"""Locking over the recorded snapshot of the cases' index, or over the real one while that is recorded."""

from __future__ import annotations

import time
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from compatlock.api.make import make_lock
from compatlock.api.options import LockOptions
from compatlock.api.session import source_of
from compatlock.index.snapshot import Snapshot
from compatlock.index.store import Store
from compatlock.model.lock import Lock

DOCUMENT = Path(__file__).parent / "cases.json.xz"


class Recording(NamedTuple):
    """A recording under way: the cache to use, and what was read so far."""

    cache: str
    snapshot: Snapshot


_under_way: list[Recording] = []


def start_recording(cache: str) -> Snapshot:
    """From now on lock over the real index, and add what is read to the snapshot that is returned."""
    _under_way.append(Recording(cache, Snapshot()))
    return _under_way[-1].snapshot


@lru_cache(maxsize=1)
def recorded() -> Store:
    """A store that holds the recorded snapshot."""
    store = Store(None)
    snapshot = Snapshot.load(DOCUMENT.read_bytes(), DOCUMENT.name)
    snapshot.fill(store, source_of(LockOptions()), int(time.time()))
    return store


def lock_recorded(options: LockOptions) -> Lock:
    """Lock over the snapshot. Raises what `make_lock` does, NotCached for what was not recorded."""
    if _under_way:
        recording = _under_way[-1]
        return make_lock(options._replace(cache_dir=recording.cache), on_read=recording.snapshot.record).lock
    return make_lock(options._replace(offline=True), store=recorded()).lock
