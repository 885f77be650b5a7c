"""All cores: each unsatisfiable and minimal, the set complete, judged by trying all selections."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.solver.test_explain import project, said
from tests.support.brute_force import BruteForce
from tests.support.draw import Shape, random_case
from tests.support.universes import Case, Memory, Release, dependency, solve

from compatlock.model import core as kinds
from compatlock.solver.cores import Cores, all_cores, merged
from compatlock.solver.guards import (
    Label,
    constraint_label,
    edge_label,
    extra_label,
    fact_label,
    problem_label,
    root_label,
    url_label,
)
from compatlock.solver.search import search
from compatlock.solver.universe import Universe

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from compatlock.model.core import CoreEdge

# What gated releases lean on is no statement, so that sets of statements cannot be judged with them.
_SHAPE = Shape(packages=(2, 5), releases=(1, 3), gates=0, waivers=0, tightness=(0.5, 0.7))


def cores_of(case: Case, most: int = 100) -> Cores:
    universe, memory = Universe(), Memory(case)
    assert memory.drive(search(universe, case.request), universe) is None
    return memory.drive(all_cores(universe, case.request, most=most), universe)


# The oracle: statements of a whole case, and whether some of them can be satisfied


def statements_of(case: Case) -> set[Label]:
    request = case.request
    found = {root_label(root) for root in request.roots}
    found |= {constraint_label(constraint) for constraint in request.constraints}
    found |= {fact_label(fact) for fact in request.facts if request.soft_facts or not fact.is_soft}
    found |= {extra_label(root.name, extra) for root in request.roots for extra in root.extras}
    for name, releases in case.projects.items():
        for release in releases:
            if release.problem:
                found.add(problem_label(name, release.problem))
            found |= {_edge(name, extra, need) for extra, need in _needs(release)}
    return set(map(merged, found))


def _needs(release: Release) -> Iterator[tuple[str, str]]:
    for extra, needs in [("", release.needs), *release.extras.items()]:
        for need in needs:
            yield extra, need


def _edge(name: str, extra: str, text: str) -> Label:
    need = dependency(text)
    return merged((url_label if need.url else edge_label)(name, extra, need))


def are_satisfiable(case: Case, kept: Collection[Label]) -> bool:
    """By trying all selections of a universe in which nothing else is said."""
    request = case.request
    projects = {
        name: tuple(_only(name, release, kept, case) for release in releases)
        for name, releases in case.projects.items()
    }
    reduced = case._replace(
        projects=projects,
        roots=tuple(t for t, r in zip(case.roots, request.roots, strict=True) if root_label(r) in kept),
        constraints=tuple(
            t
            for t, c in zip(case.constraints, request.constraints, strict=True)
            if constraint_label(c) in kept
        ),
        facts=tuple(fact for fact in case.facts if fact_label(fact) in kept),
    )
    memory = Memory(reduced._replace(projects={**dict.fromkeys(Memory(case).packages, ()), **projects}))
    found = BruteForce(memory.packages, memory.dependencies, reduced.request).all()
    return next(found, None) is not None


def _only(name: str, release: Release, kept: Collection[Label], case: Case) -> Release:
    asked = {x for r in case.request.roots if r.name == name for x in r.extras}
    free = {x for x in asked if extra_label(name, x) not in kept}
    if release.problem:
        # Nothing is known of what it needs.
        problem = release.problem if merged(problem_label(name, release.problem)) in kept else ""
        return release._replace(needs=(), extras={}, provides=("x", "y"), problem=problem)
    return release._replace(
        needs=tuple(need for need in release.needs if _edge(name, "", need) in kept),
        extras={
            extra: tuple(need for need in needs if _edge(name, extra, need) in kept)
            for extra, needs in release.extras.items()
        },
        provides=tuple(sorted({*release.provides, *free})),
    )


def statements(edges: Collection[CoreEdge]) -> frozenset[Label]:
    """What the edges of a core are about, merged."""
    return frozenset(merged(_label(edge)) for edge in edges)


def _label(edge: CoreEdge) -> Label:
    if edge.kind == kinds.FACT:
        return Label(edge.kind, edge.package, on=edge.on, origin=edge.origin)
    return Label(*edge[:7])


def _hitting_sets(cores: Collection[frozenset[Label]]) -> set[frozenset[Label]]:
    """The smallest sets that have something of each core (Berge's way: one core after the other)."""
    found = {frozenset[Label]()}
    for core in cores:
        grown = {one if one & core else one | {each} for one in found for each in core}
        found = {one for one in grown if not any(other < one for other in grown)}
        assume(len(found) < 300)
    return found


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(0, 2**32))
def test_each_core_is_minimal_and_none_is_missing(seed: int) -> None:
    case = random_case(random.Random(seed), _SHAPE)._replace(older={}, prefer=())
    assume(solve(case) is None)
    found = cores_of(case)
    cores = [statements(core.edges) for core in found.cores]
    assert len(cores) == len(set(cores))
    assert list(map(len, cores)) == sorted(map(len, cores))
    for core in cores:
        assert not are_satisfiable(case, core), (core, case.source())
        for statement in core:
            assert are_satisfiable(case, core - {statement}), (statement, core, case.source())
    # Complete, where that is said: a contradiction that contains none of them lacks something of each, which
    # leaves no contradiction.
    if not found.complete:
        return
    everything = statements_of(case)
    for lacking in _hitting_sets(cores):
        assert are_satisfiable(case, everything - lacking), (lacking, cores, case.source())


def test_hardly_any_small_case_takes_more_than_is_spent() -> None:
    bounded = 0
    for seed in range(300):
        case = random_case(random.Random(seed), _SHAPE)._replace(older={}, prefer=())
        if solve(case) is None:
            bounded += not cores_of(case).complete
    assert bounded <= 3


# By hand

# a and b exclude each other by c and by d; b and e by f alone.
_SEVERAL = Case(
    projects={
        "a": project(v1_1=("c<2", "d<2"), v1_0=("c<1.5", "d<2")),
        "b": project(v1_0=("c>=2", "d>=2", "f<2")),
        "c": project(v2_0=(), v1_0=()),
        "d": project(v2_0=(), v1_0=()),
        "e": project(v1_0=("f>=2", "g>=1")),
        "f": project(v2_0=("h",), v1_0=()),
        "g": project(v1_0=()),
        "h": project(v1_0=()),
    },
    roots=("a", "b", "e"),
)


def test_bounds_of_several_releases_are_one_statement() -> None:
    found = cores_of(_SEVERAL)
    assert found.complete
    assert [said(core) for core in found.cores] == [
        ["root   -> b ", "root   -> e ", "edge b 1.0 -> f<2 ", "edge e 1.0 -> f>=2 "],
        ["root   -> a ", "root   -> b ", "edge a 1.0,1.1 -> d<2 ", "edge b 1.0 -> d>=2 "],
        [
            "root   -> a ",
            "root   -> b ",
            "edge a 1.0 -> c<1.5 ",
            "edge a 1.1 -> c<2 ",
            "edge b 1.0 -> c>=2 ",
        ],
    ]


def test_with_a_limit_not_all_may_be_there() -> None:
    found = cores_of(_SEVERAL, most=2)
    assert len(found.cores) == 2
    assert not found.complete


def test_what_answers_give_up_need_not_be_looked_at() -> None:
    def run(given_up: list[frozenset[Label]]) -> tuple[Cores, int]:
        universe, memory = Universe(), Memory(case)
        assert memory.drive(search(universe, case.request), universe) is None
        found = memory.drive(all_cores(universe, case.request, given_up), universe)
        return found, len(set(memory.asked))

    case = Case(
        projects={
            "a": project(v1_0=("c<2",)),
            "b": project(v1_0=("c>=2",)),
            "c": project(v2_0=("d",), v1_0=("d",)),
            "d": tuple(Release(("e",), version=f"{n}") for n in range(9, 0, -1)),
            "e": project(v1_0=()),
        },
        roots=("a", "b"),
    )
    plain, asked = run([])
    (core,) = plain.cores
    assert plain.complete
    assert len(core.edges) == 4
    assert run([frozenset([statement]) for statement in statements(core.edges)])[0] == plain
    assert run([frozenset([statement]) for statement in statements(core.edges)])[1] < asked
