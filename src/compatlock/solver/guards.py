"""Literals that switch a bound off: waivers while optimising, edge labels while explaining.

A guard literal is added to the clauses of a bound: when it is true, the bound does not hold.
"""

from __future__ import annotations

from compatlock.model.named_tuple import NamedTuple
from compatlock.solver.joint import cuda_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from compatlock.model.dependencies import Dependency
    from compatlock.model.fact import Fact
    from compatlock.model.package import Runs
    from compatlock.model.requirement import Requirement
    from compatlock.model.target import Target
    from compatlock.model.waiver import Waiver
    from compatlock.solver.sat import Sat
    from compatlock.solver.universe import Universe

# Sides of a bound; a waiver of one side keeps the others.
UPPER, LOWER, HOLE, EXACT = "upper", "lower", "hole", "exact"

# Stands for a fact's id where local versions say it.
LOCAL_VERSION = "local version"


class Label(NamedTuple):
    """What a group of clauses stands for in an explanation: an edge of releases of `package` (or of its
    `extra`), a line of the user's (`package` `""`), or a fact. `kind` is one of those of `model.core`
    (extra: a root asks for an extra that releases lack; problem: releases that cannot be used)."""

    kind: str
    package: str = ""
    extra: str = ""
    on: str = ""
    specifier: str = ""
    extras: tuple[str, ...] = ()
    origin: str = ""


def root_label(requirement: Requirement) -> Label:
    """The label of a line of the user's."""
    return Label(
        "root",
        on=requirement.name,
        specifier=requirement.specifier,
        extras=requirement.extras,
        origin=requirement.origin,
    )


def constraint_label(requirement: Requirement) -> Label:
    """The label of a constraint of the user's."""
    return Label(
        "constraint", on=requirement.name, specifier=requirement.specifier, origin=requirement.origin
    )


def edge_label(package: str, extra: str, dependency: Dependency) -> Label:
    """The label of an edge of releases of a package, or of its extra."""
    return Label("edge", package, extra, dependency.name, dependency.specifier, dependency.extras)


def url_label(package: str, extra: str, dependency: Dependency) -> Label:
    """The label of a direct reference; the URL stands where a specifier would."""
    return Label("url", package, extra, dependency.name, dependency.url, dependency.extras)


def extra_label(package: str, extra: str) -> Label:
    """The label of an extra that releases lack though a line of the user's asks for it."""
    return Label("extra", on=package, extras=(extra,))


def fact_label(fact: Fact) -> Label:
    """The label of a fact."""
    return Label("fact", fact.package, on=fact.on, origin=fact.id)


def local_version_label(package: str) -> Label:
    """The label of what the local versions of a package's releases say: the CUDA they were built for."""
    return Label("fact", package, on=cuda_of(package), origin=LOCAL_VERSION)


def target_label(cuda: str, target: Target) -> Label:
    """The label of what a target demands of its `__cuda`."""
    return Label("target", on=cuda, specifier=target.cuda_bound, origin=target.cuda_origin)


def problem_label(package: str, problem: str) -> Label:
    """The label of releases that cannot be used; the problem stands where a specifier would."""
    return Label("problem", package, specifier=problem)


class Guards:
    """No guards: every bound holds."""

    def on_release(self, name: str, index: int) -> None:
        """The next bounds are those of this candidate."""

    def whole(self, label: Label) -> list[int]:  # noqa: ARG002 - the interface of the subclasses
        """Literals that switch off all clauses of a label."""
        return []

    def bound(self, parent: str, extra: str, dependency: Dependency, side: str) -> list[int]:  # noqa: ARG002
        """Literals that switch off one side of a dependency's bound."""
        return []


class WaiverGuards(Guards):
    """One literal per (waiver, specifier, side) of the edges that may be waived: a bound that a package and
    its extras share is one bound, unless a waiver is for one extra only.

    `on_waiver(permission, literal)` is told of each new permission literal, `on_side(literal)` of each new
    side literal, so that their costs can be counted and a bound that stands for the waived one be added.
    `permissions` are the waivers that something known so far could spend, with their literals.
    """

    def __init__(
        self,
        sat: Sat,
        universe: Universe,
        waivers: Sequence[Waiver],
        on_waiver: Callable[[Waiver, int], None],
        on_side: Callable[[int], None],
    ) -> None:
        self._sat = sat
        self._universe = universe
        self._permissions = {(w.package, w.extra, w.on): w for w in waivers}
        self._on_waiver = on_waiver
        self._on_side = on_side
        self.permissions: dict[Waiver, int] = {}
        self._sides: dict[tuple[Waiver, str, str], int] = {}
        self._index = 0

    def on_release(self, name: str, index: int) -> None:  # noqa: ARG002
        self._index = index

    def permission(self, parent: str, extra: str, on: str) -> Waiver | None:
        """The waiver that allows this edge: one that names the extra, else one for the whole package."""
        exact = self._permissions.get((parent, extra, on)) if extra else None
        return exact or self._permissions.get((parent, "", on))

    def bound(self, parent: str, extra: str, dependency: Dependency, side: str) -> list[int]:
        waiver = self.permission(parent, extra, dependency.name) if self._permissions else None
        # A self-edge only asks for extras of the same release; there is nothing to waive.
        if waiver is None or dependency.name == parent:
            return []
        if self._universe.is_abi_pin(parent, self._index, dependency):
            return []
        key = (waiver, dependency.specifier, side)
        literal = self._sides.get(key)
        if literal is None:
            literal = self._sides[key] = self._sat.variable()
            self._sat.add([-literal, self._permission(waiver)])
            self._on_side(literal)
        return [literal]

    def spent(self, model: Sequence[int]) -> tuple[Waiver, ...]:
        """The waivers that a model spends, in order."""
        return tuple(sorted(w for w, literal in self.permissions.items() if model[literal - 1] > 0))

    def _permission(self, waiver: Waiver) -> int:
        literal = self.permissions.get(waiver)
        if literal is None:
            literal = self.permissions[waiver] = self._sat.variable()
            self._on_waiver(waiver, literal)
        return literal


class LabelGuards(Guards):
    """One literal per label, for explanations: `literals` maps each to what it stands for.

    Bounds that `waivers` permit to drop may be dropped: what is explained then holds in spite of the
    waivers. `on_waiver` is told of each waiver's literal.
    """

    def __init__(
        self,
        sat: Sat,
        universe: Universe,
        waivers: Sequence[Waiver] = (),
        on_waiver: Callable[[Waiver, int], None] = lambda _waiver, _literal: None,
    ) -> None:
        self._sat = sat
        self._permissions = WaiverGuards(sat, universe, waivers, on_waiver, lambda _literal: None)
        self._by_label: dict[Label, int] = {}
        self.literals: dict[int, Label] = {}

    def on_release(self, name: str, index: int) -> None:
        self._permissions.on_release(name, index)

    def whole(self, label: Label) -> list[int]:
        literal = self._by_label.get(label)
        if literal is None:
            literal = self._by_label[label] = self._sat.variable()
            self.literals[literal] = label
        return [literal]

    def holds(self, label: Label, model: Sequence[int]) -> bool:
        """Whether a model keeps to what the label stands for (where that is known)."""
        literal = self._by_label.get(label)
        return literal is None or model[literal - 1] < 0

    def waives(self, parent: str, extra: str, on: str) -> bool:
        """Whether a waiver lets the edge's bound drop."""
        return on != parent and self._permissions.permission(parent, extra, on) is not None

    def bound(self, parent: str, extra: str, dependency: Dependency, side: str) -> list[int]:
        return self._permissions.bound(parent, extra, dependency, side)


def side_of(low: int, high: int, size: int, specifier: str, runs: Runs) -> str:
    """Which side of a bound excludes the candidates `[low, high)`."""
    if specifier.startswith("==") and "," not in specifier and "*" not in specifier:
        return EXACT
    if low == 0 and runs:
        return UPPER
    return LOWER if high >= size else HOLE
