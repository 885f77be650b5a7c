"""The way out for projects that exclude each other but need nothing of each other: an environment each."""

from __future__ import annotations

from compatlock.api.drive import drive
from compatlock.api.lag_guard import is_guard
from compatlock.errors import IndexUnavailable, SearchGivenUp
from compatlock.index.supply import CacheChanged
from compatlock.model import core as kinds
from compatlock.model.display import listed
from compatlock.model.way_out import SPLIT, WayOut
from compatlock.solver.again import Effort, search_again

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compatlock.index.supply import Supply
    from compatlock.model.core import Core
    from compatlock.model.request import Request
    from compatlock.solver.universe import Universe

# What the searches may take together, and each; those for projects that fit with themselves take little.
_TOGETHER = 3000
_EACH = 1500


def apart(core: Core, request: Request, universe: Universe, supply: Supply) -> WayOut | None:
    """Lock the user's projects that the core is about for an environment each, with all other lines.

    None when one of them needs another of them, so that they belong together, or cannot be locked even
    alone within the request's bounds.
    """
    names = _excluding(core)
    if len(names) < 2:
        return None
    effort = Effort(_TOGETHER, _EACH)
    pins: list[tuple[str, str]] = []
    worst = 0
    for name in names:
        others = set(names) - {name}
        alone = request._replace(
            roots=tuple(root for root in request.roots if root.name not in others), older={}
        )
        try:
            solution = drive(search_again(universe, alone, effort), universe, supply)
        except CacheChanged:
            raise
        except (IndexUnavailable, SearchGivenUp):
            return None
        if solution is None or not others.isdisjoint(solution.chosen):
            return None
        packages, chosen = universe.packages, solution.chosen
        pins.append((name, packages[name].versions[chosen[name]]))
        lags = (packages[n].lag_days(chosen[n], i) for n, i in solution.newest.items())
        worst = max(worst, *lags)
    told = listed([f"`{name}`" for name in names])
    return WayOut(SPLIT, f"lock {told} apart, for an environment each", tuple(pins), worst_lag=worst)


def _excluding(core: Core) -> list[str]:
    asked = dict.fromkeys(edge.on for edge in core.edges if edge.kind == kinds.ROOT)
    asked.update(dict.fromkeys(edge.on for edge in core.edges if is_guard(edge.origin)))
    return list(asked)
