"""Evidence that a bound need not hold, from known facts and from the index's own history.

History speaks for a waiver in three ways, all at the same price (`COST_LIFTED`):

lifted   a later release of the package allows what the bound forbids: its makers came to know better.
patched  a patch release put the bound in, while an older release of the same minor series allows what it
         forbids. A patch release does not change what a package uses of another, so the older one is its
         makers' word that this much fits. (The bound may stem from a fault that somebody met, which is why
         this is told and not taken for a proof.)
yanked   the first release that an upper bound excludes was yanked since: the bound was most likely made
         against that one, and says nothing of those after it.
"""

from __future__ import annotations

from compatlock.model.package import YANKED as GATE_YANKED
from compatlock.model.way_out import (
    COST_EXECUTED,
    COST_LIFTED,
    COST_OTHER,
    COST_UPPER,
    FACT,
    LIFTED,
    PATCHED,
    YANKED,
    BrokenEdge,
    Evidence,
)
from compatlock.solver.formula import holes
from compatlock.solver.guards import UPPER, side_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence

    from compatlock.model.dependencies import Dependency
    from compatlock.model.fact import Fact
    from compatlock.model.package import Package, Runs
    from compatlock.solver.universe import Need, Universe


class Edge:
    """An edge of the candidate `index` of a package (or of its extra) that the candidate `at` of what it
    needs does not satisfy."""

    def __init__(
        self, universe: Universe, package: str, index: int, extra: str, need: Dependency, at: int
    ) -> None:
        self.universe = universe
        self.package: Package = universe.packages[package]
        self.index = index
        self.extra = extra
        self.need = need
        self.on: Package = universe.packages[need.name]
        self.at = at

    def __str__(self) -> str:
        return f"{self.package.name} -> {self.need}"

    @property
    def side(self) -> str:
        """Which side of the bound is broken."""
        specifier, size = self.need.specifier, self.on.size
        runs = self.on.runs(specifier)
        low, high = next((low, high) for low, high in holes(runs, size) if low <= self.at < high)
        return side_of(low, high, size, specifier, runs)

    @property
    def is_pin(self) -> bool:
        """Whether the bound pins what is needed (== or ~=)."""
        return self.need.specifier.startswith(("==", "~=")) and "," not in self.need.specifier

    def needs_of(self, index: int) -> list[Dependency]:
        """What another candidate of the package (and the same extra of it) needs of the same project."""
        release = self.universe.dependencies[self.package.name, index]
        both = [*release.of(""), *(release.of(self.extra) if self.extra else ())]
        return [need for need in both if need.name == self.on.name]

    def is_comparable(self, index: int) -> bool:
        """Whether another candidate of the package can be used, and has the extra."""
        release = self.universe.dependencies[self.package.name, index]
        return not release.problem and (not self.extra or self.extra in release.provides)

    def allows(self, index: int) -> bool:
        """Whether another candidate of the package allows what breaks this edge."""
        if not self.is_comparable(index):
            return False
        return all(not n.url and self.on.admits(n.specifier, self.at) for n in self.needs_of(index))


def price(edge: Edge, facts: Iterable[Fact]) -> Generator[Need, None, BrokenEdge]:
    """What waiving the edge costs, and the evidence, in the form that goes to the user. Reads the metadata
    of all newer releases of the package, and of some older ones of its minor series."""
    by_facts = list(_by_facts(edge, facts))
    lifted = yield from _lifted(edge)
    patched = yield from _patched(edge)
    history = [found for found in (lifted, patched, _yanked(edge)) if found]
    cost = COST_UPPER if edge.side == UPPER else COST_OTHER
    if by_facts or history:
        cost = min([*([COST_LIFTED] if history else []), *(cost for cost, _ in by_facts)])
    return BrokenEdge(
        edge.package.name,
        edge.package.versions[edge.index],
        edge.extra,
        edge.on.name,
        edge.need.specifier,
        edge.on.versions[edge.at],
        edge.side,
        cost,
        (*(found for _, found in by_facts), *history),
    )


def _by_facts(edge: Edge, facts: Iterable[Fact]) -> Iterable[tuple[int, Evidence]]:
    for fact in facts:
        if fact.kind != "too-strict" or (fact.package, fact.on) != (edge.package.name, edge.on.name):
            continue
        for row in fact.bounds:
            if edge.package.admits(row.versions, edge.index) and edge.on.admits(row.bound, edge.at):
                executed = "executed" in fact.evidence
                how = f"known fact `{fact.id}`{', executed' if executed else ''}"
                text = f"{fact.summary or edge} ({how})"
                yield COST_EXECUTED if executed else COST_LIFTED, Evidence(FACT, text, fact.id)
                break


def _lifters(edge: Edge) -> Generator[Need, None, list[int]]:
    """The releases after the newest one that has the very same bound, newest first."""
    package = edge.package
    ordinary = [i for i in range(edge.index) if i not in package.gates]
    yield from edge.universe.want_dependencies((package.name, i) for i in ordinary)
    same = (i for i in ordinary if any(n.specifier == edge.need.specifier for n in edge.needs_of(i)))
    newest = min(same, default=edge.index)
    return [i for i in ordinary if i < newest and edge.is_comparable(i) and _loosens(edge, i)]


def _loosens(edge: Edge, index: int) -> bool:
    """A pin that has merely moved is no sign that another version would do: what it was before must still
    be allowed."""
    pinned = edge.on.runs(edge.need.specifier)
    if not edge.is_pin or not pinned:
        return True
    needs = edge.needs_of(index)
    return all(not need.url and edge.on.admits(need.specifier, pinned[0][0]) for need in needs)


def allowed_later(edge: Edge) -> Generator[Need, None, Runs]:
    """Candidates of what is needed that later releases allow, or the edge itself, or that come after a
    yanked one that the bound was made against; `edge.at` plays no role."""
    yield from edge.universe.want_dependencies([(edge.package.name, edge.index)])
    lifters = yield from _lifters(edge)
    runs = edge.on.runs(edge.need.specifier)
    allowed = _indexes(runs)
    for index in lifters:
        allowed |= _allowed_by(edge, index)
    allowed.update(range(made_against_yanked(edge.on, edge.need.specifier) or 0))
    return _as_runs(allowed)


def allowed_before(edge: Edge) -> Generator[Need, None, Runs]:
    """Candidates of what is needed that the edge allows, or the release of its minor series that had not
    its bound yet."""
    older = yield from _before_patch(edge)
    allowed = _indexes(edge.on.runs(edge.need.specifier))
    if older is not None:
        allowed |= _allowed_by(edge, older)
    return _as_runs(allowed)


def _allowed_by(edge: Edge, index: int) -> set[int]:
    within = set(range(edge.on.size))
    for need in edge.needs_of(index):
        within &= set() if need.url else _indexes(edge.on.runs(need.specifier))
    return within


def _indexes(runs: Runs) -> set[int]:
    return {i for low, high in runs for i in range(low, high)}


def _as_runs(indexes: Iterable[int]) -> Runs:
    runs: list[tuple[int, int]] = []
    for index in sorted(indexes):
        if runs and runs[-1][1] == index:
            runs[-1] = (runs[-1][0], index + 1)
        else:
            runs.append((index, index + 1))
    return tuple(runs)


def _lifted(edge: Edge) -> Generator[Need, None, Evidence | None]:
    """The first later release that allows it."""
    package = edge.package
    lifters = yield from _lifters(edge)
    lifting = [i for i in lifters if edge.allows(i)]
    if not lifting:
        return None
    version = package.versions[lifting[-1]]
    bounds = ",".join(dict.fromkeys(n.specifier for n in edge.needs_of(lifting[-1]) if n.specifier))
    how = f"needs {edge.on.name}{bounds}" if bounds else f"no longer bounds {edge.on.name}"
    return Evidence(LIFTED, f"{package.name} {version} lifts it: it {how}", version)


def made_against_yanked(on: Package, specifier: str) -> int | None:
    """The index of the first release that an upper bound excludes if that was yanked, else None."""
    runs = on.runs(specifier)
    first = runs[0][0] - 1 if runs else -1
    if (
        first < 0
        or on.gates.get(first) != GATE_YANKED
        or side_of(0, first + 1, on.size, specifier, runs) != UPPER
    ):
        return None
    return first


def _yanked(edge: Edge) -> Evidence | None:
    """The release next to the bound, which it was probably made against, was yanked since."""
    first = made_against_yanked(edge.on, edge.need.specifier)
    if first is None or edge.at >= first:
        return None
    version = edge.on.versions[first]
    return Evidence(
        YANKED, f"{edge.on.name} {version}, the first release that it excludes, was yanked", version
    )


def series_before(package: Package, index: int) -> list[int]:
    """The older ordinary candidates of the same minor series, newest first."""
    minor = _minor(package.versions[index])
    found = []
    for older in range(index + 1, package.size):
        if _minor(package.versions[older]) != minor:
            break
        if older not in package.gates:
            found.append(older)
    return found


def _before_patch(edge: Edge) -> Generator[Need, None, int | None]:
    """The newest older release of the minor series that has not the very same bound, if it loosens it."""
    name = edge.package.name
    for older in series_before(edge.package, edge.index):
        yield from edge.universe.want_dependencies([(name, older)])
        if any(need.specifier == edge.need.specifier for need in edge.needs_of(older)):
            continue
        return older if edge.is_comparable(older) and _loosens(edge, older) else None
    return None


def _patched(edge: Edge) -> Generator[Need, None, Evidence | None]:
    """The bound is new in a patch release."""
    older = yield from _before_patch(edge)
    if older is None or not edge.allows(older):
        return None
    package, before = edge.package.name, edge.package.versions[older]
    first = edge.package.versions[max(i for i in range(edge.index, older) if i not in edge.package.gates)]
    bounds = ",".join(dict.fromkeys(n.specifier for n in edge.needs_of(older) if n.specifier))
    how = f"needs {edge.on.name}{bounds}" if bounds else f"does not bound {edge.on.name}"
    return Evidence(
        PATCHED, f"a patch release, {package} {first}, put it in: {package} {before} {how}", first
    )


def _minor(version: str) -> Sequence[str]:
    return version.partition("+")[0].split(".")[:2]
