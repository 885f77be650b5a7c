"""Ways out for which the index is seen otherwise: without the cut in time, for another target."""

from __future__ import annotations

from compatlock.api.times import format_time
from compatlock.api.why.hidden_words import helpful
from compatlock.api.why.hints import floor, nearest_platform, nearest_python
from compatlock.api.why.obstacles import obstacles
from compatlock.index.view import DATE, NATIVE, PYTHON, TAGS, UNDATED
from compatlock.model.cuda import CUDA
from compatlock.model.way_out import NEWER, TARGET, WayOut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from compatlock.index.supply import Supply
    from compatlock.index.view import Hidden
    from compatlock.model.core import Core
    from compatlock.model.policy import Policy
    from compatlock.model.request import Request
    from compatlock.solver.ways_out import Change, Solved

    Solve = Callable[[Change, Supply], Solved | None]

_END_OF_DAY = 86_399
# Minor versions of glibc 2 that distributions have and wheels are for.
_MANYLINUX = "-manylinux_2_"
_GLIBCS = (17, 28, 31, 34, 35, 39)


def newer(core: Core, request: Request, supply: Supply, solve: Solve) -> Iterator[Solved]:
    """The answer with newer releases than `--exclude-newer` lets in. No index of an earlier day helps when
    none of the core's projects has such releases."""
    from compatlock.solver.ways_out import Change

    names = _names(core)
    cut_off = [name for name in names if {h.reason for h in supply.hidden(name)} & {DATE, UNDATED}]
    if not cut_off:
        return
    own = dict(request.policy.exclude_newer_for)

    def under(policy: Policy, accept: str) -> Solved | None:
        change = Change(WayOut(NEWER, accept), request._replace(policy=policy))
        return solve(change, supply.under(policy=policy))

    def at(cut: int | None, accept: str) -> Solved | None:
        return under(request.policy._replace(exclude_newer=cut), accept)

    if not own.keys().isdisjoint(cut_off):
        # One date for all would not do: these packages have theirs.
        policy = request.policy
        if not own.keys() >= set(cut_off):
            policy = policy._replace(exclude_newer=None)
        lifted = tuple((name, None if name in cut_off else cut) for name, cut in own.items())
        flags = " ".join(f"--exclude-newer {name}=none" for name in sorted(own.keys() & set(cut_off)))
        general = "" if policy == request.policy else "without `--exclude-newer`, but with "
        accept = f"{general}`{flags}`" if general else flags
        found = under(policy._replace(exclude_newer_for=lifted), accept)
        if found is not None:
            yield found
        return
    today = at(None, "without `--exclude-newer`")
    if today is None:
        return
    packages = today.universe.packages
    times = [packages[n].times[i] for n, i in today.solution.chosen.items() if n in names]
    known = [moment for moment in times if moment is not None]
    earliest = None
    if known and len(known) == len(times):
        # The whole day counts, as it does for a date on the command line.
        cut = max(known) // 86_400 * 86_400 + _END_OF_DAY
        earliest = at(cut, f"--exclude-newer {format_time(cut)[:10]}")
    yield earliest or today


def targets(core: Core, request: Request, supply: Supply, solve: Solve) -> Iterator[Solved]:
    """The answer for the nearest Python, the lowest platform, and a build from source, that admits a release
    which would help."""
    from compatlock.solver.ways_out import Change

    target = request.target
    found: dict[str, Request] = {}
    floors: list[str] = []
    for name in _names(core):
        hidden = helpful(core, name, obstacles(supply, name))
        python = nearest_python(_because(hidden, PYTHON), target)
        platform = nearest_platform(_because(hidden, TAGS, NATIVE))
        if python:
            other = target._replace(python=python[0]).resolved()
            found[f"--python-version {python[0]}"] = request._replace(target=other)
        if platform:
            floors.append(platform[0])
        if _because(hidden, NATIVE):
            # Nothing is built to find that out: what the sdist says counts.
            policy = request.policy._replace(builds=tuple(sorted((*request.policy.builds, name))))
            found[f"--allow-builds {name}"] = request._replace(policy=policy)

    def under(accept: str, changed: Request) -> Solved | None:
        change = Change(WayOut(TARGET, accept), changed)
        return solve(change, supply.under(target=changed.target, policy=changed.policy))

    def on(platform: str) -> Solved | None:
        other = target._replace(platform=platform).resolved()
        return under(f"--python-platform {platform}", request._replace(target=other))

    for solved in (*(under(*attempt) for attempt in found.items()), _lowest(floors, on)):
        if solved is not None:
            yield solved


def _lowest(floors: list[str], on: Callable[[str], Solved | None]) -> Solved | None:
    """The answer for the lowest of the platforms that has one. Where none has, what else is needed may be for
    a newer glibc still: then for the first usual one that does, if the last does."""
    ascending = sorted(dict.fromkeys(floors), key=floor)
    for platform in ascending:
        if (solved := on(platform)) is not None:
            return solved
    if not ascending:
        return None
    name, is_manylinux, minor = ascending[-1].partition(_MANYLINUX)
    newer = [f"{name}{_MANYLINUX}{glibc}" for glibc in _GLIBCS if is_manylinux and glibc > int(minor)]
    last = on(newer[-1]) if newer else None
    if last is None:
        return None
    return next((solved for platform in newer[:-1] if (solved := on(platform)) is not None), last)


def _because(hidden: list[Hidden], *reasons: str) -> list[Hidden]:
    return [release for release in hidden if release.reason in reasons]


def _names(core: Core) -> list[str]:
    names = (name for edge in core.edges for name in (edge.package, edge.on))
    return [name for name in dict.fromkeys(names) if name and name != CUDA]
