"""Finding ways out of a contradiction: every change of the design's list, each solved completely."""

from __future__ import annotations

from compatlock.api.drive import drive
from compatlock.api.other_index import newer, targets
from compatlock.errors import IndexUnavailable, SearchGivenUp
from compatlock.index.supply import CacheChanged
from compatlock.model.way_out import COST_LIFTED, MOVE
from compatlock.solver import ways_out as changes
from compatlock.solver.universe import Universe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from compatlock.index.supply import Supply
    from compatlock.model.core import Core
    from compatlock.model.request import Request
    from compatlock.model.way_out import WayOut
    from compatlock.solver.universe import Need
    from compatlock.solver.ways_out import Change, Solved


def ways_out(
    core: Core, request: Request, universe: Universe, supply: Supply, *, most_days: int | None = None
) -> tuple[WayOut, ...]:
    """The ways out of a contradiction, ranked (design, Semantics 4); ties by what the answers are worth.

    `most_days` is how far behind a root may be for a moved line to count (None: as far as it takes). A
    change that the index would have to be asked about while it cannot be is left out.
    """
    finder = _Finder(core, universe, supply, most_days)
    found = list(finder.solved(changes.waivers(request, core)))
    cheap = min((solved.way.cost for solved in found), default=None)
    if cheap is None or cheap > COST_LIFTED:
        # Two waivers with evidence cost less than one without.
        best = finder.attempt(changes.cheapest_waivers(universe, request, core))
        if best is not None and best.way.waivers not in {solved.way.waivers for solved in found}:
            found.append(best)
    found += finder.solved(changes.moves(request, core))
    found += newer(core, request, supply, finder.elsewhere)
    found += targets(core, request, supply, finder.elsewhere)
    if not any(solved.way.waivers for solved in found):
        found += finder.solved(changes.drops(request, core))
    return tuple(solved.way for solved in sorted(found, key=lambda solved: solved.order))


class _Finder:
    def __init__(self, core: Core, universe: Universe, supply: Supply, most_days: int | None) -> None:
        self._core = core
        self._universe = universe
        self._supply = supply
        self._most_days = most_days

    def solved(self, attempts: Iterable[Change]) -> Iterator[Solved]:
        """The changes that help."""
        for change in attempts:
            universe = self._universe
            if change.way.exclusions:
                universe = universe.amended(change.request.amendments)
            solved = self.attempt(changes.solve(universe, change, self._core), universe)
            if solved is not None and self._is_recent(solved):
                yield solved

    def elsewhere(self, change: Change, supply: Supply) -> Solved | None:
        """The answer to a change under which the index is seen otherwise."""
        universe = Universe(change.request.amendments, supply.is_compiled)
        return self.attempt(changes.solve(universe, change, self._core), universe, supply)

    def attempt(
        self,
        run: Generator[Need, None, Solved | None],
        universe: Universe | None = None,
        supply: Supply | None = None,
    ) -> Solved | None:
        """What a run finds; None also when the index cannot be asked for what it needs, or
        when it is given up."""
        try:
            return drive(run, universe or self._universe, supply or self._supply)
        except CacheChanged:
            raise
        except (IndexUnavailable, SearchGivenUp):
            return None

    def _is_recent(self, solved: Solved) -> bool:
        return solved.way.kind != MOVE or self._most_days is None or solved.way.worst_lag <= self._most_days
