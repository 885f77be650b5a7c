"""The search: lazy, core-guided, lexicographic, as a generator that yields what it needs to read."""

from __future__ import annotations

from compatlock.model import objective
from compatlock.model.lock import TierValue
from compatlock.solver.closed_world import CHASES, LAST_CHASES, ClosedWorld
from compatlock.solver.depth import frame
from compatlock.solver.facts import FactClauses
from compatlock.solver.formula import Formula
from compatlock.solver.gates import Gates
from compatlock.solver.guards import WaiverGuards
from compatlock.solver.joint import targets_of
from compatlock.solver.sat import Sat
from compatlock.solver.solution import Solution as Solution
from compatlock.solver.tiers import Costs, SumTier, WorstTier
from compatlock.solver.unique import NameOrder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterable, Sequence

    from compatlock.model.fact import Fact
    from compatlock.model.objective import Tier
    from compatlock.model.request import Request
    from compatlock.model.waiver import Waiver
    from compatlock.solver.leaps import Leaps
    from compatlock.solver.reach import Reach
    from compatlock.solver.universe import Need, Universe

# A package whose chosen release failed this often loads further ones ahead: 2, 4, 8, ... up to this many, or
# to this part of those that it has loaded.
_PATIENCE = 1
_MOST_AHEAD = 32
_PART_AHEAD = 8
# So many proofs of the same tier one after the other, and the next ones try to prove more at once.
_LEAP = 32
# Cores up to this size are shrunk literal by literal.
_SHRINKABLE = 40


def search(
    universe: Universe, request: Request, *, thorough: bool = False, several_targets: bool = False
) -> Generator[Need, None, Solution | None]:
    """Find the best answer; None when there is none. Yields a `Need` whenever something must be read,
    and goes on when `universe` holds it.

    `thorough`: read as much as it takes for a proof that presumes nothing (see `Solution.presumed`), which
    may be every release there is. `several_targets`: the request is a joint one (see `solver.joint`).
    """
    run = yield from prepared(universe, request, thorough=thorough, several_targets=several_targets)
    try:
        return (yield from run.run())
    finally:
        run.sat.close()


def prepared(
    universe: Universe, request: Request, *, thorough: bool = False, several_targets: bool = False
) -> Generator[Need, None, Search]:
    """A search that is yet to be run, and may be kept after that (see `solver.held`). Its solver is to be
    closed."""
    framed = yield from frame(universe, request)
    return Search(universe, request, *framed, thorough=thorough, several_targets=several_targets)


class Search:
    def __init__(
        self,
        universe: Universe,
        request: Request,
        newest: dict[str, int],
        depths: dict[str, int],
        *,
        thorough: bool = False,
        several_targets: bool = False,
    ) -> None:
        self.universe = universe
        self.request = request
        self.newest = newest
        self.depths = depths
        self.sat = Sat()
        self.active = self.sat.variable()
        self.gates = Gates(self.sat)
        tiers = self._tiers(several_targets=several_targets)
        self.costs = Costs(tiers, self.sat, root_newest=newest, depths=depths, older=request.older)
        if several_targets:
            from compatlock.solver.agreement import Agreement

            self.costs.agreement = Agreement(self.sat, self.costs.on_constant)
        guards = self._guards()
        self.soft: dict[str, int] = {}
        facts = [f for f in request.facts if request.soft_facts or not f.is_soft]
        self.formula = Formula(
            self.sat, universe, guards, self.gates, FactClauses(facts, guards, self._on_soft), self.costs
        )
        self.failures: dict[str, int] = {}
        # How many of the tiers are looked at, and the one that a descent is at.
        self.upto = len(tiers)
        self.level = 0
        self.thorough = thorough
        self.closed_world = ClosedWorld(self.sat, self.formula, self.gates, request, thorough=thorough)
        self.rounds = 0
        # The tier that rose last, and how many times in a row.
        self.raised = -1
        self.streak = 0
        self.leaps: Leaps | None = None
        self.best: Reach | None = None
        self.broken: tuple[str, ...] = ()

    def _tiers(self, *, several_targets: bool) -> tuple[Tier, ...]:
        request = self.request
        return objective.tiers(
            waivers=bool(request.waivers),
            older=bool(request.older),
            prefer=request.prefer,
            several_targets=several_targets,
        )

    def _guards(self) -> WaiverGuards:
        return WaiverGuards(
            self.sat, self.universe, self.request.waivers, self._on_waiver, self.costs.on_side
        )

    def _on_waiver(self, waiver: Waiver, literal: int) -> None:
        self.costs.on_waiver(literal)
        self.formula.replace_bound(waiver, literal)

    def _on_soft(self, fact: Fact, literal: int) -> None:
        self.soft[fact.id] = literal
        self.costs.on_soft_fact(fact, literal)

    # The course of a run

    def run(self) -> Generator[Need, None, Solution | None]:
        yield from self._begin()
        optimal: bool | None = None
        while optimal is None:
            optimal = yield from self._descend()
        if not optimal:
            return None
        yield from self._make_unique()
        return self._solution()

    def _begin(self) -> Generator[Need, None, None]:
        self.formula.add_targets(targets_of(self.request))
        for constraint in self.request.constraints:
            self.formula.add_constraint(constraint)
        for root in self.request.roots:
            yield from self.formula.add_root(self.active, root)
        yield from self._load_recalled()

    def _load_recalled(self) -> Generator[Need, None, None]:
        recalled = self.universe.recalled
        yield from self.universe.want_packages(name for name, _ in recalled)
        for name, _ in recalled:
            self.formula.present(name)
        yield from self.formula.load(recalled)

    def _solution(self) -> Solution:
        assert self.best is not None
        proved = self.closed_world.proved
        values = tuple(TierValue(t.tier.name, t.bound, t.tier.unit, proved=proved) for t in self.costs.tiers)
        return Solution(
            chosen=dict(sorted(self.best.chosen.items())),
            extras=self.best.extras,
            newest=self.newest,
            depths=self.depths,
            tiers=values,
            broken=self.broken,
            presumed=tuple(sorted(self.closed_world.presumed)),
            proved=proved,
            counters={
                "rounds": self.rounds,
                "loaded": sum(map(len, self.formula.loaded.values())),
                "packages": len(self.formula.order),
                "variables": self.sat.variables,
                "clauses": self.sat.clauses,
                "calls": self.sat.calls,
                "chases": self.closed_world.chases,
            },
        )

    @property
    def _fixed(self) -> list[int]:
        """What is assumed whatever the tiers come to: the question itself."""
        return [self.active]

    @property
    def _base(self) -> list[int]:
        return [*self._fixed, *self.gates.assumptions]

    def _assume(self, upto: int) -> dict[int, int]:
        return self.costs.assumed(self._base, upto)

    # One descent through the tiers

    def _descend(self) -> Generator[Need, None, bool | None]:
        """True when the best answer is found, False when there is none, None when the formula grew."""
        if not self.sat.solve(self._base):
            return (yield from self._refuted(self._fixed, self.sat.core(), LAST_CHASES))[0]
        self._harvest()
        return (yield from self._climb())

    def _climb(self) -> Generator[Need, None, bool | None]:
        """The same, where something satisfies the question when nothing is read further."""
        count = self.upto
        closed = yield from self._close(self._assume(count))
        if closed is not False:
            return closed
        self.level = 0
        while True:
            while self.level < count and self.sat.solve(self._assume(self.level + 1)):
                self.level += 1
            if self.level == count:
                return (yield from self._close(self._assume(count)))
            raised = yield from self._raise(self.level, self.sat.core())
            if raised is not True:
                return raised

    def _harvest(self) -> None:
        """Charge the soft literals that follow by propagation alone (without assuming gates closed)."""
        implied = self.sat.implied(self._fixed)
        if implied is None:
            return
        for level, tier in enumerate(self.costs.tiers):
            if self._charge_units(tier, implied):
                self.costs.moved(level, self.formula)

    def _charge_units(self, tier: SumTier | WorstTier, implied: Iterable[int]) -> bool:
        """Charge the assumptions that literals refute which are proved; False when there is none."""
        proved = set(implied)
        if isinstance(tier, WorstTier):
            return tier.charge_proved(proved, self.formula)
        units = [assumption for assumption in tier.soft if -assumption in proved]
        for assumption in units:
            tier.charge_unit(assumption)
        return bool(units)

    def _raise(self, level: int, core: list[int]) -> Generator[Need, None, bool | None]:
        """Tiers up to `level` cannot all keep their bounds: prove by how much one must rise. False when
        the contradiction needs no tier, None when the formula grew instead."""
        tier = self.costs.tiers[level]
        charged = [lit for lit in core if lit in tier.soft]
        self.streak = self.streak + 1 if level == self.raised else 1
        above = self.costs.assumed(self._fixed, level)
        if self.streak > _LEAP and self._prove_more(tier, above, charged):
            self.costs.moved(level, self.formula)
            return True
        # What follows by propagation alone only changes with what single literals are proved.
        if (level != self.raised or len(charged) == 1) and self._charge_implied(tier, above):
            self.raised = level
            self.costs.moved(level, self.formula)
            return True
        self.raised = level
        closed_world = self.closed_world.is_leaned_on(core)
        if closed_world:
            outcome, core = yield from self._refuted([*self._fixed, *self.costs.assumptions(level + 1)], core)
            if outcome is None:
                return None
        return self._charge_core(core, level, shrink=not closed_world)

    def _charge_implied(self, tier: SumTier | WorstTier, above: Collection[int]) -> bool:
        """Charge what follows by propagation from the more important tiers; False when that is nothing."""
        implied = self.sat.implied(above)
        return implied is not None and self._charge_units(tier, implied)

    def _prove_more(self, tier: SumTier | WorstTier, above: Collection[int], charged: list[int]) -> bool:
        """Prove of a tier that rises and rises more than the next step; False when no more can be proved."""
        if self.leaps is None:
            from compatlock.solver.leaps import Leaps

            self.leaps = Leaps(self.sat, self.formula, self.closed_world.contradiction)
        if isinstance(tier, WorstTier):
            return self.leaps.threshold(tier, above)
        return (
            len(charged) == 1 and self.leaps.package(above, charged[0]) and self._charge_implied(tier, above)
        )

    def _charge_core(self, core: list[int], level: int, *, shrink: bool) -> bool:
        """Charge a core to its least important tier. False when no tier is part of it."""
        levels = {lit: self.costs.level_of(lit, level + 1) for lit in core}
        found = [k for k in levels.values() if k is not None]
        if not found:
            return False
        lowest = max(found)
        tier = self.costs.tiers[lowest]
        charged = [lit for lit, k in levels.items() if k == lowest]
        if shrink:
            charged, core = self._shrink(charged, core, lowest)
            if not charged:
                # The more important tiers contradict each other by themselves: look at them next.
                self.level = 0
                return True
        self.level = lowest
        if isinstance(tier, WorstTier):
            tier.charge(charged, self.formula)
        else:
            fixed = {*self._fixed, *self.costs.assumptions(lowest)}
            tier.charge_core(charged, [-lit for lit in core if lit in fixed])
        self.costs.moved(lowest, self.formula)
        return True

    def _shrink(self, charged: list[int], core: list[int], level: int) -> tuple[list[int], list[int]]:
        """Drop assumptions of a tier that the contradiction does not need; a proof that leans on closed
        gates is not accepted for that."""
        if not 1 < len(charged) <= _SHRINKABLE:
            return charged, core
        above = self._assume(level)
        position = 0
        while position < len(charged) and len(charged) > 1:
            rest = charged[:position] + charged[position + 1 :]
            if self.sat.solve([*above, *rest]):
                position += 1
                continue
            smaller = self.sat.core()
            if self.closed_world.is_leaned_on(smaller):
                position += 1
                continue
            core = smaller
            kept = set(core)
            charged = [lit for lit in rest if lit in kept]
        return charged, core

    def _refuted(
        self, assumptions: list[int], core: list[int], rounds: int = CHASES
    ) -> Generator[Need, None, tuple[bool | None, list[int]]]:
        """A contradiction that may lean on closed gates. (False, core) when it also holds while some
        installed release is unread, (None, core) when such a release was found and read instead."""
        core, missing = self.closed_world.refuted(assumptions, core, rounds)
        if missing is None:
            return False, core
        yield from self.formula.load(self._ahead(missing))
        return None, core

    # Solving with everything read

    def _close(self, assumptions: Iterable[int]) -> Generator[Need, None, bool | None]:
        """True when an answer exists whose releases are all read (it is then `best`), False when the
        assumptions contradict the clauses, None when the formula grew."""
        if not self.sat.solve(assumptions):
            return False
        self.rounds += 1
        found = self.closed_world.reach()
        if self.closed_world.guard(found):
            return None
        missing = found.unread()
        if missing:
            yield from self.formula.load(self._ahead(missing))
            return None
        if found.gated:
            self.gates.forbid_unsupported(self.formula, found)
            return None
        self.best = found
        model = self.sat.model()
        self.broken = tuple(sorted(i for i, lit in self.soft.items() if model[lit - 1] > 0))
        return True

    def _ahead(self, missing: Sequence[tuple[str, int]]) -> Iterable[tuple[str, int]]:
        """The chosen releases that are not loaded, and for packages that keep failing some older ones."""
        for name, index in missing:
            yield name, index
            failures = self.failures[name] = self.failures.get(name, 0) + 1
            if failures > _PATIENCE:
                package = self.universe.packages[name]
                most = max(_MOST_AHEAD, len(self.formula.loaded[name]) // _PART_AHEAD)
                count = min(most, 1 << (failures - _PATIENCE))
                # Of some projects every release is a pre-release.
                ordinary = index not in package.gates or package.newest() not in package.gates
                for older in range(index + 1, min(package.size, index + count)):
                    if not (ordinary and older in package.gates):
                        yield name, older

    # One answer among equals

    def _make_unique(self) -> Generator[Need, None, None]:
        yield from NameOrder(self.formula, self._chosen, self._try).run()

    def _chosen(self) -> dict[str, int]:
        assert self.best is not None
        return self.best.chosen

    def _try(self, assumptions: list[int]) -> Generator[Need, None, bool | None]:
        """As `_close`, with all tiers at their optimum and further assumptions."""
        outcome = yield from self._close([*self._assume(self.upto), *assumptions])
        if outcome is False:
            costs = self.costs.assumptions(self.upto)
            outcome, _ = yield from self._refuted([*self._fixed, *costs, *assumptions], self.sat.core())
        return outcome
