"""Ways out of requirements that contradict each other: what to change, and what that gives and breaks."""

from __future__ import annotations

from compatlock.model.named_tuple import NamedTuple
from compatlock.model.waiver import Exclusion, Waiver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# Kinds of ways out; whether a waiver has evidence decides its place as well (`RANKS`).
MOVE = "move"  # a line of the user's is moved
NEWER = "newer"  # newer releases than the date that the user gave
WAIVE = "waive"  # bounds are waived
TARGET = "target"  # another target
DROP = "drop"  # a dependency is dropped
ACCEPT_LAG = "accept lag"  # an old release is accepted
SPLIT = "split"  # projects that need nothing of each other get an environment each

# What waiving one side of a bound costs (design, Semantics 4).
COST_EXECUTED, COST_LIFTED, COST_UPPER, COST_OTHER = 1, 2, 8, 32
_UNEVIDENCED = COST_UPPER

# Kinds of evidence that a bound need not hold.
FACT = "fact"  # a known fact says so
LIFTED = "lifted"  # a later release of the same package allows it
PATCHED = "patched"  # a patch release put the bound in, an older release of its series allows it
YANKED = "yanked"  # the release that the bound was made against was yanked
HISTORY = (LIFTED, PATCHED, YANKED)


class Evidence(NamedTuple):
    """Why a bound need not hold: `text` in words; `version` of the release, or id of the fact."""

    kind: str
    text: str
    version: str = ""


class BrokenEdge(NamedTuple):
    """A declared edge that a result breaks: `package version` needs `on specifier`, `pinned` is given.

    `side` is the side of the bound that is broken (upper, lower, hole, exact), `cost` what waiving it costs
    (COST_*), `evidence` why it may be right."""

    package: str
    version: str
    extra: str
    on: str
    specifier: str
    pinned: str
    side: str = ""
    cost: int = COST_OTHER
    evidence: tuple[Evidence, ...] = ()


class WayOut(NamedTuple):
    """One change that makes the requirements satisfiable, with the best answer under it.

    accept:    the flag, or the line to write, that accepts it
    pins:      what it gives: the roots and the packages of the contradiction, `(name, version)`
    breaks:    every declared edge that the result breaks
    cost:      what the waivers cost together, 0 for other kinds
    worst_lag: worst lag of a root in days under the change
    waivers, exclusions: what `accept` permits or drops
    replaces:  the line of the user's that is moved
    note:      a remark, such as until when the index was looked at
    smallest:  proved that no set of waivers is cheaper
    """

    kind: str
    accept: str
    pins: tuple[tuple[str, str], ...] = ()
    breaks: tuple[BrokenEdge, ...] = ()
    cost: int = 0
    worst_lag: int = 0
    waivers: tuple[Waiver, ...] = ()
    exclusions: tuple[Exclusion, ...] = ()
    replaces: str = ""
    note: str = ""
    smallest: bool = False

    @property
    def has_evidence(self) -> bool:
        """Whether each bound that the result breaks has evidence that it need not hold."""
        return all(edge.cost < _UNEVIDENCED for edge in self.breaks)

    @property
    def rank(self) -> int:
        """Its place in the order of ways out (design, Semantics 4), from 0."""
        if self.kind == WAIVE:
            return 3 if self.has_evidence else 5
        return {SPLIT: 0, ACCEPT_LAG: 0, MOVE: 1, NEWER: 2, TARGET: 4}.get(self.kind, 6)


def waiver_cost(breaks: Iterable[BrokenEdge]) -> int:
    """What the waivers cost together that let these edges be broken. A bound that a package and its extras
    share is one bound, but history has to speak for each."""
    groups: dict[tuple[str, str, str], list[BrokenEdge]] = {}
    for edge in breaks:
        groups.setdefault((edge.package, edge.on, edge.specifier), []).append(edge)
    total = 0
    for edges in groups.values():
        costs = [COST_UPPER if edges[0].side == "upper" else COST_OTHER]
        kinds = [{evidence.kind for evidence in edge.evidence} for edge in edges]
        if all(FACT in found for found in kinds):
            costs.append(edges[0].cost)
        elif not any(found.isdisjoint(HISTORY) for found in kinds):
            costs.append(COST_LIFTED * len(edges))
        total += min(costs)
    return total
