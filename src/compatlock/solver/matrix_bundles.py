"""A tier over thousands of literals of which hardly any is ever true.

Literals are put into bundles. As long as no proof leans on a bundle it is one assumption, "none of these", in
the place of one for each literal; then it is opened. A bundle's own literal follows from each of its literals
and implies nothing, so where none of them is true it may be false: what is possible stays the same.
"""

from __future__ import annotations

from compatlock.solver.tiers import SumTier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compatlock.model.objective import Tier
    from compatlock.solver.formula import Formula
    from compatlock.solver.sat import Sat


# Stands for the weight of a closed bundle, which is never charged.
_UNKNOWN = 1


class BundledTier(SumTier):
    """Minimises a weighted sum. A bundle that was opened stays open."""

    def __init__(self, tier: Tier, sat: Sat) -> None:
        super().__init__(tier, sat)
        # The assumption "none of these" of each bundle; None once it is open.
        self._none_of: dict[tuple[str, ...], int | None] = {}
        # Of each closed bundle, by that assumption: its name, and what breaking the assumptions in it costs.
        self._closed: dict[int, tuple[tuple[str, ...], dict[int, int]]] = {}

    def add_to(self, bundle: tuple[str, ...], literal: int, weight: int) -> None:
        """A literal of a bundle, and what it costs when it is true."""
        if bundle not in self._none_of:
            none = self._none_of[bundle] = -self._sat.variable()
            self._closed[none] = bundle, {}
            self.soft[none] = _UNKNOWN
        assumption = self._none_of[bundle]
        if assumption is None:
            self.add_constant(literal, weight)
        else:
            self._sat.add([-literal, -assumption])
            self._closed[assumption][1][-literal] = weight

    def charge_unit(self, assumption: int) -> None:
        if not self._opens([assumption]):
            super().charge_unit(assumption)

    def charge_core(self, core: list[int], condition: list[int]) -> None:
        if not self._opens(core):
            super().charge_core(core, condition)

    def _opens(self, core: list[int]) -> bool:
        """Open the bundles that a core leans on: nothing is proved of their literals yet. False when there is
        none."""
        found = [assumption for assumption in core if assumption in self._closed]
        for assumption in found:
            bundle, literals = self._closed.pop(assumption)
            self._none_of[bundle] = None
            del self.soft[assumption]
            self._constant.update(literals)
            self.soft.update(literals)
        return bool(found)

    def reset(self, formula: Formula) -> None:
        super().reset(formula)
        self.soft.update(dict.fromkeys(self._closed, _UNKNOWN))
