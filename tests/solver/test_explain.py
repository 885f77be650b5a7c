"""Cores: unsatisfiable, minimal, and about the releases that they name."""

from __future__ import annotations

import random

import pytest

from compatlock.model import core as kinds
from compatlock.model.core import Core, CoreEdge, Gap
from compatlock.model.fact import Fact, FactBound
from compatlock.model.package import PRERELEASE, YANKED, Package
from compatlock.model.waiver import Waiver
from compatlock.solver.explain import explain
from compatlock.solver.universe import Universe
from tests.support.brute_force import BruteForce
from tests.support.universes import Case, Memory, Release, Shape, random_case, solve


def core_of(case: Case) -> tuple[Core, Memory]:
    """The core of a case without an answer, after the search has looked for one."""
    from compatlock.solver.search import search

    universe, memory = Universe(), Memory(case)
    assert memory.drive(search(universe, case.request), universe) is None
    return memory.drive(explain(universe, case.request), universe), memory


def versioned(*versions: str, **needs: tuple[str, ...]) -> tuple[Release, ...]:
    """Releases, newest first; `needs` by version with underscores for points."""
    return tuple(Release(needs.get("v" + v.replace(".", "_"), ()), version=v) for v in versions)


# What a core says, told as a case of its own


def told(case: Case, core: Core, edges: tuple[CoreEdge, ...], memory: Memory) -> Case:
    """A universe in which nothing is known but these statements."""
    projects: dict[str, tuple[Release, ...]] = {"missing": ()}
    projects |= {
        name: tuple(_release(core, edges, package, index) for index in range(package.size))
        for name, package in memory.packages.items()
    }
    facts = {fact.id: fact for fact in case.facts}
    return Case(
        projects=projects,
        roots=tuple(f"{e.on}{_extras(e)}{e.specifier}" for e in edges if e.kind == kinds.ROOT),
        constraints=tuple(e.on + e.specifier for e in edges if e.kind == kinds.CONSTRAINT),
        facts=tuple(facts[e.origin] for e in edges if e.kind == kinds.FACT),
        waivers=case.waivers,
        prerelease=case.prerelease,
    )


def _extras(edge: CoreEdge) -> str:
    return f"[{','.join(edge.extras)}]" if edge.extras else ""


def _release(core: Core, edges: tuple[CoreEdge, ...], package: Package, index: int) -> Release:
    gated = {v for gap in core.gaps if gap.package == package.name for v, _ in gap.gated}
    version = package.versions[index]
    needs: dict[str, list[str]] = {"": [], "x": [], "y": []}
    problem = ""
    for edge in edges:
        about = edge.on if edge.kind == kinds.EXTRA else edge.package
        if about != package.name or not edge.releases or index not in _indexes(edge, package):
            continue
        if edge.kind == kinds.PROBLEM:
            problem = edge.detail
        elif edge.kind == kinds.EXTRA:
            needs.pop(edge.extras[0])
        elif edge.kind == kinds.URL:
            needs[edge.extra].append(f"{edge.on}@{edge.detail}")
        else:
            needs[edge.extra].append(f"{edge.on}{_extras(edge)}{edge.specifier}")
    return Release(
        needs=tuple(needs.pop("")),
        extras={extra: tuple(found) for extra, found in needs.items()},
        gate=package.gates[index] if version in gated else "",
        problem=problem,
        position=package.positions[index],
        version=version,
    )


def _indexes(edge: CoreEdge, package: Package) -> set[int]:
    found: set[int] = set()
    for text in edge.releases:
        oldest, _, newest = text.partition(" to ")
        last, first = package.index_of(oldest), package.index_of(newest or oldest)
        assert first is not None
        assert last is not None
        found.update(range(first, last + 1))
    return found


def satisfiable(case: Case) -> bool:
    """By trying all selections."""
    memory = Memory(case)
    return next(BruteForce(memory.packages, memory.dependencies, case.request).all(), None) is not None


def check(case: Case) -> Core:
    """Find the core of a case and check that it is unsatisfiable and minimal."""
    core, memory = core_of(case)
    assert core.roots
    assert not satisfiable(told(case, core, core.edges, memory)), "the core can be satisfied"
    if any(gap.gated for gap in core.gaps):
        # Edges outside the core may admit the gated candidates, which the told case knows nothing of.
        return core
    for edge in core.edges:
        rest = tuple(e for e in core.edges if e is not edge)
        assert satisfiable(told(case, core, rest, memory)), f"not needed: {edge}"
    return core


@pytest.mark.parametrize("seed", range(40))
def test_random_cores_are_minimal(seed: int) -> None:
    _check_random(seed, 25)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1100))
def test_many_random_cores_are_minimal(seed: int) -> None:
    _check_random(seed, 100)


def _check_random(seed: int, count: int) -> None:
    rng = random.Random(seed)
    for _ in range(count):
        case = random_case(rng, Shape(tightness=0.7, problems=0.1, urls=0.1))
        if solve(case) is None:
            try:
                check(case)
            except AssertionError as error:
                raise AssertionError(f"{error}\n{case.source()}") from error
