"""A search that is kept against searches of their own."""

from __future__ import annotations

import random

import pytest
from tests.support.draw import SHAPES, Shape, random_case
from tests.support.universes import Case, Memory, requirement

from compatlock.model.requirement import Requirement
from compatlock.solver.held import bounded, hold
from compatlock.solver.search import search


def random_bounds(case: Case, memory: Memory, rng: random.Random) -> tuple[Requirement, ...]:
    projects = sorted(name for name, releases in case.projects.items() if releases)
    names = rng.sample(projects, rng.randint(0, min(2, len(projects))))
    found = []
    for name in names:
        positions = memory.packages[name].positions
        kept = sorted(rng.sample(positions, rng.randint(1, len(positions))))
        found.append(requirement(f"{name}{{{' '.join(map(str, kept))}}}"))
    return tuple(found)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_each_answer_is_that_of_a_search_of_its_own(shape: Shape) -> None:
    answered = 0
    for seed in range(60):
        rng = random.Random(seed)
        case = random_case(rng, shape)
        memory = Memory(case)
        universe = memory.universe()
        held = memory.drive(hold(universe, case.request, thorough=True), universe)
        questions: list[tuple[Requirement, ...]] = [
            (),
            *(random_bounds(case, memory, rng) for _ in range(4)),
            (),
        ]
        for bounds in questions:
            found = memory.drive(held.solve(bounds), universe)
            fresh = memory.universe()
            alone = memory.drive(search(fresh, bounded(case.request, bounds), thorough=True), fresh)
            told = f"{bounds}\n{case.source()}"
            assert (found is None) == (alone is None), told
            if found is not None and alone is not None:
                answered += 1
                assert found._replace(counters={}) == alone._replace(counters={}), told
        held.close()
    assert answered > 40


def test_the_same_question_again_takes_hardly_anything() -> None:
    for seed in range(100):
        case = random_case(random.Random(seed), SHAPES["wide"])
        memory = Memory(case)
        universe = memory.universe()
        held = memory.drive(hold(universe, case.request), universe)
        first = memory.drive(held.solve(), universe)
        before = held.sat.calls
        again = memory.drive(held.solve(), universe)
        if first is not None and again is not None:
            assert again._replace(counters={}) == first._replace(counters={})
            assert held.sat.calls - before <= 10
        held.close()


@pytest.mark.parametrize("proved", [True, False])
def test_a_question_is_chased_to_a_proof_only_when_the_answer_was(proved: bool) -> None:
    answered = 0
    for seed in range(20):
        rng = random.Random(seed)
        case = random_case(rng, SHAPES["wide"])
        memory = Memory(case)
        universe = memory.universe()
        held = memory.drive(hold(universe, case.request), universe)
        held.closed_world.chases = 0 if proved else 1_000
        first = memory.drive(held.solve(), universe)
        held.closed_world.chases = 1_000
        bounds = random_bounds(case, memory, rng)
        then = memory.drive(held.solve(bounds), universe) if first is not None else None
        # What opens a gate is another problem, and answered as such.
        if first is not None and then is not None and not any(map(held._admits, bounds)):
            answered += 1
            assert (first.proved, then.proved) == (proved, proved)
        held.close()
    assert answered > 5
