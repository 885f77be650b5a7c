"""Cells on one incremental search, against every selection with the two packages pinned."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.brute_force import BruteForce
from tests.support.draw import SHAPES, Shape, random_case
from tests.support.universes import Case, Memory

from compatlock.model.requirement import Requirement
from compatlock.solver.matrix import Step, cells, with_axes

_FUZZ = settings(derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))


def steps_of(memory: Memory, name: str, rng: random.Random) -> list[Step]:
    """The ordinary candidates of a package, cut into steps at random."""
    package = memory.packages[name]
    steps: list[list[int]] = []
    for index in range(package.size):
        if index not in package.gates:
            if steps and rng.random() < 0.3:
                steps[-1].append(index)
            else:
                steps.append([index])
    return [Step(name, tuple(step)) for step in steps]


def axes_of(case: Case, rng: random.Random) -> tuple[str, str]:
    row, column = rng.sample(sorted(case.projects), 2)
    return row, column


def expected(case: Case, memory: Memory, names: tuple[str, str], steps: tuple[Step, Step]) -> Any:
    """Tier values of the roots, their pins, and how many waivers the best of all selections has."""
    request = with_axes(case.request, names, "test")
    depths = BruteForce(memory.packages, memory.dependencies, request, memory.compiled).depths
    pins = tuple(
        Requirement(step.package, specifier=_positions(memory, step), origin="test") for step in steps
    )
    pinned = request._replace(constraints=(*request.constraints, *pins))
    brute = BruteForce(memory.packages, memory.dependencies, pinned, memory.compiled)
    brute.depths = depths
    best = brute.best()
    if best is None:
        return None
    of_roots = len(best.tiers) - 5
    roots = {root.name for root in request.roots}
    return best.tiers[:of_roots], {n: i for n, i in best.chosen.items() if n in roots}


def _positions(memory: Memory, step: Step) -> str:
    """A specifier that only the candidates of the step satisfy."""
    positions = memory.packages[step.package].positions
    text = " ".join(str(positions[index]) for index in step.indexes)
    return f"{{{text}}}"


def solved(case: Case, names: tuple[str, str], pairs: list[tuple[Step, Step]]) -> list[Any]:
    memory = Memory(case)
    universe = memory.universe()
    request = with_axes(case.request, names, "test")
    run = memory.drive(cells(universe, request, thorough=True), universe)
    try:
        answers = [memory.drive(run.solve(*pair), universe) for pair in pairs]
    finally:
        run.close()
    for answer in answers:
        if answer is not None and case.waivers:
            assert answer.values[0] == len(answer.waivers)
    return [answer and (answer.values, answer.pins) for answer in answers]


def check(case: Case, seed: int) -> tuple[int, int]:
    """Compare every cell of a matrix; how many have an answer, and how many have none."""
    rng = random.Random(seed)
    names = axes_of(case, rng)
    memory = Memory(case)
    rows, columns = (steps_of(memory, name, rng) for name in names)
    pairs = [(row, column) for row in rows for column in columns]
    rng.shuffle(pairs)
    found = solved(case, names, pairs)
    for pair, answer in zip(pairs, found, strict=True):
        assert answer == expected(case, memory, names, pair), f"{names} {pair}\n{case.source()}"
    return sum(a is not None for a in found), sum(a is None for a in found)


@settings(_FUZZ, max_examples=30)
@given(st.data())
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_each_cell_is_the_best_of_all_selections_with_its_packages_pinned(
    shape: Shape, data: st.DataObject
) -> None:
    case = data.draw(st.randoms(use_true_random=False).map(lambda rng: random_case(rng, shape)))
    check(case, data.draw(st.integers(0, 1000)))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_each_cell_is_right_in_a_fixed_set_of_cases(shape: Shape) -> None:
    counts = [check(random_case(random.Random(seed), shape), seed) for seed in range(120)]
    assert sum(possible for possible, _ in counts) > 10
    assert sum(impossible for _, impossible in counts) > 50
