"""Builds for metadata in words: what was built and why not, and what only a build would tell."""

from __future__ import annotations

from compatlock.api.assemble import UNVERIFIED
from compatlock.model import core as kinds
from compatlock.model.display import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from compatlock.index.supply import Supply
    from compatlock.model.building import Build
    from compatlock.model.core import Core
    from compatlock.model.lock import Lock
    from compatlock.solver.universe import Universe

# So many packages are named one by one, and so many lines of what a failed build said are shown.
_NAMED = 5
_LINES = 40


def build_news(lock: Lock, supply: Supply, builds: Sequence[Build]) -> Iterator[str]:
    """What to say of the builds of a run, and of pins whose sdists do not say what they need."""
    for build in builds:
        who = f"{build.project} {build.version}"
        if build.problem:
            yield f"warning: {who} could not be built for its metadata: {_failure(build)}"
        else:
            yield f"built {who} for its metadata ({build.seconds:.1f} s)"
    failed = {(build.project, build.version) for build in builds if build.problem}
    unverified = [
        pin for pin in lock.pins if UNVERIFIED in pin.notes and (pin.name, pin.version) not in failed
    ]
    if not unverified:
        return
    builder = supply.builder
    refusal = builder.refusal(supply.target) if builder is not None else ""
    if refusal:
        yield f"warning: nothing was built: {refusal}"
        return
    more = f" and {len(unverified) - _NAMED} more" if unverified[_NAMED:] else ""
    who = ", ".join(f"{pin.name} {pin.version}" for pin in unverified[:_NAMED]) + more
    flags = "--allow-builds" if more else " ".join(f"--allow-builds {pin.name}" for pin in unverified)
    if len(unverified) == 1:
        yield f"what {who} needs is not certain: `{flags}` builds it (its code runs then)"
    else:
        yield f"what {who} need is not certain: `{flags}` builds them (their code runs then)"


def build_hints(core: Core, universe: Universe, supply: Supply) -> Iterator[str]:
    """What would let releases of a core be used whose sdists do not say what they need, and what failed
    builds of them said."""
    builder = supply.builder
    names = {edge.package for edge in core.edges if edge.kind == kinds.PROBLEM}
    problems = [release for release, read in universe.dependencies.items() if read.problem]
    for name in sorted(names):
        unbuilt = supply.to_be_built(release for release in sorted(problems) if release[0] == name)
        if unbuilt and not (builder is not None and builder.permits(name, supply.target)):
            version = universe.packages[name].versions[unbuilt[0][1]]
            what = f"builds {name} {version} to find out what it needs"
            yield f"`--allow-builds {name}` {what} (its code runs then)"
    for build in builder.builds if builder is not None else ():
        if build.problem and build.project in names:
            yield f"{build.project} {build.version} could not be built: {_failure(build)}"


def build_details(builds: Iterable[Build]) -> Iterator[str]:
    """What the builds that succeeded said, for those who want to know."""
    for build in builds:
        if not build.problem and build.output.strip():
            yield f"{build.project} {build.version}, built for its metadata:"
            yield from (f"  {line}" for line in _lines(build))


def _failure(build: Build) -> str:
    return "\n  ".join((build.problem, *_lines(build)[-_LINES:]))


def _lines(build: Build) -> list[str]:
    return [printable(line) for line in build.output.splitlines() if line.strip()]
