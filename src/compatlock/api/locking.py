"""From a request to a lock for one target: search, assemble, check."""

from __future__ import annotations

from compatlock.api.assemble import UNVERIFIED, Assembler, Chosen
from compatlock.api.drive import KeptSearch, drive_by
from compatlock.api.lag_guard import Limits, far_behind, guard, guarded, parse_limits, unexplained
from compatlock.api.verify import broken_soft_facts, violations
from compatlock.errors import LockInvalid, NoSolution
from compatlock.model import objective
from compatlock.model.lock import Lock
from compatlock.model.named_tuple import NamedTuple
from compatlock.solver.search import search
from compatlock.solver.universe import Universe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from compatlock.api.options import LockOptions
    from compatlock.api.request import Prepared
    from compatlock.index.supply import Supply
    from compatlock.model.building import Build
    from compatlock.model.request import Request
    from compatlock.model.unusable import Unusable
    from compatlock.solver.search import Solution
    from compatlock.solver.universe import Need

_PRESUMED = (
    "the proof presumes that no release which was not read admits a pre-release or yanked release of {}"
)


class Outcome(NamedTuple):
    """A lock, numbers about how it was found (for `-v` and benchmarks), news of the run, which are no
    property of the lock, the releases of its packages that the search had to pass over, of a lock for several
    targets those of the single ones, and what was built."""

    lock: Lock
    counters: dict[str, int]
    news: tuple[str, ...] = ()
    unusable: tuple[Unusable, ...] = ()
    parts: tuple[Lock, ...] = ()
    builds: tuple[Build, ...] = ()


def lock_with(options: LockOptions, prepared: Prepared, supply: Supply) -> Outcome:
    """Lock; if that is impossible and asked for, with waivers that have evidence. Raises as `make_lock`."""
    request, limits, draft = prepared.request, limits_of(options), draft_of(options, prepared)
    try:
        return _answer(request, supply, draft, limits)
    except NoSolution as error:
        if not options.auto_waive:
            raise
        from compatlock.api.why.contradiction import waivers_with_evidence

        waivers = tuple(sorted((*request.waivers, *waivers_with_evidence(error))))
        return _answer(request._replace(waivers=waivers), supply, draft, limits)


def limits_of(options: LockOptions) -> Limits:
    """How far behind things may be."""
    return parse_limits(options.max_lag) if options.max_lag else Limits()


def draft_of(options: LockOptions, prepared: Prepared) -> Lock:
    """A lock that says what was asked, and nothing of an answer."""
    return Lock(
        pins=(),
        edges=(),
        # Indexes that files name are said like those of the environment: a check of the lock asks them.
        command=options._replace(indexes=prepared.indexes).command(),
        target=str(prepared.request.target),
        strategy=prepared.request.strategy,
        notes=prepared.notes,
    )


def _answer(request: Request, supply: Supply, draft: Lock, limits: Limits) -> Outcome:
    """Search and check."""
    universe = Universe(request.amendments, supply.is_compiled, supply.is_elsewhere)
    kept = KeptSearch(request, universe, supply)
    try:
        outcome = _solve(request, kept, supply, draft, limits)
        outcome = finished(outcome, request, universe, supply, kept)
    except NoSolution as error:
        error.hints += _without_effect(request, universe, supply)
        raise
    finally:
        kept.close()
    if request.prefer:
        from compatlock.api.why.idle_waivers import idle_preferences

        # Not of several targets: what one of them does not need another one may.
        outcome = outcome._replace(news=(*outcome.news, *idle_preferences(request, universe)))
    return outcome


def finished(
    outcome: Outcome, request: Request, universe: Universe, supply: Supply, kept: KeptSearch | None = None
) -> Outcome:
    """The outcome of a search with remarks, checked; `kept` is the search, if it is still at hand. Raises
    LockInvalid."""
    if request.amendments or request.waivers:
        outcome = _with_remarks(outcome, request, supply)
    outcome = outcome._replace(news=(*outcome.news, *_without_effect(request, universe, supply)))
    if request.strategy == "optimal":
        told = _what_is_behind(outcome.lock, request, supply, kept or KeptSearch(request, universe, supply))
        outcome = outcome._replace(news=(*outcome.news, *told))
    found = violations(outcome.lock, request, supply)
    if found:
        raise LockInvalid("the answer did not pass the check; nothing was written", violations=found)
    if request.hashes:
        from compatlock.api.allowed_files import restricted

        outcome = outcome._replace(lock=restricted(outcome.lock, request.hashes))
    supply.save()
    if any(release.problem for release in universe.dependencies.values()):
        from compatlock.api.why.unusable import unusable_releases

        outcome = outcome._replace(unusable=unusable_releases(universe, outcome.lock.versions))
    builder = supply.builder
    if builder is not None or any(UNVERIFIED in pin.notes for pin in outcome.lock.pins):
        from compatlock.api.build_words import build_news

        builds = builder.builds if builder is not None else ()
        news = (*outcome.news, *build_news(outcome.lock, supply, builds))
        outcome = outcome._replace(news=news, builds=tuple(builds))
    return outcome


def _what_is_behind(lock: Lock, request: Request, supply: Supply, kept: KeptSearch) -> Iterator[str]:
    yield from unexplained(lock, request)
    far = far_behind(kept.universe, request, lock)
    if far:
        from compatlock.api.why.remarks import prices_of_freeing

        yield from prices_of_freeing(far, lock, request, supply, kept)


def _without_effect(request: Request, universe: Universe, supply: Supply) -> tuple[str, ...]:
    """Remarks on waivers and exclusions that do nothing."""
    if not request.exclusions and all(w.source.startswith("profile ") for w in request.waivers):
        return ()
    from compatlock.api.why.idle_waivers import idle_exclusions, idle_waivers

    return (*idle_waivers(request, universe), *idle_exclusions(request, universe, supply))


def _with_remarks(outcome: Outcome, request: Request, supply: Supply) -> Outcome:
    if not request.waivers and not request.overrides and not request.amendments:
        return outcome._replace(lock=outcome.lock._replace(notes=tuple(sorted(outcome.lock.notes))))
    from compatlock.api.why.remarks import (
        edge_override_notes,
        exclusion_notes,
        override_notes,
        unneeded_waivers,
    )

    notes = [*override_notes(outcome.lock, request, supply), *edge_override_notes(outcome.lock, request)]
    if request.exclusions:
        notes += exclusion_notes(outcome.lock, request, supply)
    lock = outcome.lock._replace(notes=tuple(sorted((*outcome.lock.notes, *notes))))
    return outcome._replace(lock=lock, news=unneeded_waivers(lock, request, supply))


def _solve(request: Request, kept: KeptSearch, supply: Supply, draft: Lock, limits: Limits) -> Outcome:
    universe = kept.universe
    if request.strategy == "greedy":
        return _solve_greedily(request, kept, supply, draft, limits)
    if request.resolution != "highest":
        return _solve_for_the_lowest(request, universe, supply, draft, limits)
    solution = kept.best()
    if solution is None:
        raise no_solution(request, universe, supply, limits)
    solution = _guarded(request, kept, supply, solution, limits)
    return assembled(solution, request, universe, supply, draft)


def assembled(
    solution: Solution, request: Request, universe: Universe, supply: Supply, draft: Lock
) -> Outcome:
    """The lock that a solution is, not checked yet."""
    chosen = Chosen(solution.chosen, solution.extras, solution.newest)
    # How much an older lock changed is news of the run, not a property of the lock.
    tiers = tuple(t for t in solution.tiers if t.name != objective.CHANGED_PINS)
    presumed = [_PRESUMED.format(", ".join(solution.presumed))] if solution.presumed else []
    draft = draft._replace(objective=tiers, notes=(*draft.notes, *presumed))
    lock = Assembler(request, universe, supply, chosen).lock(draft, solution.broken)
    return Outcome(lock, solution.counters)


def _guarded(
    request: Request, kept: KeptSearch, supply: Supply, solution: Solution, limits: Limits
) -> Solution:
    """The answer, if need be the best one in which nothing is older than it may be. Raises NoSolution when
    there is none, unless a bound of the user's own is the reason."""
    universe = kept.universe
    found = guarded(universe, request, solution, limits)
    if not any(each.is_too_old for each in found):
        return solution
    narrowed = guard(universe, request, found)
    if request.strategy == "greedy":
        from compatlock.api.greedily import solve_greedily

        recent = solve_greedily(narrowed, universe, supply)
    else:
        recent = kept.bounded(narrowed.constraints[len(request.constraints) :])
    if recent is not None:
        return recent
    from compatlock.api.why.contradiction import too_old

    error = too_old(request, narrowed, universe, supply, solution, found, limits)
    if error is not None:
        raise error
    return solution


def _solve_for_the_lowest(
    request: Request, universe: Universe, supply: Supply, draft: Lock, limits: Limits
) -> Outcome:
    """The lowest versions that work. (That they are old is what is asked for: there is no guard.)"""
    from compatlock.solver.lowest import Turned, distances

    turned = Turned(universe, request)

    def read(need: Need) -> None:
        universe.add(supply.packages(need.packages), supply.dependencies(need.releases))

    solution = drive_by(search(turned.turned, turned.request), lambda need: turned.answer(need, read))
    if solution is None:
        raise no_solution(request, universe, supply, limits)
    outcome = assembled(turned.solution(solution), request, universe, supply, draft)
    return outcome._replace(lock=distances(outcome.lock))


def _solve_greedily(
    request: Request, kept: KeptSearch, supply: Supply, draft: Lock, limits: Limits
) -> Outcome:
    from compatlock.api.greedily import solve_greedily

    universe = kept.universe
    solution = solve_greedily(request, universe, supply)
    if solution is None:
        raise no_solution(request, universe, supply, limits)
    solution = _guarded(request, kept, supply, solution, limits)
    assembler = Assembler(request, universe, supply, Chosen(solution.chosen, solution.extras, {}))
    broken = broken_soft_facts(assembler.lock(draft, ()), request, supply)
    return Outcome(assembler.lock(draft, broken), {})


def no_solution(request: Request, universe: Universe, supply: Supply, limits: Limits) -> NoSolution:
    """Why there is no answer, and what would help."""
    from compatlock.api.why.contradiction import contradiction

    return contradiction(request, universe, supply, limits)
