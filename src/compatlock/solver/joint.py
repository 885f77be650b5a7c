"""Several targets as one problem: every package once for each target, named `name#0`, `name#1`, ...

Nothing but the objective joins them (design, Semantics 7): the worst root lag is that over all targets,
lags are summed over them, and the packages that differ between them are counted. What a target needs it
needs of packages of its own, so that there is an answer exactly when each target has one.
"""

from __future__ import annotations

from compatlock.model.cuda import CUDA, cuda_package
from compatlock.solver.universe import Universe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from compatlock.model.dependencies import Dependencies, Dependency
    from compatlock.model.fact import Fact
    from compatlock.model.package import Package
    from compatlock.model.request import Request
    from compatlock.model.requirement import Requirement
    from compatlock.model.target import Target
    from compatlock.model.waiver import Waiver
    from compatlock.solver.solution import Solution
    from compatlock.solver.universe import Need

# Sorts before everything that a normalised name consists of: names keep their order.
_SEPARATOR = "#"


def tagged(name: str, target: int) -> str:
    """Return the name of a target's own `name`."""
    return f"{name}{_SEPARATOR}{target}"


def untagged(name: str) -> tuple[str, int]:
    """Return the package and the target that `tagged` joined."""
    package, _, target = name.partition(_SEPARATOR)
    return package, int(target)


def plain(name: str) -> str:
    """Return the package's name, whether it is tagged or not."""
    return name.partition(_SEPARATOR)[0]


def targets_of(request: Request) -> dict[str, Target]:
    """Return the targets of a request, of several targets or not, by the name of their `__cuda`."""
    if not request.joint_targets:
        return {CUDA: request.target}
    return {tagged(CUDA, number): target for number, target in enumerate(request.joint_targets)}


def cuda_of(name: str) -> str:
    """Return the name of the `__cuda` of a package's target."""
    return CUDA + name.removeprefix(plain(name))


def joint_request(requests: Sequence[Request]) -> Request:
    """Return the requests of several targets as one. What users decree over metadata is left out: the
    universe is to be amended for each target before (see `joint_dependencies`)."""
    numbered = list(enumerate(requests))
    return requests[0]._replace(
        roots=tuple(sorted(_requirement(r, k) for k, each in numbered for r in each.roots)),
        constraints=tuple(sorted(_requirement(r, k) for k, each in numbered for r in each.constraints)),
        waivers=tuple(sorted(_waiver(w, k) for k, each in numbered for w in each.waivers)),
        facts=tuple(sorted(_fact(f, k) for k, each in numbered for f in each.facts)),
        older={tagged(name, k): version for k, each in numbered for name, version in each.older.items()},
        overrides=(),
        edge_overrides=(),
        exclusions=(),
        joint_targets=tuple(each.target for each in requests),
    )


def _requirement(requirement: Requirement, target: int) -> Requirement:
    return requirement._replace(name=tagged(requirement.name, target))


def _waiver(waiver: Waiver, target: int) -> Waiver:
    return waiver._replace(package=tagged(waiver.package, target), on=tagged(waiver.on, target))


def _fact(fact: Fact, target: int) -> Fact:
    return fact._replace(
        id=tagged(fact.id, target),
        package=tagged(fact.package, target),
        on=tagged(fact.on, target) if fact.on else "",
        present=tuple(tagged(name, target) for name in fact.present),
    )


def joint_universe(universes: Sequence[Universe]) -> Universe:
    """Return an empty universe for all targets; `universes` are theirs, for what they know of files."""

    def compiled(name: str, index: int) -> bool:
        package, target = untagged(name)
        return universes[target].compiled(package, index)

    def is_elsewhere(name: str) -> bool:
        package, target = untagged(name)
        return universes[target].is_elsewhere(package)

    universe = Universe(compiled=compiled, is_elsewhere=is_elsewhere)
    for target in range(len(universes)):
        universe.packages.update(joint_packages({CUDA: cuda_package()}, target))
    return universe


def needs_by_target(need: Need) -> dict[int, tuple[list[str], list[tuple[str, int]]]]:
    """Return what a need asks of each target: package names, and candidates."""
    found: dict[int, tuple[list[str], list[tuple[str, int]]]] = {}
    for name in need.packages:
        package, target = untagged(name)
        found.setdefault(target, ([], []))[0].append(package)
    for name, index in need.releases:
        package, target = untagged(name)
        found.setdefault(target, ([], []))[1].append((package, index))
    return found


def joint_packages(packages: Mapping[str, Package], target: int) -> dict[str, Package]:
    """Return a target's packages under the names that they have in the joint problem."""
    return {tagged(name, target): package.called(tagged(name, target)) for name, package in packages.items()}


def joint_dependencies(
    releases: Mapping[tuple[str, int], Dependencies], target: int
) -> dict[tuple[str, int], Dependencies]:
    """Return what candidates of a target need, in the names of the joint problem."""
    return {
        (tagged(name, target), index): release._replace(
            base=_renamed(release.base, target),
            extras={extra: _renamed(needs, target) for extra, needs in release.extras.items()},
        )
        for (name, index), release in releases.items()
    }


def _renamed(needs: Iterable[Dependency], target: int) -> tuple[Dependency, ...]:
    return tuple(need._replace(name=tagged(need.name, target)) for need in needs)


def solution_of(solution: Solution, target: int) -> Solution:
    """Return one target's part of the answer to a joint problem. The tiers are those of all targets."""

    def mine(names: Iterable[str]) -> list[tuple[str, str]]:
        return [(package, name) for name in names for package, k in [untagged(name)] if k == target]

    return solution._replace(
        chosen={package: solution.chosen[name] for package, name in mine(solution.chosen)},
        extras={package: solution.extras[name] for package, name in mine(solution.extras)},
        newest={package: solution.newest[name] for package, name in mine(solution.newest)},
        depths={package: solution.depths[name] for package, name in mine(solution.depths)},
        broken=tuple(package for package, _ in mine(solution.broken)),
        presumed=tuple(package for package, _ in mine(solution.presumed)),
    )
