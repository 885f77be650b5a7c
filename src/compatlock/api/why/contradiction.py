"""No answer, or only an old one: the core in words, with ways out."""

from __future__ import annotations

from functools import partial

from compatlock.api.drive import drive
from compatlock.api.lag_guard import accepting, is_guard, is_held_by_user
from compatlock.api.why.apart import apart
from compatlock.api.why.obstacles import obstacles
from compatlock.api.why.unusable import unusable_files, unusable_releases
from compatlock.api.why.ways_out import Found, ways_out
from compatlock.api.why.words import no_solution
from compatlock.errors import IndexUnavailable
from compatlock.index.supply import CacheChanged
from compatlock.model.core import PROBLEM
from compatlock.model.way_out import ACCEPT_LAG, WAIVE, WayOut
from compatlock.solver.cores import CoreFinder, Cores
from compatlock.solver.guards import constraint_label
from compatlock.solver.ways_out import complete

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from compatlock.api.lag_guard import Guarded, Limits
    from compatlock.errors import NoSolution
    from compatlock.index.supply import Supply
    from compatlock.model.core import Core
    from compatlock.model.request import Request
    from compatlock.model.unusable import Unusable
    from compatlock.model.waiver import Waiver
    from compatlock.solver.guards import Label
    from compatlock.solver.search import Solution
    from compatlock.solver.universe import Universe

# So many changes that were given up are listed.
_LISTED = 4
_LOOKING = "{}, looking for ways out"


def contradiction(
    request: Request, universe: Universe, supply: Supply, limits: Limits, *, all_cores: bool = True
) -> NoSolution:
    """The error for a request that has no answer: the minimal cores (`all_cores` False: one of them), in
    words, and ways out."""
    finder = CoreFinder(universe, request)
    try:
        core = drive(finder.first(), universe, supply)
        supply.confirm(_packages(core))
        if all_cores:
            # Else it is a question beside an answer.
            supply.tell(_LOOKING.format("there is no answer"))
        found, unknown = _look_for_ways_out(core, request, universe, supply, limits)
        cores = Cores((core,), complete=False)
        if all_cores:
            cores = _all_cores(finder, core, found.given_up, supply)
    finally:
        finder.close()
    supply.save()
    error = no_solution(cores, request.target, partial(obstacles, supply), found.ways)
    error.hints += (*unknown, *_about_builds(cores.cores[0], universe, supply))
    error.unusable = _unusable(cores.cores[0], universe, supply)
    return error


def too_old(
    request: Request,
    narrowed: Request,
    universe: Universe,
    supply: Supply,
    solution: Solution,
    packages: Sequence[Guarded],
    limits: Limits,
) -> NoSolution | None:
    """The error for a request that has only answers in which packages are older than they may be: why no
    recent one is, and ways out. None when a pin or an upper bound of the user's own is a reason.

    `narrowed` is the request under the guard, `solution` the best answer without it.
    """
    finder = CoreFinder(universe, narrowed)
    try:
        core = drive(finder.first(), universe, supply)
        if is_held_by_user(core):
            return None
        supply.confirm(_packages(core))
        supply.tell(_LOOKING.format("there is no recent answer"))
        way = WayOut(ACCEPT_LAG, accepting(packages))
        accepted = drive(complete(way, universe, request, core, solution), universe, supply)
        # An old answer is what was asked for, and still of less use than recent ones apart.
        split = apart(core, narrowed, universe, supply)
        first = (split, accepted) if split is not None else (accepted,)
        found, unknown = _look_for_ways_out(core, narrowed, universe, supply, limits)
        lifted = frozenset(constraint_label(line) for line in narrowed.constraints if is_guard(line.origin))
        cores = _all_cores(finder, core, [lifted, *found.given_up], supply)
    finally:
        finder.close()
    supply.save()
    error = no_solution(cores, request.target, partial(obstacles, supply), (*first, *found.ways))
    error.hints += unknown
    error.unusable = _unusable(cores.cores[0], universe, supply)
    return error


def _all_cores(finder: CoreFinder, core: Core, given_up: Iterable[frozenset[Label]], supply: Supply) -> Cores:
    """All cores, without looking again at what is known to have answers; the one that is known when the index
    cannot be asked for more."""
    try:
        return drive(finder.all(given_up), finder.universe, supply)
    except CacheChanged:
        raise
    except IndexUnavailable:
        return Cores((core,), complete=False)


def _packages(core: Core) -> list[str]:
    """The packages that a core speaks of."""
    return sorted({name for edge in core.edges for name in (edge.package, edge.on) if name})


def _unusable(core: Core, universe: Universe, supply: Supply) -> tuple[Unusable, ...]:
    """What of the core's packages nobody can use."""
    packages = _packages(core)
    return (*unusable_releases(universe, packages), *unusable_files(supply, packages))


def _about_builds(core: Core, universe: Universe, supply: Supply) -> tuple[str, ...]:
    if not any(edge.kind == PROBLEM for edge in core.edges):
        return ()
    from compatlock.api.build_words import build_hints

    return tuple(build_hints(core, universe, supply))


def _look_for_ways_out(
    core: Core, request: Request, universe: Universe, supply: Supply, limits: Limits
) -> tuple[Found, tuple[str, ...]]:
    """Ways out, and hints about those that were not found out about: why there is no answer is known all the
    same."""
    try:
        found = ways_out(core, request, universe, supply, most_days=limits.default)
        return found, _given_up(found.unfinished)
    except IndexUnavailable as error:
        return Found(()), (f"ways out could not be looked for: {error.message}",)


def _given_up(unfinished: Sequence[str]) -> tuple[str, ...]:
    if not unfinished:
        return ()
    listed = ", ".join(unfinished[:_LISTED])
    more = f" and {len(unfinished) - _LISTED} more" if len(unfinished) > _LISTED else ""
    return (f"whether these help was not found out with a reasonable effort: {listed}{more}",)


def waivers_with_evidence(error: NoSolution) -> tuple[Waiver, ...]:
    """The waivers of the cheapest way out that rests on evidence. Raises the error when there is none."""
    for way in error.ways_out:
        if way.kind == WAIVE and way.has_evidence:
            return tuple(
                waiver._replace(reason=_reason(way, waiver), source="--auto-waive") for waiver in way.waivers
            )
    error.hints += ("`--auto-waive` waives nothing here: no way out rests on evidence",)
    raise error


def _reason(way: WayOut, waiver: Waiver) -> str:
    texts = (
        evidence.text
        for edge in way.breaks
        if (edge.package, edge.on) == (waiver.package, waiver.on)
        for evidence in edge.evidence
    )
    return next(texts, "")
