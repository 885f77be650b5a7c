"""Finding ways out of a contradiction: every change of the design's list, each solved completely."""

from __future__ import annotations

from compatlock.api.drive import drive
from compatlock.api.why.other_cuda import newer_cuda, with_waivers
from compatlock.api.why.other_index import newer, targets
from compatlock.api.why.side_by_side import drive_side_by_side
from compatlock.errors import IndexUnavailable, SearchGivenUp
from compatlock.index.supply import CacheChanged
from compatlock.model import core as kinds
from compatlock.model.core import EDGE, URL
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.way_out import COST_LIFTED, DROP, MOVE, WAIVE
from compatlock.solver import ways_out as changes
from compatlock.solver.again import Effort
from compatlock.solver.cores import merged
from compatlock.solver.guards import Label
from compatlock.solver.universe import Universe
from compatlock.solver.ways_out import line_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from compatlock.index.supply import Supply
    from compatlock.model.core import Core
    from compatlock.model.request import Request
    from compatlock.model.way_out import WayOut
    from compatlock.solver.universe import Need
    from compatlock.solver.ways_out import Change, Solved

# What the searches for ways out may take together, and each at most (see `Effort`). Those for ways out that
# are of use are done with a small part of it; where almost all that a package ever released has to be read,
# what there is to find is of little use.
_TOGETHER = 8000
_EACH = 2000
# Of so many edges it is looked at whether dropping them helps, only to know whether there are other cores.
_LEFT = 2


class Found(NamedTuple):
    """`ways` ranked; `unfinished` says, as the user would write them, which changes were given up.
    `given_up` are sets of statements without which there is an answer (see `solver.cores`)."""

    ways: tuple[WayOut, ...]
    unfinished: tuple[str, ...] = ()
    given_up: tuple[frozenset[Label], ...] = ()


def ways_out(
    core: Core, request: Request, universe: Universe, supply: Supply, *, most_days: int | None = None
) -> Found:
    """The ways out of a contradiction, ranked (design, Semantics 4); ties by what the answers are worth.

    `most_days` is how far behind a root may be for a moved line to count (None: as far as it takes). A
    change that the index would have to be asked about while it cannot be is left out. Those that are likely
    to be of use are looked at first, since the effort for all together is limited.
    """
    finder = _Finder(core, universe, supply, most_days)
    waivers, drops = list(changes.waivers(request, core)), list(changes.drops(request, core))
    # Where no bound of the contradiction may be waived, no set of waivers helps.
    found = list(finder.solved((*changes.moves(request, core), *(waivers or drops))))
    found += newer(core, request, supply, finder.elsewhere)
    found += targets(core, request, supply, finder.elsewhere)
    speaks_of_cuda = any(edge.kind == kinds.TARGET for edge in core.edges)
    on_newer_cuda = list(finder.with_newer_cuda(request)) if speaks_of_cuda else []
    cheap = min((solved.way.cost for solved in found if solved.way.waivers), default=None)
    if waivers and (cheap is None or cheap > COST_LIFTED):
        # Two waivers with evidence cost less than one without. (Of sets that cost as much as a single waiver,
        # that one is the smallest.)
        cheapest = changes.cheapest_waivers(universe, request, core, finder.effort, cheap)
        alone = any(solved.way.waivers for solved in found)
        best = finder.attempt(cheapest, told="" if alone else "a set of waivers")
        if best is not None and best.way.waivers not in {solved.way.waivers for solved in found}:
            found.append(best)
    if not speaks_of_cuda and not any(solved.way.waivers for solved in found):
        # What the target runs may be part of another core.
        on_newer_cuda += finder.with_newer_cuda(request)
    rest: list[Solved] = []
    if waivers and not any(solved.way.waivers for solved in found):
        found += finder.solved(drops)
    elif waivers:
        # Where waivers help, what they leave of the core may be part of every core as well.
        waived = {(w.package, w.on) for solved in found for w in solved.way.waivers}
        left = [change for change in drops if not waived.issuperset(_edges(change))]
        unfinished = len(finder.unfinished)
        rest += finder.solved(left if len(left) <= _LEFT else ())
        del finder.unfinished[unfinished:]
    found += on_newer_cuda
    ways = tuple(solved.way for solved in sorted(found, key=lambda solved: solved.order))
    given_up = (statements_broken(solved.way, core, request) for solved in (*found, *rest))
    return Found(ways, tuple(finder.unfinished), tuple(filter(None, given_up)))


def _edges(change: Change) -> set[tuple[str, str]]:
    return {(dropped.package, dropped.on) for dropped in change.way.exclusions}


def statements_broken(way: WayOut, core: Core, request: Request) -> frozenset[Label]:
    """Statements of which a way out shows that all others together have an answer; none when it shows
    nothing of the kind."""
    if way.kind == MOVE:
        return frozenset(merged(Label(*edge[:7])) for edge in core.edges if line_of(edge) == way.replaces)
    if way.kind == DROP:
        return frozenset(
            merged(Label(*edge[:7]))
            for edge in core.edges
            if edge.kind in (EDGE, URL)
            and (edge.package, edge.on) in {(x.package, x.on) for x in way.exclusions}
        )
    if way.kind != WAIVE:
        return frozenset()
    # What the request permits to drop anyway is broken by none.
    permitted = {(w.package, w.on) for w in request.waivers}
    return frozenset(
        Label(EDGE, edge.package, edge.extra, edge.on)
        for edge in way.breaks
        if (edge.package, edge.on) not in permitted
    )


def _told(change: Change) -> str:
    """A change as the user would write it."""
    way = change.way
    if not way.accept:
        return f"another bound than `{way.replaces}`"
    return way.accept if "`" in way.accept else f"`{way.accept}`"


class _Finder:
    def __init__(self, core: Core, universe: Universe, supply: Supply, most_days: int | None) -> None:
        self._core = core
        self._universe = universe
        self._supply = supply
        self._most_days = most_days
        self.effort = Effort(_TOGETHER, _EACH)
        self.unfinished: list[str] = []

    def solved(self, attempts: Iterable[Change]) -> Iterator[Solved]:
        """The changes that help. As many are looked at side by side as the effort that is left is enough for,
        whatever each takes."""
        left = list(attempts)
        while left:
            width = max(1, self.effort.left // max(1, self.effort.each))
            some, left = left[:width], left[width:]
            searches = []
            for change in some:
                universe = self._universe
                if change.way.exclusions:
                    universe = universe.amended(change.request.amendments)
                searches.append((changes.solve(universe, change, self._core, self.effort), universe))
            for change, answer in zip(some, drive_side_by_side(searches, self._supply), strict=True):
                if isinstance(answer, SearchGivenUp):
                    self.unfinished.append(_told(change))
                elif not isinstance(answer, IndexUnavailable) and answer and self._is_recent(answer):
                    yield answer

    def with_newer_cuda(self, request: Request) -> Iterator[Solved]:
        """The answer for the nearest target that runs a newer CUDA, if need be with the cheapest waivers."""
        for change in newer_cuda(request):
            solved = self._attempt(change, self._universe)
            if solved is None:
                waived = changes.cheapest_waivers(self._universe, change.request, self._core, self.effort)
                found = self.attempt(waived)
                solved = found and with_waivers(change, found)
            if solved is not None:
                yield solved
                return

    def elsewhere(self, change: Change, supply: Supply) -> Solved | None:
        """The answer to a change under which the index is seen otherwise."""
        universe = Universe(change.request.amendments, supply.is_compiled, supply.is_elsewhere)
        return self._attempt(change, universe, supply)

    def _attempt(self, change: Change, universe: Universe, supply: Supply | None = None) -> Solved | None:
        run = changes.solve(universe, change, self._core, self.effort)
        return self.attempt(run, universe, supply, told=_told(change))

    def attempt(
        self,
        run: Generator[Need, None, Solved | None],
        universe: Universe | None = None,
        supply: Supply | None = None,
        told: str = "",
    ) -> Solved | None:
        """What a run finds; None also when the index cannot be asked for what it needs, or
        when it is given up: that is noted under `told`."""
        try:
            return drive(run, universe or self._universe, supply or self._supply)
        except CacheChanged:
            raise
        except SearchGivenUp:
            if told:
                self.unfinished.append(told)
            return None
        except IndexUnavailable:
            return None

    def _is_recent(self, solved: Solved) -> bool:
        return solved.way.kind != MOVE or self._most_days is None or solved.way.worst_lag <= self._most_days
