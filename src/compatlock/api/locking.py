"""Making a lock: prepare, search, assemble, check."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from compatlock.api.assemble import Assembler, Chosen
from compatlock.api.drive import drive
from compatlock.api.lag_guard import NOTABLE_DAYS, Limits, guard, guarded, parse_limits
from compatlock.api.request import Prepared, prepare
from compatlock.api.verify import broken_soft_facts, violations
from compatlock.errors import LockInvalid, NoSolution
from compatlock.index.indexes import IndexSet
from compatlock.index.lazy_network import LazyNetwork
from compatlock.index.store import Store
from compatlock.index.supply import CacheChanged, IndexChanged, Supply
from compatlock.model import objective
from compatlock.model.lock import Lock
from compatlock.solver.search import search
from compatlock.solver.universe import Universe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from compatlock.api.options import LockOptions
    from compatlock.index.progress import Progress
    from compatlock.model.request import Request
    from compatlock.model.unusable import Unusable
    from compatlock.solver.search import Solution
    from compatlock.solver.universe import Need

Result = TypeVar("Result")

_PRESUMED = (
    "the proof presumes that no release which was not read admits a pre-release or yanked release of {}"
)


class Outcome(NamedTuple):
    """A lock, numbers about how it was found (for `-v` and benchmarks), news of the run, which are no
    property of the lock, and the releases of its packages that the search had to pass over."""

    lock: Lock
    counters: dict[str, int]
    news: tuple[str, ...] = ()
    unusable: tuple[Unusable, ...] = ()


def source_of(options: LockOptions) -> str:
    """What the store files the answers of the options' only index under."""
    return IndexSet(options.indexes).source(0)


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
    refuses the answer.
    """

    def work(prepared: Prepared, supply: Supply) -> Outcome:
        pins: Mapping[str, str] = {}
        try:
            outcome = lock_with(options, prepared, supply)
            pins = outcome.lock.versions
            return outcome
        finally:
            if on_read is not None:
                on_read(supply, pins)

    return with_supply(options, work, on_progress=on_progress, store=store)


def with_supply(
    options: LockOptions,
    work: Callable[[Prepared, Supply], Result],
    *,
    on_progress: Callable[[Progress], None] | None = None,
    store: Store | None = None,
    needs_roots: bool = True,
) -> Result:
    """Return what `work` makes of the request and of what answers its needs. It is begun again when the
    store turns out to be damaged, or changes meanwhile. Raises as `make_lock`, and what `work` raises."""
    used = store or Store(options.cache_directory())
    network = None
    try:
        prepared = prepare(options, used.memo, needs_roots=needs_roots)
        request = prepared.request
        if not options.offline:
            indexes = IndexSet(options.indexes).all
            network = LazyNetwork(indexes, on_progress, timeout=options.timeout, cert=options.cert)
        heals = [used.drop_damaged] if options.offline else [used.drop_damaged, used.start_afresh]
        refresh = options.refresh
        while True:
            try:
                supply = Supply(
                    used,
                    IndexSet(options.indexes),
                    request.target,
                    request.policy,
                    network,
                    refresh=refresh,
                )
                return work(prepared, supply)
            except IndexChanged:
                # What the cache held was old: believe none of it in the next attempt.
                refresh = True
            except CacheChanged:
                if not heals:
                    raise
                heals.pop(0)()
    finally:
        if network is not None:
            network.close()
        if store is None:
            used.close()


def lock_with(options: LockOptions, prepared: Prepared, supply: Supply) -> Outcome:
    """Lock; if that is impossible and asked for, with waivers that have evidence."""
    request = prepared.request
    limits = parse_limits(options.max_lag) if options.max_lag else Limits()
    draft = Lock(
        pins=(),
        edges=(),
        command=options.command(),
        target=str(request.target),
        strategy=request.strategy,
        notes=prepared.notes,
    )
    try:
        return _answer(request, supply, draft, limits)
    except NoSolution as error:
        if not options.auto_waive:
            raise
        from compatlock.api.contradiction import waivers_with_evidence

        waivers = tuple(sorted((*request.waivers, *waivers_with_evidence(error))))
        return _answer(request._replace(waivers=waivers), supply, draft, limits)


def _answer(request: Request, supply: Supply, draft: Lock, limits: Limits) -> Outcome:
    """Search and check."""
    universe = Universe(request.amendments, supply.is_compiled, supply.is_elsewhere)
    outcome = _solve(request, universe, supply, draft, limits)
    if request.overrides or request.waivers:
        outcome = _with_remarks(outcome, request, supply)
    if request.strategy == "optimal" and any(
        p.is_root and p.lag_days >= NOTABLE_DAYS for p in outcome.lock.pins
    ):
        from compatlock.api.remarks import prices_of_freeing

        told = prices_of_freeing(outcome.lock, request, supply)
        outcome = outcome._replace(news=(*outcome.news, *told))
    found = violations(outcome.lock, request, supply)
    if found:
        raise LockInvalid("the answer did not pass the check; nothing was written", violations=found)
    supply.save()
    if any(release.problem for release in universe.dependencies.values()):
        from compatlock.api.unusable import unusable_releases

        outcome = outcome._replace(unusable=unusable_releases(universe, outcome.lock.versions))
    return outcome


def _with_remarks(outcome: Outcome, request: Request, supply: Supply) -> Outcome:
    from compatlock.api.remarks import override_notes, unneeded_waivers

    notes = tuple(override_notes(outcome.lock, request, supply))
    lock = outcome.lock._replace(notes=tuple(sorted((*outcome.lock.notes, *notes))))
    return outcome._replace(lock=lock, news=unneeded_waivers(lock, request, supply))


def _solve(request: Request, universe: Universe, supply: Supply, draft: Lock, limits: Limits) -> Outcome:
    if request.strategy == "greedy":
        return _solve_greedily(request, universe, supply, draft, limits)
    solution = drive(search(universe, request), universe, supply)
    if solution is None:
        raise _no_solution(request, universe, supply, limits)
    solution = _guarded(request, universe, supply, solution, limits)
    chosen = Chosen(solution.chosen, solution.extras, solution.newest)
    # How much an older lock changed is news of the run, not a property of the lock.
    tiers = tuple(t for t in solution.tiers if t.name != objective.CHANGED_PINS)
    presumed = [_PRESUMED.format(", ".join(solution.presumed))] if solution.presumed else []
    draft = draft._replace(objective=tiers, notes=(*draft.notes, *presumed))
    lock = Assembler(request, universe, supply, chosen).lock(draft, solution.broken)
    return Outcome(lock, solution.counters)


def _guarded(
    request: Request, universe: Universe, supply: Supply, solution: Solution, limits: Limits
) -> Solution:
    """The answer, if need be the best one in which nothing is older than it may be. Raises NoSolution when
    there is none, unless a bound of the user's own is the reason."""
    found = guarded(universe, request, solution, limits)
    if not any(each.is_too_old for each in found):
        return solution
    narrowed = guard(universe, request, found)
    recent = drive(search(universe, narrowed), universe, supply)
    if recent is not None:
        return recent
    from compatlock.api.contradiction import too_old

    error = too_old(request, narrowed, universe, supply, solution, found, limits)
    if error is not None:
        raise error
    return solution


def _solve_greedily(
    request: Request, universe: Universe, supply: Supply, draft: Lock, limits: Limits
) -> Outcome:
    from compatlock.solver.greedy import greedy

    def fetch(need: Need) -> None:
        universe.add(supply.packages(need.packages), supply.dependencies(need.releases))

    answer = greedy(universe, request, fetch)
    if answer is None:
        raise _no_solution(request, universe, supply, limits)
    assembler = Assembler(request, universe, supply, Chosen(answer.chosen, answer.extras, {}))
    broken = broken_soft_facts(assembler.lock(draft, ()), request, supply)
    return Outcome(assembler.lock(draft, broken), {})


def _no_solution(request: Request, universe: Universe, supply: Supply, limits: Limits) -> NoSolution:
    from compatlock.api.contradiction import contradiction

    return contradiction(request, universe, supply, limits)
