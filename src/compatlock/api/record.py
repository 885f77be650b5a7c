"""Recording what a run reads of an index, to be replayed without it."""

from __future__ import annotations

from compatlock.api.make import make_lock
from compatlock.errors import InputError, NoSolution
from compatlock.index.snapshot import Snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from compatlock.api.options import LockOptions
    from compatlock.index.progress import Progress


def record(options: LockOptions, *, on_progress: Callable[[Progress], None] | None = None) -> Snapshot:
    """Lock what the options ask for, and return all that was read for it; when there is no answer, with what
    the explanation read. Raises what `make_lock` raises otherwise, InputError for several indexes."""
    if options.indexes.extra or options.indexes.assigned:
        raise InputError(
            "a snapshot is of one index, and several are in use",
            hints=["leave out `--index` and `--index-for`, and the settings that name further ones"],
        )
    snapshot = Snapshot()
    try:
        make_lock(options, on_progress=on_progress, on_read=snapshot.record)
    except NoSolution:
        pass  # What there is to see is recorded.
    return snapshot
