"""The greedy strategy: valid, never better than the optimum, and never a wrong "no"."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support import universes
from tests.support.brute_force import BruteForce
from tests.support.draw import Shape, random_case
from tests.support.universes import Case, Memory, Release

from compatlock.errors import SearchGivenUp
from compatlock.model.fact import Fact, FactBound
from compatlock.model.waiver import Waiver
from compatlock.solver import greedy as greedy_module
from compatlock.solver.greedy import Greedy, greedy
from compatlock.solver.universe import Need

_FUZZ = settings(derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
_PLAIN = Shape(gates=0, waivers=0, facts=3)
_GATED = Shape(gates=1, waivers=0, facts=1)
_WAIVED = Shape(gates=0, waivers=1, facts=1, tightness=(0.5, 0.7))
_SHAPES = pytest.mark.parametrize("shape", [_PLAIN, _GATED, _WAIVED], ids=["plain", "gated", "waived"])


def solve(case: Case) -> Greedy | None:
    memory = Memory(case)
    universe = memory.universe()

    def fetch(need: Need) -> None:
        memory.answer(universe, need)

    return greedy(universe, case.request, fetch)


def check(case: Case) -> bool:
    """Judge the answer by all selections; whether there was one, or a proof of none."""
    memory = Memory(case)
    reference = BruteForce(memory.packages, memory.dependencies, case.request, memory.compiled)
    best = reference.best()
    try:
        answer = solve(case)
    except SearchGivenUp:
        assert best is not None, case.source()
        return False
    if best is None or answer is None:
        assert answer is None, case.source()
        # What no release read admits is presumed not to be admitted (see `Solution.presumed`).
        assert best is None or universes.solve(case, thorough=False) is None, case.source()
    else:
        verdict = reference.judge(answer.chosen)
        assert verdict is not None, f"not valid: {answer}\n{case.source()}"
        assert answer.extras == verdict.extras
        assert verdict.tiers >= best.tiers
    return True


@_SHAPES
@settings(_FUZZ, max_examples=80)
@given(st.data())
def test_answers_are_valid_and_failures_are_proved(shape: Shape, data: st.DataObject) -> None:
    check(random_case(data.draw(st.randoms(use_true_random=False)), shape))


@pytest.mark.parametrize(
    ("shape", "most"), [(_PLAIN, 1), (_GATED, 15), (_WAIVED, 5)], ids=["plain", "gated", "waived"]
)
def test_it_seldom_gives_up(shape: Shape, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(greedy_module, "_ROUNDS", 300)
    cases = [random_case(random.Random(seed), shape) for seed in range(500)]
    assert sum(not check(case) for case in cases) <= most


@pytest.mark.slow
@pytest.mark.timeout(3_000)
@_SHAPES
def test_answers_of_many_cases_are_valid(shape: Shape) -> None:
    source = random.SystemRandom()
    for _ in range(10_000):
        check(random_case(random.Random(source.randrange(2**64)), shape))


# Waivers


def test_a_waiver_is_spent_only_when_needed() -> None:
    case = Case(
        projects={
            "a": (Release(("c{1}",)),),
            "b": (Release(("c{0}",)),),
            "c": (Release(), Release()),
            "d": (Release(("e{1}",)),),
            "e": (Release(), Release()),
        },
        roots=("a", "b", "d"),
        waivers=(Waiver("a", "c"), Waiver("b", "c"), Waiver("d", "e")),
    )
    assert solve(case) == Greedy({"a": 0, "b": 0, "c": 1, "d": 0, "e": 1}, {})
    assert solve(case._replace(waivers=case.waivers[:1])) == Greedy(
        {"a": 0, "b": 0, "c": 0, "d": 0, "e": 1}, {}
    )
    assert solve(case._replace(waivers=(Waiver("a", "c", bound="{1}"),))) is None
    assert solve(case._replace(waivers=())) is None


# What pip would choose


def chosen(case: Case) -> dict[str, int] | None:
    answer = solve(case)
    return answer and answer.chosen


def test_the_line_that_comes_first_gets_the_newest() -> None:
    projects = {
        "a": (Release(("c{1}",)), Release(("c{1}",)), Release()),
        "b": (Release(("c{0}",)), Release(("c{0}",)), Release()),
        "c": (Release(), Release()),
    }
    assert chosen(Case(projects, ("a", "b"))) == {"a": 0, "b": 2, "c": 1}
    assert chosen(Case(projects, ("b", "a"))) == {"a": 2, "b": 0, "c": 0}


def test_a_pin_goes_before_the_order_of_lines() -> None:
    projects = {"a": (Release(("b{0}",)), Release()), "b": (Release(version="2"), Release(version="1"))}
    assert chosen(Case(projects, ("a", "b==1"))) == {"a": 1, "b": 1}


def test_it_keeps_to_constraints_and_extras() -> None:
    projects = {
        "a": (Release(("b",)), Release(("b",), {"x": ("c",)})),
        "b": (Release(), Release()),
        "c": (Release(),),
    }
    answer = solve(Case(projects, ("a[x]",), constraints=("b{1}",)))
    assert answer == Greedy({"a": 1, "b": 1, "c": 0}, {"a": ("x",)})


def test_hard_facts_count_and_soft_ones_do_not() -> None:
    projects = {"a": (Release(), Release()), "b": (Release(), Release())}
    overlap = Fact("f", "a", "overlap", (FactBound("{0}", "{0}"),), on="b")
    assert chosen(Case(projects, ("a", "b"), facts=(overlap,))) == {"a": 0, "b": 1}
    soft = overlap._replace(severity="warning")
    assert chosen(Case(projects, ("a", "b"), facts=(soft,))) == {"a": 0, "b": 0}
    needed = Fact("f", "a", "undeclared", (FactBound("", "{1}"),), on="b")
    assert chosen(Case(projects, ("a",), facts=(needed,))) == {"a": 0, "b": 1}
    bad = Fact("f", "a", "known-bad", (FactBound("{0}"),), present=("b",))
    assert chosen(Case(projects, ("a", "b"), facts=(bad,))) == {"a": 1, "b": 0}
    assert chosen(Case(projects, ("a",), facts=(bad,))) == {"a": 0}


def test_a_contradiction_is_told_from_giving_up() -> None:
    projects = {"a": (Release(("c{0}",)),), "b": (Release(("c{1}",)),), "c": (Release(), Release())}
    assert solve(Case(projects, ("a", "b"))) is None


def test_where_resolvelib_misses_an_answer_it_says_so() -> None:
    # c 0 needs what cannot be installed, c 1 does not; resolvelib does not come back to c 1.
    projects = {
        "a": (Release(("c[x]{2}",)),),
        "b": (Release(("c",)), Release(("a",))),
        "c": (Release(("a", "b{0}", "b")), Release(("b",)), Release(("missing",))),
    }
    with pytest.raises(SearchGivenUp):
        solve(Case(projects, ("b",)))
