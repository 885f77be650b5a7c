"""The objective over a growing formula: each tier's soft literals and proved lower bound.

A soft literal costs its weight when true. An unsplit segment of a package costs its newest member; a
split moves weight or adds some, so costs only rise as the formula grows, and a bound once proved holds.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise

from compatlock.model import objective
from compatlock.solver.formula import Watcher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from compatlock.model.fact import Fact
    from compatlock.model.objective import Tier
    from compatlock.model.package import Package
    from compatlock.solver.formula import Formula
    from compatlock.solver.sat import Sat

    Lag = Callable[[int], int]


class SumTier:
    """Minimises a weighted sum, core by core (OLL)."""

    def __init__(self, tier: Tier, sat: Sat) -> None:
        self.tier = tier
        self.bound = 0
        self.soft: dict[int, int] = {}
        self._sat = sat
        self._constant: dict[int, int] = {}
        self._lags: dict[str, Lag] = {}

    def add_constant(self, literal: int, weight: int) -> None:
        """A literal whose cost does not depend on how packages are split."""
        self._constant[literal] = weight
        self._cost(literal, weight)

    def add_package(self, name: str, lag: Lag) -> None:
        """The lag of a package counts in this tier."""
        self._lags[name] = lag

    def covers(self, name: str) -> bool:
        """Whether the package's lag counts here."""
        return name in self._lags

    def _cost(self, literal: int, weight: int) -> None:
        self.soft[literal] = self.soft.get(literal, 0) + weight

    def on_cut(self, name: str, before: int, cut: int, literal: int, after: int | None) -> None:
        """Charge a split: what the newest member of the new segment costs more than that of its old one."""
        lag = self._lags[name]
        added = lag(cut) - lag(before)
        if added <= 0:
            return
        if after is None:
            self._cost(literal, added)
            return
        rest = self.soft.get(after, 0)
        if rest >= added:
            # The later cut implies this one, so the weight can move here.
            self._lower(after, added)
            self._cost(literal, added)
        else:
            # The later cut's weight is partly spent on cores: charge exactly the new segment.
            within = self._sat.variable()
            self._sat.add([-literal, after, within])
            self._cost(within, added)

    def _lower(self, literal: int, weight: int) -> None:
        self.soft[literal] -= weight
        if not self.soft[literal]:
            del self.soft[literal]

    def charge_unit(self, literal: int) -> None:
        """The literal is proved true: its cost is part of the bound."""
        self.bound += self.soft.pop(literal)

    def charge_core(self, core: list[int], condition: list[int]) -> None:
        """At least one literal of the core is proved true (unless a literal of `condition` holds)."""
        weight = min(self.soft[literal] for literal in core)
        self.bound += weight
        for literal in core:
            self._lower(literal, weight)
        self._sat.add([*core, *condition])
        counts = self._totalizer(core)
        for k in range(1, len(counts)):
            self._cost(counts[k], weight)
            if k + 1 < len(counts):
                self._sat.add([-counts[k + 1], counts[k]])

    def _totalizer(self, literals: list[int]) -> list[int]:
        """Literals such that the k-th (from 0) holds when more than k of `literals` do."""
        if len(literals) == 1:
            return literals
        half = len(literals) // 2
        left, right = self._totalizer(literals[:half]), self._totalizer(literals[half:])
        counts = [self._sat.variable() for _ in literals]
        for i in range(len(left) + 1):
            for j in range(len(right) + 1):
                if i + j:
                    clause = [counts[i + j - 1]]
                    clause += [-left[i - 1]] if i else []
                    clause += [-right[j - 1]] if j else []
                    self._sat.add(clause)
        return counts

    def reset(self, formula: Formula) -> None:
        """Forget all bounds and start from the formula as it is now."""
        self.bound = 0
        self.soft = dict(self._constant)
        for name, lag in self._lags.items():
            cuts = formula.cuts.get(name, ())
            for before, cut in pairwise(cuts):
                added = lag(cut) - lag(before)
                literal = formula.older(name, cut)
                if added > 0 and literal is not None:
                    self._cost(literal, added)


class WorstTier:
    """Minimises the largest lag of the roots and soft facts: its threshold rises from proof to proof.

    `soft` maps each literal "lag beyond the threshold" to the lag that it would mean.
    """

    def __init__(self, tier: Tier) -> None:
        self.tier = tier
        self.bound = 0
        self.soft: dict[int, int] = {}
        self._roots: dict[str, list[int]] = {}
        self._facts: dict[int, int] = {}

    def add_root(self, name: str, lags: list[int]) -> None:
        """A root and the lag of each of its candidates (ascending)."""
        self._roots[name] = lags

    def add_fact(self, literal: int, days: int) -> None:
        """A soft fact: the literal that it is broken, and what that counts as."""
        self._facts[literal] = days
        if days > self.bound:
            self.soft[literal] = days

    def charge(self, literals: Iterable[int], formula: Formula) -> None:
        """One of the literals is proved true: raise the threshold to the smallest lag among them."""
        self.bound = min(self.soft[literal] for literal in literals)
        self.refresh(formula)

    def refresh(self, formula: Formula) -> None:
        """Say again, for the threshold as it is, what lies beyond it."""
        self.soft = {literal: days for literal, days in self._facts.items() if days > self.bound}
        for name, lags in self._roots.items():
            first = bisect_right(lags, self.bound)
            literal = formula.older(name, first) if first < len(lags) else None
            if literal is not None:
                self.soft[literal] = min(lags[first], self.soft.get(literal, lags[first]))

    def reset(self, formula: Formula) -> None:
        """Forget the threshold."""
        self.bound = 0
        self.refresh(formula)


class Costs(Watcher):
    """All tiers, told of everything that costs.

    root_newest: the candidate that each root's lag is counted from
    depths:      depth of packages, frozen before the search
    older:       the pins of an older lock
    """

    def __init__(
        self,
        tiers: tuple[Tier, ...],
        sat: Sat,
        *,
        root_newest: Mapping[str, int],
        depths: Mapping[str, int],
        older: Mapping[str, str],
    ) -> None:
        self._sat = sat
        self._root_newest = root_newest
        self._depths = depths
        self._older = older
        self.tiers: list[SumTier | WorstTier] = [
            WorstTier(t) if t.kind == objective.WORST else SumTier(t, sat) for t in tiers
        ]
        self._sums = [t for t in self.tiers if isinstance(t, SumTier)]
        self._worst = next(t for t in self.tiers if isinstance(t, WorstTier))

    def _of_kind(self, kind: str) -> list[SumTier]:
        return [t for t in self._sums if t.tier.kind == kind]

    # What costs

    def on_waiver(self, literal: int) -> None:
        """A waiver may be spent."""
        for tier in self._of_kind(objective.WAIVERS):
            tier.add_constant(literal, 1)

    def on_side(self, literal: int) -> None:
        """One side of a bound may be waived."""
        for tier in self._of_kind(objective.WAIVED_BOUNDS):
            tier.add_constant(literal, 1)

    def on_soft_fact(self, fact: Fact, literal: int) -> None:
        """A soft fact may be broken: it counts like one more root."""
        self._worst.add_fact(literal, fact.broken_days)
        for tier in self._of_kind(objective.ROOT_DAYS):
            tier.add_constant(literal, fact.broken_days)

    def on_package(self, formula: Formula, package: Package, present: int) -> None:
        name = package.name
        for tier in self._of_kind(objective.PACKAGES):
            tier.add_constant(present, 1)
        newest = self._root_newest.get(name)
        reference = package.newest() if newest is None else newest
        for tier in self._sums:
            kind = tier.tier.kind
            if kind == objective.PREFERRED and tier.tier.package == name:
                tier.add_package(name, _releases(package, reference))
            elif newest is not None:
                if kind == objective.ROOT_DAYS:
                    tier.add_package(name, _days(package, reference))
                elif kind == objective.ROOT_RELEASES:
                    tier.add_package(name, _releases(package, reference))
            elif kind == objective.DEPTH and tier.tier.depth == self._depths.get(name, objective.DEEPEST):
                tier.add_package(name, _releases(package, reference))
        if newest is not None and package.size:
            self._worst.add_root(name, [package.lag_days(i, newest) for i in range(package.size)])
            self._worst.refresh(formula)
        self._on_older_pin(formula, package, present)

    def _on_older_pin(self, formula: Formula, package: Package, present: int) -> None:
        """An older lock pins this package: moving it away from there is a change."""
        tiers = self._of_kind(objective.CHANGES)
        version = self._older.get(package.name)
        if not tiers or version is None:
            return
        index = package.index_of(version)
        changed = self._sat.variable()
        if index is None:
            self._sat.add([-present, changed])
        else:
            first, last = formula.older(package.name, index), formula.older(package.name, index + 1)
            self._sat.add([-present, changed, *([] if first is None else [first])])
            if last is not None:
                self._sat.add([-last, changed])
        for tier in tiers:
            tier.add_constant(changed, 1)

    def on_cut(self, package: Package, before: int, cut: int, literal: int, after: int | None) -> None:
        for tier in self._sums:
            if tier.covers(package.name):
                tier.on_cut(package.name, before, cut, literal, after)

    # Assumptions and proofs

    def assumptions(self, upto: int) -> list[int]:
        """The assumption that no soft literal of the first `upto` tiers holds."""
        return list(dict.fromkeys(-literal for tier in self.tiers[:upto] for literal in tier.soft))

    def level_of(self, literal: int, upto: int) -> int | None:
        """The most important of the first `upto` tiers in which the literal is soft."""
        return next((k for k in range(upto) if literal in self.tiers[k].soft), None)

    def moved(self, level: int, formula: Formula) -> None:
        """Tier `level` rose: what was proved of less important tiers under its old value is void."""
        lower = self.tiers[level + 1 :]
        if any(tier.bound for tier in lower):
            for tier in lower:
                tier.reset(formula)


def _days(package: Package, newest: int) -> Lag:
    return lambda index: package.lag_days(index, newest)


def _releases(package: Package, newest: int) -> Lag:
    return lambda index: package.lag_releases(index, newest)
