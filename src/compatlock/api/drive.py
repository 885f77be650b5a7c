"""Runs a search against a supply: answers each Need until the search returns."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from typing import TypeVar

    from compatlock.index.supply import Supply
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
