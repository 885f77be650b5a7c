"""The search against every selection of small universes: all tier values, and the answer itself."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.brute_force import BruteForce
from tests.support.draw import SHAPES, Shape, random_case
from tests.support.universes import Case, Memory, Release, solve

from compatlock.solver import search as search_module

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from compatlock.solver.search import Solution

_FUZZ = settings(derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))


def drawn(shape: Shape) -> st.SearchStrategy[Case]:
    """Random cases that hypothesis can make smaller."""
    return st.randoms(use_true_random=False).map(lambda rng: random_case(rng, shape))


def outcome(solution: Solution | None) -> tuple[Any, ...] | None:
    """What counts of the search's answer."""
    if solution is None:
        return None
    assert solution.proved
    assert not solution.presumed
    return tuple(t.value for t in solution.tiers), solution.chosen, solution.extras, solution.broken


def best(case: Case) -> tuple[Any, ...] | None:
    """What counts of the best of all selections."""
    memory = Memory(case)
    verdict = BruteForce(memory.packages, memory.dependencies, case.request, memory.compiled).best()
    return verdict and (verdict.tiers, verdict.chosen, verdict.extras, verdict.broken)


def check(case: Case) -> None:
    assert outcome(solve(case)) == best(case), case.source()


@settings(_FUZZ, max_examples=60)
@given(st.data())
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_search_finds_the_best_of_all_selections(shape: Shape, data: st.DataObject) -> None:
    check(data.draw(drawn(shape)))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_search_finds_the_best_in_a_fixed_set_of_cases(shape: Shape) -> None:
    for seed in range(600):
        check(random_case(random.Random(seed), shape))


def shuffled(case: Case, rng: random.Random) -> Case:
    """The same case with everything declared in another order."""

    def mixed(items: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(rng.sample(items, len(items)))

    def release(old: Release) -> Release:
        extras = {x: mixed(old.extras[x]) for x in mixed(tuple(old.extras))}
        return old._replace(needs=mixed(old.needs), extras=extras)

    return case._replace(
        projects={name: tuple(map(release, case.projects[name])) for name in mixed(tuple(case.projects))},
        roots=mixed(case.roots),
        constraints=mixed(case.constraints),
        facts=mixed(case.facts),
        waivers=mixed(case.waivers),
    )


def solve_loading_at_random(case: Case, rng: random.Random) -> Solution | None:
    """Solve, and whenever a release is read, read some others of any package too."""

    def ahead(self: Any, missing: Sequence[tuple[str, int]]) -> Iterator[tuple[str, int]]:
        yield from missing
        for name in self.formula.order:
            size = self.universe.packages[name].size
            yield from ((name, i) for i in range(size) if rng.random() < 0.2)

    with patch.object(search_module.Search, "_ahead", ahead):
        return solve(case)


@settings(_FUZZ, max_examples=40)
@given(st.data(), st.randoms(use_true_random=False))
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_neither_the_order_of_lines_nor_of_reading_changes_the_answer(
    shape: Shape, data: st.DataObject, rng: random.Random
) -> None:
    case = data.draw(drawn(shape))
    expected = outcome(solve(case))
    assert outcome(solve(shuffled(case, rng))) == expected, case.source()
    assert outcome(solve_loading_at_random(case, rng)) == expected, case.source()
    with patch.object(search_module, "_PATIENCE", rng.randint(-4, 6)):
        assert outcome(solve(case)) == expected, case.source()


@pytest.mark.slow
@pytest.mark.timeout(3_000)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_search_finds_the_best_in_many_cases(shape: Shape) -> None:
    source = random.SystemRandom()
    for _ in range(10_000 // len(SHAPES)):
        seed = source.randrange(2**64)
        rng = random.Random(seed)
        case = random_case(rng, shape)
        expected = best(case)
        assert outcome(solve(case)) == expected, f"seed {seed}: {case.source()}"
        assert outcome(solve_loading_at_random(case, rng)) == expected, f"seed {seed}: {case.source()}"
