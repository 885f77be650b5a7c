"""Recording what a run reads of an index, to be replayed without it."""

from __future__ import annotations

from compatlock.api.make import make_lock
from compatlock.errors import InputError, NoSolution
from compatlock.index.snapshot import Snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from compatlock.api.options import LockOptions
    from compatlock.index.progress import Progress
    from compatlock.index.supply import Supply


def record(options: LockOptions, *, on_progress: Callable[[Progress], None] | None = None) -> Snapshot:
    """Lock what the options ask for, and return all that was read for it; when there is no answer, with what
    the explanation read. Raises what `make_lock` raises otherwise, InputError for several indexes."""
    snapshot = Snapshot()

    def keep(supply: Supply, pins: Mapping[str, str]) -> None:
        # Files may name further indexes too.
        _demand_one(several=not supply.indexes.is_single)
        snapshot.record(supply, pins)

    _demand_one(several=bool(options.indexes.extra or options.indexes.assigned))
    try:
        make_lock(options, on_progress=on_progress, on_read=keep)
    except NoSolution:
        pass  # What there is to see is recorded.
    return snapshot


def _demand_one(*, several: bool) -> None:
    if several:
        raise InputError(
            "a snapshot is of one index, and several are in use",
            hints=["leave out `--index` and `--index-for`, and the settings that name further ones"],
        )
