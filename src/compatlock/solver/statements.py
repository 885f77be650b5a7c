"""From the labels of a contradiction to statements about releases, for people."""

from __future__ import annotations

from compatlock.model import core as kinds
from compatlock.model.core import CONSTRAINT, EDGE, EXTRA, FACT, PROBLEM, ROOT, URL, Core, CoreEdge, Gap
from compatlock.solver.guards import Label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from compatlock.model.fact import Fact
    from compatlock.model.package import Package
    from compatlock.solver.guards import LabelGuards
    from compatlock.solver.labelled import LabelledFormula

    Satisfiable = Callable[[Iterable[int], Sequence[int]], bool]

_LAST = 1 << 30
_BUILT_FOR = "(+cu128 and the like) which CUDA they were built for"


def speaker(label: Label) -> str:
    """The package whose releases a label is about, `""` for the user's lines and facts."""
    if label.kind == FACT:
        return ""
    return label.on if label.kind == EXTRA else label.package


def depths_of(labels: Iterable[Label]) -> dict[Label, int]:
    """How far each label is from the user's lines, following the labels."""
    depths = dict.fromkeys(labels, _LAST)
    speakers: dict[str, list[Label]] = {}
    for label in depths:
        name = label.package if label.kind == FACT else speaker(label)
        speakers.setdefault(name, []).append(label)
    frontier, seen, depth = [""], {""}, 0
    while frontier:
        following = []
        for name in frontier:
            for label in speakers.get(name, ()):
                depths[label] = depth
                if label.kind != CONSTRAINT and label.on not in seen:
                    seen.add(label.on)
                    following.append(label.on)
        frontier, depth = following, depth + 1
    return depths


def ranges(package: Package, indexes: Iterable[int], loaded: Collection[int]) -> tuple[str, ...]:
    """Candidates as versions and ranges of versions, oldest first. A range may skip gated candidates that
    nobody looked at."""
    runs: list[list[int]] = []
    for index in sorted(indexes, reverse=True):
        between = range(index + 1, runs[-1][-1]) if runs else ()
        if runs and all(i in package.gates and i not in loaded for i in between):
            runs[-1].append(index)
        else:
            runs.append([index])
    texts: list[str] = []
    for run in runs:
        versions = [package.versions[i] for i in run]
        texts += versions if len(run) < 3 else [f"{versions[0]} to {versions[-1]}"]
    return tuple(texts)


class Statements:
    """Says what labels stand for.

    labels:      literals of a minimal contradiction, parents before children
    satisfiable: whether labels, and further literals, can hold together
    """

    def __init__(
        self,
        formula: LabelledFormula,
        guards: LabelGuards,
        facts: Sequence[Fact],
        labels: Sequence[int],
        satisfiable: Satisfiable,
    ) -> None:
        self._formula = formula
        self._packages = formula.universe.packages
        self._guards = guards
        self._facts = {fact.id: fact for fact in facts}
        self._labels = labels
        self._satisfiable = satisfiable
        self._ranks: dict[str, int] = {"": -1}
        for literal in labels:
            self._ranks.setdefault(speaker(guards.literals[literal]), len(self._ranks))

    def core(self, shut: Sequence[tuple[str, int]]) -> Core:
        """The core; `shut` are the gated candidates that it leans on."""
        found = [self._edge(self._guards.literals[literal]) for literal in self._labels]
        alike: dict[tuple[str, str, str], list[list[int]]] = {}
        for edge, about in found:
            if edge.kind == EDGE:
                alike.setdefault((edge.package, edge.extra, edge.on), []).append(about)
        edges = []
        for edge, about in found:
            group = alike.get((edge.package, edge.extra, edge.on), ())
            among: tuple[str, ...] = ()
            if edge.kind == EDGE and len(group) > 1:
                among = self._ranges(edge.package, {i for indexes in group for i in indexes})
            releases = self._ranges(_subject(edge), about) if about else ()
            edges.append(edge._replace(releases=releases, among=among))
        return Core(tuple(edges), self._gaps(shut))

    def _ranges(self, name: str, indexes: Iterable[int]) -> tuple[str, ...]:
        return ranges(self._packages[name], indexes, self._formula.loaded[name])

    def _edge(self, label: Label) -> tuple[CoreEdge, list[int]]:
        """What a label says, with indexes of the releases that it is about."""
        edge = CoreEdge(*label)
        if label.kind == FACT:
            fact = self._facts.get(label.origin)
            if fact is None:
                return edge._replace(detail=f"{label.package} says in its local versions {_BUILT_FOR}"), []
            return edge._replace(extra=fact.extra, detail=_summary(fact)), []
        name = speaker(label)
        if not name:
            return edge, []
        about = self._relevant(label)
        if label.kind in (PROBLEM, URL):
            edge = edge._replace(specifier="", detail=label.specifier)
        if label.kind == EXTRA:
            offers = self._formula.universe.dependencies[name, min(about)].provides
            edge = edge._replace(offers=tuple(sorted(offers)))
        if label.kind == EDGE and self._formula.universe.is_overridden(name, min(about), label.on):
            edge = edge._replace(origin=kinds.OVERRIDE)
        return edge, about

    # Which releases

    def _relevant(self, label: Label) -> list[int]:
        """Releases that a label is about and that the statements before it leave, newest first.

        Only statements of packages nearer to the user count as "before", so that two statements cannot
        excuse each other.
        """
        name = speaker(label)
        about = sorted(i for i in self._formula.loaded[name] if self._is_about(label, i))
        rank = self._ranks[name]
        before = [lit for lit in self._labels if self._ranks[speaker(self._guards.literals[lit])] < rank]
        left = []
        for index in about:
            following = self._formula.older(name, index + 1)
            at = [self._formula.older(name, index), None if following is None else -following]
            if self._satisfiable(before, [lit for lit in at if lit is not None]):
                left.append(index)
        return left or about

    def _is_about(self, label: Label, index: int) -> bool:
        release = self._formula.universe.dependencies[speaker(label), index]
        if release.problem or label.kind == PROBLEM:
            return label.kind == PROBLEM and release.problem == label.specifier
        if label.kind == EXTRA:
            return label.extras[0] not in release.provides
        return any(label == found for found, _ in self._formula.labelled(label.package, index, label.extra))

    # What is missing

    def _gaps(self, shut: Sequence[tuple[str, int]]) -> tuple[Gap, ...]:
        unfit: dict[str, list[str]] = {}
        for literal in self._labels:
            label = self._guards.literals[literal]
            package = self._packages.get(label.on)
            if label.kind not in (ROOT, CONSTRAINT, EDGE) or package is None or self._is_waived(label):
                continue
            if not package.runs(label.specifier):
                unfit.setdefault(label.on, []).append(label.specifier)
        names = dict.fromkeys((*unfit, *(name for name, _ in shut)))
        return tuple(self._gap(name, unfit.get(name, []), shut) for name in names)

    def _is_waived(self, label: Label) -> bool:
        if label.kind != EDGE:
            return False
        return self._guards.waives(label.package, label.extra, label.on)

    def _gap(self, name: str, specifiers: Iterable[str], shut: Sequence[tuple[str, int]]) -> Gap:
        package = self._packages[name]
        newest = package.newest()
        return Gap(
            name,
            package.found,
            package.versions[newest] if newest < package.size else "",
            tuple(dict.fromkeys(s for s in specifiers if s)),
            tuple((package.versions[i], package.gates[i]) for n, i in sorted(shut) if n == name),
        )


def _subject(edge: CoreEdge) -> str:
    return edge.on if edge.kind == EXTRA else edge.package


def _summary(fact: Fact) -> str:
    if fact.summary:
        return fact.summary
    bounds = (f"{fact.package}{b.versions} with {fact.on}{b.bound}".strip() for b in fact.bounds)
    return "; ".join(bounds)
