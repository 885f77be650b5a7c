"""The SAT solver (Glucose 4.1 through python-sat's native module), behind one small class.

python-sat publishes only .devN releases and its Python layer costs 25 ms to import, so the native
functions are used directly, here and nowhere else.
"""

from __future__ import annotations

import pysolvers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Sat:
    """An incremental SAT solver. Variables are positive integers, literals signed ones.

    `calls` counts solve calls, `clauses` the clauses added.
    """

    def __init__(self) -> None:
        self._solver = pysolvers.glucose41_new()
        self.variables = 0
        self.calls = 0
        self.clauses = 0
        self._model: list[int] | None = None

    def variable(self) -> int:
        """A new variable."""
        self.variables += 1
        return self.variables

    def add(self, clause: Sequence[int]) -> None:
        """Add a clause: at least one of its literals holds."""
        self.clauses += 1
        pysolvers.glucose41_add_cl(self._solver, clause)

    def solve(self, assumptions: Iterable[int]) -> bool:
        """Whether the clauses can hold together with the assumptions."""
        self.calls += 1
        self._model = None
        return bool(pysolvers.glucose41_solve(self._solver, _distinct(assumptions), 1))

    def core(self) -> list[int]:
        """After a failed solve: assumptions that contradict the clauses (not minimal)."""
        return pysolvers.glucose41_core(self._solver) or []

    def model(self) -> Sequence[int]:
        """After a solve that succeeded: a literal for every variable, variable v at index v - 1."""
        model = self._model
        if model is None:
            model = self._model = pysolvers.glucose41_model(self._solver) or []
        # Variables that no clause speaks of yet are not part of the native model.
        model.extend(range(-len(model) - 1, -self.variables - 1, -1))
        return model

    def implied(self, assumptions: Iterable[int]) -> list[int] | None:
        """Literals that follow from the assumptions by unit propagation; None when they contradict."""
        consistent, literals = pysolvers.glucose41_propagate(self._solver, _distinct(assumptions), 0, 1)
        return list(literals) if consistent else None

    def close(self) -> None:
        """Free the native solver."""
        if self._solver is not None:
            pysolvers.glucose41_del(self._solver)
            self._solver = None


def _distinct(assumptions: Iterable[int]) -> Iterable[int]:
    """Each assumption once (as the keys of a dict are): Glucose opens a level for every one, also for a
    repeated one, and writes beyond an array that has as many places as there are variables when there are
    more levels."""
    return assumptions if isinstance(assumptions, dict) else dict.fromkeys(assumptions)
