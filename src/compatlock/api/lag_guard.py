"""No silent old answers: how far behind roots, and packages named in their extras, may be."""

from __future__ import annotations

from compatlock.errors import InputError
from compatlock.model.display import excerpt
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.names import normalise
from compatlock.model.package import YANKED
from compatlock.model.requirement import GUARD, Requirement
from compatlock.solver.depth import runs_on_target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compatlock.model.core import Core
    from compatlock.model.lock import Lock, Pin
    from compatlock.model.package import Package
    from compatlock.model.request import Request
    from compatlock.solver.search import Solution
    from compatlock.solver.universe import Universe

DEFAULT_DAYS = 365
# What is under guard and so many days behind is told of with the price of its newest release.
NOTABLE_DAYS = 90
OPTION = GUARD

# As texts: most runs name no limit.
_LIMIT = r"(?:([A-Za-z0-9][A-Za-z0-9._-]*)\s*=\s*)?(?:(\d{1,6})\s*([dw]?)|(none))\Z"
# What holds a package back: a pin or an upper bound.
_HOLDS = ("==", "~=", "<", "===")


class Limits(NamedTuple):
    """Days that packages may be behind; None: as far as it takes."""

    default: int | None = DEFAULT_DAYS
    packages: Mapping[str, int | None] = {}

    def of(self, name: str) -> int | None:
        """The limit of a package."""
        return self.packages.get(name, self.default)


class Guarded(NamedTuple):
    """A package under guard: `days` it is behind `reference`, the newest candidate it could have, and its
    limit."""

    name: str
    at: int
    reference: int
    days: int
    limit: int | None

    @property
    def is_too_old(self) -> bool:
        """Whether the limit is passed."""
        return self.limit is not None and self.days > self.limit


def parse_limits(texts: Iterable[str]) -> Limits:
    """Return the limits that `--max-lag` values state: `90d`, `12w`, `none`, `PKG=30d`, `PKG=none`; the last
    one for a package counts. Raises InputError for anything else."""
    import re

    default: int | None = DEFAULT_DAYS
    packages: dict[str, int | None] = {}
    for text in texts:
        match = re.match(_LIMIT, text.strip())
        if match is None:
            raise InputError(
                f"{OPTION} {excerpt(text)}: not a number of days",
                hints=[f"write `{OPTION} 90d`, `{OPTION} PKG=90d` or `{OPTION} none`"],
            )
        name, number, unit, _ = match.groups()
        days = int(number) * (7 if unit == "w" else 1) if number else None
        if name:
            packages[normalise(name)] = days
        else:
            default = days
    return Limits(default, packages)


def guarded(universe: Universe, request: Request, solution: Solution, limits: Limits) -> tuple[Guarded, ...]:
    """The packages under guard in an answer: roots, and what the extras that lines ask for name, counted
    from the newest release that the newest release of the root admits."""
    found = []
    for name, index, reference, days in _behind(universe, request, solution.chosen, solution.newest):
        # A pin of the older lock is the user's own: it is kept as long as it holds.
        kept = request.older.get(name) == universe.packages[name].versions[index]
        found.append(Guarded(name, index, reference, days, None if kept else limits.of(name)))
    return tuple(found)


def far_behind(universe: Universe, request: Request, lock: Lock) -> tuple[tuple[Pin, str, int], ...]:
    """The packages under guard that are notably behind in a lock: each pin, the version that it is behind,
    and how many days. (What an extra names and an older lock pins is no news.)"""
    pins = {pin.name: pin for pin in lock.pins}
    if all(pin.lag_days < NOTABLE_DAYS for pin in lock.pins):
        return ()
    at = {name: universe.packages[name].index_of(pin.version) for name, pin in pins.items()}
    newest = {p.name: universe.packages[p.name].index_of(p.newest) for p in lock.pins if p.is_root}
    chosen, roots = ({n: i for n, i in of.items() if i is not None} for of in (at, newest))
    return tuple(
        (pins[name], universe.packages[name].versions[reference], days)
        for name, _, reference, days in _behind(universe, request, chosen, roots)
        if days >= NOTABLE_DAYS and (name in roots or request.older.get(name) != pins[name].version)
    )


def unexplained(lock: Lock, request: Request) -> Iterator[str]:
    """A remark on each root that is behind, though not notably, and that no single edge holds back."""
    for pin in lock.pins:
        kept = request.older.get(pin.name) == pin.version
        if pin.is_root and 0 < pin.lag_days < NOTABLE_DAYS and not pin.held_by and not kept:
            yield f"`compatlock explain ... {pin.name}` tells what newer releases of {pin.name} would cost"


def _behind(
    universe: Universe, request: Request, chosen: Mapping[str, int], newest: Mapping[str, int]
) -> Iterator[tuple[str, int, int, int]]:
    """The packages under guard, by name: each release, the one that it is measured by, the days between."""
    references = {**dict(_named_in_extras(universe, request, newest)), **newest}
    for name in sorted(references):
        package, index, reference = universe.packages[name], chosen.get(name), references[name]
        if index is not None and reference < package.size:
            yield name, index, reference, package.lag_days(index, reference)


def _named_in_extras(
    universe: Universe, request: Request, newest_roots: Mapping[str, int]
) -> Iterator[tuple[str, int]]:
    runs = runs_on_target(universe, request)
    for root in request.roots:
        newest = newest_roots.get(root.name)
        release = universe.dependencies.get((root.name, newest)) if newest is not None else None
        for extra in root.extras if release is not None else ():
            for need in release.of(extra) if release is not None else ():
                package = universe.packages.get(need.name)
                if package is not None and not need.url and need.name != root.name:
                    within = [i for low, high in package.runs(need.specifier) for i in range(low, high)]
                    # Nobody gets a yanked release without pinning it: it is no measure for the others.
                    some = [i for i in within if package.gates.get(i) != YANKED and runs(package, i)]
                    yield need.name, package.newest(tuple((i, i + 1) for i in some))


def guard(universe: Universe, request: Request, packages: Iterable[Guarded]) -> Request:
    """The request under the guard: each package no older than its limit allows."""
    lines = []
    for each in packages:
        if each.limit is not None:
            oldest = _oldest(universe.packages[each.name], each.reference, each.limit)
            origin = f"{OPTION} {each.limit}d"
            lines.append(Requirement(each.name, f">={oldest}", origin=origin))
    return request._replace(constraints=(*request.constraints, *lines))


def _oldest(package: Package, reference: int, limit: int) -> str:
    within = [
        i
        for i in range(reference, package.size)
        if (i not in package.gates or package.gates[i] == package.gates.get(reference))
        and package.lag_days(i, reference) <= limit
    ]
    return package.versions[within[-1] if within else reference].partition("+")[0]


def is_guard(origin: str) -> bool:
    """Whether a line of a core is the guard's."""
    return origin.startswith(f"{OPTION} ")


def is_held_by_user(core: Core) -> bool:
    """Whether a pin or an upper bound of the user's own is part of the reason."""
    return any(
        clause.strip().startswith(_HOLDS)
        for edge in core.edges
        if not edge.package and edge.on and edge.kind in ("root", "constraint") and not is_guard(edge.origin)
        for clause in edge.specifier.split(",")
    )


def accepting(packages: Sequence[Guarded]) -> str:
    """The options that accept an answer that is too old."""
    return " ".join(f"{OPTION} {each.name}={each.days}d" for each in packages if each.is_too_old)
