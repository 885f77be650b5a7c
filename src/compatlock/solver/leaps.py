"""Many small proofs at once: that a package is older by 2, 4, 8 ... cuts, or a threshold higher by so many
lags.

Where hundreds of releases fail, each for a reason of its own, a proof for each takes a call of the SAT solver
and what is done around it. A larger claim takes the solver hardly longer than a small one.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from compatlock.solver.formula import Formula
    from compatlock.solver.sat import Sat
    from compatlock.solver.tiers import WorstTier


class Leaps:
    """`contradiction` gives a core of assumptions that holds of all answers, None when there is none or when
    that is not known."""

    def __init__(
        self, sat: Sat, formula: Formula, contradiction: Callable[[list[int]], list[int] | None]
    ) -> None:
        self._sat = sat
        self._formula = formula
        self._contradiction = contradiction
        # The package and the cut of literals, and the newest variable that was there when this was made.
        self._places: dict[int, tuple[str, int]] = {}
        self._known = 0

    def package(self, above: Collection[int], assumption: int) -> bool:
        """When the assumption that a package is newer than at a cut is refuted under `above`: prove, and make
        known to the solver, that it is at an older cut still. False when nothing is proved."""
        older = self._older(-assumption)
        position, step = -1, 2
        while position + step < len(older):
            core = self._contradiction([*above, -older[position + step]])
            if core is None:
                break
            given = set(above)
            self._sat.add([older[position + step], *(-lit for lit in core if lit in given)])
            position += step
            step *= 2
        return position >= 0

    def threshold(self, tier: WorstTier, above: Collection[int]) -> bool:
        """Raise a threshold by as much as can be proved in a few attempts; False when nothing is proved."""
        proved, days = tier.bound, tier.thresholds()
        position, step = -1, 2
        while position + step < len(days):
            tier.raise_to(days[position + step - 1], self._formula)
            if self._contradiction([*above, *tier.soft]) is None:
                break
            position += step
            step *= 2
        tier.raise_to(days[position] if position >= 0 else proved, self._formula)
        return position >= 0

    def _older(self, literal: int) -> list[int]:
        """The literals of the cuts beyond that of one literal, ascending; none if it is no cut's."""
        formula = self._formula
        # A variable is made for a cut or never is one's: what counts cores is not looked for each time.
        if literal > self._known:
            self._known = self._sat.variables
            self._places = {
                found: (name, cut)
                for name, cuts in formula.cuts.items()
                for cut in cuts
                if (found := formula.older(name, cut)) is not None
            }
        if literal not in self._places:
            return []
        name, first = self._places[literal]
        beyond = (formula.older(name, cut) for cut in formula.cuts[name] if cut > first)
        return [found for found in beyond if found is not None]
