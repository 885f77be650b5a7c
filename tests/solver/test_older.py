"""Locking again with one root more changes only what it must: against every valid selection."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from tests.solver.test_joint import another_target, solve_together
from tests.support.brute_force import BruteForce
from tests.support.draw import SHAPES, Shape, random_case
from tests.support.universes import Case, Memory, solve

from compatlock.solver.joint import solution_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from compatlock.solver.solution import Solution

SEEDS = range(250)


def versions(case: Case, chosen: Mapping[str, int]) -> dict[str, str]:
    packages = Memory(case).packages
    return {name: packages[name].versions[index] for name, index in chosen.items()}


def changed(case: Case, chosen: Mapping[str, int]) -> int:
    """How many packages are still there, and moved."""
    return sum(case.older.get(name, version) != version for name, version in versions(case, chosen).items())


def least(case: Case) -> int | None:
    """The fewest changes that any valid selection has; None when there is none."""
    memory = Memory(case)
    found = BruteForce(memory.packages, memory.dependencies, case.request, memory.compiled).all()
    return min((changed(case, verdict.chosen) for verdict in found), default=None)


def with_one_root_more(rng: random.Random, case: Case, solution: Solution) -> Case:
    """The case with what was chosen as the older lock, and another root, sometimes with a bound."""
    # Mostly of a package that is there, whose pin it may exclude.
    other = sorted(name for name, releases in case.projects.items() if releases)
    name = rng.choice(sorted(solution.chosen) if rng.random() < 0.8 else other)
    releases = case.projects[name]
    some = " ".join(str(position) for position in range(len(releases)) if rng.random() < 0.6)
    real = rng.choice(releases).version
    bound = rng.choice(
        ("", f"{rng.choice(('<', '<=', '>=', '!='))}{real.partition('+')[0]}" if real else f"{{{some}}}")
    )
    return case._replace(roots=(*case.roots, name + bound), older=versions(case, solution.chosen))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_for_one_target(shape: Shape) -> None:
    moved = 0
    for seed in SEEDS:
        rng = random.Random(seed)
        case = random_case(rng, shape)._replace(older={}, prefer=(), waivers=())
        first = solve(case)
        if first is None:
            continue
        again = with_one_root_more(rng, case, first)
        second, wanted = solve(again), least(again)
        assert (second and changed(again, second.chosen)) == wanted, again.source()
        moved += bool(wanted)
        # The same again is nothing new.
        same = case._replace(older=versions(case, first.chosen))
        third = solve(same)
        assert third is not None
        assert third.chosen == first.chosen, same.source()
    assert moved, "the cases drawn never have to change anything"


def test_for_two_targets_with_pins_of_their_own() -> None:
    moved = 0
    for seed in SEEDS:
        rng = random.Random(seed)
        case = random_case(rng, SHAPES["small"])._replace(older={}, prefer=(), waivers=())
        cases = [case, another_target(rng, case)]
        first = solve_together(cases)
        if first is None:
            continue
        state = rng.getstate()
        again = []
        for number, each in enumerate(cases):
            rng.setstate(state)
            again.append(with_one_root_more(rng, each, solution_of(first, number)))
        second = solve_together(again)
        wanted = [least(each) for each in again]
        if second is None:
            assert None in wanted
            continue
        found = [changed(each, solution_of(second, k).chosen) for k, each in enumerate(again)]
        assert found == wanted, "\n".join(each.source() for each in again)
        moved += any(found)
    assert moved
