"""Recording what a run reads of an index, to be replayed without it."""

from __future__ import annotations

from compatlock.api.make import make_lock
from compatlock.errors import InputError, NoSolution
from compatlock.index.snapshot import Snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from compatlock.api.matrix.matrix import MatrixOptions, MatrixProgress
    from compatlock.api.options import LockOptions
    from compatlock.index.progress import Progress
    from compatlock.index.supply import Supply
    from compatlock.model.matrix import Matrix


def record(
    options: LockOptions, *, on_progress: Callable[[Progress], None] | None = None
) -> tuple[Snapshot, NoSolution | None]:
    """Lock what the options ask for, and return all that was read for it; when there is no answer, with what
    the explanation read, and why there is none. Raises what `make_lock` raises otherwise, InputError for
    several indexes."""
    snapshot = Snapshot()

    def keep(supply: Supply, pins: Mapping[str, str]) -> None:
        # Files may name further indexes too.
        _demand_one(several=not supply.indexes.is_single)
        snapshot.record(supply, pins)

    _demand_one(several=bool(options.indexes.extra or options.indexes.assigned))
    try:
        make_lock(options, on_progress=on_progress, on_read=keep)
    except NoSolution as failure:
        return snapshot, failure  # What there is to see is recorded.
    return snapshot, None


def record_matrices(
    options: LockOptions,
    wanted: MatrixOptions,
    *,
    on_progress: Callable[[MatrixProgress], None] | None = None,
) -> tuple[tuple[Matrix, ...], Snapshot]:
    """Make matrices in one process, and return them with all that was read for them. Raises what
    `make_matrices` raises, InputError for several indexes or processes and when parts would be taken from a
    file."""
    from compatlock.api.matrix.matrix import make_matrices

    if wanted.jobs > 1:
        raise InputError("what is recorded is read by one process", hints=["leave out `--jobs`"])
    if wanted.resume:
        raise InputError(
            "what parts from a file of finished ones read cannot be recorded", hints=["leave out `--resume`"]
        )
    snapshot = Snapshot()

    def keep(supply: Supply) -> None:
        _demand_one(several=not supply.indexes.is_single)
        snapshot.record(supply, {})

    _demand_one(several=bool(options.indexes.extra or options.indexes.assigned))
    return make_matrices(options, wanted, on_progress=on_progress, on_read=keep), snapshot


def _demand_one(*, several: bool) -> None:
    if several:
        raise InputError(
            "a snapshot is of one index, and several are in use",
            hints=["leave out `--index` and `--index-for`, and the settings that name further ones"],
        )
