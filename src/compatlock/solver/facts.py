"""Facts as clauses: bounds that hold when both packages are there, exclusions, added dependencies."""

from __future__ import annotations

from compatlock.model.cuda import bound_runs, exactly, spoken_of
from compatlock.model.undeclared import undeclared_dependencies
from compatlock.solver.guards import Guards, Label, local_version_label
from compatlock.solver.joint import cuda_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from compatlock.model.dependencies import Dependency
    from compatlock.model.fact import Fact, FactBound
    from compatlock.model.package import Package
    from compatlock.solver.formula import Formula

_BOUND_KINDS = ("too-loose", "undeclared")
_PAIR_KINDS = (*_BOUND_KINDS, "overlap")


class FactClauses:
    """Adds a fact's clauses once every package that it speaks of is part of the formula.

    Presence occurs only as a negative literal: a fact can forbid or cost, never pull in (kind undeclared
    pulls in as an edge of the release, see `undeclared`). `on_soft(fact, literal)` is told of the literal
    "this soft fact is broken".
    """

    def __init__(self, facts: Sequence[Fact], guards: Guards, on_soft: Callable[[Fact, int], None]) -> None:
        self._guards = guards
        self._on_soft = on_soft
        self._broken: dict[str, int] = {}
        self._added: set[str] = set()
        self._naming: dict[str, list[Fact]] = {}
        self._undeclared: dict[str, list[Fact]] = {}
        for fact in facts:
            if fact.kind not in (*_PAIR_KINDS, "known-bad", "cuda"):
                continue
            for name in dict.fromkeys((fact.package, fact.on, *fact.present)):
                if name:
                    self._naming.setdefault(name, []).append(fact)
            if fact.kind == "undeclared":
                self._undeclared.setdefault(fact.package, []).append(fact)

    def on_package(self, formula: Formula, name: str) -> None:
        """A package entered the formula."""
        self._bind_by_local_versions(formula, name)
        for fact in self._naming.get(name, ()):
            self._try(formula, fact)

    def on_extra(self, formula: Formula, name: str, extra: str, literal: int) -> None:  # noqa: ARG002
        """An extra entered the formula."""
        for fact in self._naming.get(name, ()):
            if fact.package == name and fact.extra == extra:
                self._try(formula, fact)

    def undeclared(self, package: Package, index: int, extra: str) -> list[Dependency]:
        """Dependencies that a release has without declaring them."""
        facts = self._undeclared.get(package.name)
        return undeclared_dependencies(facts, package, index, extra) if facts else []

    def _try(self, formula: Formula, fact: Fact) -> None:
        on = "" if fact.kind == "cuda" else fact.on
        names = [n for n in (fact.package, on, *fact.present) if n]
        if fact.id in self._added or not all(formula.knows(n) for n in names):
            return
        if fact.kind == "cuda" and fact.is_shipped and formula.universe.is_elsewhere(fact.package):
            return
        if fact.extra and (fact.package, fact.extra) not in formula.extras:
            return
        self._added.add(fact.id)
        condition = [-formula.present(n) for n in fact.present]
        if fact.extra:
            condition.append(-formula.extras[fact.package, fact.extra])
        condition += self._guards.whole(Label("fact", fact.package, on=fact.on, origin=fact.id))
        if fact.is_soft:
            condition.append(self._soft(formula, fact))
            if fact.kind in _BOUND_KINDS:
                self._break_when_older(formula, fact, condition)
        for bound in fact.bounds:
            self._add_bound(formula, fact, bound, condition)

    def _soft(self, formula: Formula, fact: Fact) -> int:
        literal = self._broken.get(fact.id)
        if literal is None:
            literal = self._broken[fact.id] = formula.sat.variable()
            self._on_soft(fact, literal)
        return literal

    def _add_bound(self, formula: Formula, fact: Fact, bound: FactBound, condition: list[int]) -> None:
        subject = formula.universe.packages[fact.package]
        runs = subject.runs(bound.versions)
        for low, high in spoken_of(subject, runs) if fact.kind == "cuda" else runs:
            outside = [*condition, *formula.outside(fact.package, low, high)]
            if fact.kind == "known-bad":
                formula.sat.add(outside)
            elif fact.kind == "overlap":
                for first, last in formula.universe.packages[fact.on].runs(bound.bound):
                    formula.sat.add([*outside, *formula.outside(fact.on, first, last)])
            else:
                within = formula.universe.packages[fact.on].runs(bound.bound)
                formula.confine(outside, fact.on, within)

    def _bind_by_local_versions(self, formula: Formula, name: str) -> None:
        """A release whose local version names a CUDA binds `__cuda` like a fact. No cut depends on what was
        read, so the clauses are there from the start."""
        for majors, low, high in bound_runs(formula.universe.packages[name]):
            guard = self._guards.whole(local_version_label(name))
            cuda = cuda_of(name)
            runs = formula.universe.packages[cuda].runs(exactly(majors))
            formula.confine([*guard, *formula.outside(name, low, high)], cuda, runs)

    def _break_when_older(self, formula: Formula, fact: Fact, condition: list[int]) -> None:
        """A release older than everything that the soft fact covers breaks it: unknown is not better."""
        subject = formula.universe.packages[fact.package]
        ends = [end for bound in fact.bounds if (end := subject.end(bound.versions)) is not None]
        older = formula.older(fact.package, max(ends)) if ends else None
        if older is not None:
            formula.sat.add([*condition, -older, -formula.present(fact.on)])
