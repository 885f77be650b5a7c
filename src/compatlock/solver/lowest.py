"""The lowest versions instead of the newest, as uv's `--resolution`: the same search over packages whose
candidates are turned around.

The search minimises how far packages are from their first candidate. Where that is the oldest, it finds the
lowest versions that work; what it says of lag is then the distance from there.
"""

from __future__ import annotations

from compatlock.model.cuda import CUDA
from compatlock.model.policy import LOWEST_DIRECT
from compatlock.solver.universe import Universe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from compatlock.model.lock import Lock
    from compatlock.model.request import Request
    from compatlock.solver.solution import Solution
    from compatlock.solver.universe import Need


class Turned:
    """The universe of a search for the lowest versions, beside the one that it is made of.

    `universe` is what is known, in its own order, with the user's amendments; `turned` what is searched.
    """

    def __init__(self, universe: Universe, request: Request) -> None:
        self.universe = universe
        self._roots = {root.name for root in request.roots}
        self._only_roots = request.resolution == LOWEST_DIRECT
        self.turned = Universe(
            compiled=lambda name, index: universe.compiled(name, self.index(name, index)),
            is_elsewhere=universe.is_elsewhere,
        )
        # A soft fact weighs against staleness, which is what is asked for here.
        facts = tuple(fact for fact in request.facts if not fact.is_soft)
        self.request = request._replace(overrides=(), exclusions=(), facts=facts)

    def _is_turned(self, name: str) -> bool:
        return name != CUDA and (not self._only_roots or name in self._roots)

    def index(self, name: str, index: int) -> int:
        """The place of a candidate of one universe in the other."""
        return self.universe.packages[name].size - 1 - index if self._is_turned(name) else index

    def answer(self, need: Need, read: Callable[[Need], None]) -> None:
        """Add what a search of `turned` needs, which `read` adds to `universe`."""
        releases = tuple((name, self.index(name, index)) for name, index in need.releases)
        read(need._replace(releases=releases))
        packages = {name: self.universe.packages[name] for name in need.packages}
        self.turned.add(
            {name: p.turned_around() if self._is_turned(name) else p for name, p in packages.items()},
            {
                asked: self.universe.dependencies[release]
                for asked, release in zip(need.releases, releases, strict=True)
            },
        )

    def solution(self, solution: Solution) -> Solution:
        """An answer to the search of `turned` as one over `universe`."""

        def placed(indexes: dict[str, int]) -> dict[str, int]:
            return {name: self.index(name, index) for name, index in indexes.items()}

        return solution._replace(chosen=placed(solution.chosen), newest=placed(solution.newest))


def distances(lock: Lock) -> Lock:
    """The lock of such an answer: its tiers are distances from the lowest, and nothing is behind."""
    tiers = (
        tier._replace(name=tier.name.replace("lag", "distance from the lowest")) for tier in lock.objective
    )
    pins = (pin._replace(newest=pin.version, lag_days=0, lag_releases=0, held_by=()) for pin in lock.pins)
    return lock._replace(objective=tuple(tiers), pins=tuple(pins))
