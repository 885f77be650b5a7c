"""What pip would choose, in the form of an answer of the search."""

from __future__ import annotations

from compatlock.api.drive import drive
from compatlock.solver.depth import frame
from compatlock.solver.greedy import greedy
from compatlock.solver.solution import Solution

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compatlock.index.supply import Supply
    from compatlock.model.request import Request
    from compatlock.solver.universe import Need, Universe


def solve_greedily(request: Request, universe: Universe, supply: Supply) -> Solution | None:
    """The greedy answer, without tiers since nothing is proved; None when there is no answer. Raises
    SearchGivenUp when none was found though there is one."""

    def fetch(need: Need) -> None:
        universe.add(supply.packages(need.packages), supply.dependencies(need.releases))

    answer = greedy(universe, request, fetch)
    if answer is None:
        return None
    framed = drive(frame(universe, request), universe, supply)
    return Solution(
        chosen=answer.chosen,
        extras=answer.extras,
        newest=framed.newest,
        depths=framed.depths,
        tiers=(),
        broken=(),
        presumed=(),
        proved=False,
        counters={},
    )
