"""A second optimiser for universes too large for all selections: RC2 over everything encoded at once.

Plain direct encoding (one variable a release), every release read, tier after tier: RC2 (python-sat) finds
a tier's optimum, then "no more than that" is added as clauses. Only what the brute force also knows is
shared with it: where lag is counted from, depths, and which side of a bound excludes a release.
"""

from __future__ import annotations

from itertools import pairwise, product
from typing import TYPE_CHECKING, NamedTuple

from pysat.examples.rc2 import RC2
from pysat.formula import WCNF
from pysat.solvers import Cadical153

from compatlock.model.dependencies import Dependency
from compatlock.model.fact import SOFT_DAYS
from tests.support.brute_force import BruteForce

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from compatlock.model.fact import Fact
    from compatlock.model.waiver import Waiver

Node = tuple[str, str]

# Stands in the extra's place of a node that means "the package's gated release is admitted".
_ADMITTED = "!"


class _Edge(NamedTuple):
    """An edge that holds when all of `when` do."""

    parent: Node | None
    dependency: Dependency
    when: tuple[int, ...]


class MaxSat:
    """The optimum of a small universe, tier by tier; `reference` holds packages, dependencies and request."""

    def __init__(self, reference: BruteForce) -> None:
        self.of = reference
        self.request = reference.request
        self.variables = 0
        self.clauses: list[list[int]] = []
        self.at = {
            (name, i): self.variable() for name in self.of.names for i in range(self.of.packages[name].size)
        }
        self.nodes: dict[Node, int] = {(name, ""): self.variable() for name in self.of.names}
        self.waived: dict[tuple[Waiver, str, str], int] = {}
        self.spent: dict[Waiver, int] = {}
        self.broken: dict[str, int] = {}
        self.edges = [_Edge(None, Dependency(r.name, r.specifier, r.extras), ()) for r in self.request.roots]
        self._packages()
        self._dependencies()
        self._user()
        for fact in self.of.facts:
            if fact.kind != "cuda":
                self._fact(fact)
        self._cuda()
        if any(package.gates for package in self.of.packages.values()):
            self._derivation()

    def variable(self) -> int:
        self.variables += 1
        return self.variables

    def add(self, *literals: int) -> None:
        self.clauses.append(list(literals))

    def node(self, name: str, extra: str) -> int:
        literal = self.nodes.get((name, extra))
        if literal is None:
            literal = self.nodes[name, extra] = self.variable()
            self.add(-literal, self.nodes[name, ""])
        return literal

    def releases(self, name: str) -> list[int]:
        return [self.at[name, i] for i in range(self.of.packages[name].size)]

    def outside(self, name: str, specifier: str) -> list[int]:
        inside = {i for low, high in self.of.packages[name].runs(specifier) for i in range(low, high)}
        return [i for i in range(self.of.packages[name].size) if i not in inside]

    # What holds

    def _packages(self) -> None:
        for name in self.of.names:
            releases = self.releases(name)
            self.add(-self.nodes[name, ""], *releases)
            for k, literal in enumerate(releases):
                self.add(-literal, self.nodes[name, ""])
                for other in releases[:k]:
                    self.add(-literal, -other)

    def _dependencies(self) -> None:
        """All edges. Extras become nodes as edges ask for them, which may make further edges matter."""
        for root in self.request.roots:
            self._edge(_Edge(None, Dependency(root.name, root.specifier, root.extras), ()), None)
        done: set[tuple[str, int, str]] = set()
        while True:
            jobs = [
                (name, index, extra)
                for name, index in self.at
                for node, extra in list(self.nodes)
                if node == name and (name, index, extra) not in done
            ]
            if not jobs:
                break
            for name, index, extra in jobs:
                done.add((name, index, extra))
                when = (self.at[name, index], *([self.nodes[name, extra]] if extra else []))
                if self.of.dependencies[name, index].problem:
                    self.add(-self.at[name, index])
                for need in self.of.needs(name, index, extra):
                    edge = _Edge((name, extra), need.dependency, when)
                    waiver = (
                        self.of.permission(edge.parent, index, need.dependency) if need.waivable else None
                    )
                    self._edge(edge, waiver)

    def _edge(self, edge: _Edge, waiver: Waiver | None) -> None:
        unless = [-literal for literal in edge.when]
        name, dependency = edge.dependency.name, edge.dependency
        if dependency.url:
            self.add(*unless)
            return
        self.edges.append(edge)
        for extra in ("", *dependency.extras):
            self.add(*unless, self.node(name, extra))
        for index in self.outside(name, dependency.specifier):
            side = [] if waiver is None else [self._side(waiver, dependency, index)]
            self.add(*unless, -self.at[name, index], *side)

    def _side(self, waiver: Waiver, dependency: Dependency, index: int) -> int:
        key = (waiver, dependency.specifier, self.of.side(dependency, index))
        literal = self.waived.get(key)
        if literal is None:
            literal = self.waived[key] = self.variable()
            if waiver not in self.spent:
                self.spent[waiver] = self.variable()
                for other in self.outside(waiver.on, waiver.bound):
                    self.add(-self.spent[waiver], -self.at[waiver.on, other])
            self.add(-literal, self.spent[waiver])
        return literal

    def _user(self) -> None:
        for root in self.request.roots:
            for index in range(self.of.packages[root.name].size):
                if not set(root.extras) <= set(self.of.dependencies[root.name, index].provides):
                    self.add(-self.at[root.name, index])
        for constraint in self.request.constraints:
            for index in self.outside(constraint.name, constraint.specifier):
                self.add(-self.at[constraint.name, index])

    def _fact(self, fact: Fact) -> None:
        if fact.extra and (fact.package, fact.extra) not in self.nodes:
            return
        unless = [-self.nodes[name, ""] for name in fact.present]
        unless += [-self.nodes[fact.package, fact.extra]] if fact.extra else []
        if fact.severity in SOFT_DAYS:
            self.broken[fact.id] = self.variable()
            unless.append(self.broken[fact.id])
        bounds = fact.kind in ("too-loose", "undeclared")
        for index, literal in enumerate(self.releases(fact.package)):
            if bounds and fact.severity in SOFT_DAYS and self.of.is_older(fact, index):
                self.add(*unless, -literal, -self.nodes[fact.on, ""])
            for row in fact.bounds:
                if not self.of.within(fact.package, row.versions, index):
                    continue
                if fact.kind == "known-bad":
                    self.add(*unless, -literal)
                else:
                    outside = set(self.outside(fact.on, row.bound))
                    for other, bad in enumerate(self.releases(fact.on)):
                        if (other in outside) == bounds:
                            self.add(*unless, -literal, -bad)

    def _cuda(self) -> None:
        """One CUDA major that the target runs and that all releases allow."""
        majors = {major: self.variable() for major in self.of.majors()}
        self.add(*majors.values())
        for (name, index), release in self.at.items():
            for major, literal in majors.items():
                if not self.of.built_for(name, index, major):
                    self.add(-release, -literal)

    # Gated releases: an order in which everything installed can be derived

    def _derivation(self) -> None:
        """Every node that is installed has a level above that of the parent of some edge to it. So has "this
        package's gated release is admitted", and the package's nodes have levels above that."""
        gated = [name for name in self.of.names if self.of.packages[name].gates]
        nodes = [*self.nodes, *((name, _ADMITTED) for name in gated)]
        levels = {node: [self.variable() for _ in nodes] for node in nodes}
        for bits in levels.values():
            for low, high in pairwise(bits):
                self.add(-high, low)
        leading: dict[Node, list[int]] = {node: [] for node in nodes}
        admitting: dict[tuple[str, int], list[int]] = {}
        for edge in self.edges:
            name, specifier = edge.dependency.name, edge.dependency.specifier
            for node in ((name, x) for x in ("", *edge.dependency.extras)):
                leading[node].append(self._support(edge, levels, node))
            for index in self.of.packages[name].admitted_gates(specifier):
                support = self._support(edge, levels, (name, _ADMITTED))
                admitting.setdefault((name, index), []).append(support)
        for node, literal in self.nodes.items():
            self.add(-literal, *leading[node])
        for name in gated:
            for index in self.of.packages[name].gates:
                if not self._is_free(name, index):
                    self.add(-self.at[name, index], *admitting.get((name, index), ()))
                    self._after_admission(name, index, levels)

    def _is_free(self, name: str, index: int) -> bool:
        """Whether a constraint admits the release, which no edge has to do then."""
        lines = [line for line in self.request.constraints if line.name == name]
        return any(index in self.of.packages[name].admitted_gates(line.specifier) for line in lines)

    def _after_admission(self, name: str, index: int, levels: dict[Node, list[int]]) -> None:
        for node, literal in self.nodes.items():
            if node[0] == name:
                self._above([-self.at[name, index], -literal], levels[name, _ADMITTED], levels[node])

    def _support(self, edge: _Edge, levels: dict[Node, list[int]], node: Node) -> int:
        support = self.variable()
        for literal in edge.when:
            self.add(-support, literal)
        if edge.parent is not None:
            self._above([-support], levels[edge.parent], levels[node])
        return support

    def _above(self, unless: Sequence[int], low: Sequence[int], high: Sequence[int]) -> None:
        """Unless a literal holds, level `high` is above level `low` (level k: the first k bits)."""
        self.add(*unless, high[0])
        self.add(*unless, -low[-1])
        for k in range(len(low) - 1):
            self.add(*unless, -low[k], high[k + 1])

    # The objective

    def best(self) -> tuple[int, ...] | None:
        """The value of every tier; None when there is no answer."""
        if not self._satisfiable(()):
            return None
        values = []
        for groups in self._tiers():
            if groups is None:
                values.append(self._worst())
                continue
            value = self._minimum(groups)
            self._at_most(groups, value)
            values.append(value)
        return tuple(values)

    def _satisfiable(self, assumptions: Iterable[int]) -> bool:
        with Cadical153(bootstrap_with=self.clauses) as solver:
            return bool(solver.solve(assumptions=list(assumptions)))

    def _days(self) -> list[list[tuple[int, int]]]:
        groups = [
            [
                (self.at[name, i], self.of.lag_days(name, i, newest))
                for i in range(self.of.packages[name].size)
            ]
            for name, newest in self.of.newest.items()
        ]
        facts = {fact.id: fact for fact in self.of.facts}
        return groups + [[(lit, SOFT_DAYS[facts[name].severity])] for name, lit in self.broken.items()]

    def _tiers(self) -> Iterable[list[list[tuple[int, int]]] | None]:
        """Each tier as groups of alternatives (literal, cost); None for the worst lag."""
        if self.request.waivers:
            yield [[(literal, 1)] for literal in self.spent.values()]
            yield [[(literal, 1)] for literal in self.waived.values()]
        if self.request.older:
            yield [
                [(self.at[name, i], int(v != version)) for i, v in enumerate(self.of.packages[name].versions)]
                for name, version in self.request.older.items()
                if name in self.of.packages
            ]
        for name in self.request.prefer:
            yield [self._releases(name)]
        yield None
        yield self._days()
        yield [self._releases(name) for name in self.of.newest]
        for depth in (1, 2, 3, 4):
            names = [
                n for n in self.of.names if n not in self.of.newest and self.of.depths.get(n, 4) == depth
            ]
            yield [self._releases(name) for name in names]
        yield [[(self.nodes[name, ""], 1)] for name in self.of.names]

    def _releases(self, name: str) -> list[tuple[int, int]]:
        newest = self.of.newest_of(name)
        size = self.of.packages[name].size
        return [(self.at[name, i], self.of.lag_releases(name, i, newest)) for i in range(size)]

    def _worst(self) -> int:
        costs = [pair for group in self._days() for pair in group]
        for value in sorted({0, *(days for _, days in costs)}):
            beyond = [-literal for literal, days in costs if days > value]
            if self._satisfiable(beyond):
                self.clauses += [[literal] for literal in beyond]
                return value
        raise AssertionError("there is an answer, but none with any worst lag")

    def _minimum(self, groups: list[list[tuple[int, int]]]) -> int:
        formula = WCNF()
        formula.extend(self.clauses)
        for literal, cost in (pair for group in groups for pair in group):
            if cost:
                formula.append([-literal], weight=cost)
        with RC2(formula) as solver:
            solver.compute()
            return int(solver.cost)

    def _at_most(self, groups: list[list[tuple[int, int]]], bound: int) -> None:
        """The sum over the groups is not above the bound: sums of the first groups, one by one."""
        sums = {0: 0}  # sum of the groups so far -> literal that holds when it is at least that (0: always)
        for group in groups:
            costly = [(literal, cost) for literal, cost in group if cost]
            for literal, cost in costly:
                if cost > bound:
                    self.add(-literal)
            steps = [(literal, cost) for literal, cost in costly if cost <= bound]
            reached = {s + cost for s, (_, cost) in product(sums, steps)} | set(sums)
            following = {s: self.variable() if s else 0 for s in sorted(reached) if s <= bound}
            for s, before in sums.items():
                condition = [-before] if s else []
                if s:
                    self.add(-before, following[s])
                for literal, cost in steps:
                    after = [following[s + cost]] if s + cost <= bound else []
                    self.add(*condition, -literal, *after)
            sums = following
