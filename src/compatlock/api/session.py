"""One run: the request, and what answers its needs from the cache and the indexes."""

from __future__ import annotations

from functools import partial

from compatlock.api.request import Prepared, prepare
from compatlock.errors import NotCached
from compatlock.index.indexes import IndexSet
from compatlock.index.store import Store
from compatlock.index.supply import CacheChanged, IndexChanged, Supply
from compatlock.model.index import Indexes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from compatlock.api.builds import SdistBuilder
    from compatlock.api.options import LockOptions
    from compatlock.index.progress import Progress

    Result = TypeVar("Result")


def source_of(options: LockOptions) -> str:
    """What the store files the answers of the options' only index under."""
    return IndexSet(options.indexes).source(0)


def with_supply(
    options: LockOptions,
    work: Callable[[Prepared, Supply], Result],
    *,
    on_progress: Callable[[Progress], None] | None = None,
    store: Store | None = None,
    needs_roots: bool = True,
) -> Result:
    """Return what `work` makes of the request and of what answers its needs. It is begun again when the
    store turns out to be damaged, or changes meanwhile. Raises InputError, IndexUnavailable (NotCached when
    offline, or when a snapshot does not hold what is needed), and what `work` raises."""
    used = store or (store_of_snapshot(options) if options.snapshot else Store(options.cache_directory()))
    try:
        if options.snapshot:
            return _replayed(options, work, used, needs_roots=needs_roots)
        return _answered(options, work, used, on_progress=on_progress, needs_roots=needs_roots)
    finally:
        if store is None:
            used.close()


def _answered(
    options: LockOptions,
    work: Callable[[Prepared, Supply], Result],
    used: Store,
    *,
    on_progress: Callable[[Progress], None] | None = None,
    needs_roots: bool,
) -> Result:
    network = None
    try:
        prepared = prepare(options, used.memo, needs_roots=needs_roots)
        if options.snapshot:
            # It stands for whatever index there was, also for one that a file names.
            prepared = prepared._replace(indexes=Indexes(options.indexes.default))
        request = prepared.request
        if not options.offline:
            from compatlock.index.lazy_network import LazyNetwork

            indexes = IndexSet(prepared.indexes).all
            network = LazyNetwork(indexes, on_progress, timeout=options.timeout, cert=options.cert)
        builder = _builder(options, prepared, on_progress) if options.allow_builds else None
        heals = [used.drop_damaged] if options.offline else [used.drop_damaged, used.start_afresh]
        refresh = options.refresh
        while True:
            try:
                supply = Supply(
                    used,
                    IndexSet(prepared.indexes),
                    request.target,
                    request.policy,
                    network,
                    refresh=refresh,
                    builder=builder,
                )
                supply.expected = (*request.roots, *request.constraints)
                if network is not None and on_progress is not None:
                    supply.tell = partial(_tell, on_progress)
                return work(prepared, supply)
            except IndexChanged:
                # What the cache held was old: believe none of it in the next attempt.
                refresh = True
            except CacheChanged:
                if not heals:
                    raise
                heals.pop(0)()
            if network is not None:
                # What is still under way is for a supply that is none any more.
                network.abandon()
    finally:
        if network is not None:
            network.close()


def _tell(on_progress: Callable[[Progress], None], stage: str) -> None:
    from compatlock.index.progress import Progress

    on_progress(Progress("", 0, 0, 0, 0, stage=stage))


def _builder(
    options: LockOptions, prepared: Prepared, on_progress: Callable[[Progress], None] | None
) -> SdistBuilder:
    from compatlock.api.builds import SdistBuilder
    from compatlock.api.policies import builds_allowed

    allowed, policy = builds_allowed(options), prepared.request.policy
    return SdistBuilder(allowed, options, prepared.indexes, policy, on_progress)


def store_of_snapshot(options: LockOptions) -> Store:
    """A store in memory that holds the options' snapshot; to be closed. Raises InputError."""
    import time

    from compatlock.index.snapshot import Snapshot
    from compatlock.inputs.file_bytes import read_bytes

    snapshot = Snapshot.load(read_bytes(options.snapshot, "snapshot"), options.snapshot)
    store = Store(None)
    snapshot.fill(store, source_of(options), int(time.time()))
    return store


def _replayed(
    options: LockOptions,
    work: Callable[[Prepared, Supply], Result],
    used: Store,
    *,
    needs_roots: bool,
) -> Result:
    """The same, with a recorded snapshot in the place of the index and the cache."""
    try:
        offline = options._replace(offline=True)
        return _answered(offline, work, used, needs_roots=needs_roots)
    except NotCached as error:
        raise NotCached(
            error.message.replace("offline, and the cache", options.snapshot),
            hints=[
                "record it again with the same requirements: `compatlock snapshot`, or for a matrix "
                "`compatlock matrix --record`"
            ],
        ) from None
