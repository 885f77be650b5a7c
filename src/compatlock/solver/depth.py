"""Where lag is counted from, fixed before the search: the newest candidate of each root, and depths."""

from __future__ import annotations

from compatlock.model.cuda import MAJORS, CudaRules
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.objective import DEEPEST
from compatlock.solver.joint import cuda_of, targets_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from compatlock.model.package import Package
    from compatlock.model.request import Request
    from compatlock.model.requirement import Requirement
    from compatlock.solver.universe import Need, Universe


class Frame(NamedTuple):
    """The frozen part of the objective.

    newest: index of each root's newest candidate that its lines, the constraints and the target allow
            together; absent for a root that has none
    depths: depth of each package up to DEEPEST - 1; absent means deeper or unreached
    """

    newest: dict[str, int]
    depths: dict[str, int]


def root_indexes(package: Package, requirements: Iterable[Requirement]) -> list[int]:
    """Candidates that all these lines about one package allow, newest first. A gated one counts when one
    of the lines admits it."""
    requirements = [r for r in requirements if r.name == package.name]
    admitted = {i for r in requirements for i in package.admitted_gates(r.specifier)}
    shut = package.gates.keys() - admitted
    allowed = [i for i in range(package.size) if i not in shut]
    for requirement in requirements:
        if requirement.specifier:
            within = {i for low, high in package.runs(requirement.specifier) for i in range(low, high)}
            allowed = [i for i in allowed if i in within]
    return allowed


def frame(universe: Universe, request: Request) -> Generator[Need, None, Frame]:
    """Find the newest candidate of each root, then depths breadth-first over (package, extra), each
    package at its newest usable candidate (a gated one only when it has no other), bounds of parents and
    facts ignored. (But the CUDA that the target runs counts for roots, as its tags do.)"""
    roots, constraints = request.roots, request.constraints
    runs = runs_on_target(universe, request)
    yield from universe.want_packages(r.name for r in roots)
    asked: dict[str, set[str]] = {}
    for root in roots:
        asked.setdefault(root.name, set()).update(root.extras)
    newest: dict[str, int] = {}
    for name, extras in asked.items():
        index = yield from _newest_root(universe, name, [*roots, *constraints], extras, runs)
        if index is not None:
            newest[name] = index
    depths = yield from _depths(universe, newest, asked)
    return Frame(newest, depths)


def runs_on_target(universe: Universe, request: Request) -> Callable[[Package, int], bool]:
    """Whether a candidate by itself was built for a CUDA that the target runs."""
    majors = {name: target.cuda_majors for name, target in targets_of(request).items()}
    if all(known == MAJORS for known in majors.values()):
        return lambda _package, _index: True
    rules = CudaRules(request.facts, universe.is_elsewhere)

    def runs(package: Package, index: int) -> bool:
        target = majors[cuda_of(package.name)]
        return target == MAJORS or not set(target).isdisjoint(rules.majors(package, index))

    return runs


def _newest_root(
    universe: Universe,
    name: str,
    requirements: Sequence[Requirement],
    extras: set[str],
    runs: Callable[[Package, int], bool],
) -> Generator[Need, None, int | None]:
    """The newest candidate that the lines allow, that is usable, and that has the extras asked for."""
    package = universe.packages[name]
    allowed = [index for index in root_indexes(package, requirements) if runs(package, index)]
    batch = 1
    while allowed:
        chunk, allowed = allowed[:batch], allowed[batch:]
        yield from universe.want_dependencies((name, i) for i in chunk)
        for index in chunk:
            release = universe.dependencies[name, index]
            if not release.problem and extras <= set(release.provides):
                return index
        batch = min(2 * batch, 64)
    return None


def _by_age(package: Package) -> Iterator[int]:
    """Ordinary candidates, newest first, then the gated ones."""
    yield from (i for i in range(package.size) if i not in package.gates)
    yield from sorted(package.gates)


def _newest_usable(universe: Universe, name: str) -> Generator[Need, None, int | None]:
    package = universe.packages[name]
    newest = package.newest()
    release = universe.dependencies.get((name, newest))
    if release is not None and not release.problem:
        return newest
    for index in _by_age(package):
        yield from universe.want_dependencies([(name, index)])
        if not universe.dependencies[name, index].problem:
            return index
    return None


def _depths(
    universe: Universe, newest: dict[str, int], asked: dict[str, set[str]]
) -> Generator[Need, None, dict[str, int]]:
    frontier = [(name, extra) for name in newest for extra in ("", *sorted(asked[name]))]
    seen = set(frontier)
    depths = dict.fromkeys(newest, 0)
    for depth in range(1, DEEPEST):
        names = list(dict.fromkeys(name for name, _ in frontier))
        # One batch for all that is likely needed; releases that turn out unusable are replaced one by one.
        packages = [universe.packages[n] for n in names]
        yield from universe.want_dependencies(
            (p.name, newest.get(p.name, p.newest())) for p in packages if p.size
        )
        found: list[tuple[str, str]] = []
        for name, extra in frontier:
            index = newest.get(name)
            if index is None:
                index = yield from _newest_usable(universe, name)
            if index is None:
                continue
            for dependency in universe.dependencies[name, index].of(extra):
                if not dependency.url:
                    found += [(dependency.name, x) for x in ("", *dependency.extras)]
        frontier = [node for node in dict.fromkeys(found) if node not in seen]
        seen.update(frontier)
        for name, _ in frontier:
            depths.setdefault(name, depth)
        if depth < DEEPEST - 1:
            yield from universe.want_packages(name for name, _ in frontier)
    return depths
