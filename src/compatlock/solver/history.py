"""Evidence that a bound need not hold, from known facts and from the index's own history."""

from __future__ import annotations

from compatlock.model.package import YANKED as GATE_YANKED
from compatlock.model.way_out import (
    AGAINST,
    COST_EXECUTED,
    COST_LIFTED,
    COST_OTHER,
    COST_UPPER,
    FACT,
    LIFTED,
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
    of all newer releases of the package, and of the next older one."""
    by_facts = list(_by_facts(edge, facts))
    lifted = yield from _lifted(edge)
    against = yield from _against(edge)
    evidence = [*(found for _, found in by_facts), *([lifted] if lifted else [])]
    cost = COST_UPPER if edge.side == UPPER else COST_OTHER
    if evidence:
        cost = min([COST_LIFTED, *(cost for cost, _ in by_facts)])
    return BrokenEdge(
        edge.package.name,
        edge.package.versions[edge.index],
        edge.extra,
        edge.on.name,
        edge.need.specifier,
        edge.on.versions[edge.at],
        edge.side,
        cost,
        (*evidence, *(remark for remark in (_yanked(edge), against) if remark)),
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
    """Candidates of what is needed that later releases allow, or the edge itself; `edge.at` plays no role."""
    yield from edge.universe.want_dependencies([(edge.package.name, edge.index)])
    lifters = yield from _lifters(edge)
    allowed = {i for low, high in edge.on.runs(edge.need.specifier) for i in range(low, high)}
    for index in lifters:
        within = set(range(edge.on.size))
        for need in edge.needs_of(index):
            runs = () if need.url else edge.on.runs(need.specifier)
            within &= {i for low, high in runs for i in range(low, high)}
        allowed |= within
    return _as_runs(allowed)


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


def _yanked(edge: Edge) -> Evidence | None:
    """The release next to the bound, which it was probably made against, was yanked since."""
    runs = edge.on.runs(edge.need.specifier)
    if edge.side != UPPER or not runs:
        return None
    first = runs[0][0] - 1
    if first < 0 or edge.on.gates.get(first) != GATE_YANKED or first == edge.at:
        return None
    version = edge.on.versions[first]
    return Evidence(
        YANKED, f"{edge.on.name} {version}, the first release that it excludes, was yanked", version
    )


def _against(edge: Edge) -> Generator[Need, None, Evidence | None]:
    """The bound is new in a patch release: somebody met what it forbids."""
    package = edge.package
    version = package.versions[edge.index]
    older = next((i for i in range(edge.index + 1, package.size) if i not in package.gates), None)
    if older is None or _minor(package.versions[older]) != _minor(version):
        return None
    yield from edge.universe.want_dependencies([(package.name, older)])
    if not edge.allows(older):
        return None
    text = f"{package.name} {version}, a patch release, put the bound in, {package.versions[older]} had none"
    return Evidence(AGAINST, text, version)


def _minor(version: str) -> Sequence[str]:
    return version.split(".")[:2]
