"""Several targets in one problem, against every combination of their answers."""

from __future__ import annotations

import random
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.brute_force import BruteForce, Verdict
from tests.support.draw import SHAPES, Shape, random_case
from tests.support.universes import Case, Memory, Release

from compatlock.model import objective
from compatlock.solver.joint import (
    joint_dependencies,
    joint_packages,
    joint_request,
    joint_universe,
    needs_by_target,
    plain,
    solution_of,
    tagged,
    untagged,
)
from compatlock.solver.search import Solution, search

if TYPE_CHECKING:
    from collections.abc import Sequence


def solve_together(cases: Sequence[Case]) -> Solution | None:
    """What the solver says of several targets."""
    memories = [Memory(case) for case in cases]
    universe = joint_universe([memory.universe() for memory in memories])
    run = search(universe, joint_request([c.request for c in cases]), thorough=True, several_targets=True)
    while True:
        try:
            need = next(run)
        except StopIteration as finished:
            answer: Solution | None = finished.value
            return answer
        for target, (names, releases) in needs_by_target(need).items():
            memory = memories[target]
            universe.add(
                joint_packages({name: memory.packages[name] for name in names}, target),
                joint_dependencies({r: memory.dependencies[r] for r in releases}, target),
            )


def best_together(cases: Sequence[Case]) -> tuple[Any, ...] | None:
    """The best of all combinations of the targets' answers."""
    memories = [Memory(case) for case in cases]
    tiers = _tiers(cases[0])
    answers = [
        list(BruteForce(m.packages, m.dependencies, c.request, m.compiled).all())
        for m, c in zip(memories, cases, strict=True)
    ]
    best = min((_judged(memories, tiers, verdicts) for verdicts in product(*answers)), default=None)
    return best and (best[0], dict(best[2]), best[3])


def _judged(
    memories: Sequence[Memory], tiers: Sequence[objective.Tier], verdicts: Sequence[Verdict]
) -> tuple[Any, ...]:
    single = list(zip(*(verdict.tiers for verdict in verdicts), strict=True))
    values: list[int] = []
    for tier in tiers:
        if tier.kind == objective.DIFFERENT:
            values.append(_differing(memories, verdicts))
        else:
            values.append((max if tier.kind == objective.WORST else sum)(single.pop(0)))
    assert not single
    chosen = {tagged(n, k): i for k, verdict in enumerate(verdicts) for n, i in verdict.chosen.items()}
    names = sorted({tagged(name, k) for k, memory in enumerate(memories) for name in memory.packages})
    order = tuple(chosen.get(name, -1) for name in names)
    broken = tuple(sorted(tagged(i, k) for k, verdict in enumerate(verdicts) for i in verdict.broken))
    return tuple(values), order, tuple(sorted(chosen.items())), broken


def _differing(memories: Sequence[Memory], verdicts: Sequence[Verdict]) -> int:
    places: dict[str, set[int]] = {}
    for memory, verdict in zip(memories, verdicts, strict=True):
        for name, index in verdict.chosen.items():
            places.setdefault(name, set()).add(memory.packages[name].positions[index])
    return sum(len(found) > 1 for found in places.values())


def _tiers(case: Case) -> tuple[objective.Tier, ...]:
    return objective.tiers(
        waivers=bool(case.waivers), older=bool(case.older), prefer=case.prefer, several_targets=True
    )


def check(cases: Sequence[Case]) -> None:
    solution = solve_together(cases)
    found = solution and (tuple(t.value for t in solution.tiers), solution.chosen, solution.broken)
    assert found == best_together(cases), "\n".join(case.source() for case in cases)


def another_target(rng: random.Random, case: Case) -> Case:
    """The same projects as another target sees them: some releases hidden, some needs left out."""

    def needs(given: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(need for need in given if rng.random() < 0.7)

    projects: dict[str, tuple[Release, ...]] = {}
    for name, releases in case.projects.items():
        following, seen = 0, []
        for release in releases:
            position = following if release.position is None else release.position
            following = position + 1
            # Real specifiers are answered over the candidates alone: none may be hidden.
            if release.version or rng.random() < 0.75:
                seen.append(release._replace(position=position, needs=needs(release.needs)))
        projects[name] = tuple(seen)
    return case._replace(projects=projects)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_answer_is_the_best_of_all_combinations(shape: Shape) -> None:
    for seed in range(60):
        rng = random.Random(seed)
        case = random_case(rng, shape)
        if _combinations(case) < 4_000:
            check([case, another_target(rng, case)])


def test_three_targets() -> None:
    for seed in range(40):
        rng = random.Random(seed)
        case = random_case(rng, next(iter(SHAPES.values())))
        if _combinations(case) < 30:
            check([case, another_target(rng, case), another_target(rng, case)])


def _combinations(case: Case) -> int:
    memory = Memory(case)
    return sum(1 for _ in BruteForce(memory.packages, memory.dependencies, case.request).all())


def test_a_package_is_the_same_for_all_where_that_costs_no_root_anything() -> None:
    """b 2 is hidden from the second target: both take b 1, though the first could have the newer."""
    first = Case(
        projects={"a": (Release(needs=("b",), day=9),), "b": (Release(day=9), Release(day=1))}, roots=("a",)
    )
    second = first._replace(projects={**first.projects, "b": (Release(day=1, position=1),)})
    solution = solve_together([first, second])
    assert solution is not None
    assert solution.chosen == {"a#0": 0, "a#1": 0, "b#0": 1, "b#1": 0}
    assert {t.name: t.value for t in solution.tiers}["packages that differ between targets"] == 0
    assert solution_of(solution, 0).chosen == {"a": 0, "b": 1}
    check([first, second])


def test_a_root_goes_before_sameness() -> None:
    first = Case(projects={"b": (Release(day=9), Release(day=1))}, roots=("b",))
    second = first._replace(projects={"b": (Release(day=1, position=1),)})
    solution = solve_together([first, second])
    assert solution is not None
    assert solution.chosen == {"b#0": 0, "b#1": 0}
    assert {t.name: t.value for t in solution.tiers}["packages that differ between targets"] == 1


def test_names() -> None:
    assert untagged(tagged("torch", 12)) == ("torch", 12)
    assert plain("torch#1") == plain("torch") == "torch"
    names = ["a", "a-b", "a1", "ab", "b"]
    assert sorted(tagged(name, 0) for name in names) == [tagged(name, 0) for name in sorted(names)]
