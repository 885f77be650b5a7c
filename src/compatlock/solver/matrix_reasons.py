"""Why cells of a matrix are impossible: one core for many cells.

One labelled formula serves all cells: the cell's two literals are assumed, the labels of a core found for it
are tried on the cells after it, and a core is told once, about all releases that it holds for.
What is read depends on the cells that are asked for and their order only, so the answers do too.
"""

from __future__ import annotations

from compatlock.solver.explain import _Explanation
from compatlock.solver.joint import targets_of
from compatlock.solver.matrix import step_literal
from compatlock.solver.statements import Statements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence

    from compatlock.model.core import Core
    from compatlock.model.request import Request
    from compatlock.solver.matrix import Step
    from compatlock.solver.universe import Need, Universe

# How many releases may be taken in to make one core smaller, and to find it.
_LOADS = 120
_ROUNDS = 60


def reasons(universe: Universe, request: Request, axes: Iterable[Step]) -> Generator[Need, None, CellReasons]:
    """Make ready to explain cells of a request (see `solver.matrix.with_axes`); to be closed. `axes` are all
    steps of both axes: what is said of a package there is said of all its releases."""
    run = CellReasons(universe, request)
    yield from run.begin(list(axes))
    return run


class CellReasons(_Explanation):
    """Explains cells one after the other."""

    def __init__(self, universe: Universe, request: Request) -> None:
        super().__init__(universe, request)
        self._cell: tuple[int, ...] = ()
        self._steps: dict[Step, int] = {}
        # Cores found so far, the one that was of use last first, and how they are told.
        self._cores: list[frozenset[int]] = []
        self._told: dict[frozenset[int], Core] = {}
        self._loads = 0
        self.reading = True

    def close(self) -> None:
        """Free the solver."""
        self.sat.close()

    def begin(self, axes: Sequence[Step]) -> Generator[Need, None, None]:
        """Encode the request and the releases of the axes."""
        active = self.sat.variable()
        self.sat.add([active])
        self.formula.add_targets(targets_of(self.request))
        for constraint in self.request.constraints:
            self.formula.add_constraint(constraint)
        for root in self.request.roots:
            yield from self.formula.add_root(active, root)
        yield from self.formula.load((step.package, index) for step in axes for index in step.indexes)

    def satisfiable(self, labels: Iterable[int], extra: Sequence[int] = ()) -> bool:
        """Whether the labels can hold together in the cell, as far as releases are read."""
        return self.sat.solve([*self.closed(), *self._cell, *(-literal for literal in labels), *extra])

    def may_load(self, missing: Sequence[tuple[str, int]]) -> Generator[Need, None, bool]:
        """Load what is missing; False when that is too much for one core."""
        self._loads += len(missing)
        if self._loads > _LOADS:
            return False
        yield from self.formula.load(missing)
        return True

    def reason(self, *steps: Step) -> Generator[Need, None, Core | None]:
        """A core of an impossible cell; None when none was found with a reasonable effort."""
        self._cell = tuple(self._literal(step) for step in steps)
        labels = self._known()
        if labels is None:
            labels = yield from self._new()
            if labels is None:
                return None
        if labels not in self._cores:
            self._loads = 0
            labels = frozenset((yield from self._minimise(self._ordered(labels))))
        if labels not in self._cores:
            self._cores.insert(0, labels)
        core = self._told.get(labels)
        if core is None:
            core = self._told[labels] = self._tell(labels)
        return core

    def _literal(self, step: Step) -> int:
        literal = self._steps.get(step)
        if literal is None:
            literal = self._steps[step] = step_literal(self.sat, self.formula, step)
        return literal

    def _known(self) -> frozenset[int] | None:
        """A core found before that holds for the cell, too, or what of it suffices here."""
        for position, labels in enumerate(self._cores):
            if not self.satisfiable(labels):
                core = set(self.sat.core())
                self._cores.insert(0, self._cores.pop(position))
                return frozenset(literal for literal in labels if -literal in core)
        return None

    def _new(self) -> Generator[Need, None, frozenset[int] | None]:
        """Labels that contradict each other in the cell, not minimal."""
        self._loads = 0
        self.failures.clear()
        for _ in range(_ROUNDS):
            ordered = self._ordered(self.guards.literals)
            if not self.satisfiable(ordered):
                core = set(self.sat.core())
                return frozenset(literal for literal in ordered if -literal in core)
            missing = yield from self._grow(None)
            if missing is None:
                return None
            yield from self.formula.load(self._ahead(missing))
        return None

    def _tell(self, labels: frozenset[int]) -> Core:
        """The core in general, not for one cell, with the gated candidates that its proof leans on."""
        self.satisfiable(labels)
        leaned_on = set(self.sat.core())
        shut = sorted(candidate for literal, candidate in self.gates.shut().items() if literal in leaned_on)
        cell, self._cell = self._cell, ()
        ordered = sorted(self._ordered(labels), key=self._line)
        statements = Statements(self.formula, self.guards, self.facts, ordered, self.satisfiable)
        core = statements.core(shut)
        self._cell = cell
        return core
