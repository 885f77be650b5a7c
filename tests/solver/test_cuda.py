"""One CUDA for the whole set: facts, local versions, other indexes, the target, and what is told."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from tests.support.universes import Case, Memory, Release

from compatlock.model import core as kinds
from compatlock.model.core import Core
from compatlock.model.cuda import CUDA
from compatlock.model.fact import SHIPPED_FACTS, Fact, FactBound
from compatlock.model.target import Target
from compatlock.solver.explain import explain
from compatlock.solver.greedy import greedy
from compatlock.solver.search import Solution, search
from compatlock.solver.universe import Need

TORCH = Fact(
    "torch-cuda", "torch", "cuda", (FactBound("<2.11", "==12.*"), FactBound(">=2.11", "==13.*")), CUDA
)
AUDIO = Fact("audio-cuda", "audio", "cuda", (FactBound(">=2.11", "==13.*"),), CUDA)
FACTS = (TORCH, AUDIO)


def project(*versions: str) -> tuple[Release, ...]:
    """Releases, newest first, ten days apart."""
    return tuple(Release(version=version, day=1000 - 10 * k) for k, version in enumerate(versions))


def case(
    *roots: str, projects: dict[str, tuple[Release, ...]], facts: tuple[Fact, ...] = FACTS, driver: str = ""
) -> Case:
    return Case(projects=projects, roots=roots, facts=facts, driver=driver)


def answer(
    given: Case, is_elsewhere: Callable[[str], bool] = lambda _name: False, target: Target | None = None
) -> Solution | None:
    memory = Memory(given)
    universe = memory.universe()
    universe.is_elsewhere = is_elsewhere
    request = given.request if target is None else given.request._replace(target=target)
    return memory.drive(search(universe, request, thorough=True), universe)


def chosen(given: Case, is_elsewhere: Callable[[str], bool] = lambda _name: False) -> dict[str, str]:
    """Versions of the best answer."""
    solution = answer(given, is_elsewhere)
    assert solution is not None
    packages = Memory(given).packages
    return {name: packages[name].versions[index] for name, index in solution.chosen.items()}


PAIR = {"torch": project("2.15", "2.11", "2.10"), "audio": project("2.11", "2.10")}


def test_without_a_target_cuda_is_free() -> None:
    assert chosen(case("torch", "audio", projects=PAIR)) == {"torch": "2.15", "audio": "2.11"}


def test_but_one_for_the_whole_set() -> None:
    assert chosen(case("torch==2.10", "audio", projects=PAIR)) == {"torch": "2.10", "audio": "2.10"}


def test_it_is_no_part_of_the_answer_and_costs_nothing() -> None:
    solution = answer(case("torch", "audio", projects=PAIR))
    assert solution is not None
    assert CUDA not in {**solution.chosen, **solution.depths, **solution.newest}
    assert {tier.name: tier.value for tier in solution.tiers}["packages"] == 2
    assert solution.counters["packages"] == 2


def test_a_driver_rules_releases_out_and_lag_is_counted_from_the_newest_that_is_left() -> None:
    given = case("torch", "audio", driver="570", projects=PAIR)
    assert chosen(given) == {"torch": "2.10", "audio": "2.10"}
    solution = answer(given)
    assert solution is not None
    # The newest audio is none for this target either.
    assert solution.newest == {"torch": 2, "audio": 1}
    assert {tier.name: tier.value for tier in solution.tiers}["worst root lag"] == 0


@pytest.mark.parametrize(
    ("target", "torch"),
    [
        (Target("3.12.0", "x86_64-manylinux_2_34", cuda="12.8"), 2),
        (Target("3.12.0", "x86_64-manylinux_2_34", cuda="13"), 0),
        (Target("3.12.0", "x86_64-manylinux_2_34", driver="580.65.06"), 0),
        (Target("3.12.0", "x86_64-manylinux_2_34", cuda="12", driver="580"), 2),
    ],
)
def test_both_ways_to_say_what_the_target_runs(target: Target, torch: int) -> None:
    solution = answer(case("torch", projects=PAIR), target=target)
    assert solution is not None
    assert solution.chosen["torch"] == torch


def test_a_target_that_runs_nothing_that_there_is() -> None:
    assert answer(case("torch", driver="470", projects=PAIR)) is None


def test_a_local_version_speaks_for_itself() -> None:
    given = {"torch": project("2.11+cu128", "2.11+cpu", "2.10"), "audio": project("2.11", "2.10")}
    assert chosen(case("torch", driver="570", projects=given))["torch"] == "2.11+cu128"
    # Not by the fact about torch 2.11, and not with what needs CUDA 13.
    assert chosen(case("torch==2.11+cu128", "audio", projects=given)) == {
        "torch": "2.11+cu128",
        "audio": "2.10",
    }
    assert chosen(case("torch==2.11+cpu", "audio", projects=given)) == {"torch": "2.11+cpu", "audio": "2.11"}


def test_a_local_version_binds_without_any_fact() -> None:
    given = case("torch", facts=(), driver="570", projects={"torch": project("2.12+cu130", "2.11+cu128")})
    assert chosen(given) == {"torch": "2.11+cu128"}


def test_shipped_facts_do_not_hold_for_files_of_other_indexes() -> None:
    shipped = tuple(fact._replace(origin=SHIPPED_FACTS) for fact in FACTS)
    given = case("torch", facts=shipped, driver="570", projects=PAIR)
    assert chosen(given, lambda name: name == "torch") == {"torch": "2.15"}
    assert chosen(given, lambda name: name == "audio") == {"torch": "2.10"}
    # Whoever adds an index may know more of it.
    given = case("torch", driver="570", projects=PAIR)
    assert chosen(given, lambda name: name == "torch") == {"torch": "2.10"}


def test_greedy_keeps_to_one_cuda_too() -> None:
    for given in (
        case("torch==2.10", "audio", projects=PAIR),
        case("torch", "audio", driver="570", projects=PAIR),
    ):
        memory = Memory(given)
        universe = memory.universe()

        def fetch(need: Need, memory: Memory = memory, universe: object = universe) -> None:
            memory.answer(universe, need)  # type: ignore[arg-type]

        found = greedy(universe, given.request, fetch)
        assert found is not None
        assert found.chosen == {"torch": 2, "audio": 1}


def core_of(given: Case) -> Core:
    memory = Memory(given)
    universe = memory.universe()
    assert memory.drive(search(universe, given.request), universe) is None
    return memory.drive(explain(universe, given.request), universe)


def test_what_the_target_runs_is_a_statement_of_a_core_and_the_last() -> None:
    core = core_of(case("torch>=2.11", driver="570", projects=PAIR))
    assert [(edge.kind, edge.on, edge.origin) for edge in core.edges] == [
        (kinds.ROOT, "torch", "test"),
        (kinds.FACT, CUDA, "torch-cuda"),
        (kinds.TARGET, CUDA, "driver 570"),
    ]
    assert core.edges[-1].specifier == ">=11,<=12"
    assert core.gaps == ()


def test_two_facts_exclude_each_other() -> None:
    core = core_of(case("torch==2.10", "audio>=2.11", projects=PAIR))
    assert [edge.origin for edge in core.edges] == ["test", "test", "audio-cuda", "torch-cuda"]


def test_local_versions_are_a_statement() -> None:
    given = {"torch": project("2.11+cu128"), "audio": project("2.11")}
    core = core_of(case("torch", "audio", projects=given))
    assert [edge.origin for edge in core.edges] == ["test", "test", "audio-cuda", "local version"]
    assert "says in its local versions" in core.edges[-1].detail


@pytest.mark.parametrize(("torch", "audio"), list(product(("2.15", "2.10"), ("2.11", "2.10"))))
def test_nothing_is_forbidden_but_two_cudas(torch: str, audio: str) -> None:
    given = case(f"torch=={torch}", f"audio=={audio}", projects=PAIR)
    assert (answer(given) is not None) == ((torch, audio) != ("2.10", "2.11"))
