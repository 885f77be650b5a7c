"""The reference: every selection of a small universe, judged by the rules as design and model state them.

Written from the specification ("Semantics" 1 to 4), not from the solver: nothing of compatlock.solver is
used, and of `Package` only what answers specifiers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from packaging.specifiers import SpecifierSet

from compatlock.model.dependencies import Dependency
from compatlock.model.fact import SOFT_DAYS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from compatlock.model.dependencies import Dependencies
    from compatlock.model.fact import Fact
    from compatlock.model.package import Package
    from compatlock.model.request import Request
    from compatlock.model.waiver import Waiver

Node = tuple[str, str]


class Verdict(NamedTuple):
    """A valid selection: what it costs, tier by tier, and what it consists of."""

    tiers: tuple[int, ...]
    order: tuple[int, ...]
    chosen: dict[str, int]
    extras: dict[str, tuple[str, ...]]
    broken: tuple[str, ...]


class _Edge(NamedTuple):
    parent: Node | None
    dependency: Dependency
    waivable: bool = True


class _Walk:
    """What the roots lead to under an assignment that may still be partial."""

    def __init__(self) -> None:
        self.nodes: set[Node] = set()
        self.edges: list[_Edge] = []
        self.unassigned: list[str] = []


class BruteForce:
    """All answers to a request over complete packages and dependencies."""

    def __init__(
        self,
        packages: Mapping[str, Package],
        dependencies: Mapping[tuple[str, int], Dependencies],
        request: Request,
        compiled: Collection[tuple[str, int]] = (),
    ) -> None:
        self.packages = packages
        self.dependencies = dependencies
        self.request = request
        self.compiled = compiled
        self.facts = [f for f in request.facts if request.soft_facts or f.severity not in SOFT_DAYS]
        self.names = sorted(packages)
        self.root_names = list(dict.fromkeys(r.name for r in request.roots))
        self.newest = {n: i for n in self.root_names if (i := self._newest_root(n)) is not None}
        self.depths = self._depths()

    def best(self) -> Verdict | None:
        """The optimum."""
        return min(self.all(), key=lambda v: (v.tiers, v.order), default=None)

    def all(self) -> Iterator[Verdict]:
        """Every valid selection."""
        for chosen in self._selections({}):
            verdict = self.judge(chosen)
            if verdict is not None:
                yield verdict

    def _selections(self, chosen: dict[str, int]) -> Iterator[dict[str, int]]:
        """Every assignment of exactly the packages that it needs, bounds not looked at."""
        walk = self._walk(chosen)
        if not walk.unassigned:
            yield chosen
            return
        name = walk.unassigned[0]
        for index in range(self._size(name)):
            yield from self._selections({**chosen, name: index})

    def _size(self, name: str) -> int:
        return self.packages[name].size if name in self.packages else 0

    # What an assignment leads to

    def needs(self, name: str, index: int, extra: str) -> Iterator[_Edge]:
        declared = self.dependencies[name, index]
        for dependency in declared.extras.get(extra, ()) if extra else declared.base:
            yield _Edge((name, extra), dependency)
        for fact in self.facts:
            if (
                fact.kind == "undeclared"
                and fact.package == name
                and fact.extra == extra
                and not fact.present
            ):
                for row in fact.bounds:
                    if self.within(name, row.versions, index):
                        # A soft fact's bound may be broken at a price; the need itself is real.
                        bound = "" if fact.severity in SOFT_DAYS else row.bound
                        yield _Edge((name, extra), Dependency(fact.on, bound), waivable=False)

    def _walk(self, chosen: Mapping[str, int]) -> _Walk:
        walk = _Walk()
        todo: list[Node] = []

        def follow(edge: _Edge) -> None:
            walk.edges.append(edge)
            if not edge.dependency.url:
                todo.extend((edge.dependency.name, x) for x in ("", *edge.dependency.extras))

        for root in self.request.roots:
            follow(_Edge(None, Dependency(root.name, root.specifier, root.extras)))
        while todo:
            node = todo.pop()
            if node in walk.nodes:
                continue
            walk.nodes.add(node)
            name, extra = node
            if name not in chosen:
                walk.unassigned.append(name)
                continue
            for edge in self.needs(name, chosen[name], extra):
                follow(edge)
        return walk

    def within(self, name: str, specifier: str, index: int) -> bool:
        return any(low <= index < high for low, high in self.packages[name].runs(specifier))

    # Validity

    def judge(self, chosen: dict[str, int]) -> Verdict | None:
        """The verdict on an assignment; None when it is no valid answer."""
        walk = self._walk(chosen)
        if walk.unassigned or {n for n, _ in walk.nodes} != set(chosen):
            return None
        if any(self.dependencies[release].problem for release in chosen.items()):
            return None
        if any(edge.dependency.url for edge in walk.edges):
            return None
        if not (self._extras_of_roots(chosen) and self._constraints(chosen) and self._gates(chosen, walk)):
            return None
        if not self._has_cuda(chosen):
            return None
        waived = self._waived(chosen, walk)
        if waived is None:
            return None
        broken = []
        for fact in self.facts:
            if self._breaks(fact, chosen, walk.nodes):
                if fact.severity not in SOFT_DAYS:
                    return None
                broken.append(fact)
        extras = {n: tuple(sorted(x for m, x in walk.nodes if m == n and x)) for n in sorted(chosen)}
        return Verdict(
            self._tiers(chosen, waived, broken),
            tuple(chosen.get(name, -1) for name in self.names),
            dict(sorted(chosen.items())),
            {n: found for n, found in extras.items() if found},
            tuple(sorted(fact.id for fact in broken)),
        )

    def _extras_of_roots(self, chosen: dict[str, int]) -> bool:
        return all(
            set(root.extras) <= set(self.dependencies[root.name, chosen[root.name]].provides)
            for root in self.request.roots
        )

    def _constraints(self, chosen: dict[str, int]) -> bool:
        return all(
            self.within(c.name, c.specifier, chosen[c.name])
            for c in self.request.constraints
            if c.name in chosen
        )

    def _gates(self, chosen: dict[str, int], walk: _Walk) -> bool:
        """Whether all that is needed can be derived from the user's lines when a gated release counts
        only once a line of the user's, or an edge of what is derived already, admits it."""

        def admits(edge_or_line: tuple[str, str]) -> set[tuple[str, int]]:
            name, specifier = edge_or_line
            return {(name, i) for i in self.packages[name].admitted_gates(specifier)}

        lines = [*self.request.roots, *self.request.constraints]
        admitted = set().union(*(admits((r.name, r.specifier)) for r in lines if r.name in self.packages))
        derived: set[Node] = set()
        while True:
            before = len(derived), len(admitted)
            for parent, dependency, _ in walk.edges:
                if parent is not None and parent not in derived:
                    continue
                admitted |= admits((dependency.name, dependency.specifier))
                release = (dependency.name, chosen[dependency.name])
                if release[1] not in self.packages[release[0]].gates or release in admitted:
                    derived |= {(dependency.name, x) for x in ("", *dependency.extras)}
            if before == (len(derived), len(admitted)):
                return derived == walk.nodes

    # Waivers

    def _waived(self, chosen: dict[str, int], walk: _Walk) -> set[tuple[Waiver, str, str]] | None:
        """The waived bounds: (waiver, specifier, side); None when a bound is broken that must hold."""
        waived = set()
        for parent, dependency, waivable in walk.edges:
            index = chosen[dependency.name]
            if self.within(dependency.name, dependency.specifier, index):
                continue
            at = chosen[parent[0]] if parent else 0
            waiver = self.permission(parent, at, dependency) if waivable else None
            if waiver is None or not self.within(waiver.on, waiver.bound, index):
                return None
            waived.add((waiver, dependency.specifier, self.side(dependency, index)))
        return waived

    def permission(self, parent: Node | None, index: int, dependency: Dependency) -> Waiver | None:
        """The waiver that permits to break an edge of a release; its own bound holds instead."""
        if parent is None or parent[0] == dependency.name or self._is_abi_pin(parent[0], index, dependency):
            return None
        for extra in (parent[1], ""):
            for waiver in self.request.waivers:
                if (waiver.package, waiver.extra, waiver.on) == (parent[0], extra, dependency.name):
                    return waiver
        return None

    def _is_abi_pin(self, name: str, index: int, dependency: Dependency) -> bool:
        """An exact or compatible pin between two platform wheels."""
        specifier = dependency.specifier
        if specifier[:2] not in ("==", "~=") or "," in specifier:
            return False
        size = self._size(dependency.name)
        pinned = [i for i in range(size) if self.within(dependency.name, specifier, i)]
        pinned = pinned or self._by_age(dependency.name)
        return {(name, index), *((dependency.name, i) for i in pinned[:1])} <= set(self.compiled) and bool(
            pinned
        )

    def side(self, dependency: Dependency, index: int) -> str:
        if dependency.specifier.startswith("==") and not set(",*") & set(dependency.specifier):
            return "exact"
        inside = [
            i
            for i in range(self._size(dependency.name))
            if self.within(dependency.name, dependency.specifier, i)
        ]
        if inside and index < inside[0]:
            return "upper"
        return "hole" if inside and index < inside[-1] else "lower"

    # Facts

    def _breaks(self, fact: Fact, chosen: dict[str, int], nodes: set[Node]) -> bool:
        if fact.package not in chosen or any(n not in chosen for n in fact.present):
            return False
        if fact.extra and (fact.package, fact.extra) not in nodes:
            return False
        index = chosen[fact.package]
        covered = [row for row in fact.bounds if self.within(fact.package, row.versions, index)]
        if fact.kind == "known-bad":
            return bool(covered)
        if fact.on not in chosen:
            return False
        inside = [self.within(fact.on, row.bound, chosen[fact.on]) for row in covered]
        if fact.kind == "overlap":
            return any(inside)
        if fact.kind not in ("too-loose", "undeclared"):
            return False
        if fact.severity in SOFT_DAYS and self.is_older(fact, index):
            return True
        return not all(inside)

    def _has_cuda(self, chosen: dict[str, int]) -> bool:
        """Whether there is one CUDA major that the target runs and that all releases allow."""
        return any(
            all(self.built_for(name, index, major) for name, index in chosen.items())
            for major in self.majors()
        )

    def majors(self) -> list[str]:
        """The CUDA majors that the target runs."""
        target = self.request.target
        highest = int(target.cuda.split(".")[0]) if target.cuda else 99
        drivers = {"11": [450, 80, 2], "12": [525, 60, 13], "13": [580, 65, 6]}
        driver = [int(n) for n in target.driver.split(".")] if target.driver else [999]
        driver += [999] * (len(driver) == 1)
        return [m for m, oldest in drivers.items() if int(m) <= highest and driver >= oldest]

    def built_for(self, name: str, index: int, major: str) -> bool:
        """Whether a release can be used with a CUDA major: its local version says so, or facts."""
        _, plus, local = self.packages[name].versions[index].partition("+")
        if plus:
            return not local.startswith("cu") or local[2:4] == major
        rows = [row for f in self.facts if f.kind == "cuda" and f.package == name for row in f.bounds]
        bounds = [row.bound for row in rows if self.within(name, row.versions, index)]
        return all(SpecifierSet(bound).contains(major) for bound in bounds)

    def is_older(self, fact: Fact, index: int) -> bool:
        """Older than all releases that the fact covers, hidden ones included."""
        package = self.packages[fact.package]
        position = package.positions[index]
        if any(not row.versions for row in fact.bounds):
            return False
        ends = [high for row in fact.bounds for high in package.full(row.versions)[2::2]]
        return bool(ends) and position >= max(ends)

    # The objective

    def _ordinary_before(self, name: str, index: int) -> int:
        return sum(i not in self.packages[name].gates for i in range(index))

    def lag_releases(self, name: str, index: int, newest: int) -> int:
        """Ordinary candidates between the newest and this one."""
        return max(0, self._ordinary_before(name, index) - self._ordinary_before(name, newest))

    def lag_days(self, name: str, index: int, newest: int) -> int:
        """Whole days, monotone; releases when some upload time is not known."""
        times = self.packages[name].times
        if None in times:
            return self.lag_releases(name, index, newest)
        base = times[newest]
        assert base is not None
        older = [t for t in times[newest + 1 : index + 1] if t is not None]
        return max([0, *((base - t) // 86_400 for t in older)])

    def newest_of(self, name: str) -> int:
        """The candidate that a package's lag is counted from."""
        return self.newest.get(name, next(iter(self._by_age(name)), 0))

    def _by_age(self, name: str) -> list[int]:
        """Ordinary candidates from the newest down, then the gated ones."""
        gates = self.packages[name].gates
        return sorted(range(self._size(name)), key=lambda i: (i in gates, i))

    def _newest_root(self, name: str) -> int | None:
        package = self.packages.get(name)
        if package is None:
            return None
        lines = [r for r in (*self.request.roots, *self.request.constraints) if r.name == name]
        extras = {x for r in self.request.roots if r.name == name for x in r.extras}
        for index in range(package.size):
            release = self.dependencies[name, index]
            if release.problem or not extras <= set(release.provides):
                continue
            if not all(self.within(name, line.specifier, index) for line in lines):
                continue
            majors = self.majors()
            if len(majors) < 3 and not any(self.built_for(name, index, major) for major in majors):
                continue
            if index in package.gates and not any(
                index in package.admitted_gates(line.specifier) for line in lines
            ):
                continue
            return index
        return None

    def _depths(self) -> dict[str, int]:
        """Breadth-first over (package, extra) from the roots, each at its newest candidate."""
        distance: dict[Node, int] = {}
        queue: list[tuple[Node, int]] = [
            ((r.name, x), 0) for r in self.request.roots for x in ("", *r.extras) if r.name in self.newest
        ]
        while queue:
            node, depth = queue.pop(0)
            if node in distance:
                continue
            distance[node] = depth
            name, extra = node
            usable = [i for i in self._by_age(name) if not self.dependencies[name, i].problem]
            index = self.newest.get(name, usable[0] if usable else None)
            if index is None:
                continue
            release = self.dependencies[name, index]
            for dependency in release.extras.get(extra, ()) if extra else release.base:
                if not dependency.url:
                    queue += [((dependency.name, x), depth + 1) for x in ("", *dependency.extras)]
        depths: dict[str, int] = {}
        for (name, _), depth in distance.items():
            depths[name] = min(depth, depths.get(name, 4), 4)
        return depths

    def _tiers(
        self, chosen: dict[str, int], waived: set[tuple[Waiver, str, str]], broken: list[Fact]
    ) -> tuple[int, ...]:
        request = self.request
        releases = {n: self.lag_releases(n, i, self.newest_of(n)) for n, i in chosen.items()}
        days = [self.lag_days(n, chosen[n], i) for n, i in self.newest.items()]
        days += [SOFT_DAYS[fact.severity] for fact in broken]
        values = []
        if request.waivers:
            values += [len({waiver for waiver, _, _ in waived}), len(waived)]
        if request.older:
            pinned = {n: v for n, v in request.older.items() if n in chosen}
            values.append(sum(self.packages[n].versions[chosen[n]] != v for n, v in pinned.items()))
        values += [releases.get(n, 0) for n in request.prefer]
        values += [max(days, default=0), sum(days), sum(releases[n] for n in self.newest)]
        for depth in (1, 2, 3, 4):
            values.append(
                sum(
                    lag
                    for n, lag in releases.items()
                    if n not in self.newest and self.depths.get(n, 4) == depth
                )
            )
        values.append(len(chosen))
        return tuple(values)
