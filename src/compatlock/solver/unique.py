"""One answer among those that are equal in every tier: the newest in name order."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from compatlock.solver.formula import Formula
    from compatlock.solver.universe import Need

    Attempt = Callable[[list[int]], Generator[Need, None, bool | None]]


class NameOrder:
    """Makes an answer unique: package by package in name order, absent before installed, then the newest.

    chosen:  the answer as it is now
    attempt: looks for another answer that costs the same under assumptions: True when there is one (it is
             then the answer), False when there is none, None when the formula grew instead
    """

    def __init__(self, formula: Formula, chosen: Callable[[], dict[str, int]], attempt: Attempt) -> None:
        self._formula = formula
        self._chosen = chosen
        self._attempt = attempt

    def run(self) -> Generator[Need, None, None]:
        """Improve the answer until it is the first in this order."""
        while True:
            # Mostly no answer has anything newer or less, and one proof is enough.
            better = self._formula.sat.variable()
            newer = [-literal for literal in map(self._at_or_older, self._chosen()) if literal is not None]
            self._formula.sat.add([-better, *newer])
            outcome = yield from self._attempt([better])
            if outcome is False:
                return
            if outcome is True and (yield from self._package_by_package()):
                return

    def _at_or_older(self, name: str) -> int | None:
        index = self._chosen().get(name)
        return None if index is None else self._formula.older(name, index)

    def _package_by_package(self) -> Generator[Need, None, bool]:
        """Fix one package after the other; False when a new one turned up (then begin again)."""
        fixed: list[int] = []
        known = len(self._formula.order)
        for name in sorted(self._formula.order):
            while (literal := self._at_or_older(name)) is not None:
                outcome = yield from self._attempt([*fixed, -literal])
                if len(self._formula.order) != known:
                    return False
                if outcome is False:
                    break
            fixed += self._as_it_is(name)
        return True

    def _as_it_is(self, name: str) -> list[int]:
        """Assumptions that keep a package where it is."""
        index = self._chosen().get(name)
        if index is None:
            return [-self._formula.present(name)]
        return [-literal for literal in self._formula.not_at(name, index)]
