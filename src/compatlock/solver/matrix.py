"""Many cells of a compatibility matrix on one incremental search.

A cell says where two packages are: each at one of a few releases. It is a pair of literals, assumed while the
cell is solved, so that what was read, encoded and learned for one cell serves all others. What is proved of a
tier holds under the literals of the cell: tiers start again for each cell, and the clause of a core is
conditioned on those of the cell's literals that it needed.

Only the tiers that roots decide are optimised: the answer's other packages are not told. Where these leave a
choice between releases of roots, the rest of the tiers and then the order of names decide, as in a lock.
"""

from __future__ import annotations

from itertools import combinations

from compatlock.model import objective
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.requirement import Requirement
from compatlock.solver.closed_world import CHASES
from compatlock.solver.depth import frame, root_indexes, runs_on_target
from compatlock.solver.search import Search
from compatlock.solver.tiers import WorstTier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence

    from compatlock.model.package import Runs
    from compatlock.model.request import Request
    from compatlock.model.waiver import Waiver
    from compatlock.solver.formula import Formula
    from compatlock.solver.guards import WaiverGuards
    from compatlock.solver.sat import Sat
    from compatlock.solver.tiers import Lag
    from compatlock.solver.universe import Need, Universe

# Tiers from these on are decided by packages that the user did not ask for.
_OF_THE_REST = (objective.DIFFERENT, objective.DEPTH, objective.PACKAGES)


class Step(NamedTuple):
    """One place along an axis: a package at one of these candidates, newest first."""

    package: str
    indexes: tuple[int, ...]


class CellAnswer(NamedTuple):
    """The best answer of a cell.

    pins:    index of each root's release and of those of the two packages
    lag:     the worst root lag in days; what is on an axis is counted from the newest release of its step
    waivers: the waivers spent
    values:  what the tiers that roots decide came to
    """

    pins: dict[str, int]
    lag: int
    waivers: tuple[Waiver, ...] = ()
    values: tuple[int, ...] = ()


def step_literal(sat: Sat, formula: Formula, step: Step) -> int:
    """A new literal that implies that the package is at one of the step's candidates."""
    literal = sat.variable()
    sat.add([-literal, formula.present(step.package)])
    formula.confine([-literal], step.package, _runs(step.indexes))
    return literal


def with_axes(request: Request, names: Iterable[str], origin: str) -> Request:
    """The request that also asks for the packages along the axes."""
    asked = {root.name for root in request.roots}
    added = [Requirement(name, origin=origin) for name in names if name not in asked]
    return request._replace(roots=(*request.roots, *added), older={})


def cells(universe: Universe, request: Request, *, thorough: bool = False) -> Generator[Need, None, Cells]:
    """Make ready for the cells of a request (see `with_axes`); to be closed. `thorough` is as in `search`."""
    framed = yield from frame(universe, request)
    run = Cells(universe, request, framed.newest, framed.depths, thorough=thorough)
    yield from run._begin()
    return run


class Cells(Search):
    """Solves cells one after the other. The answers do not depend on their order."""

    _cell: tuple[int, ...] = ()
    _hint = 0
    _core: list[int] | None = None

    def close(self) -> None:
        """Free the solver."""
        self.sat.close()

    @property
    def _fixed(self) -> list[int]:
        return [self.active, *self._cell]

    def _begin(self) -> Generator[Need, None, None]:
        self._elsewhere: dict[tuple[str, int], int] = {}
        self._spent: tuple[Waiver, ...] = ()
        yield from super()._begin()
        kinds = [tier.tier.kind for tier in self.costs.tiers]
        self._of_roots = next(k for k, kind in enumerate(kinds) if kind in _OF_THE_REST)
        self._steps: dict[Step, int] = {}
        self._lags: dict[Step, tuple[Lag | None, Lag | None]] = {}
        self._impossible: set[frozenset[int]] = set()
        self._root_names = sorted({root.name for root in self.request.roots})

    # The question

    def solve(self, *steps: Step) -> Generator[Need, None, CellAnswer | None]:
        """The best answer with the packages at these steps, None when there is none."""
        for step in steps:
            if step not in self._lags:
                self._lags[step] = yield from self._lags_of(step)
        self._cell = tuple(self._literal(step) for step in steps)
        if any(subset in self._impossible for subset in _subsets(self._cell)):
            return None
        self._asked, self._started = steps, False
        self.failures.clear()
        self.closed_world.chases = 0
        optimal: bool | None = None
        while optimal is None:
            optimal = yield from self._descend()
        if not optimal:
            self._remember()
            return None
        yield from self._make_pins_unique(steps)
        return (yield from self._answer(steps))

    def _literal(self, step: Step) -> int:
        """The literal that implies that the package is at one of the step's candidates."""
        literal = self._steps.get(step)
        if literal is None:
            literal = self._steps[step] = step_literal(self.sat, self.formula, step)
        return literal

    def _lags_of(self, step: Step) -> Generator[Need, None, tuple[Lag | None, Lag | None]]:
        """The lags of the package within a step, in days and in releases: counted from the newest candidate
        there that the lines allow, that is usable and has the extras that are asked for. None where there is
        no choice."""
        package = self.universe.packages[step.package]
        if len(step.indexes) == 1:
            return None, None
        extras = {x for root in self.request.roots if root.name == step.package for x in root.extras}
        runs = runs_on_target(self.universe, self.request)
        allowed = set(root_indexes(package, [*self.request.roots, *self.request.constraints]))
        for index in (index for index in step.indexes if index in allowed):
            yield from self.universe.want_dependencies([(step.package, index)])
            release = self.universe.dependencies[step.package, index]
            if not release.problem and extras <= set(release.provides) and runs(package, index):
                tables = package.lags_in_days(index), package.lags_in_releases(index)
                return _until(step, tables[0]), _until(step, tables[1])
        return None, None

    def _descend(self) -> Generator[Need, None, bool | None]:
        if not self.sat.solve(self._base):
            return (yield from self._refuted(self._fixed, self.sat.core()))[0]
        if not self._started:
            self._start()
        return (yield from self._climb())

    def _start(self) -> None:
        """Begin the tiers anew: nothing of them is proved of this cell."""
        self._started = True
        for step in self._asked:
            self.costs.recount(step.package, *self._lags[step])
        self.upto = self._of_roots
        for tier in self.costs.tiers[: self.upto]:
            tier.reset(self.formula)

    def _remember(self) -> None:
        """Remember which of the cell's literals no answer goes with."""
        core = set(self._core) if self._core is not None else set(self._cell)
        self._impossible.add(frozenset(core & set(self._cell)))

    def _refuted(
        self, assumptions: list[int], core: list[int], rounds: int = CHASES
    ) -> Generator[Need, None, tuple[bool | None, list[int]]]:
        outcome, core = yield from super()._refuted(assumptions, core, rounds)
        self._core = core
        return outcome, core

    # The worst lag of a cell is often hundreds of days: no threshold after the other

    def _raise(self, level: int, core: list[int]) -> Generator[Need, None, bool | None]:
        tier = self.costs.tiers[level]
        if isinstance(tier, WorstTier) and self._leap(tier, level, core):
            self.costs.moved(level, self.formula)
            return True
        return (yield from super()._raise(level, core))

    def _leap(self, tier: WorstTier, level: int, core: list[int]) -> bool:
        """Find the smallest threshold that can be kept, the last cell's being tried first; False when a proof
        leans on something that was not read, or on more important tiers alone."""
        if -self.gates.open in core or tier.soft.keys().isdisjoint(core):
            return False
        proved, days = tier.bound, tier.thresholds()
        low, high = 0, len(days) - 1  # days[high] can be kept, nothing below days[low] can
        probe = min(range(len(days)), key=lambda k: abs(days[k] - self._hint), default=0)
        while low < high:
            tier.raise_to(days[probe], self.formula)
            if self.sat.solve(self._assume(level + 1)):
                high = probe
                probe = max(low, high - 1) if days[high] == self._hint else (low + high) // 2
            elif -self.gates.open in self.sat.core():
                tier.raise_to(proved if low == 0 else days[low - 1], self.formula)
                return low > 0
            else:
                low = probe + 1
                probe = low if days[probe] == self._hint else (low + high) // 2
        tier.raise_to(days[high], self.formula)
        self._hint = days[high]
        return True

    # One answer among equals

    def _make_pins_unique(self, steps: Sequence[Step]) -> Generator[Need, None, None]:
        fixed = {step.package for step in steps if len(step.indexes) == 1}
        names = [name for name in self._root_names if name not in fixed]
        if not self._is_obvious(names) and (yield from self._choose_otherwise(names)):
            self.upto = len(self.costs.tiers)
            for tier in self.costs.tiers[self._of_roots :]:
                tier.reset(self.formula)
            optimal: bool | None = None
            while optimal is None:
                optimal = yield from self._descend()
            if (yield from self._choose_otherwise(names)):
                yield from self._make_unique()

    def _is_obvious(self, names: Sequence[str]) -> bool:
        """Whether the sum of lags leaves no choice: there is one root, and no other release as far behind."""
        if len(names) != 1 or names[0] not in self.newest:
            return not names
        lags = self.universe.packages[names[0]].lags_in_releases(self.newest[names[0]])
        return lags.count(lags[self._chosen()[names[0]]]) == 1

    def _choose_otherwise(self, names: Sequence[str]) -> Generator[Need, None, bool]:
        """Whether an answer that costs the same has another release of one of these packages. It is then the
        best one."""
        chosen = self._chosen()
        other = self.sat.variable()
        outcome: bool | None = None
        places = [self._apart(name, chosen[name]) for name in names]
        self.sat.add([-other, *places])
        while outcome is None:
            outcome = yield from self._try([other])
        return outcome

    def _apart(self, name: str, index: int) -> int:
        """A literal that implies that the package is not at this index."""
        literal = self._elsewhere.get((name, index))
        if literal is None:
            literal = self._elsewhere[name, index] = self.sat.variable()
            self.sat.add([-literal, *self.formula.not_at(name, index)])
        return literal

    # The answer

    def _close(self, assumptions: Iterable[int]) -> Generator[Need, None, bool | None]:
        outcome = yield from super()._close(assumptions)
        if outcome:
            self._spent = self._guards_in_use.spent(self.sat.model())
        return outcome

    def _guards(self) -> WaiverGuards:
        self._guards_in_use = super()._guards()
        return self._guards_in_use

    def _answer(self, steps: Sequence[Step]) -> Generator[Need, None, CellAnswer]:
        if len(self._spent) > 1 or (self._spent and len(self.request.waivers) > 1):
            yield from self._make_waivers_unique()
        chosen = self._chosen()
        pins = {name: chosen[name] for name in self._root_names}
        days = {step.package: self._lags[step][0] for step in steps}
        lags = [self._behind(name, index, days) for name, index in pins.items()]
        values = tuple(tier.bound for tier in self.costs.tiers[: self._of_roots])
        return CellAnswer(pins, max(lags, default=0), self._spent, values)

    def _behind(self, name: str, index: int, days: Mapping[str, Lag | None]) -> int:
        if name in days:
            table = days[name]
            return 0 if table is None else table[index]
        newest = self.newest.get(name)
        return 0 if newest is None else self.universe.packages[name].lag_days(index, newest)

    def _make_waivers_unique(self) -> Generator[Need, None, None]:
        """Of sets of waivers of the same size, take the one that does without the first in their order."""
        chosen = self._chosen()
        fixed = [-literal for name in self._root_names for literal in self.formula.not_at(name, chosen[name])]
        for waiver, literal in sorted(self._guards_in_use.permissions.items()):
            outcome: bool | None = None
            while waiver in self._spent and outcome is None:
                outcome = yield from self._try([*fixed, -literal])
            fixed.append(literal if waiver in self._spent else -literal)


def _runs(indexes: Sequence[int]) -> Runs:
    """Indexes in ascending order as runs."""
    runs: list[tuple[int, int]] = []
    for index in indexes:
        if runs and runs[-1][1] == index:
            runs[-1] = (runs[-1][0], index + 1)
        else:
            runs.append((index, index + 1))
    return tuple(runs)


def _subsets(cell: tuple[int, ...]) -> Iterator[frozenset[int]]:
    return (frozenset(chosen) for size in range(len(cell) + 1) for chosen in combinations(cell, size))


def _until(step: Step, lags: Lag) -> Lag:
    """Lags within a step; what is older is never chosen and counts as the oldest there."""
    end = step.indexes[-1] + 1
    return [*lags[:end], *[lags[end - 1]] * (len(lags) - end)]
