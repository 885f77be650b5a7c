"""The objective over a growing formula: each tier's soft literals and proved lower bound.

A soft literal costs its weight when true; it is kept as the assumption that it is false, its negation,
because lists of assumptions are made far more often than anything else. An unsplit segment of a package
costs its newest member; a split moves weight or adds some, so costs only rise as the formula grows, and a
bound once proved holds.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import chain, pairwise

from compatlock.model import objective
from compatlock.solver.formula import Watcher
from compatlock.solver.joint import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from compatlock.model.fact import Fact
    from compatlock.model.objective import Tier
    from compatlock.model.package import Package
    from compatlock.solver.agreement import Agreement
    from compatlock.solver.formula import Formula
    from compatlock.solver.sat import Sat

    Lag = Sequence[int]

# Cores larger than this are not counted out: that takes clauses by the square of their size.
_COUNTED = 96


class SumTier:
    """Minimises a weighted sum, core by core (OLL). `soft` maps assumptions to what breaking them costs."""

    def __init__(self, tier: Tier, sat: Sat) -> None:
        self.tier = tier
        self.bound = 0
        self.soft: dict[int, int] = {}
        self._sat = sat
        self._constant: dict[int, int] = {}
        self._lags: dict[str, Lag] = {}

    def add_constant(self, literal: int, weight: int) -> None:
        """A literal whose cost does not depend on how packages are split."""
        self._constant[-literal] = weight
        self._cost(literal, weight)

    def add_package(self, name: str, lag: Lag | None) -> None:
        """The lag of a package counts in this tier, or (None) does not any more."""
        if lag is None:
            self._lags.pop(name, None)
        else:
            self._lags[name] = lag

    def _cost(self, literal: int, weight: int) -> None:
        self.soft[-literal] = self.soft.get(-literal, 0) + weight

    def on_cut(self, name: str, before: int, cut: int, literal: int, after: int | None) -> None:
        """Charge a split: what the newest member of the new segment costs more than that of its old one."""
        lag = self._lags.get(name)
        if lag is None:
            return
        added = lag[cut] - lag[before]
        if added <= 0:
            return
        if after is None:
            self._cost(literal, added)
        elif self.soft.get(-after, 0) >= added:
            # The later cut implies this one, so the weight can move here.
            self._lower(-after, added)
            self._cost(literal, added)
        else:
            # The later cut's weight is partly spent on cores: charge exactly the new segment.
            within = self._sat.variable()
            self._sat.add([-literal, after, within])
            self._cost(within, added)

    def _lower(self, assumption: int, weight: int) -> None:
        self.soft[assumption] -= weight
        if not self.soft[assumption]:
            del self.soft[assumption]

    def charge_unit(self, assumption: int) -> None:
        """The assumption is refuted: its cost is part of the bound."""
        self.bound += self.soft.pop(assumption)

    def charge_core(self, core: list[int], condition: list[int]) -> None:
        """The assumptions of the core cannot all hold (unless a literal of `condition` does)."""
        weight = min(self.soft[assumption] for assumption in core)
        self.bound += weight
        for assumption in core:
            self._lower(assumption, weight)
        literals = [-assumption for assumption in core]
        self._sat.add([*literals, *condition])
        if len(literals) > _COUNTED:
            self._cost_beyond_the_first(literals, weight)
            return
        counts = self._totalizer(literals)
        for k in range(1, len(counts)):
            self._cost(counts[k], weight)
            if k + 1 < len(counts):
                self._sat.add([-counts[k + 1], counts[k]])

    def _cost_beyond_the_first(self, literals: list[int], weight: int) -> None:
        """Charge every literal that is true but one, without counting: each that is followed by another
        (as PMRES does). Proves less at once than counts, but grows linearly."""
        later = literals[-1]
        for literal in reversed(literals[:-1]):
            both, either = self._sat.variable(), self._sat.variable()
            self._sat.add([-literal, -later, both])
            self._sat.add([-literal, either])
            self._sat.add([-later, either])
            self._cost(both, weight)
            later = either

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
            for before, cut in pairwise(formula.cuts.get(name, ())):
                added = lag[cut] - lag[before]
                literal = formula.older(name, cut) if added > 0 else None
                if literal is not None:
                    self._cost(literal, added)


class WorstTier:
    """Minimises the largest lag of the roots and soft facts: its threshold rises from proof to proof.

    `soft` maps each assumption "no lag beyond the threshold" to the lag that breaking it would mean.
    """

    def __init__(self, tier: Tier) -> None:
        self.tier = tier
        self.bound = 0
        self.soft: dict[int, int] = {}
        self._roots: dict[str, Lag] = {}
        self._facts: dict[int, int] = {}

    def add_root(self, name: str, lag: Lag | None) -> None:
        """A root and the lag of each of its candidates; None when it is not to count any more."""
        if lag is None:
            self._roots.pop(name, None)
        else:
            self._roots[name] = lag

    def add_fact(self, literal: int, days: int) -> None:
        """A soft fact: the literal that it is broken, and what that counts as."""
        self._facts[-literal] = days
        if days > self.bound:
            self.soft[-literal] = days

    def charge(self, assumptions: Iterable[int], formula: Formula) -> None:
        """One of the assumptions is proved false: raise the threshold to the smallest lag among them."""
        self.bound = min(self.soft[assumption] for assumption in assumptions)
        self.refresh(formula)

    def charge_proved(self, proved: Container[int], formula: Formula) -> bool:
        """Raise the threshold to the largest lag that the proved literals make certain; False when that is
        not beyond it."""
        bound = max((days for fact, days in self._facts.items() if -fact in proved), default=0)
        for name, lags in self._roots.items():
            cuts = formula.cuts[name]
            for cut in cuts[bisect_left(cuts, bisect_right(lags, self.bound)) :]:
                if formula.older(name, cut) not in proved:
                    break
                bound = max(bound, lags[cut])
        if bound <= self.bound:
            return False
        self.raise_to(bound, formula)
        return True

    def refresh(self, formula: Formula) -> None:
        """Say again, for the threshold as it is, what lies beyond it."""
        self.soft = {assumption: days for assumption, days in self._facts.items() if days > self.bound}
        for name, lags in self._roots.items():
            first = bisect_right(lags, self.bound)
            literal = formula.older(name, first) if first < len(lags) else None
            if literal is not None:
                self.soft[-literal] = min(lags[first], self.soft.get(-literal, lags[first]))

    def thresholds(self) -> list[int]:
        """The lags beyond the threshold that an answer may have, ascending."""
        found = {*self._facts.values(), *chain.from_iterable(self._roots.values())}
        return sorted(days for days in found if days > self.bound)

    def raise_to(self, days: int, formula: Formula) -> None:
        """Move the threshold; that nothing below is possible is for the caller to prove."""
        self.bound = days
        self.refresh(formula)

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
        self._tiers_of: dict[str, list[SumTier]] = {}
        # What says which packages differ between targets, when there are several.
        self.agreement: Agreement | None = None

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

    def on_constant(self, kind: str, literal: int, weight: int) -> None:
        """A literal has a price in the tiers of a kind."""
        for tier in self._of_kind(kind):
            tier.add_constant(literal, weight)

    def on_soft_fact(self, fact: Fact, literal: int) -> None:
        """A soft fact may be broken: it counts like one more root."""
        self._worst.add_fact(literal, fact.broken_days)
        for tier in self._of_kind(objective.ROOT_DAYS):
            tier.add_constant(literal, fact.broken_days)

    def on_package(self, formula: Formula, package: Package, present: int) -> None:
        name = package.name
        # First of all: what follows may already split the package.
        if self.agreement is not None:
            self.agreement.on_package(package, present)
        for tier in self._of_kind(objective.PACKAGES):
            tier.add_constant(present, 1)
        newest = self._root_newest.get(name)
        if package.size:
            reference = package.newest() if newest is None else newest
            self._tiers_of[name] = [t for t in self._sums if self._counts(t.tier, name)]
            for tier in self._tiers_of[name]:
                in_days = tier.tier.kind == objective.ROOT_DAYS
                lags = package.lags_in_days if in_days else package.lags_in_releases
                tier.add_package(name, lags(reference))
            if newest is not None:
                self._worst.add_root(name, package.lags_in_days(newest))
                self._worst.refresh(formula)
        self._on_older_pin(formula, package, present)

    def recount(self, name: str, days: Lag | None, releases: Lag | None) -> None:
        """Count a root's lag by other tables from now on, or not at all. To be called before all tiers are
        reset."""
        for tier in self._tiers_of.get(name, ()):
            tier.add_package(name, days if tier.tier.kind == objective.ROOT_DAYS else releases)
        if name in self._tiers_of:
            self._worst.add_root(name, days)

    def _counts(self, tier: Tier, name: str) -> bool:
        """Whether the lag of a package is part of a tier."""
        if tier.kind == objective.PREFERRED:
            return tier.package == plain(name)
        if name in self._root_newest:
            return tier.kind in (objective.ROOT_DAYS, objective.ROOT_RELEASES)
        return tier.kind == objective.DEPTH and tier.depth == self._depths.get(name, objective.DEEPEST)

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
        for tier in self._tiers_of.get(package.name, ()):
            tier.on_cut(package.name, before, cut, literal, after)
        if self.agreement is not None:
            self.agreement.on_cut(package, cut, literal)

    # Assumptions and proofs

    def assumptions(self, upto: int) -> list[int]:
        """The assumption that no soft literal of the first `upto` tiers holds. Some may occur twice."""
        return list(chain.from_iterable(tier.soft for tier in self.tiers[:upto]))

    def assumed(self, base: Iterable[int], upto: int) -> dict[int, int]:
        """`base` and the assumptions of the first `upto` tiers, each once, as keys."""
        found = dict.fromkeys(base, 0)
        for tier in self.tiers[:upto]:
            found.update(tier.soft)
        return found

    def level_of(self, assumption: int, upto: int) -> int | None:
        """The most important of the first `upto` tiers that the assumption belongs to."""
        return next((k for k in range(upto) if assumption in self.tiers[k].soft), None)

    def moved(self, level: int, formula: Formula) -> None:
        """Tier `level` rose: what was proved of less important tiers under its old value is void."""
        for tier in self.tiers[level + 1 :]:
            if tier.bound:
                tier.reset(formula)
