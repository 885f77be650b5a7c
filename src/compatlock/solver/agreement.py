"""Which packages differ between targets, as clauses that grow with the formula."""

from __future__ import annotations

from bisect import bisect_left

from compatlock.model import objective
from compatlock.solver.joint import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from compatlock.model.package import Package
    from compatlock.solver.sat import Sat


class Agreement:
    """For every package a version that the targets agree upon, or the literal "it differs", which costs.

    The agreed version is ordered as the project's full list of releases, which targets share whatever
    they hide of it: `s[u]` means "at position u of that list, or older". A cut of one target's order ties
    it to `s` on either side, so cuts only ever forbid, and the releases of an answer, which have both
    their cuts, agree exactly when they are the same. A package that a target does not install agrees.
    """

    def __init__(self, sat: Sat, on_cost: Callable[[str, int, int], None]) -> None:
        self._sat = sat
        self._on_cost = on_cost
        self._differs: dict[str, int] = {}
        self._present: dict[str, int] = {}
        self._positions: dict[str, list[int]] = {}
        self._literals: dict[str, dict[int, int]] = {}

    def on_package(self, package: Package, present: int) -> None:
        """A target's package entered the formula."""
        name = plain(package.name)
        if name not in self._differs:
            self._differs[name] = self._sat.variable()
            self._positions[name], self._literals[name] = [], {}
            self._on_cost(objective.DIFFERENT, self._differs[name], 1)
        self._present[package.name] = present
        if package.size:
            differs, positions = self._differs[name], package.positions
            self._sat.add([-present, differs, self._at_or_older(name, positions[0])])
            self._sat.add([-present, differs, -self._at_or_older(name, positions[-1] + 1)])

    def on_cut(self, package: Package, cut: int, literal: int) -> None:
        """A target's package was split at index `cut`; `literal` says that it is there or older."""
        present = self._present.get(package.name)
        if present is None:
            return  # `__cuda`, which is no part of an answer
        name, positions = plain(package.name), package.positions
        differs = self._differs[name]
        self._sat.add([-literal, differs, self._at_or_older(name, positions[cut])])
        self._sat.add([literal, -present, differs, -self._at_or_older(name, positions[cut - 1] + 1)])

    def _at_or_older(self, name: str, position: int) -> int:
        """The literal that the agreed version is at a position of the full list, or older."""
        literals = self._literals[name]
        literal = literals.get(position)
        if literal is None:
            literal = literals[position] = self._sat.variable()
            positions = self._positions[name]
            k = bisect_left(positions, position)
            if k:
                self._sat.add([-literal, literals[positions[k - 1]]])
            if k < len(positions):
                self._sat.add([-literals[positions[k]], literal])
            positions.insert(k, position)
        return literal
