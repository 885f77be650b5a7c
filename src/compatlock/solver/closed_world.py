"""Proofs that lean on closed gates: a release that was not read might have the edge that admits a candidate.

See `solver.gates` for why such a proof is only taken when the other case is refuted as well. How much is read
for that is bounded: after some rounds it is presumed of packages that are not known to depend on a gated one
that they do not, and after more of them nothing is said to be proved any more.
"""

from __future__ import annotations

from compatlock.solver.reach import reach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Container, Sequence

    from compatlock.model.request import Request
    from compatlock.solver.formula import Formula
    from compatlock.solver.gates import Gates
    from compatlock.solver.reach import Reach
    from compatlock.solver.sat import Sat

    Release = tuple[str, int]

# How many rounds may go into releases that are read only because they might admit a gated candidate: to prove
# that nothing is better, to prove that there is no answer at all; and how many more into releases of packages
# that are known to depend on one.
CHASES = 6
LAST_CHASES = 16
_KNOWN_CHASES = 64


class ClosedWorld:
    """`chases` counts the rounds of reading that proofs asked for, `presumed` are the packages of which
    something was presumed (see `Solution.presumed`). `thorough`: presume nothing, and read on."""

    def __init__(
        self, sat: Sat, formula: Formula, gates: Gates, request: Request, *, thorough: bool = False
    ) -> None:
        self._sat = sat
        self._formula = formula
        self._gates = gates
        self._request = request
        self._thorough = thorough
        self.chases = 0
        self.presumed: set[str] = set()

    @property
    def proved(self) -> bool:
        """Whether proofs still hold whatever the releases that were not read need."""
        return self._thorough or self.chases <= _KNOWN_CHASES

    def is_leaned_on(self, core: Container[int]) -> bool:
        """Whether a proof leans on closed gates at all."""
        return -self._gates.open in core

    def refuted(
        self, assumptions: list[int], core: list[int], rounds: int
    ) -> tuple[list[int], Sequence[Release] | None]:
        """A contradiction that may lean on closed gates: (core, None) when it also holds while some installed
        release is unread, else (core, what is to be read instead). That may be nothing: then candidates were
        guarded instead."""
        if not self.is_leaned_on(core) or not self.proved:
            return core, None
        suspects, both = self._in_both_cases(assumptions, core, rounds)
        if both is not None:
            return both, None
        found = self.reach()
        chosen = {name: i for name, i in self._formula.selection().items() if name in suspects}
        missing = [(name, i) for name, i in chosen.items() if i not in self._formula.loaded[name]]
        needed = [release for release in missing if release[0] in found.chosen]
        # Where nothing leads to them, they lean on candidates that are not guarded yet, or on themselves.
        if not needed and self.guard(found):
            return core, ()
        self.chases += 1
        return core, needed or missing

    def contradiction(self, assumptions: list[int]) -> list[int] | None:
        """A core of the assumptions, whether gates are closed or not; None when there is none."""
        if self._sat.solve([*assumptions, *self._gates.assumptions]):
            return None
        core = self._sat.core()
        if not self.is_leaned_on(core) or not self.proved:
            return core
        return self._in_both_cases(assumptions, core, CHASES)[1]

    def _in_both_cases(
        self, assumptions: list[int], core: list[int], rounds: int
    ) -> tuple[Collection[str], list[int] | None]:
        """A contradiction that leans on closed gates, made one that also holds while one of some packages is
        at an unread release; these packages, and None when it does not hold then."""
        # A package may have thousands of releases: after some rounds it is presumed that only those which
        # depend on a package at all ask for a pre-release or a yanked release of it.
        presume = self.chases >= rounds and not self._thorough
        leaned_on = self._gates.leaned_on(core) if presume else set()
        suspects = self._gates.known_parents(leaned_on) if presume else set(self._formula.order)
        unread = self._gates.something_unread(self._formula, suspects)
        if self._sat.solve([*assumptions, *self._gates.closed, *unread]):
            return suspects, None
        self.presumed |= leaned_on
        both = dict.fromkeys([*core, *self._sat.core()])
        gone = {-self._gates.open, *unread}
        return suspects, [lit for lit in both if lit not in gone]

    def reach(self) -> Reach:
        """What the user's lines really need of the current model."""
        return reach(self._formula, self._request.roots, self._request.constraints)

    def guard(self, found: Reach) -> bool:
        """Guard the gated candidates that nothing admits; False when all were guarded before."""
        fresh = [candidate for candidate in found.gated if self._gates.guard(self._formula, *candidate)]
        return bool(fresh)
