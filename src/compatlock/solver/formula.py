"""The lazy order encoding of a universe as clauses.

For a package p and an index c, the variable `g[p, c]` means "p is installed, at index c or older"
(index 0 is the newest). Variables exist only at *cuts*: index 0, boundaries of specifiers, and loaded
releases. A dependency is one to three clauses, an extra is one boolean.

Relaxation: a release whose metadata is not loaded has no dependencies. Loading only ever adds clauses,
so whatever is proved impossible stays impossible.
"""

from __future__ import annotations

from bisect import bisect_left

from compatlock.model.cuda import CUDA
from compatlock.model.dependencies import Dependency
from compatlock.solver.guards import Guards, constraint_label, root_label, side_of, target_label
from compatlock.solver.joint import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping, Sequence

    from compatlock.model.package import Package, Runs
    from compatlock.model.requirement import Requirement
    from compatlock.model.target import Target
    from compatlock.model.waiver import Waiver
    from compatlock.solver.facts import FactClauses
    from compatlock.solver.gates import Gates
    from compatlock.solver.sat import Sat
    from compatlock.solver.universe import Need, Universe

Node = tuple[str, str]  # (package, extra), extra "" for the package itself


class Watcher:
    """Is told how the formula grows; the base class ignores it."""

    def on_package(self, formula: Formula, package: Package, present: int) -> None:
        """A package entered the formula; `present` means that it is installed."""

    def on_cut(self, package: Package, before: int, cut: int, literal: int, after: int | None) -> None:
        """The segment that began at index `before` was split at `cut`; `after` is the next cut's literal."""


class Formula:
    """Clauses about packages, grown as metadata arrives."""

    def __init__(
        self, sat: Sat, universe: Universe, guards: Guards, gates: Gates, facts: FactClauses, watcher: Watcher
    ) -> None:
        self.sat = sat
        self.universe = universe
        self.order: list[str] = []
        self.cuts: dict[str, list[int]] = {}
        self.loaded: dict[str, set[int]] = {}
        self.extras: dict[Node, int] = {}
        self._literals: dict[str, dict[int, int]] = {}
        # The literals of a package's cuts, in their order.
        self._ladders: dict[str, list[int]] = {}
        self._excluded: dict[tuple[str, str], list[tuple[str, list[int]]]] = {}
        self._guards = guards
        self._gates = gates
        self._facts = facts
        self._watcher = watcher
        self._constraints: dict[str, list[Requirement]] = {}
        self._targets: dict[str, Target] = {}
        self._root_extras: dict[Node, list[int]] = {}
        self._extras_of: dict[str, list[str]] = {}
        self._pending: list[tuple[str, int, str]] = []
        # What was encoded: of every loaded release, and of every extra known of it.
        self._needs: dict[tuple[str, int, str], Sequence[Dependency]] = {}

    # Variables

    def present(self, name: str) -> int:
        """The literal "this package is installed"."""
        literals = self._literals.get(name)
        return literals[0] if literals is not None else self._introduce(name)

    def knows(self, name: str) -> bool:
        """Whether the package is part of the formula yet."""
        return name in self._literals

    def _introduce(self, name: str) -> int:
        package = self.universe.packages[name]
        literal = self.sat.variable()
        self._literals[name] = {0: literal}
        self._ladders[name] = [literal]
        self.cuts[name] = [0]
        self.loaded[name] = set()
        if plain(name) == CUDA:
            self._introduce_cuda(name, literal)
            return literal
        self.order.append(name)
        if not package.size:
            self.sat.add([-literal])
        self._watcher.on_package(self, package, literal)
        for constraint in self._constraints.get(name, ()):
            guard = self._guards.whole(constraint_label(constraint))
            self.confine(guard, name, package.runs(constraint.specifier))
        self._facts.on_package(self, name)
        return literal

    def _introduce_cuda(self, name: str, present: int) -> None:
        """`__cuda` is there whatever is chosen, costs nothing and is no part of an answer."""
        self.sat.add([present])
        target = self._targets.get(name)
        if target is not None and target.cuda_bound:
            guard = self._guards.whole(target_label(name, target))
            self.confine(guard, name, self.universe.packages[name].runs(target.cuda_bound))

    def older(self, name: str, cut: int) -> int | None:
        """The literal "installed at index `cut` or older"; None when there is no such index."""
        literals = self._literals.get(name)
        if literals is None:
            self._introduce(name)
            literals = self._literals[name]
        literal = literals.get(cut)
        if literal is not None:
            return literal
        package = self.universe.packages[name]
        return self._cut(package, cut) if cut < package.size else None

    def _cut(self, package: Package, cut: int) -> int:
        sat, cuts, ladder = self.sat, self.cuts[package.name], self._ladders[package.name]
        k = bisect_left(cuts, cut)
        literal = self._literals[package.name][cut] = sat.variable()
        sat.add([-literal, ladder[k - 1]])
        after = None
        if k < len(cuts):
            after = ladder[k]
            sat.add([-after, literal])
        before = cuts[k - 1]
        cuts.insert(k, cut)
        ladder.insert(k, literal)
        self._watcher.on_cut(package, before, cut, literal, after)
        return literal

    def outside(self, name: str, low: int, high: int) -> list[int]:
        """Literals of which one holds exactly when the package is absent or not in `[low, high)`."""
        first = self.older(name, low)
        if first is None:
            return []
        last = self.older(name, high)
        return [-first] if last is None else [-first, last]

    def not_at(self, name: str, index: int) -> list[int]:
        """Literals of which one holds exactly when the package is not installed at this index."""
        return self.outside(name, index, index + 1)

    # Constraints

    def confine(self, condition: Sequence[int], name: str, runs: Runs) -> None:
        """Unless a literal of `condition` holds: the package, if installed, lies within `runs`."""
        size = self.universe.packages[name].size
        self.present(name)
        for low, high in holes(runs, size):
            self.sat.add([*condition, *self.outside(name, low, high)])

    def replace_bound(self, waiver: Waiver, literal: int) -> None:
        """When the waiver is spent, which `literal` says, its own bound holds instead of the waived one."""
        if waiver.bound:
            self.confine([-literal], waiver.on, self.universe.packages[waiver.on].runs(waiver.bound))

    def add_targets(self, targets: Mapping[str, Target]) -> None:
        """The targets, by the name of their `__cuda`, of which they demand something. To be added before the
        roots."""
        self._targets.update(targets)

    def add_constraint(self, requirement: Requirement) -> None:
        """A bound of the user's that holds if the package is installed. To be added before the roots."""
        self._constraints.setdefault(requirement.name, []).append(requirement)
        self._gates.on_constraint(requirement.name, requirement.specifier)

    def add_root(self, active: int, requirement: Requirement) -> Generator[Need, None, None]:
        """A line of the user's; it holds when `active` does."""
        label = root_label(requirement)
        yield from self.universe.want_packages([requirement.name])
        condition = [-active, *self._guards.whole(label)]
        for extra in requirement.extras:
            self._root_extras[requirement.name, extra] = [
                -active,
                *self._guards.whole(label._replace(kind="extra", extras=(extra,))),
            ]
        self._require(
            condition, None, Dependency(requirement.name, requirement.specifier, requirement.extras)
        )
        yield from self._encode_pending()

    def _require(self, condition: list[int], parent: Node | None, dependency: Dependency) -> None:
        """Unless a literal of `condition` holds: the dependency is installed, within its bound, with its
        extras. `parent` None is the user."""
        name, add = dependency.name, self.sat.add
        add([*condition, self.present(name)])
        for side, outside in self._excluding(name, dependency.specifier):
            guard = self._guards.bound(*parent, dependency, side) if parent is not None else ()
            add([*condition, *guard, *outside])
        for extra in dependency.extras:
            add([*condition, self._extra(name, extra)])
        self._gates.on_edge(self, parent, dependency, condition)

    def _excluding(self, name: str, specifier: str) -> list[tuple[str, list[int]]]:
        """For each run of candidates that a bound excludes: which side of it does, and the literals of
        `outside`. Remembered, because releases mostly say the same as those next to them."""
        found = self._excluded.get((name, specifier))
        if found is None:
            package = self.universe.packages[name]
            runs, size = package.runs(specifier), package.size
            found = self._excluded[name, specifier] = [
                (side_of(low, high, size, specifier, runs), self.outside(name, low, high))
                for low, high in holes(runs, size)
            ]
        return found

    def _extra(self, name: str, extra: str) -> int:
        literal = self.extras.get((name, extra))
        if literal is None:
            literal = self.extras[name, extra] = self.sat.variable()
            self._extras_of.setdefault(name, []).append(extra)
            self.sat.add([-literal, self.present(name)])
            self._facts.on_extra(self, name, extra, literal)
            for index in sorted(self.loaded[name]):
                self._pending.append((name, index, extra))
        return literal

    # Loading

    def dependencies_of(self, name: str, index: int, extra: str = "") -> Sequence[Dependency]:
        """What a loaded release (or an extra of it) needs: declared, and undeclared by known facts."""
        declared = self.universe.dependencies[name, index].of(extra)
        undeclared = self._facts.undeclared(self.universe.packages[name], index, extra)
        return (*declared, *undeclared) if undeclared else declared

    def needs(self, name: str, index: int, extra: str) -> Sequence[Dependency] | None:
        """What a release (or an extra that is known) needs; None when it is not loaded."""
        return self._needs.get((name, index, extra))

    def load(self, releases: Iterable[tuple[str, int]]) -> Generator[Need, None, None]:
        """Load the metadata of candidates and encode what they need."""
        fresh = [(n, i) for n, i in releases if i not in self.loaded[n]]
        yield from self.universe.want_dependencies(fresh)
        for name, index in fresh:
            self.loaded[name].add(index)
            self._gates.on_load(self, name, index)
            self._pending.append((name, index, ""))
            self._pending += [(name, index, extra) for extra in self._extras_of.get(name, ())]
        yield from self._encode_pending()

    def _encode_pending(self) -> Generator[Need, None, None]:
        while self._pending:
            jobs = {job: self.dependencies_of(*job) for job in self._pending if job not in self._needs}
            self._pending = []
            yield from self.universe.want_packages(
                need.name for needs in jobs.values() for need in needs if not need.url
            )
            self._needs.update(jobs)
            for job in jobs:
                self._encode(*job)

    def _encode(self, name: str, index: int, extra: str) -> None:
        """Add what a loaded release, or an extra of it, needs. (Explanations, in which edges have labels,
        have their own.)"""
        condition = self.not_at(name, index)
        self._guards.on_release(name, index)
        release = self.universe.dependencies[name, index]
        if extra:
            condition.append(-self.extras[name, extra])
            asked = self._root_extras.get((name, extra))
            if asked is not None and extra not in release.provides:
                # A root asks for an extra that this release lacks: it is no candidate.
                self.sat.add([*asked, *self.not_at(name, index)])
        elif release.problem:
            self.sat.add(condition)
            return
        for dependency in self._needs[name, index, extra]:
            if dependency.url:
                self.sat.add(condition)
            else:
                self._require(condition, (name, extra), dependency)

    # Answers

    def selection(self) -> dict[str, int]:
        """After a solve that succeeded: the index of every installed package, also of those that nothing
        reachable needs."""
        model = [0, *self.sat.model()]
        chosen: dict[str, int] = {}
        for name in self.order:
            ladder = self._ladders[name]
            if model[ladder[0]] < 0:
                continue
            k = 1
            # Mostly it is one of the newest.
            for literal in ladder[1:]:
                if model[literal] < 0:
                    break
                k += 1
            chosen[name] = self.cuts[name][k - 1]
        return chosen

    def active_extras(self) -> set[Node]:
        """After a solve that succeeded: the extras that are on."""
        model = self.sat.model()
        return {node for node, literal in self.extras.items() if model[literal - 1] > 0}


def holes(runs: Runs, size: int) -> list[tuple[int, int]]:
    """The complement of `runs` within `[0, size)`."""
    result = []
    position = 0
    for low, high in runs:
        if low > position:
            result.append((position, low))
        position = high
    if position < size:
        result.append((position, size))
    return result
