"""Pre-releases and yanked releases: who may admit them, also when that is not known yet."""

from __future__ import annotations

import random

import pytest
from tests.support.brute_force import BruteForce
from tests.support.draw import Shape, random_case
from tests.support.universes import Case, Memory, Release

from compatlock.model.package import PRERELEASE, YANKED
from compatlock.solver.search import Solution, search
from compatlock.solver.universe import Universe

PRE = Release(gate=PRERELEASE)
FINAL = Release()
_GATED = Shape(packages=(4, 7), releases=(2, 5), gates=1, waivers=0, facts=1)


def solve(case: Case) -> tuple[dict[str, int] | None, list[tuple[str, int]]]:
    """What the search chooses, after a comparison with all selections, and the releases that it read."""
    memory, universe = Memory(case), Universe()
    run = search(universe, case.request, thorough=True)
    solution: Solution | None = memory.drive(run, universe)
    best = BruteForce(memory.packages, memory.dependencies, case.request, memory.compiled).best()
    assert (solution and solution.chosen) == (best and best.chosen)
    return solution and solution.chosen, memory.asked


def chosen(case: Case) -> dict[str, int] | None:
    return solve(case)[0]


# Who admits


def test_a_pre_release_is_chosen_only_when_asked_for() -> None:
    projects = {"a": (PRE, FINAL)}
    assert chosen(Case(projects, ("a",))) == {"a": 1}
    assert chosen(Case(projects, ("a{0 1}p",))) == {"a": 0}
    assert chosen(Case(projects, ("a{0}",))) == {"a": 0}, "nothing else satisfies the line"
    assert chosen(Case(projects, ("a{0}",), prerelease="explicit")) is None


def test_a_yanked_release_is_chosen_only_when_pinned() -> None:
    projects = {"a": (Release(gate=YANKED), FINAL)}
    assert chosen(Case(projects, ("a",))) == {"a": 1}
    assert chosen(Case(projects, ("a{0}",))) is None
    assert chosen(Case(projects, ("a{0}p",))) is None
    assert chosen(Case(projects, ("a{0}!",))) == {"a": 0}


def test_an_edge_admits_for_all_other_edges() -> None:
    projects = {"a": (Release(("c",)),), "b": (Release(("c{0 1}p",)),), "c": (PRE, FINAL)}
    assert chosen(Case(projects, ("a",))) == {"a": 0, "c": 1}
    assert chosen(Case(projects, ("a", "b"))) == {"a": 0, "b": 0, "c": 0}


def test_a_constraint_admits_like_any_line_of_the_user() -> None:
    projects = {"a": (Release(("b",)),), "b": (PRE, FINAL)}
    assert chosen(Case(projects, ("a",), constraints=("b{0}p",))) == {"a": 0, "b": 0}
    assert chosen(Case(projects, ("b",), constraints=("b{0}p",))) == {"b": 0}


def test_an_admitted_release_admits_others() -> None:
    projects = {"a": (Release(("b{0}p",), gate=PRERELEASE), FINAL), "b": (PRE, FINAL)}
    assert chosen(Case(projects, ("a{0}p", "b"))) == {"a": 0, "b": 0}
    assert chosen(Case(projects, ("a", "b"))) == {"a": 1, "b": 1}


def test_an_edge_of_an_extra_admits_only_when_the_extra_is_asked_for() -> None:
    projects = {"a": (Release(("b",), {"x": ("b{0}p",)}),), "b": (PRE, FINAL)}
    assert chosen(Case(projects, ("a",))) == {"a": 0, "b": 1}
    assert chosen(Case(projects, ("a[x]",))) == {"a": 0, "b": 0}


# Nothing admits itself


def test_a_release_does_not_admit_itself_through_its_extra() -> None:
    projects = {"a": (Release((), {"x": ("a{0}p",)}, gate=PRERELEASE), Release((), {"x": ("a{1}",)}))}
    assert chosen(Case(projects, ("a[x]",))) == {"a": 1}


def test_releases_in_lockstep_do_not_admit_each_other() -> None:
    projects = {
        "a": (Release(("b{0}p",), gate=PRERELEASE), Release(("b{1}",))),
        "b": (Release(("a{0}p",), gate=PRERELEASE), Release(("a{1}",))),
        "c": (Release(("b{0}p",)),),
    }
    assert chosen(Case(projects, ("a",))) == {"a": 1, "b": 1}
    assert chosen(Case(projects, ("b", "a"))) == {"a": 1, "b": 1}
    assert chosen(Case(projects, ("a", "c"))) == {"a": 0, "b": 0, "c": 0}


def test_a_longer_circle_does_not_admit_itself() -> None:
    projects = {
        "a": (Release(("b",), gate=PRERELEASE), Release(("b",))),
        "b": (Release(("c",)),),
        "c": (Release(("a{0}p",)), Release(("a",))),
    }
    # c 0 admits a 0, but whoever asks for c only has it from a 0 or a 1: from a 1, nothing admits a 0.
    assert chosen(Case(projects, ("a",))) == {"a": 1, "b": 0, "c": 1}
    assert chosen(Case(projects, ("b",))) == {"a": 0, "b": 0, "c": 0}


def test_packages_that_nothing_needs_do_not_admit() -> None:
    # x and y hold each other up, and x admits what r 0 needs; but only r 1 needs them.
    projects = {
        "r": (Release(("b{0}",)), Release(("b{0}", "x")), Release()),
        "b": (PRE, FINAL),
        "x": (Release(("y", "b{0}p")),),
        "y": (Release(("x",)),),
    }
    case = Case(projects, ("r",), prerelease="explicit")
    assert chosen(case) == {"b": 0, "r": 1, "x": 0, "y": 0}


def test_extras_that_nothing_asks_for_do_not_admit() -> None:
    projects = {
        "r": (Release(("b{0}", "x")), Release(("b{0}", "x[e]")), Release()),
        "b": (PRE, FINAL),
        "x": (Release((), {"e": ("x[f]", "b{0}p"), "f": ("x[e]",)}),),
    }
    assert chosen(Case(projects, ("r",), prerelease="explicit")) == {"b": 0, "r": 1, "x": 0}


# Releases that are not read might admit


@pytest.mark.parametrize("behind", [1, 2, 5])
def test_an_older_release_is_read_because_it_might_admit(behind: int) -> None:
    older = [FINAL] * behind
    projects = {
        "a": (Release(("c", "d")), Release()),
        "b": (PRE, FINAL),
        "c": (Release(("b{0}",)),),
        "d": (*older, Release(("b{0}p",))),
    }
    answer, asked = solve(Case(projects, ("a",), prerelease="explicit"))
    assert answer == {"a": 0, "b": 0, "c": 0, "d": behind}
    assert ("d", behind) in asked


def test_what_might_admit_may_be_unknown_altogether() -> None:
    # Only d 1 knows e at all, and only e 1 admits b 0.
    projects = {
        "a": (Release(("c", "d")), Release()),
        "b": (PRE, FINAL),
        "c": (Release(("b{0}",)),),
        "d": (FINAL, Release(("e",))),
        "e": (FINAL, Release(("b{0}p",))),
    }
    answer, _ = solve(Case(projects, ("a",), prerelease="explicit"))
    assert answer == {"a": 0, "b": 0, "c": 0, "d": 1, "e": 1}


def test_a_pre_release_may_come_back_after_it_was_ruled_out() -> None:
    # With d 0 the root's lag is proved to be one release, until d 1 is read.
    projects = {
        "r": (Release(("b{0}", "d")), Release(("d",)), FINAL),
        "b": (PRE, FINAL),
        "d": (FINAL, Release(("b{0}p",))),
    }
    assert chosen(Case(projects, ("r",), prerelease="explicit")) == {"b": 0, "d": 1, "r": 0}


def test_without_any_release_that_admits_there_is_no_answer() -> None:
    projects = {
        "a": (Release(("c", "d")),),
        "b": (PRE, FINAL),
        "c": (Release(("b{0}",)),),
        "d": (FINAL, FINAL, FINAL),
    }
    answer, asked = solve(Case(projects, ("a",), prerelease="explicit"))
    assert answer is None
    assert {("d", 0), ("d", 1), ("d", 2)} <= set(asked), "the proof needs them all"


def test_nothing_more_is_read_when_gates_play_no_part_in_the_proof() -> None:
    projects = {"a": (Release(("b{1}", "d")), Release(("d",))), "b": (PRE, FINAL), "d": (FINAL,) * 9}
    answer, asked = solve(Case(projects, ("a",)))
    assert answer == {"a": 0, "b": 1, "d": 0}
    assert not {("d", i) for i in range(1, 9)} & set(asked)


# What is presumed rather than read


def presuming(case: Case) -> tuple[Solution | None, list[tuple[str, int]]]:
    memory, universe = Memory(case), Universe()
    solution = memory.drive(search(universe, case.request), universe)
    return solution, memory.asked


# More releases than are read ahead before anything is presumed.
_MANY = 150


def test_after_some_rounds_only_packages_known_to_depend_are_suspected() -> None:
    # Only the last d admits b 0, and no other release of d mentions b; e is known to depend on b.
    projects = {
        "a": (Release(("c", "d", "e")), Release()),
        "b": (PRE, FINAL),
        "c": (Release(("b{0}",)),),
        "d": (*[FINAL] * _MANY, Release(("b{0}p",))),
        "e": (*[Release(("b",))] * _MANY, Release(("b{0 1}p",))),
    }
    without = Case({**projects, "e": projects["e"][:_MANY]}, ("a",), prerelease="explicit")
    solution, asked = presuming(without)
    assert solution is not None
    assert solution.chosen == {"a": 1}
    assert solution.presumed == ("b",)
    assert solution.proved
    assert ("d", _MANY) not in asked
    assert chosen(without) == {"a": 0, "b": 0, "c": 0, "d": _MANY, "e": 0}

    solution, asked = presuming(Case(projects, ("a",), prerelease="explicit"))
    assert solution is not None
    assert solution.chosen == {"a": 0, "b": 0, "c": 0, "d": 0, "e": _MANY}
    assert ("d", _MANY) not in asked


def test_what_is_presumed_is_only_ever_about_gates() -> None:
    for seed in range(250):
        case = random_case(random.Random(seed), _GATED)
        memory = Memory(case)
        best = BruteForce(memory.packages, memory.dependencies, case.request, memory.compiled).best()
        solution, _ = presuming(case)
        if solution is None:
            continue
        assert best is not None, case.source()
        tiers = tuple(tier.value for tier in solution.tiers)
        assert best.tiers <= tiers, case.source()
        if not solution.presumed:
            assert (solution.chosen, tiers) == (best.chosen, best.tiers), case.source()
