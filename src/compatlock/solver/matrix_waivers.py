"""Whether waivers with evidence help where a cell of a matrix is impossible: the cheapest of them.

Every edge has those offers of `solver.priced` that rest on evidence: a known fact, or the package's own
history. Bounds that nothing speaks against are not on offer: almost any pair could be had by those.
"""

from __future__ import annotations

from compatlock.model.way_out import COST_LIFTED
from compatlock.solver.depth import frame
from compatlock.solver.matrix import Cells
from compatlock.solver.matrix_bundles import BundledTier
from compatlock.solver.priced import COST, _Priced, _PricedGuards
from compatlock.solver.search import Search

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence

    from compatlock.model.dependencies import Dependency
    from compatlock.model.request import Request
    from compatlock.solver.guards import WaiverGuards
    from compatlock.solver.matrix import CellAnswer, Step
    from compatlock.solver.priced import _Offer
    from compatlock.solver.universe import Need, Universe

# What one cell may take (see `solver.again.Effort`).
_EFFORT = 10_000
_NOTHING = 0
# With a release, so many older ones are taken in as far as they were read before.
_NEAR = 16


def waived_cells(universe: Universe, request: Request) -> Generator[Need, None, WaivedCells]:
    """Make ready for the cells of a request (see `solver.matrix.with_axes`); to be closed."""
    framed = yield from frame(universe, request)
    run = WaivedCells(universe, request, framed.newest, framed.depths)
    yield from run._begin()
    return run


class _EvidencedGuards(_PricedGuards):
    """Offers that rest on evidence only. `edge` is the one that the last was asked for."""

    edge: tuple[str, str] = ("", "")

    def bound(self, parent: str, extra: str, dependency: Dependency, side: str) -> list[int]:
        return [literal for literal in super().bound(parent, extra, dependency, side) if literal != _NOTHING]

    def _literal(self, key: tuple[str, ...], cost: int, offer: _Offer) -> int:
        if cost > COST_LIFTED:
            return _NOTHING
        self.edge = offer.package, offer.need.name
        return super()._literal(key, cost, offer)


class WaivedCells(Cells, _Priced):
    """Solves cells with waivers on offer."""

    most_variables = 1 << 30

    def _guards(self) -> WaiverGuards:
        self.looked_up = set()
        self._price = BundledTier(self.costs.tiers[0].tier, self.sat)
        assert self._price.tier.kind == COST
        self.costs.tiers[0] = self._price
        self._offers = _EvidencedGuards(
            self.sat, self.universe, self.request, self._on_waiver, self._on_price
        )
        self._guards_in_use = self.priced = self._offers
        return self.priced

    def _on_price(self, literal: int, cost: int) -> None:
        if cost:
            self._price.add_to(self._offers.edge, literal, cost)

    def _ahead(self, missing: Sequence[tuple[str, int]]) -> Iterable[tuple[str, int]]:
        # Not all that was read before: with an offer for every edge it makes each call of the solver slower.
        yield from Search._ahead(self, missing)
        for name, index in missing:
            package = self.universe.packages[name]
            for older in range(index + 1, min(package.size, index + _NEAR)):
                if older not in package.gates and (name, older) in self.universe.dependencies:
                    yield name, older

    def solve(self, *steps: Step) -> Generator[Need, None, CellAnswer | None]:
        """The best answer with the packages at these steps and the cheapest waivers; None when there is
        none. Raises SearchGivenUp when that takes too much."""
        self.most = self.effort + _EFFORT * (1 + self.sat.variables // 5000)
        return (yield from super().solve(*steps))
