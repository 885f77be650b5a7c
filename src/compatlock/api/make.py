"""Making a lock: for one target or several, with an audit or without."""

from __future__ import annotations

from compatlock.api.locking import Outcome, lock_with
from compatlock.api.session import with_supply
from compatlock.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from compatlock.api.options import LockOptions
    from compatlock.api.request import Prepared
    from compatlock.index.progress import Progress
    from compatlock.index.store import Store
    from compatlock.index.supply import Supply
    from compatlock.model.target import Target


def make_lock(
    options: LockOptions,
    *,
    on_progress: Callable[[Progress], None] | None = None,
    store: Store | None = None,
    on_read: Callable[[Supply, Mapping[str, str]], None] | None = None,
) -> Outcome:
    """Lock what the options ask for.

    A given `store` is used instead of the cache, and left open. `on_read` is called at the end, also when
    there is no solution, with the supply (which tells what was read) and the pins, for snapshots.

    Raises InputError for bad input, IndexUnavailable (NotCached when offline) when the index cannot be
    asked, NoSolution when the requirements contradict each other, LockInvalid if the independent checker
    refuses the answer, AuditFailed when an audit was asked for and no answer passes it.
    """

    targets = _targets(options) if options.targets or options.universal else ()

    def work(prepared: Prepared, supply: Supply) -> Outcome:
        pins: Mapping[str, str] = {}
        try:
            outcome = _lock(options, targets, prepared, supply, on_progress)
            pins = outcome.lock.versions
            return outcome
        finally:
            if on_read is not None:
                on_read(supply, pins)

    session = options._replace(target=targets[0]) if targets else options
    return with_supply(session, work, on_progress=on_progress, store=store)


def _targets(options: LockOptions) -> tuple[Target, ...]:
    """The targets that options ask for, several or one that is named as such."""
    from compatlock.api.targets import targets_of

    targets = targets_of(options)
    if options.audit:
        hints = ["audit the lock of each target by itself"]
        raise InputError(f"`--audit` is for one target, not for {len(targets)}", hints=hints)
    return targets


def _lock(
    options: LockOptions,
    targets: Sequence[Target],
    prepared: Prepared,
    supply: Supply,
    on_progress: Callable[[Progress], None] | None,
) -> Outcome:
    if targets:
        from compatlock.api.several_targets import lock_targets

        return lock_targets(options, targets, supply)
    if options.audit:
        from compatlock.api.audit.learn import lock_audited

        return lock_audited(options, prepared, supply, on_progress=on_progress).outcome
    return lock_with(options, prepared, supply)
