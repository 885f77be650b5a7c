"""Runs a search against a supply: answers each Need until the search returns, once or again and again."""

from __future__ import annotations

from compatlock.api.recall import Recall
from compatlock.solver.search import prepared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from typing import TypeVar

    from compatlock.index.supply import Supply
    from compatlock.model.request import Request
    from compatlock.model.requirement import Requirement
    from compatlock.solver.held import HeldSearch
    from compatlock.solver.search import Search
    from compatlock.solver.solution import Solution
    from compatlock.solver.universe import Need, Universe

    Answer = TypeVar("Answer")


def drive(search: Generator[Need, None, Answer], universe: Universe, supply: Supply) -> Answer:
    """Return what the search returns. Raises what the supply raises (NotCached, IndexUnavailable)."""

    def answer(need: Need) -> None:
        universe.add(supply.packages(need.packages), supply.dependencies(need.releases))

    return drive_by(search, answer)


def drive_by(search: Generator[Need, None, Answer], answer: Callable[[Need], None]) -> Answer:
    """Return what the search returns; `answer` adds what it needs to its universe."""
    while True:
        try:
            need = next(search)
        except StopIteration as finished:
            result: Answer = finished.value
            return result
        answer(need)


def drive_together(
    begin: Callable[[Universe], Generator[Need, None, Answer]],
    universes: Sequence[Universe],
    supplies: Sequence[Supply],
) -> Answer:
    """Return what a search over the joint universe of several targets returns (see `solver.joint`). What is
    read for a target is added to its own universe too. Raises as `drive`."""
    from compatlock.solver.joint import joint_dependencies, joint_packages, joint_universe, needs_by_target

    joint = joint_universe(universes)

    def answer(need: Need) -> None:
        for target, (names, releases) in needs_by_target(need).items():
            universe, supply = universes[target], supplies[target]
            universe.add(supply.packages(names), supply.dependencies(releases))
            joint.add(
                joint_packages({name: universe.packages[name] for name in names}, target),
                joint_dependencies({each: universe.dependencies[each] for each in releases}, target),
            )

    return drive_by(begin(joint), answer)


class KeptSearch:
    """Answers a request, and again with further bounds, each answer being that of a search of its own. The
    search begins when the first answer is asked for. To be closed."""

    def __init__(self, request: Request, universe: Universe, supply: Supply) -> None:
        self._request = request
        self.universe = universe
        self._supply = supply
        self._search: Search | None = None
        self._best: Solution | None = None
        self._held: HeldSearch | None = None

    @property
    def is_unproved(self) -> bool:
        """Whether there is an answer of which it was not proved that nothing is better."""
        return self._best is not None and not self._best.proved

    def best(self) -> Solution | None:
        """The answer, None when there is none. Raises what the supply raises."""
        if self._search is None:
            recall = Recall(self._request, self._supply)
            recall.into(self.universe)
            self._search = self._drive(prepared(self.universe, self._request))
            self._best = self._drive(self._search.run())
            if self._best is not None and self._best.proved and not self._best.presumed:
                recall.keep(self._search.formula.loaded)
        return self._best

    def bounded(self, bounds: Sequence[Requirement]) -> Solution | None:
        """The best answer with further bounds on packages (without extras and markers), None when there is
        none. Raises what the supply raises."""
        from compatlock.solver.again import search_again
        from compatlock.solver.held import HeldSearch

        if self._held is None:
            self.best()
            assert self._search is not None
            self._held = HeldSearch.after(self._search)
        return self._drive(self._held.solve(bounds, afresh=search_again))

    def close(self) -> None:
        """Free the solver; what was answered stays valid."""
        if self._search is not None:
            self._search.sat.close()

    def _drive(self, search: Generator[Need, None, Answer]) -> Answer:
        return drive(search, self.universe, self._supply)
