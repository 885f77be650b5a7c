"""Runs a search against a supply: answers each Need until the search returns."""

from __future__ import annotations

from typing import TypeVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator

    from compatlock.index.supply import Supply
    from compatlock.solver.universe import Need, Universe

Answer = TypeVar("Answer")


def drive(search: Generator[Need, None, Answer], universe: Universe, supply: Supply) -> Answer:
    """Return what the search returns. Raises what the supply raises (NotCached, IndexUnavailable)."""
    while True:
        try:
            need = next(search)
        except StopIteration as finished:
            answer: Answer = finished.value
            return answer
        universe.add(supply.packages(need.packages), supply.dependencies(need.releases))
