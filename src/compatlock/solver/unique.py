"""One answer among those that are equal in every tier: the newest in name order."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

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
            outcome = yield from self._attempt(self._some_newer(self._chosen()))
            if outcome is False:
                return
            if outcome is True and (yield from self._package_by_package()):
                return

    def _some_newer(self, names: Iterable[str]) -> list[int]:
        """The assumption that one of these packages is newer than now, or absent."""
        newer = [-literal for literal in map(self._at_or_older, names) if literal is not None]
        if len(newer) == 1:
            return newer
        better = self._formula.sat.variable()
        self._formula.sat.add([-better, *newer])
        return [better]

    def _at_or_older(self, name: str) -> int | None:
        index = self._chosen().get(name)
        return None if index is None else self._formula.older(name, index)

    def _package_by_package(self) -> Generator[Need, None, bool]:
        """Fix one package after the other; False when a new one turned up (then begin again).

        What cannot be improved is proved for many packages at once: when nothing of a group can, given what
        is fixed before it, neither can each with those before it fixed too.
        """
        fixed: list[int] = []
        names = sorted(self._formula.order)
        position, count = 0, len(names)
        while position < len(names):
            group = names[position : position + count]
            outcome = yield from self._attempt([*fixed, *self._some_newer(group)])
            if len(self._formula.order) != len(names):
                return False
            if outcome is False:
                for name in group:
                    fixed += self._as_it_is(name)
                position += len(group)
                count *= 2
            elif outcome is True:
                # The first that can be improved is yet to be found; when it is alone, it just was improved.
                count = max(1, len(group) // 2)
        return True

    def _as_it_is(self, name: str) -> list[int]:
        """Assumptions that keep a package where it is."""
        index = self._chosen().get(name)
        if index is None:
            return [-self._formula.present(name)]
        return [-literal for literal in self._formula.not_at(name, index)]
