"""The search against RC2 over everything encoded at once, where there are too many selections to try."""

from __future__ import annotations

import random

import pytest
from tests.support.brute_force import BruteForce
from tests.support.draw import SHAPES, Shape, random_case
from tests.support.maxsat import MaxSat
from tests.support.universes import Case, Memory, solve

_MEDIUM = Shape(
    packages=(8, 15), releases=(6, 10), needs=(1, 2), gates=0.3, facts=4, problems=0.02, urls=0.01
)


def reference(case: Case) -> BruteForce:
    memory = Memory(case)
    return BruteForce(memory.packages, memory.dependencies, case.request, memory.compiled)


def check(case: Case) -> None:
    """Compare the values of all tiers."""
    solution = solve(case)
    found = solution and tuple(tier.value for tier in solution.tiers)
    assert found == MaxSat(reference(case)).best(), case.source()


@pytest.mark.parametrize("start", range(0, 80, 20))
def test_search_agrees_with_rc2_on_medium_universes(start: int) -> None:
    for seed in range(start, start + 20):
        check(random_case(random.Random(seed), _MEDIUM))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_rc2_agrees_with_all_selections_of_small_universes(shape: Shape) -> None:
    for seed in range(60):
        case = random_case(random.Random(seed), shape)
        best = reference(case).best()
        assert MaxSat(reference(case)).best() == (best and best.tiers), case.source()


@pytest.mark.slow
@pytest.mark.timeout(3_000)
def test_search_agrees_with_rc2_on_many_medium_universes() -> None:
    source = random.SystemRandom()
    for _ in range(3_000):
        seed = source.randrange(2**64)
        check(random_case(random.Random(seed), _MEDIUM))
