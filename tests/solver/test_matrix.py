"""Cells on one incremental search, against every selection with the two packages pinned."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.solver.test_explain import satisfiable, told
from tests.solver.test_ways_out import Prices, everything_waived, in_series, strict_facts
from tests.support.brute_force import BruteForce
from tests.support.draw import SHAPES, Shape, random_case
from tests.support.universes import Case, Memory

from compatlock.model.requirement import Requirement
from compatlock.solver.matrix import Step, cells, with_axes
from compatlock.solver.matrix_reasons import reasons
from compatlock.solver.matrix_waivers import waived_cells

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compatlock.model.core import CoreEdge
    from compatlock.model.dependencies import Dependency
    from compatlock.solver.universe import Universe

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


# Cells without an answer


def impossible_cells(
    count: int, shape: Shape, *, strict: bool = False
) -> Iterator[tuple[Case, Memory, Universe, list[Step], list[tuple[Step, Step]]]]:
    """Cases with the cells that have no answer, after a search over all cells."""
    seed = found = 0
    while found < count:
        rng = random.Random(seed)
        case = in_series(random_case(rng, shape)._replace(older={}, prefer=()))
        if strict and rng.random() < 0.5:
            case = case._replace(facts=(*case.facts, *strict_facts(case, rng)))
        seed += 1
        names = axes_of(case, rng)
        memory = Memory(case)
        rows, columns = (steps_of(memory, name, rng) for name in names)
        universe = memory.universe()
        case = case._replace(roots=tuple(dict.fromkeys((*case.roots, *names))))
        run = memory.drive(cells(universe, case.request, thorough=True), universe)
        pairs = [(row, column) for row in rows for column in columns]
        missing = [pair for pair in pairs if memory.drive(run.solve(*pair), universe) is None]
        run.close()
        if missing:
            found += len(missing)
            yield case, memory, universe, [*rows, *columns], missing


def pinned(case: Case, memory: Memory, pair: tuple[Step, Step]) -> Case:
    pins = (f"{step.package}{_positions(memory, step)}" for step in pair)
    return case._replace(constraints=(*case.constraints, *pins))


PLAIN = Shape(tightness=(0.4, 0.7), problems=0.1, urls=0.1, gates=0.0, waivers=0.0)


def test_each_reason_is_a_contradiction_and_minimal() -> None:
    explained = 0
    for case, memory, universe, axes, missing in impossible_cells(400, PLAIN):
        run = memory.drive(reasons(universe, case.request, axes), universe)
        for pair in missing:
            core = memory.drive(run.reason(*pair), universe)
            assert core is not None
            explained += 1
            cell = pinned(case, memory, pair)
            pins = cell.constraints[len(case.constraints) :]

            def is_satisfiable(edges: tuple[CoreEdge, ...]) -> bool:
                known = told(case, core, edges, memory)  # noqa: B023 - called at once
                roots = (*known.roots, *(step.package for step in pair))  # noqa: B023
                constraints = (*known.constraints, *pins)  # noqa: B023
                return satisfiable(known._replace(roots=roots, constraints=constraints))

            assert not is_satisfiable(core.edges), f"{pair} {core}\n{cell.source()}"
            for edge in core.edges:
                rest = tuple(e for e in core.edges if e is not edge)
                assert is_satisfiable(rest), f"{pair} not needed: {edge}\n{core}\n{cell.source()}"
        run.close()
    assert explained >= 400


class EvidencedPrices(Prices):
    """What waiving costs where there is evidence; nothing else may be waived."""

    def plain(self, need: Dependency, at: int) -> int:  # noqa: ARG002
        return _TOO_MUCH


_TOO_MUCH = 1_000_000
STRICT = Shape(
    packages=(2, 4), releases=(1, 3), gates=0.0, facts=1, waivers=0.0, tightness=(0.5, 0.7), urls=0
)


@pytest.mark.parametrize("shape", [STRICT, STRICT._replace(gates=0.5)], ids=["plain", "gated"])
def test_waivers_of_a_cell_are_the_cheapest_with_evidence(shape: Shape) -> None:
    helped = helpless = 0
    for case, memory, universe, _, missing in impossible_cells(400, shape, strict=True):
        run = memory.drive(waived_cells(universe, case.request), universe)
        for pair in missing:
            answer = memory.drive(run.solve(*pair), universe)
            cell = pinned(case, memory, pair)
            waived = cell._replace(waivers=everything_waived(case)).request
            prices = EvidencedPrices(memory, case.request)
            brute = BruteForce(memory.packages, memory.dependencies, waived)
            costs = (prices.cost(verdict.chosen, verdict.extras) for verdict in brute.all())
            least = min((cost for cost in costs if cost is not None and cost < _TOO_MUCH), default=None)
            assert (answer and answer.values[0]) == least, f"{pair}\n{cell.source()}"
            if answer is None:
                helpless += 1
            else:
                helped += 1
                assert answer.waivers
                again = BruteForce(
                    memory.packages, memory.dependencies, cell._replace(waivers=answer.waivers).request
                )
                assert any(answer.pins.items() <= verdict.chosen.items() for verdict in again.all())
        run.close()
    assert helped > 20
    assert helpless > 20


def test_waivers_do_not_depend_on_the_order_of_cells() -> None:
    for case, memory, universe, _, missing in impossible_cells(150, STRICT, strict=True):
        answers = []
        for order in (missing, missing[::-1]):
            run = memory.drive(waived_cells(universe, case.request), universe)
            answers.append({pair: memory.drive(run.solve(*pair), universe) for pair in order})
            run.close()
        assert answers[0] == answers[1], case.source()
