"""Ways out of small contradictions: each has an answer, no waiver is superfluous, none cheaper is missed."""

from __future__ import annotations

import random
from itertools import combinations
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.support.brute_force import BruteForce
from tests.support.draw import Shape, random_case
from tests.support.universes import Case, Memory, Release, dependency, solve

from compatlock.errors import SearchGivenUp
from compatlock.model.fact import Fact, FactBound
from compatlock.model.package import Package
from compatlock.model.waiver import Exclusion, Waiver
from compatlock.model.way_out import FACT, LIFTED, PATCHED, YANKED
from compatlock.solver import ways_out as changes
from compatlock.solver.again import Effort, search_again
from compatlock.solver.explain import explain
from compatlock.solver.priced import cheapest
from compatlock.solver.search import search
from compatlock.solver.universe import Universe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compatlock.model.core import Core
    from compatlock.model.dependencies import Dependencies, Dependency
    from compatlock.model.request import Request
    from compatlock.solver.solution import Solution
    from compatlock.solver.ways_out import Solved

# Few facts but those that speak of strictness, no URLs: what cannot be waived is tested by hand.
SHAPE = Shape(packages=(2, 4), releases=(1, 3), gates=0.0, facts=1, waivers=0.0, tightness=(0.5, 0.7), urls=0)


def contradictions(count: int, shape: Shape = SHAPE) -> Iterator[tuple[int, Case]]:
    """Random cases without an answer, some with facts about bounds that are too strict."""
    seed = found = 0
    while found < count:
        rng = random.Random(seed)
        case = in_series(random_case(rng, shape)._replace(older={}, prefer=()))
        seed += 1
        if rng.random() < 0.5:
            case = case._replace(facts=(*case.facts, *strict_facts(case, rng)))
        if solve(case) is None:
            found += 1
            yield seed, case


def in_series(case: Case) -> Case:
    """The case with minor series of two releases each: 1.0.0, 1.0.1, 1.1.0, ..."""
    projects = {
        name: tuple(
            release._replace(version=f"1.{number // 2}.{number % 2}")
            for number, release in zip(reversed(range(len(releases))), releases, strict=True)
        )
        for name, releases in case.projects.items()
    }
    return case._replace(projects=projects)


def strict_facts(case: Case, rng: random.Random) -> Iterator[Fact]:
    names = sorted(case.projects)
    for number in range(rng.randint(1, 2)):
        package, on = rng.sample(names, 2)
        yield Fact(
            f"strict-{number}", package, rng.choice(("too-strict", "too-strict", "hard")),
            (FactBound("", rng.choice(("", "{0}", "{0 1}"))),), on,
            evidence=rng.choice(((), ("executed",))),
        )  # fmt: skip


class Prices:
    """What waiving costs, from the words of the design, over all that there is."""

    def __init__(self, memory: Memory, request: Request) -> None:
        self.packages = memory.packages
        self.dependencies = memory.dependencies
        self.facts = request.facts

    def edges(self, release: Dependencies, extra: str, on: str) -> list[Dependency]:
        both = [*release.base, *(release.extras.get(extra, ()) if extra else ())]
        return [need for need in both if need.name == on]

    def lifted(self, name: str, index: int, extra: str, need: Dependency, at: int) -> bool:
        on: Package = self.packages[need.name]
        ordinary = [i for i in range(index) if i not in self.packages[name].gates]
        found = {i: self.edges(self.dependencies[name, i], extra, need.name) for i in ordinary}
        same = [i for i in ordinary if need.specifier in {e.specifier for e in found[i]}]
        for i in ordinary:
            release = self.dependencies[name, i]
            if i >= min(same, default=index) or release.problem or (extra and extra not in release.provides):
                continue
            allowed = all(on.admits(e.specifier, at) for e in found[i])
            pinned = on.runs(need.specifier)
            moved = (
                need.specifier.startswith("==")
                and pinned
                and not all(on.admits(e.specifier, pinned[0][0]) for e in found[i])
            )
            if allowed and not moved:
                return True
        return False

    def patched(self, name: str, index: int, extra: str, need: Dependency, at: int) -> bool:
        package, on = self.packages[name], self.packages[need.name]
        series = package.versions[index].rsplit(".", 1)[0]
        for i in range(index + 1, package.size):
            if package.versions[i].rsplit(".", 1)[0] != series:
                return False
            found = self.edges(self.dependencies[name, i], extra, need.name)
            if i in package.gates or need.specifier in {e.specifier for e in found}:
                continue
            release = self.dependencies[name, i]
            if release.problem or (extra and extra not in release.provides):
                return False
            pinned = on.runs(need.specifier) if need.specifier.startswith("==") else ()
            ends = [at, *(low for low, _ in pinned[:1])]
            return all(not e.url and on.admits(e.specifier, end) for e in found for end in ends)
        return False

    def after_yanked(self, need: Dependency, at: int) -> bool:
        on = self.packages[need.name]
        inside = on.runs(need.specifier)
        if need.specifier.startswith("==") or not inside:
            return False
        return on.gates.get(inside[0][0] - 1) == "yanked" and at < inside[0][0] - 1

    def cost(self, chosen: dict[str, int], extras: dict[str, tuple[str, ...]]) -> int | None:
        """Of all bounds that a selection breaks; None when one of them must hold."""
        groups: dict[tuple[str, str, str], list[tuple[int, int | None, bool]]] = {}
        for name, index in chosen.items():
            for extra in ("", *extras.get(name, ())):
                needs = {(n.name, n.specifier): n for n in self.dependencies[name, index].of(extra)}
                for need in needs.values():
                    at = chosen[need.name]
                    if self.packages[need.name].admits(need.specifier, at):
                        continue
                    if need.name == name or self.is_hard(name, need.name):
                        return None
                    item = (
                        self.plain(need, at),
                        self.by_fact(name, index, need, at),
                        self.lifted(name, index, extra, need, at)
                        or self.patched(name, index, extra, need, at)
                        or self.after_yanked(need, at),
                    )
                    groups.setdefault((name, need.name, need.specifier), []).append(item)
        total = 0
        for items in groups.values():
            costs = [items[0][0]]
            costs += [items[0][1]] if items[0][1] is not None else []
            costs += [2 * len(items)] if all(lifted for _, _, lifted in items) else []
            total += min(costs)
        return total

    def is_hard(self, name: str, on: str) -> bool:
        return any(f.kind == "hard" and (f.package, f.on) == (name, on) for f in self.facts)

    def by_fact(self, name: str, index: int, need: Dependency, at: int) -> int | None:
        costs = [
            1 if "executed" in fact.evidence else 2
            for fact in self.facts
            if fact.kind == "too-strict" and (fact.package, fact.on) == (name, need.name)
            for row in fact.bounds
            if self.packages[name].admits(row.versions, index)
            and self.packages[need.name].admits(row.bound, at)
        ]
        return min(costs, default=None)

    def plain(self, need: Dependency, at: int) -> int:
        if need.specifier.startswith("=="):
            return 32
        inside = self.packages[need.name].runs(need.specifier)
        return 8 if inside and at < inside[0][0] else 32


def everything_waived(case: Case) -> tuple[Waiver, ...]:
    memory = Memory(case)
    edges = {
        (name, need.name)
        for name, index in memory.dependencies
        for need in [
            *memory.dependencies[name, index].base,
            *(n for needs in memory.dependencies[name, index].extras.values() for n in needs),
        ]
    }
    return tuple(Waiver(package, on) for package, on in sorted(edges) if package != on)


def least_cost(case: Case) -> int | None:
    """By looking at every selection."""
    memory = Memory(case)
    waived = case._replace(waivers=everything_waived(case)).request
    prices = Prices(memory, case.request)
    brute = BruteForce(memory.packages, memory.dependencies, waived)
    costs = (prices.cost(verdict.chosen, verdict.extras) for verdict in brute.all())
    return min((cost for cost in costs if cost is not None), default=None)


@pytest.mark.parametrize("shape", [SHAPE, SHAPE._replace(gates=0.6)])
def test_the_cheapest_waivers_cost_what_the_cheapest_selection_costs(shape: Shape) -> None:
    waivable = 0
    for seed, case in contradictions(600, shape):
        memory, universe = Memory(case), Universe()
        try:
            solution = memory.drive(cheapest(universe, case.request), universe)
        except SearchGivenUp:
            pytest.fail(f"given up: seed {seed}")
        expected = least_cost(case)
        assert (solution and solution.tiers[0].value) == expected, f"seed {seed}: {case.source()}"
        waivable += expected is not None
    assert waivable > 40


def test_a_limit_on_the_cost_excludes_what_reaches_it_and_changes_nothing_below() -> None:
    limited = 0
    for seed, case in contradictions(150):

        def answer(below: int | None, case: Case = case) -> Solution | None:
            memory, universe = Memory(case), Universe()
            about: tuple[str, ...] = ()
            if below is not None:
                # Whatever is known already.
                universe.add(memory.packages, memory.dependencies)
                about = tuple(case.projects)
            found = memory.drive(cheapest(universe, case.request, below=below, about=about), universe)
            # How it was found is another matter.
            return found and found._replace(counters={})

        best = answer(None)
        if best is not None:
            least = best.tiers[0].value
            assert answer(least) is None, f"seed {seed}: {case.source()}"
            assert answer(least + 1) == best, f"seed {seed}: {case.source()}"
            limited += 1
    assert limited > 10


def test_searches_are_given_up_when_they_take_too_much() -> None:
    _, case = next(contradictions(1))
    request = case._replace(waivers=everything_waived(case)).request
    plenty = Effort(10_000, 10_000)
    memory, universe = Memory(case), Universe()
    assert memory.drive(search_again(universe, request, plenty), universe) == solve(
        case._replace(waivers=everything_waived(case))
    )
    taken = 10_000 - plenty.left
    assert taken > 1
    for effort in (Effort(10_000, 0), Effort(0, 10_000)):
        before = effort.left
        universe = Universe()
        with pytest.raises(SearchGivenUp):
            memory.drive(search_again(universe, request, effort), universe)
        assert before - taken < effort.left <= before


def core_of(case: Case, universe: Universe, memory: Memory) -> Core:
    assert memory.drive(search(universe, case.request), universe) is None
    return memory.drive(explain(universe, case.request), universe)


def solved(case: Case, attempts: Iterator[changes.Change], core: Core) -> Iterator[tuple[Solved, Case]]:
    for change in attempts:
        memory, universe = Memory(case), Universe()
        found = memory.drive(changes.solve(universe, change, core), universe)
        if found is not None:
            yield found, case


def test_single_waivers_are_all_that_suffice_alone() -> None:
    for seed, case in contradictions(150):
        memory, universe = Memory(case), Universe()
        core = core_of(case, universe, memory)
        found = {
            (w.package, w.on)
            for way, _ in solved(case, changes.waivers(case.request, core), core)
            for w in way.way.waivers
        }
        hard = {(f.package, f.on) for f in case.facts if f.kind == "hard"}
        offered = {
            (f.package, f.on): {row.bound for row in f.bounds} for f in case.facts if f.kind == "too-strict"
        }
        expected = set()
        for waiver in everything_waived(case):
            edge = (waiver.package, waiver.on)
            # What a fact offers instead of a bound may not suffice where no bound would.
            if edge in hard or offered.get(edge, {""}) != {""}:
                found.discard(edge)
                continue
            if solve(case._replace(waivers=(waiver,))) is not None:
                expected.add(edge)
        assert found == expected, f"seed {seed}: {case.source()}"


def without(case: Case, exclusions: tuple[Exclusion, ...]) -> Case:
    """The case with edges gone."""
    gone = {(exclusion.package, exclusion.on) for exclusion in exclusions}

    def kept(name: str, needs: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(need for need in needs if (name, dependency(need).name) not in gone)

    projects = {
        name: tuple(
            release._replace(
                needs=kept(name, release.needs),
                extras={extra: kept(name, needs) for extra, needs in release.extras.items()},
            )
            for release in releases
        )
        for name, releases in case.projects.items()
    }
    return case._replace(projects=projects)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.05]))
def test_every_way_out_is_the_best_answer_of_the_changed_request(seed: int, urls: float) -> None:
    rng = random.Random(seed)
    case = in_series(random_case(rng, SHAPE._replace(urls=urls))._replace(older={}, prefer=()))
    case = case._replace(facts=(*case.facts, *strict_facts(case, rng)))
    assume(solve(case) is None)
    memory, universe = Memory(case), Universe()
    core = core_of(case, universe, memory)
    kinds = (changes.waivers, changes.moves, changes.drops)
    for change in [change for kind in kinds for change in kind(case.request, core)]:
        other = universe.amended(change.request.amendments) if change.way.exclusions else universe
        found = memory.drive(changes.solve(other, change, core), other)
        changed = Memory(without(case, change.way.exclusions))
        # `waive` takes what a fact offers instead of the bound.
        best = BruteForce(changed.packages, changed.dependencies, change.request).best()
        assert (found is None) == (best is None), (change.way.accept, case.source())
        if found is None or best is None:
            continue
        assert found.solution.chosen == best.chosen, (change.way.accept, case.source())
        told = dict(found.way.pins)
        assert told == {name: memory.packages[name].versions[best.chosen[name]] for name in told}
        broken = {(edge.package, edge.on) for edge in found.way.breaks}
        assert broken == {(w.package, w.on) for w in found.way.waivers}, case.source()
        # What it costs, from the words of the design.
        if found.way.waivers:
            prices = Prices(memory, case.request)
            assert found.way.cost == prices.cost(best.chosen, best.extras), (found.way, case.source())


def test_a_set_of_waivers_is_as_cheap_as_proved_and_each_of_it_is_needed() -> None:
    sets = 0
    for seed, case in contradictions(500):
        memory, universe = Memory(case), Universe()
        core = core_of(case, universe, memory)
        found = memory.drive(changes.cheapest_waivers(universe, case.request, core), universe)
        if found is None:
            continue
        waivers = found.way.waivers
        assert found.way.cost >= (least_cost(case) or 0), f"seed {seed}: {case.source()}"
        assert found.way.smallest == (found.way.cost == least_cost(case)), f"seed {seed}: {case.source()}"
        sets += len(waivers) > 1
        for fewer in combinations(waivers, len(waivers) - 1):
            changed = case.request._replace(waivers=tuple(sorted(fewer)))
            other = Universe()
            assert Memory(case).drive(search(other, changed), other) is None, f"seed {seed}: {case.source()}"
    assert sets > 3


# By hand


def way_of(case: Case, waiver: Waiver) -> Solved:
    memory, universe = Memory(case), Universe()
    core = core_of(case, universe, memory)
    found = memory.drive(changes.solve(universe, changes.waived(case.request, [waiver]), core), universe)
    assert found is not None
    return found


def upper(*older: Release, newer: tuple[Release, ...] = ()) -> Case:
    """a, which forbids the newer one of two releases of c that b needs; c's newest has index 0."""
    return Case(
        projects={
            "a": (*newer, *(older or (Release(("c{1}",)),))),
            "b": (Release(("c{0}",)),),
            "c": (Release(), Release()),
        },
        roots=(f"a{{{len(newer)}}}", "b"),
    )


def test_without_evidence_an_upper_bound_costs_8() -> None:
    way = way_of(upper(), Waiver("a", "c")).way
    assert [(e.package, e.on, e.side, e.cost, e.evidence) for e in way.breaks] == [("a", "c", "upper", 8, ())]
    assert way.cost == 8
    assert not way.has_evidence
    assert way.accept == "--waive 'a -> c'"


@pytest.mark.parametrize("need", ["c{0}", "c", ""])
def test_a_later_release_that_lifts_the_bound_is_found(need: str) -> None:
    way = way_of(upper(newer=(Release((need,) if need else ()),)), Waiver("a", "c")).way
    (edge,) = way.breaks
    assert (way.cost, way.has_evidence, [e.kind for e in edge.evidence]) == (2, True, [LIFTED])
    lifted = {"c{0}": "it needs c{0}", "c": "it no longer bounds c", "": "it no longer bounds c"}
    assert edge.evidence[0].text == f"a 2 lifts it: {lifted[need]}"


def test_a_later_release_with_the_same_bound_lifts_nothing() -> None:
    way = way_of(upper(newer=(Release(("c{1}",)), Release())), Waiver("a", "c")).way
    assert (way.cost, way.has_evidence) == (8, False)


def test_a_pin_that_has_only_moved_is_not_lifted() -> None:
    case = upper(Release(("c=={1}",)), newer=(Release(("c=={0}",)),))
    assert way_of(case, Waiver("a", "c")).way.cost == 32
    loosened = upper(Release(("c=={1}",)), newer=(Release(("c{0 1}",)),))
    assert way_of(loosened, Waiver("a", "c")).way.cost == 2


def test_a_fact_is_evidence_and_offers_a_bound() -> None:
    fact = Fact("f", "a", "too-strict", (FactBound("", "{0}"),), "c", summary="works", evidence=("executed",))
    case = upper()._replace(facts=(fact,))
    memory, universe = Memory(case), Universe()
    core = core_of(case, universe, memory)
    (change, *_) = changes.waivers(case.request, core)
    assert change.way.accept == "--waive 'a -> c{0}'"
    way = way_of(case, Waiver("a", "c")).way
    assert (way.cost, way.breaks[0].evidence[0].kind) == (1, FACT)
    assert way.breaks[0].evidence[0].text == "works (known fact `f`, executed)"


def test_a_hard_edge_is_not_offered() -> None:
    case = upper()._replace(facts=(Fact("f", "a", "hard", (FactBound(""),), "c"),))
    memory, universe = Memory(case), Universe()
    core = core_of(case, universe, memory)
    assert [c.way.accept for c in changes.waivers(case.request, core)] == ["--waive 'b -> c'"]
    solution = memory.drive(cheapest(universe, case.request), universe)
    assert solution is not None
    assert solution.tiers[0].value == 32


def test_a_bound_made_against_a_yanked_release_has_evidence() -> None:
    case = Case(
        projects={
            "a": (Release(("c{2}",)),),
            "b": (Release(("c{0}",)),),
            "c": (Release(), Release(gate="yanked"), Release()),
        },
        roots=("a", "b"),
    )
    way = way_of(case, Waiver("a", "c")).way
    assert [(e.kind, e.text) for e in way.breaks[0].evidence] == [
        (YANKED, "c 2, the first release that it excludes, was yanked")
    ]
    assert (way.cost, way.has_evidence) == (2, True)


@pytest.mark.parametrize(
    ("versions", "needs", "text"),
    [
        (("1.0.1", "1.0.0"), ("c{1}", ""), "a patch release, a 1.0.1, put it in: a 1.0.0 does not bound c"),
        (("1.0.2", "1.0.0"), ("c{1}", "c{0}"), "a patch release, a 1.0.2, put it in: a 1.0.0 needs c{0}"),
        (
            ("1.0.3", "1.0.2", "1.0.0"),
            ("c{1}", "c{1}", "c{0 1}"),
            "a patch release, a 1.0.2, put it in: a 1.0.0 needs c{0 1}",
        ),
        (("1.1.0", "1.0.0"), ("c{1}", ""), ""),
        (("1.0.1", "1.0.0"), ("c=={1}", "c=={0}"), ""),
        (("1.0.2", "1.0.1", "1.0.0"), ("c{1}", "c{}", ""), ""),
    ],
)
def test_a_bound_that_a_patch_release_put_in_has_evidence(
    versions: tuple[str, ...], needs: tuple[str, ...], text: str
) -> None:
    releases = (
        Release((need,) if need else (), version=version)
        for version, need in zip(versions, needs, strict=True)
    )
    way = way_of(upper(*releases)._replace(roots=("a{0}", "b")), Waiver("a", "c")).way
    (edge,) = way.breaks
    assert [(e.kind, e.text) for e in edge.evidence] == ([(PATCHED, text)] if text else [])
    assert way.has_evidence == bool(text)


def test_what_stands_instead_of_a_bound_has_to_hold() -> None:
    case = upper()._replace(waivers=(Waiver("a", "c", bound="{1}"),))
    assert solve(case) is None
    assert solve(case._replace(waivers=(Waiver("a", "c", bound="{0}"),))) is not None


def test_pins_between_compiled_releases_are_never_waived() -> None:
    case = upper(Release(("c=={1}",)))
    for compiled, possible in (({"a", "c"}, False), ({"a"}, True), ({"c"}, True)):
        memory = Memory(case)
        universe = Universe(compiled=lambda name, _, compiled=compiled: name in compiled)  # type: ignore[misc]
        request = case.request._replace(waivers=(Waiver("a", "c"),))
        assert (memory.drive(search(universe, request), universe) is not None) == possible
        priced = memory.drive(cheapest(universe, case.request), universe)
        # Otherwise it is b's bound that may drop.
        assert priced is not None
        assert priced.tiers[0].value == 32


def test_a_dropped_dependency_is_gone() -> None:
    case = Case(projects={"a": (Release(("b@https://index.example/b",)),)}, roots=("a",))
    memory, universe = Memory(case), Universe()
    core = core_of(case, universe, memory)
    (change,) = changes.drops(case.request, core)
    assert change.way.exclusions == (Exclusion("a", "b"),)
    universe = universe.amended(change.request.amendments)
    found = memory.drive(changes.solve(universe, change, core), universe)
    assert found is not None
    assert found.solution.chosen == {"a": 0}


def test_a_moved_line_says_where_to() -> None:
    case = Case(
        projects={
            "a": (Release(("c>=2",), version="2.0"), Release(version="1.0")),
            "c": (Release(version="2"), Release(version="1")),
        },
        roots=("a>=2", "c<2"),
    )
    memory, universe = Memory(case), Universe()
    core = core_of(case, universe, memory)
    ways = [way.way for way, _ in solved(case, changes.moves(case.request, core), core)]
    assert {way.replaces: way.accept for way in ways} == {"a>=2": "a>=1.0", "c<2": "c==2"}
