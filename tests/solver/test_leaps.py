"""Proving much at once, where releases fail one after the other."""

from __future__ import annotations

import random
from unittest.mock import patch

import pytest
from tests.solver.test_optimum import best, outcome
from tests.support.draw import SHAPES, Shape, random_case
from tests.support.universes import Case, Release, solve

from compatlock.model.package import PRERELEASE
from compatlock.solver import search as search_module

LONG = Shape(packages=(2, 4), releases=(3, 8), needs=(1, 2), gates=0.2, facts=1, waivers=0.1)


@pytest.mark.parametrize("shape", [*SHAPES.values(), LONG], ids=[*SHAPES, "long"])
def test_answers_are_the_best_ones(shape: Shape) -> None:
    for seed in range(50):
        case = random_case(random.Random(seed), shape)
        with patch.object(search_module, "_LEAP", 0):
            assert outcome(solve(case)) == best(case), f"seed {seed}: {case.source()}"


def failing(count: int, gate: str = "") -> Case:
    """All releases of `app` but the oldest need a `lib` of their own, which needs another `base`."""
    app = [Release((f"lib{{{i}}}",), day=2 * count - i, gate=gate) for i in range(count)]
    lib = [Release(("base{1}",), day=4 * count - i) for i in range(count)]
    base = (Release(day=2), Release(day=1))
    projects = {"app": (*app, Release(day=0, gate=gate)), "lib": tuple(lib), "base": base}
    return Case(projects, roots=("app", "base{0}"))


def test_larger_claims_take_fewer_calls_and_change_no_answer() -> None:
    count = 800
    with patch.object(search_module, "_LEAP", 4):
        found = solve(failing(count))
    with patch.object(search_module, "_LEAP", 10 * count):
        step_by_step = solve(failing(count))
    assert found is not None
    assert step_by_step is not None
    assert found.chosen == {"app": count, "base": 0}
    assert found._replace(counters={}) == step_by_step._replace(counters={})
    assert 3 * found.counters["calls"] < 2 * step_by_step.counters["calls"]


def test_what_keeps_failing_is_read_in_few_rounds() -> None:
    count = 2_000
    found = solve(failing(count))
    assert found is not None
    # Read by 32 it would take over 62, and hardly more than has to be read is.
    assert found.counters["rounds"] < 62
    assert found.counters["loaded"] < 2 * count * 1.1


def test_pre_releases_are_read_ahead_where_there_is_nothing_else() -> None:
    found = solve(failing(60, gate=PRERELEASE))
    assert found is not None
    assert found.chosen == {"app": 60, "base": 0}
    assert found.counters["rounds"] < 20
