"""The lowest versions, against every selection of small universes."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.brute_force import BruteForce
from tests.support.draw import SHAPES, Shape, random_case
from tests.support.universes import Case, Memory, Release, requirement

from compatlock.model.policy import LOWEST, LOWEST_DIRECT
from compatlock.solver.lowest import Turned
from compatlock.solver.search import Solution, search

if TYPE_CHECKING:
    from compatlock.model.request import Request
    from compatlock.solver.universe import Need


def solve_for_the_lowest(case: Case, resolution: str) -> Solution | None:
    memory = Memory(case)
    universe = memory.universe()
    turned = Turned(universe, _request(case)._replace(resolution=resolution))
    run = search(turned.turned, turned.request, thorough=True)

    def read(need: Need) -> None:
        memory.answer(universe, need)

    while True:
        try:
            need = next(run)
        except StopIteration as finished:
            found: Solution | None = finished.value
            return found and turned.solution(found)
        turned.answer(need, read)


def _request(case: Case) -> Request:
    return case.request._replace(facts=tuple(f for f in case.facts if not f.is_soft))


class LowestFirst(BruteForce):
    """Judges as the reference does, over packages that the reference itself turns around."""

    def __init__(self, case: Case, resolution: str) -> None:
        memory = Memory(case)
        roots = {requirement(text).name for text in case.roots}
        self.turned = {n for n in memory.packages if resolution == LOWEST or n in roots}
        sizes = {name: package.size for name, package in memory.packages.items()}

        def at(name: str, index: int) -> int:
            return sizes[name] - 1 - index if name in self.turned else index

        self.at = at
        super().__init__(
            {n: p.turned_around() if n in self.turned else p for n, p in memory.packages.items()},
            {(n, at(n, i)): release for (n, i), release in memory.dependencies.items()},
            _request(case),
            {(n, at(n, i)) for n, i in memory.compiled},
        )


def check(case: Case, resolution: str) -> None:
    found = solve_for_the_lowest(case, resolution)
    reference = LowestFirst(case, resolution)
    best = reference.best()
    ours: Any = found and (tuple(t.value for t in found.tiers), found.chosen)
    theirs: Any = best and (best.tiers, {n: reference.at(n, i) for n, i in best.chosen.items()})
    assert ours == theirs, case.source()


@pytest.mark.parametrize("resolution", [LOWEST, LOWEST_DIRECT])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_lowest_of_all_selections_is_found(shape: Shape, resolution: str) -> None:
    for seed in range(150):
        check(random_case(random.Random(seed), shape), resolution)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_turned_around_a_specifier_admits_the_same(shape: Shape) -> None:
    for seed in range(100):
        case = random_case(random.Random(seed), shape)
        for name, package in Memory(case).packages.items():
            turned = package.turned_around()
            assert turned.versions == package.versions[::-1]
            for text in case.texts():
                if (line := requirement(text)).name == name:
                    size = package.size
                    admitted = [size - 1 - i for i in range(size) if package.admits(line.specifier, i)]
                    assert [i for i in range(size) if turned.admits(line.specifier, i)] == admitted[::-1]
                    gates = {size - 1 - i for i in package.admitted_gates(line.specifier)}
                    assert turned.admitted_gates(line.specifier) == gates


def test_only_what_is_asked_for_is_low() -> None:
    case = Case(
        projects={
            "a": (Release(needs=("b",)), Release(needs=("b",)), Release(needs=("c>=9",))),
            "b": (Release(), Release()),
            "c": (Release(version="1.0"),),
        },
        roots=("a",),
    )
    lowest, direct = (solve_for_the_lowest(case, r) for r in (LOWEST, LOWEST_DIRECT))
    assert lowest is not None
    assert direct is not None
    assert lowest.chosen == {"a": 1, "b": 1}
    assert direct.chosen == {"a": 1, "b": 0}
