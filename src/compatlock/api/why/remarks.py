"""Remarks on an answer: documented waivers that it does not need, and what overrides broke needlessly."""

from __future__ import annotations

from compatlock.errors import IndexUnavailable
from compatlock.index.supply import CacheChanged
from compatlock.model.display import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from compatlock.api.drive import KeptSearch
    from compatlock.index.supply import Supply
    from compatlock.model.fact import Fact
    from compatlock.model.lock import Lock, LockedEdge, Pin
    from compatlock.model.package import Package
    from compatlock.model.request import Request
    from compatlock.model.waiver import Waiver

# So many older releases are looked at for the one that still needed a waiver.
_OLDER = 40
# So many broken edges are named.
_NAMED = 4


def unneeded_waivers(lock: Lock, request: Request, supply: Supply) -> tuple[str, ...]:
    """A remark on each waiver of a profile that the answer does not spend: since which release of the package
    its bound allows what is pinned. It is news of a run, no part of a lock."""
    broken = {(edge.package, edge.on) for edge in lock.edges if edge.waived}
    pins = lock.versions
    return tuple(
        _unneeded(waiver, pins, supply)
        for waiver in request.waivers
        if waiver.source.startswith("profile ")
        and waiver.package in pins
        and waiver.on in pins
        and (waiver.package, waiver.on) not in broken
    )


def _unneeded(waiver: Waiver, pins: dict[str, str], supply: Supply) -> str:
    release, pinned = f"{waiver.package} {pins[waiver.package]}", f"{waiver.on} {pins[waiver.on]}"
    key = f"unneeded:{supply.target.key}:{supply.policy.key}:{waiver}:{release}:{pinned}"
    since = supply.memo.get(key)
    if since is None:
        try:
            since = _since(waiver, pins, supply)
        except CacheChanged:
            raise
        except IndexUnavailable:
            since = ""
        else:
            supply.memo[key] = since
    text = f"the documented waiver `{waiver}` ({waiver.source.partition(' (')[0]}) is not needed"
    if since:
        return f"{text}: {waiver.package} allows {pinned} since {since}"
    return f"{text}: {release} allows {pinned}"


def _since(waiver: Waiver, pins: dict[str, str], supply: Supply) -> str:
    """The oldest release of the package from which on all allow the pin; `""` when all there are do."""
    package, on = supply.package(waiver.package), supply.package(waiver.on)
    chosen, at = package.index_of(pins[waiver.package]), on.index_of(pins[waiver.on])
    assert chosen is not None
    assert at is not None
    older = [i for i in range(chosen + 1, package.size) if i not in package.gates][:_OLDER]
    releases = supply.dependencies((package.name, i) for i in older)
    since = chosen
    for index in older:
        release = releases[package.name, index]
        needs = [*release.base, *(need for needs in release.extras.values() for need in needs)]
        if not all(on.admits(need.specifier, at) for need in needs if need.name == on.name):
            return package.versions[since]
        since = index
    return ""


def prices_of_freeing(
    far: Sequence[tuple[Pin, str, int]], lock: Lock, request: Request, supply: Supply, kept: KeptSearch
) -> tuple[str, ...]:
    """A remark on each package that is far behind (see `far_behind`): what the newest release would cost, as
    far as the index (or offline the cache) tells; of those that extras name also how old they are and why.
    `kept` is the search that found the lock. What was too much to prove of the lock is too much here, too."""
    from compatlock.api.why.explain_words import cost_in_words
    from compatlock.api.why.prices import Session

    told = []
    try:
        session = Session(request, supply, lock, kept)
        for pin, newest, days in far:
            wanted = f"{pin.name} {newest}"
            if kept.is_unproved:
                cost = f"what {wanted} would cost was not looked for, as the lock itself is not proved"
            else:
                cost = f"{wanted} {cost_in_words(session.price(pin.name, newest, ways_out=False))}"
            age = "" if pin.is_root else f"{_age(pin, newest, days, lock, request)}; "
            why = f"`compatlock explain ... {pin.name}` tells more"
            told.append(f"{age}{cost}; {why}")
    except CacheChanged:
        raise
    except IndexUnavailable:
        pass
    finally:
        kept.close()
    return tuple(told)


def _age(pin: Pin, newest: str, days: int, lock: Lock, request: Request) -> str:
    """How old a package is that an extra names, which extra, and what holds it back."""
    asked = {(root.name, extra) for root in request.roots for extra in root.extras}
    edges = (edge for edge in lock.edges if edge.on == pin.name and (edge.package, edge.extra) in asked)
    named = "".join(f", which {edge.package}[{edge.extra}] names," for edge in edges)
    held = f" (held back: {pin.held_by[0]})" if pin.held_by else ""
    return f"{pin.name} {pin.version}{named} is {counted(days, 'day')} behind {newest}{held}"


def override_notes(lock: Lock, request: Request, supply: Supply) -> Iterator[str]:
    """A remark on each override that broke declared edges: which, and how many of them waivers would keep."""
    for override in request.overrides:
        broken = [edge for edge in lock.edges if edge.waived and edge.on == override.name and edge.package]
        if not broken:
            continue
        count = counted(len(broken), "declared bound")
        named = ", ".join(_edge(edge, lock) for edge in broken[:_NAMED])
        more = f" and {len(broken) - _NAMED} more" if broken[_NAMED:] else ""
        text = f"the override {override} breaks {count}: {named}{more}"
        kept = _kept_by_waivers(request, supply, broken)
        yield text + (f"; waivers instead would keep {kept} of them" if kept else "")
        for edge in broken:
            for fact in _hard_facts(edge, lock, request, supply):
                what = f"a bound that must hold, {_edge(edge, lock)}"
                because = f"{fact.summary} (known fact `{fact.id}`)"
                yield f"warning: the override {override} breaks {what}: {because}"


def edge_override_notes(lock: Lock, request: Request) -> Iterator[str]:
    """A remark on each override of one edge that broke it."""
    for override in request.edge_overrides:
        for edge in lock.edges:
            if edge.waived and (edge.package, edge.on) == (override.package, override.on):
                yield f"the override {override} breaks {_edge(edge, lock)}"


def exclusion_notes(lock: Lock, request: Request, supply: Supply) -> Iterator[str]:
    """A remark on each dependency of pins that was taken away. (A check of the lock reads it.)"""
    amendments = request.amendments
    needed_by: dict[str, dict[str, None]] = {}
    for pin in lock.pins:
        index = supply.package(pin.name).index_of(pin.version)
        if index is None:
            continue
        for extra in ("", *pin.extras):
            for need in supply.release(pin.name, index).of(extra):
                if need.name != pin.name and amendments.excludes(pin.name, extra, need.name, pin.version):
                    who = f"{pin.name}[{extra}]" if extra else pin.name
                    needed_by.setdefault(need.name, {})[who] = None
    for name, needing in sorted(needed_by.items()):
        yield f"left out: {name}, needed by {', '.join(needing)}"


def _hard_facts(edge: LockedEdge, lock: Lock, request: Request, supply: Supply) -> Iterator[Fact]:
    """The facts that say of this release that its bound must never be waived."""
    for fact in request.facts:
        if fact.kind == "hard" and (fact.package, fact.on) == (edge.package, edge.on):
            package = supply.package(edge.package)
            index = package.index_of(lock.versions[edge.package])
            if index is not None and any(package.admits(row.versions, index) for row in fact.bounds):
                yield fact


def _edge(edge: LockedEdge, lock: Lock) -> str:
    return f"{edge.package} {lock.versions[edge.package]} needs {edge.on}{edge.specifier}"


def _kept_by_waivers(request: Request, supply: Supply, broken: list[LockedEdge]) -> int:
    """How many fewer edges are broken when, instead of the overrides, just these edges may be waived."""
    from compatlock.api.drive import drive
    from compatlock.model.waiver import Waiver
    from compatlock.solver.search import search
    from compatlock.solver.universe import Universe

    hard = {(fact.package, fact.on) for fact in request.facts if fact.kind == "hard"}
    waivable = [edge for edge in broken if (edge.package, edge.on) not in hard]
    permitted = {Waiver(edge.package, edge.on, source="--waive") for edge in waivable}
    changed = request._replace(overrides=(), waivers=tuple(sorted({*request.waivers, *permitted})))
    universe = Universe(changed.amendments, supply.is_compiled, supply.is_elsewhere)
    solution = drive(search(universe, changed), universe, supply)
    if solution is None:
        return 0

    def package(name: str) -> Package:
        return universe.packages[name]

    names = {edge.on for edge in broken}
    still = sum(
        not package(need.name).admits(need.specifier, solution.chosen[need.name])
        for name, index in solution.chosen.items()
        for extra in ("", *solution.extras.get(name, ()))
        for need in universe.dependencies[name, index].of(extra)
        if need.name in names
    )
    return max(0, len(broken) - still)
