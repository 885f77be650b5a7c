"""Tiers over bundles of literals: the same minimum as over the literals one by one."""

from __future__ import annotations

import random
from itertools import product

from compatlock.model.objective import Tier
from compatlock.solver.matrix_bundles import BundledTier
from compatlock.solver.sat import Sat

_TIER = Tier("cost", "cost", "points")


class Problem:
    """Clauses over variables with weights, in bundles."""

    def __init__(self, rng: random.Random) -> None:
        count = rng.randint(3, 9)
        self.weights = [rng.randint(1, 3) for _ in range(count)]
        self.bundles = [(str(rng.randint(0, 2)),) for _ in range(count)]
        self.clauses = [
            [(1 + v) * rng.choice((1, 1, -1)) for v in rng.sample(range(count), rng.randint(1, 3))]
            for _ in range(rng.randint(2, 9))
        ]

    def least(self) -> int | None:
        """The least weight of all ways to satisfy the clauses."""
        costs = [
            sum(weight for weight, value in zip(self.weights, values, strict=True) if value)
            for values in product((False, True), repeat=len(self.weights))
            if all(any(values[abs(lit) - 1] == (lit > 0) for lit in clause) for clause in self.clauses)
        ]
        return min(costs, default=None)


def solved(problem: Problem, late: int) -> tuple[int | None, int]:
    """The minimum by the tier, and how many assumptions there are at the end. The last `late` literals are
    told when the tier is at work already."""
    sat = Sat()
    literals = [sat.variable() for _ in problem.weights]
    tier = BundledTier(_TIER, sat)
    told = list(zip(problem.bundles, literals, problem.weights, strict=True))
    waiting = told[len(told) - late :]
    for bundle, literal, weight in told[: len(told) - late]:
        tier.add_to(bundle, literal, weight)
    for clause in problem.clauses:
        sat.add(clause)
    try:
        if not sat.solve([]):
            return None, 0
        while True:
            if sat.solve(list(tier.soft)):
                if not waiting:
                    return tier.bound, len(tier.soft)
                tier.add_to(*waiting.pop())
                continue
            core = sat.core()
            if len(core) == 1:
                tier.charge_unit(core[0])
            else:
                tier.charge_core(core, [])
    finally:
        sat.close()


def test_the_minimum_is_that_over_single_literals() -> None:
    found = {seed: Problem(random.Random(seed)) for seed in range(600)}
    results = {seed: solved(problem, seed % 3) for seed, problem in found.items()}
    assert [value for value, _ in results.values()] == [problem.least() for problem in found.values()]
    assert len({value for value, _ in results.values()}) > 5


def test_bundles_that_nothing_leans_on_stay_closed() -> None:
    problem = Problem(random.Random(1))
    problem.weights = [2] * 9
    problem.bundles = [("a",)] * 4 + [("b",)] * 5
    problem.clauses = [[1, 2]]
    value, assumptions = solved(problem, 0)
    assert value == 2
    # Bundle b by one assumption; of a two are in a core that was charged, which leaves the count of both.
    assert assumptions == 1 + 2 + 1
