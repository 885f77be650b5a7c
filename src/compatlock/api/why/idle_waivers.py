"""Waivers, exclusions and preferences that have no effect: they name no edge or package there is, or an edge
that is never waived."""

from __future__ import annotations

from compatlock.model.names import closest
from compatlock.model.waiver import edge_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from compatlock.index.supply import Supply
    from compatlock.model.request import Request
    from compatlock.model.waiver import Exclusion, Waiver
    from compatlock.solver.universe import Universe


def idle_waivers(request: Request, universe: Universe) -> tuple[str, ...]:
    """A remark on each waiver that names no edge of the releases that were read (it may be misspelt), or only
    edges that are never waived. Profiles' waivers are for more than one request: none is made on them."""
    own = (waiver for waiver in request.waivers if not waiver.source.startswith("profile "))
    return tuple(f"the waiver `{w}` has no effect: {why}" for w in own for why in _why(w, universe))


def idle_exclusions(request: Request, universe: Universe, supply: Supply) -> tuple[str, ...]:
    """A remark on each exclusion of a package's dependency that takes nothing from its releases that were
    read. (Those for every package are for more than one request.)"""
    return tuple(
        f"the exclusion `{exclusion}` has no effect: {why}"
        for exclusion in request.exclusions
        if exclusion.package
        for why in _why_not_excluded(exclusion, universe, supply)
    )


def idle_preferences(request: Request, universe: Universe) -> tuple[str, ...]:
    """A remark on each package of `--prefer` that nothing asks for: neither the user's lines nor a release
    that was read."""
    needed = {root.name for root in request.roots}
    needed |= {
        need.name
        for release in universe.dependencies.values()
        for extra in ("", *release.extras)
        for need in release.of(extra)
    }
    return tuple(
        f"`--prefer {name}` has no effect: nothing here needs {name}{_did_you_mean(closest(name, needed))}"
        for name in request.prefer
        if name not in needed
    )


def _did_you_mean(name: str) -> str:
    return f"; did you mean `{name}`?" if name else ""


def _why_not_excluded(exclusion: Exclusion, universe: Universe, supply: Supply) -> Iterator[str]:
    """What is wrong with an exclusion; the universe lacks what it took away."""
    read = [key for key in universe.dependencies if key[0] == exclusion.package]
    if not read:
        close = closest(exclusion.package, (name for name, _ in universe.dependencies))
        better = f"; did you mean `{edge_name(close, exclusion.extra, exclusion.on)}`?" if close else ""
        yield f"nothing here needs {exclusion.package}{better}"
        return
    versions = universe.packages[exclusion.package].versions
    edges = {
        (extra, need.name, versions[index])
        for (_, index), release in supply.dependencies(read).items()
        for extra in ("", *release.extras)
        for need in release.of(extra)
    }
    if not any(exclusion.covers(exclusion.package, *edge) for edge in edges):
        close = closest(exclusion.on, (on for _, on, _ in edges))
        better = f"; did you mean `{edge_name(exclusion.package, exclusion.extra, close)}`?" if close else ""
        yield f"no release of {exclusion.package} that was read needs {exclusion.on} here{better}"


def _why(waiver: Waiver, universe: Universe) -> Iterator[str]:
    edges = {
        (extra, need.name)
        for (name, _), release in universe.dependencies.items()
        for extra in ("", *release.extras)
        for need in release.of(extra)
        if name == waiver.package
    }
    if all(name != waiver.package for name, _ in universe.dependencies):
        better = _meant(waiver, closest(waiver.package, (name for name, _ in universe.dependencies)))
        yield f"nothing here needs {waiver.package}{better}"
    elif any(on == waiver.on and waiver.extra in ("", extra) for extra, on in edges):
        if _is_abi_pin(waiver, universe):
            pinned = f"{waiver.package} is built for one release of {waiver.on} and pins it"
            yield f"{pinned}; such a pin is never waived"
    else:
        who = f"{waiver.package}[{waiver.extra}]" if waiver.extra else waiver.package
        on = closest(waiver.on, (on for _, on in edges))
        better = (
            _meant(waiver, waiver.package, min(extra for extra, name in edges if name == on), on)
            if on
            else ""
        )
        yield f"no release of {who} that was read needs {waiver.on} here{better}"


def _meant(waiver: Waiver, package: str, extra: str | None = None, on: str = "") -> str:
    if not package:
        return ""
    edge = edge_name(package, waiver.extra if extra is None else extra, on or waiver.on)
    return f"; did you mean `{edge}{waiver.bound}`?"


def _is_abi_pin(waiver: Waiver, universe: Universe) -> bool:
    """Whether all bounds that the waiver is about are pins of compiled interfaces."""
    if waiver.on not in universe.packages:
        return False
    return all(
        universe.is_abi_pin(name, index, need)
        for (name, index), release in universe.dependencies.items()
        for extra in ("", *release.extras)
        for need in release.of(extra)
        if name == waiver.package
        and need.name == waiver.on
        and need.specifier
        and waiver.extra in ("", extra)
    )
