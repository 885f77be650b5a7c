"""The native solver behind its small class."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pysolvers
import pytest

from compatlock.solver.sat import Sat


def test_solves_and_tells_why_not() -> None:
    sat = Sat()
    a, b, c = sat.variable(), sat.variable(), sat.variable()
    sat.add([-a, b])
    assert sat.solve([a])
    assert sat.model() == [a, b, -c]
    assert not sat.solve([a, c, -b])
    assert set(sat.core()) == {a, -b}
    assert sat.implied([a]) == [a, b]
    assert sat.implied([a, -b]) is None
    sat.close()
    sat.close()


def test_a_model_speaks_of_variables_that_came_after_it() -> None:
    sat = Sat()
    a = sat.variable()
    sat.add([a])
    assert sat.solve([])
    assert sat.model() == [a]
    b = sat.variable()
    assert sat.model() == [a, -b]
    sat.add([b])
    assert sat.solve([])
    assert sat.model() == [a, b]
    sat.close()


def test_the_native_solver_gets_each_assumption_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It opens a level for every one given, and has room for as many levels as there are variables."""
    seen: list[list[int]] = []

    def solve(solver: object, assumptions: Iterable[int], main_thread: int) -> Any:
        seen.append(list(assumptions))
        return native_solve(solver, seen[-1], main_thread)

    def propagate(solver: object, assumptions: Iterable[int], *flags: int) -> Any:
        seen.append(list(assumptions))
        return native_propagate(solver, seen[-1], *flags)

    native_solve, native_propagate = pysolvers.glucose41_solve, pysolvers.glucose41_propagate
    monkeypatch.setattr(pysolvers, "glucose41_solve", solve)
    monkeypatch.setattr(pysolvers, "glucose41_propagate", propagate)
    sat = Sat()
    a, b = sat.variable(), sat.variable()
    sat.add([-a, b])
    assert sat.solve([a, a, b, a] * 100)
    assert sat.implied([a, b, a]) == [a, b]
    assert not sat.solve([a, -b, a, -b])
    assert sat.solve(dict.fromkeys([b, a, b]))
    sat.close()
    assert seen == [[a, b], [a, b], [a, -b], [b, a]]
