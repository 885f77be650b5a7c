"""Cores: unsatisfiable, minimal, and about the releases that they name."""

from __future__ import annotations

import random

import pytest
from tests.support.brute_force import BruteForce
from tests.support.draw import Shape, random_case
from tests.support.universes import Case, Memory, Release, solve

from compatlock.model import core as kinds
from compatlock.model.core import Core, CoreEdge, Gap
from compatlock.model.fact import Fact, FactBound
from compatlock.model.package import PRERELEASE, YANKED, Package
from compatlock.model.waiver import Waiver
from compatlock.solver.explain import explain
from compatlock.solver.statements import ranges
from compatlock.solver.universe import Universe


def core_of(case: Case) -> tuple[Core, Memory]:
    """The core of a case without an answer, after the search has looked for one."""
    from compatlock.solver.search import search

    memory = Memory(case)
    universe = memory.universe()
    assert memory.drive(search(universe, case.request), universe) is None
    return memory.drive(explain(universe, case.request), universe), memory


def project(**needs: tuple[str, ...]) -> tuple[Release, ...]:
    """Releases by version, `v1_0`, newest first, with what they need."""
    return tuple(Release(found, version=name[1:].replace("_", ".")) for name, found in needs.items())


def said(core: Core) -> list[str]:
    """The statements of a core, short."""
    return [
        f"{e.kind} {e.package}{f'[{e.extra}]' if e.extra else ''} {','.join(e.releases)} -> "
        f"{e.on}{_extras(e)}{e.specifier} {e.detail}"
        for e in core.edges
    ]


# What a core says, told as a case of its own


def told(case: Case, core: Core, edges: tuple[CoreEdge, ...], memory: Memory) -> Case:
    """A universe in which nothing is known but these statements."""
    projects: dict[str, tuple[Release, ...]] = {"missing": ()}
    projects |= {
        name: tuple(
            _release(core, edges, package, index, compiled=(package.name, index) in memory.compiled)
            for index in range(package.size)
        )
        for name, package in memory.packages.items()
    }
    facts = {fact.id: fact for fact in case.facts}
    return Case(
        projects=projects,
        roots=tuple(f"{e.on}{_extras(e)}{e.specifier}" for e in edges if e.kind == kinds.ROOT),
        constraints=tuple(e.on + e.specifier for e in edges if e.kind == kinds.CONSTRAINT),
        facts=tuple(facts[e.origin] for e in edges if e.kind == kinds.FACT),
        driver=case.driver if any(e.kind == kinds.TARGET for e in edges) else "",
        waivers=case.waivers,
        prerelease=case.prerelease,
    )


def _extras(edge: CoreEdge) -> str:
    return f"[{','.join(edge.extras)}]" if edge.extras else ""


def _release(
    core: Core, edges: tuple[CoreEdge, ...], package: Package, index: int, *, compiled: bool
) -> Release:
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
        compiled=compiled,
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
    return (
        next(BruteForce(memory.packages, memory.dependencies, case.request, memory.compiled).all(), None)
        is not None
    )


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
        case = random_case(rng, Shape(tightness=(0.4, 0.7), problems=0.1, urls=0.1))
        if solve(case) is None:
            try:
                check(case)
            except AssertionError as error:
                raise AssertionError(f"{error}\n{case.source()}") from error


# Cases by hand

STACK = Case(
    projects={
        "trainer": project(v2=("nn>=5.12", "rl>=0.7"), v1=()),
        "rl": project(
            v0_9_1=("nn<5.11",),
            v0_9_0=("nn<5.11",),
            v0_8_0=("array<2",),
            v0_7_1=("array<2",),
            v0_6=("array<2",),
        ),
        "nn": project(v5_13=(), v5_12=(), v5_10=()),
        "engine": project(v3=("images>=4", "array"), v2=("images>=4",)),
        "images": project(v4_1=("array>=2",), v4_0=("array>=2",), v3=()),
        "array": project(v2_1=(), v2_0=(), v1_9=()),
    },
    roots=("trainer==2", "engine"),
)


def test_a_conflict_across_packages_is_told_from_the_roots_down() -> None:
    assert said(check(STACK)) == [
        "root   -> trainer==2 ",
        "root   -> engine ",
        "edge engine 2,3 -> images>=4 ",
        "edge trainer 2 -> nn>=5.12 ",
        "edge trainer 2 -> rl>=0.7 ",
        "edge images 4.0,4.1 -> array>=2 ",
        "edge rl 0.7.1,0.8.0 -> array<2 ",
        "edge rl 0.9.0,0.9.1 -> nn<5.11 ",
    ]


def test_only_releases_that_the_bounds_leave_are_named() -> None:
    core = check(STACK)
    assert not any("0.6" in release for edge in core.edges for release in edge.releases)


def test_a_core_needs_no_more_than_the_search_has_read() -> None:
    from compatlock.solver.search import search

    universe, memory = Universe(), Memory(STACK)
    assert memory.drive(search(universe, STACK.request), universe) is None
    memory.asked.clear()
    memory.drive(explain(universe, STACK.request), universe)
    assert memory.asked == []


def test_a_core_does_not_depend_on_the_order_of_the_lines() -> None:
    other = STACK._replace(roots=tuple(reversed(STACK.roots)))
    assert sorted(core_of(STACK)[0].edges) == sorted(core_of(other)[0].edges)


def test_many_bounds_on_one_package_know_of_each_other() -> None:
    case = Case(
        projects={
            "tool": project(v3=("lib<4",), v2=("lib<3",), v1=("lib<2",)),
            "lib": project(v5=(), v3=(), v2=(), v1=()),
        },
        roots=("tool", "lib>=5"),
    )
    core = check(case)
    assert [e.releases for e in core.edges if e.kind == kinds.EDGE] == [("1",), ("2",), ("3",)]
    assert {e.among for e in core.edges if e.kind == kinds.EDGE} == {("1 to 3",)}


def test_the_shorter_of_two_contradictions_is_told() -> None:
    # All of tool's bounds on lib fail one by one, its need of old fails as a whole.
    tool = {f"v{n}": (f"lib=={n}", "old<2") for n in range(9, 0, -1)}
    case = Case(
        projects={"tool": project(**tool), "lib": project(v20=(), v1=()), "old": project(v2=(), v1=())},
        roots=("tool", "lib>=20", "old>=2"),
    )
    assert said(check(case))[2:] == ["edge tool 1 to 9 -> old<2 "]


def test_a_project_that_the_index_does_not_have() -> None:
    case = Case(projects={"a": project(v1=("missing>=2",))}, roots=("a",))
    core = check(case)
    assert said(core) == ["root   -> a ", "edge a 1 -> missing>=2 "]
    assert core.gaps[0]._replace(found=False) == Gap("missing", False, "", (">=2",))


def test_a_bound_that_no_candidate_satisfies() -> None:
    core = check(Case(projects={"a": project(v2=(), v1=())}, roots=("a>=99",)))
    assert said(core) == ["root   -> a>=99 "]
    assert core.gaps == (Gap("a", True, "2", (">=99",)),)


def test_a_constraint_is_part_of_a_core() -> None:
    case = Case(
        projects={"a": project(v1=("b<2",)), "b": project(v2=(), v1=())}, roots=("a",), constraints=("b>=2",)
    )
    assert said(check(case)) == ["root   -> a ", "constraint   -> b>=2 ", "edge a 1 -> b<2 "]


def test_an_extra_that_no_release_has() -> None:
    releases = (Release(version="2", extras={"y": ()}), Release(version="1", provides=("z",)))
    core = check(Case(projects={"a": releases}, roots=("a[x]",)))
    assert said(core) == ["root   -> a[x] ", "extra  1,2 -> a[x] "]
    assert core.edges[1].offers == ("y",)


def test_an_extra_needs_what_clashes() -> None:
    a = (Release(version="1", needs=("b<2",), extras={"x": ("b>=2",)}),)
    core = check(Case(projects={"a": a, "b": project(v2=(), v1=())}, roots=("a[x]",)))
    assert said(core) == ["root   -> a[x] ", "edge a 1 -> b<2 ", "edge a[x] 1 -> b>=2 "]


def test_releases_that_cannot_be_used() -> None:
    a = (Release(version="2", problem="invalid dependency"), Release(version="1", needs=("b>=9",)))
    core = check(Case(projects={"a": a, "b": project(v1=())}, roots=("a",)))
    assert said(core) == ["root   -> a ", "edge a 1 -> b>=9 ", "problem a 2 ->  invalid dependency"]


def test_a_direct_reference_excludes_a_release() -> None:
    a = (Release(version="1", needs=("b@https://index.example/b.whl", "b")),)
    core = check(Case(projects={"a": a, "b": project(v1=())}, roots=("a",)))
    assert said(core) == ["root   -> a ", "url a 1 -> b https://index.example/b.whl"]


PAIR = {"a": project(v2=(), v1=()), "b": project(v2=(), v1=())}


def test_a_fact_is_part_of_a_core() -> None:
    fact = Fact("a-b", "a", "too-loose", (FactBound("", "<2"),), "b", summary="a breaks with b 2")
    core = check(Case(projects=PAIR, roots=("a", "b>=2"), facts=(fact,)))
    assert said(core)[2:] == ["fact a  -> b a breaks with b 2"]
    assert core.edges[2].origin == "a-b"


def test_a_soft_fact_is_never_part_of_a_core() -> None:
    soft = Fact("soft", "a", "too-loose", (FactBound("", "<2"),), "b", severity="warning")
    case = Case(projects=PAIR, roots=("a", "b>=2", "a>=9"), facts=(soft,))
    assert said(check(case)) == ["root   -> a>=9 "]


def test_a_dependency_that_only_a_fact_knows_of() -> None:
    fact = Fact("needs-c", "a", "undeclared", (FactBound("", ">=3"),), "c")
    core = check(Case(projects={**PAIR, "c": project(v2=())}, roots=("a",), facts=(fact,)))
    assert said(core) == ["root   -> a ", "fact a  -> c a with c>=3"]


def test_waived_bounds_are_no_part_of_a_core() -> None:
    case = Case(
        projects={"a": project(v1=("b<2", "c<2")), "b": project(v2=()), "c": project(v2=())},
        roots=("a", "b", "c"),
        waivers=(Waiver("a", "b"),),
    )
    assert said(check(case)) == ["root   -> a ", "edge a 1 -> c<2 "]


def gated(gate: str) -> Case:
    newest = Release(version="2rc1" if gate == PRERELEASE else "2", gate=gate)
    return Case(projects={"a": (newest, Release(version="1"))}, roots=("a>1",), prerelease="explicit")


@pytest.mark.parametrize("gate", [PRERELEASE, YANKED])
def test_gated_candidates_that_would_fit_are_named(gate: str) -> None:
    core = check(gated(gate))
    assert said(core) == ["root   -> a>1 "]
    assert core.gaps == (Gap("a", True, "1", (), ((gated(gate).projects["a"][0].version, gate),)),)


def test_gated_candidates_that_would_not_help_are_not_named() -> None:
    a = (Release(version="2", gate=YANKED, needs=("b>=9",)), Release(version="1", needs=("b>=9",)))
    core = check(Case(projects={"a": a, "b": project(v1=())}, roots=("a>=1",)))
    assert said(core) == ["root   -> a>=1 ", "edge a 1,2 -> b>=9 "]
    assert [gap.package for gap in core.gaps] == ["b"]


def test_many_gated_candidates_are_named_unread() -> None:
    newest = tuple(Release(version=f"2.0a{n}", gate=PRERELEASE) for n in range(30, 0, -1))
    case = Case(projects={"a": (*newest, Release(version="1"))}, roots=("a>1",), prerelease="explicit")
    universe, memory = Universe(), Memory(case)
    core = memory.drive(explain(universe, case.request), universe)
    assert len(core.gaps[0].gated) == 30
    assert memory.asked == []


def test_what_can_be_satisfied_has_no_core() -> None:
    case = Case(projects=PAIR, roots=("a",))
    universe = Universe()
    with pytest.raises(RuntimeError, match="nothing to explain"):
        Memory(case).drive(explain(universe, case.request), universe)


def test_ranges_skip_only_gated_candidates_that_nobody_looked_at() -> None:
    memory = Memory(
        Case(
            projects={
                "a": (
                    Release(version="5"),
                    Release(version="4rc1", gate=PRERELEASE),
                    Release(version="3"),
                    Release(version="2"),
                    Release(version="1"),
                )
            },
            roots=(),
        )
    )
    package = memory.packages["a"]
    assert ranges(package, [0, 2, 3, 4], {0, 2, 3, 4}) == ("1 to 5",)
    assert ranges(package, [0, 2, 3, 4], {0, 1, 2, 3, 4}) == ("1 to 3", "5")
    assert ranges(package, [0, 4], {0, 4}) == ("1", "5")
    assert ranges(package, [3, 4], {3, 4}) == ("1", "2")
