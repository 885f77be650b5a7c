"""The formula with a label for everything that may be part of a contradiction."""

from __future__ import annotations

from contextlib import contextmanager

from compatlock.model.requirement import Requirement
from compatlock.solver.facts import FactClauses
from compatlock.solver.formula import Formula, Watcher
from compatlock.solver.guards import (
    edge_label,
    extra_label,
    fact_label,
    problem_label,
    root_label,
    url_label,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from compatlock.model.dependencies import Dependency
    from compatlock.model.fact import Fact
    from compatlock.solver.formula import Node
    from compatlock.solver.gates import Gates
    from compatlock.solver.guards import Label, LabelGuards
    from compatlock.solver.reach import Holds
    from compatlock.solver.sat import Sat
    from compatlock.solver.universe import Universe


class LabelledFormula(Formula):
    """Beside edges, lines and facts, it has labels for releases that cannot be used, for direct references,
    and for extras that releases lack; what an undeclared dependency pulls in is part of the fact's label."""

    def __init__(
        self,
        sat: Sat,
        universe: Universe,
        guards: LabelGuards,
        gates: Gates,
        facts: Sequence[Fact],
        roots: Sequence[Requirement],
    ) -> None:
        # A soft fact may always be broken, so its literal stays free.
        clauses = FactClauses(facts, guards, lambda _fact, _literal: None)
        super().__init__(sat, universe, guards, gates, clauses, Watcher())
        self._label_guards = guards
        undeclared = (fact for fact in facts if fact.kind == "undeclared")
        self._undeclared = [
            (fact_label(fact), FactClauses([fact], guards, lambda _fact, _literal: None))
            for fact in undeclared
        ]
        self._asking: dict[Node, list[Label]] = {}
        for root in roots:
            for extra in root.extras:
                self._asking.setdefault((root.name, extra), []).append(root_label(root))
        self._model: Sequence[int] | None = None

    def labelled(self, name: str, index: int, extra: str = "") -> Iterator[tuple[Label, Dependency]]:
        """What a loaded release (or an extra of it) needs, under which label; only what facts say when the
        release cannot be used anyway."""
        release = self.universe.dependencies[name, index]
        for dependency in () if release.problem else release.of(extra):
            make = url_label if dependency.url else edge_label
            yield make(name, extra, dependency), dependency
        for label, clauses in self._undeclared:
            for dependency in clauses.undeclared(self.universe.packages[name], index, extra):
                yield label, dependency

    def dependencies_of(self, name: str, index: int, extra: str = "") -> list[Dependency]:
        """What a loaded release needs of the index; while a model is kept to, only what that keeps to."""
        return [
            dependency
            for label, dependency in self.labelled(name, index, extra)
            if not dependency.url and (self._model is None or self._label_guards.holds(label, self._model))
        ]

    def needs(self, name: str, index: int, extra: str) -> list[Dependency] | None:
        return self.dependencies_of(name, index, extra) if index in self.loaded[name] else None

    @contextmanager
    def keeping(self, model: Sequence[int]) -> Iterator[Holds]:
        """Within the context only edges count that the model keeps to; gives what says so of lines."""
        self._model = model
        try:
            yield lambda _parent, line: self._line_holds(line, model)
        finally:
            self._model = None

    def _line_holds(self, line: Requirement | Dependency, model: Sequence[int]) -> bool:
        return not isinstance(line, Requirement) or self._label_guards.holds(root_label(line), model)

    def _encode(self, name: str, index: int, extra: str) -> None:
        release = self.universe.dependencies[name, index]
        condition = self.not_at(name, index)
        self._guards.on_release(name, index)
        if release.problem:
            self.sat.add([*condition, *self._guards.whole(problem_label(name, release.problem))])
        if extra:
            if extra not in release.provides and not release.problem:
                lacking = self._guards.whole(extra_label(name, extra))
                for line in self._asking.get((name, extra), ()):
                    self.sat.add([*condition, *lacking, *self._guards.whole(line)])
            condition.append(-self.extras[name, extra])
        for label, dependency in self.labelled(name, index, extra):
            guard = self._guards.whole(label)
            if dependency.url:
                self.sat.add([*condition, *guard])
            else:
                self._require(condition + guard, (name, extra), dependency)
