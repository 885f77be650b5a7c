"""The entries of `[tool.uv]` that make uv lock exactly the pins of a lock.

uv resolves by itself, from what the project asks for. So each pin becomes a constraint, each bound that was
waived an override of that one dependency, each edge that was taken away an exclusion; and nothing is locked
for other environments than the targets, of which nothing was proved.
"""

from __future__ import annotations

from compatlock.lockfile.markers import marker_of
from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from compatlock.model.amendments import Amendments
    from compatlock.model.index import Indexes, PackageIndex
    from compatlock.model.lock import Lock, LockedEdge
    from compatlock.model.requirement import Requirement
    from compatlock.model.target import Target
    from compatlock.model.waiver import Exclusion, Waiver

    Item = str | dict[str, object]


class UvIndex(NamedTuple):
    """An entry of `[[tool.uv.index]]`."""

    name: str
    url: str
    default: bool = False
    explicit: bool = False


class UvPart(NamedTuple):
    """One target of a lock: its pins and edges, what was decreed over metadata, the waivers allowed, and the
    dependencies (package and what it needs) that releases have without declaring them."""

    target: Target
    lock: Lock
    amendments: Amendments
    waivers: tuple[Waiver, ...] = ()
    undeclared: frozenset[tuple[str, str]] = frozenset()

    def is_beyond(self, edge: LockedEdge, version: str) -> bool:
        """Whether the pins are not what the edge of a release declares, nor what the project's own file says
        instead."""
        if (edge.package, edge.on) in self.undeclared:
            return True
        return edge.waived and self.amendments.override(edge.package, edge.on, version) is None


class Decreed(NamedTuple):
    """What the run itself says, beside the project's file: overrides of every bound on a package, edges taken
    away, indexes, and policies as uv writes them (`exclude-newer` and others)."""

    overrides: tuple[Requirement, ...] = ()
    exclusions: tuple[Exclusion, ...] = ()
    indexes: tuple[UvIndex, ...] = ()
    sources: tuple[tuple[str, str], ...] = ()
    policies: tuple[tuple[str, object], ...] = ()


class UvEntries(NamedTuple):
    """Entries of `[tool.uv]`: `lists` are arrays by key, `values` single values by key, `sources` pairs of a
    package and the name of its index."""

    lists: tuple[tuple[str, tuple[Item, ...]], ...] = ()
    values: tuple[tuple[str, object], ...] = ()
    indexes: tuple[UvIndex, ...] = ()
    sources: tuple[tuple[str, str], ...] = ()

    @property
    def is_scoped(self) -> bool:
        """Whether an entry is about the dependencies of one package, which uv knows since 0.12."""
        return any(not isinstance(item, str) for _, items in self.lists for item in items)


def entries_of(
    lock: Lock, parts: Sequence[UvPart], decreed: Decreed, exact: Collection[str] = ()
) -> UvEntries:
    """Return the entries for a lock of one target, or of several, whose `parts` are given. `exact` are
    packages of which there are local builds (`2.7.0+cu128`) of what is pinned: `==` admits them."""
    lists = {
        "environments": _environments(parts),
        "constraint-dependencies": _constraints(lock, exact),
        "override-dependencies": _overrides(parts, decreed),
        "exclude-dependencies": _exclusions(decreed.exclusions),
    }
    return UvEntries(
        tuple((key, items) for key, items in lists.items() if items),
        decreed.policies,
        decreed.indexes,
        decreed.sources,
    )


def uv_indexes(indexes: Indexes) -> tuple[tuple[UvIndex, ...], tuple[tuple[str, str], ...]]:
    """Return the indexes of a run as uv has them, all named, and the packages that are assigned to one."""
    names: dict[PackageIndex, str] = {}
    taken = {index.name for index in (*indexes.extra, indexes.default, *(i for _, i in indexes.assigned))}

    def name(index: PackageIndex) -> str:
        if index not in names:
            free = (f"compatlock-{number}" for number in range(1, 1000))
            names[index] = index.name or next(n for n in free if n not in taken)
            taken.add(names[index])
        return names[index]

    only = dict.fromkeys(index for _, index in indexes.assigned if index != indexes.default)
    found = [UvIndex(name(i), i.url, explicit=True) for i in only]
    found += (UvIndex(name(i), i.url) for i in indexes.extra if i not in only)
    if indexes.default.url:
        found.append(UvIndex(name(indexes.default), indexes.default.url, default=True))
    sources = tuple((project, name(index)) for project, index in indexes.assigned if index.url)
    return tuple(found), sources


def _environments(parts: Sequence[UvPart]) -> tuple[Item, ...]:
    """The targets as markers. Pythons of one platform that follow each other and have the same pins are one:
    uv resolves once for each."""
    targets = sorted((part.target for part in parts), key=lambda t: (_place(t), t.python_minor))
    versions = {part.target: part.lock.versions for part in parts}
    runs: list[list[Target]] = []
    for target in targets:
        last = runs[-1][-1] if runs else None
        if (
            last is not None
            and _place(last) == _place(target)
            and last.python_minor[1] + 1 == target.python_minor[1]
            and versions[last] == versions[target]
        ):
            runs[-1].append(target)
        else:
            runs.append([target])
    return tuple(_environment(run[0], run[-1]) for run in runs)


def _place(target: Target) -> tuple[str, str]:
    values = target.marker_environment
    return values["sys_platform"], values["platform_machine"]


def _environment(first: Target, last: Target) -> str:
    low, high = first.python_minor, last.python_minor
    python = f"python_version == '{low[0]}.{low[1]}'"
    if low != high:
        python = f"python_version >= '{low[0]}.{low[1]}' and python_version < '{high[0]}.{high[1] + 1}'"
    system, machine = _place(first)
    # Both: packages ask either whether it is CPython, and to uv the two have nothing to do with each other.
    cpython = "implementation_name == 'cpython' and platform_python_implementation == 'CPython'"
    return f"{python} and sys_platform == '{system}' and platform_machine == '{machine}' and {cpython}"


def _constraints(lock: Lock, exact: Collection[str]) -> tuple[Item, ...]:
    """The pins. A package that has one version has it wherever it is needed."""
    versions: dict[str, dict[str, list[str]]] = {}
    for pin in lock.pins:
        versions.setdefault(pin.name, {}).setdefault(pin.version, []).append(pin.marker)
    found: list[Item] = []
    for name, by_version in sorted(versions.items()):
        one, equals = len(by_version) == 1, "===" if name in exact else "=="
        for version, markers in by_version.items():
            found.append(_with_marker(f"{name}{equals}{version}", "" if one else " or ".join(markers)))
    return tuple(found)


def _overrides(parts: Sequence[UvPart], decreed: Decreed) -> tuple[Item, ...]:
    assigned = {project for project, _ in decreed.sources}
    everywhere = {requirement.name for requirement in decreed.overrides}
    found: list[Item] = []
    for requirement in decreed.overrides:
        found += _everywhere(requirement.name, requirement.specifier, parts, requirement.marker)
    scoped: dict[tuple[str, str], dict[str, str]] = {}
    for (package, version, on), bound in sorted(_beyond(parts).items()):
        if on not in assigned:
            scoped.setdefault((package, version), {})[on] = bound
        elif on not in everywhere:
            # uv takes no override of a single edge for what has an index of its own.
            everywhere.add(on)
            found += _everywhere(on, "", parts)
    for (package, version), bounds in scoped.items():
        found.append(
            {"package": {"name": package, "version": version}, "dependencies": list(bounds.values())}
        )
    return tuple(found)


def _beyond(parts: Sequence[UvPart]) -> dict[tuple[str, str, str], str]:
    """By package, version and what it needs: what to demand in the place of bounds that the pins break, and
    of what is needed and not declared. (uv adds what a release does not declare.)"""
    seen: dict[tuple[str, str, str], list[tuple[UvPart, LockedEdge]]] = {}
    pinned: dict[tuple[str, str], set[Target]] = {}
    for part in parts:
        versions = part.lock.versions
        for edge in part.lock.edges:
            if edge.package in versions and edge.package != edge.on:
                seen.setdefault((edge.package, versions[edge.package], edge.on), []).append((part, edge))
        for release in versions.items():
            pinned.setdefault(release, set()).add(part.target)
    targets = [part.target for part in parts]
    found = {}
    for (package, version, on), edges in seen.items():
        if any(part.is_beyond(edge, version) for part, edge in edges):
            extras = sorted({extra for _, edge in edges for extra in edge.extras})
            bounds = {bound for part, edge in edges if edge.waived for bound in _instead(edge, part.waivers)}
            there = {part.target for part, _ in edges}
            marker = "" if there == pinned[package, version] else marker_of(there, targets)
            text = f"{on}{_extras(extras)}{','.join(sorted(bounds))}"
            found[package, version, on] = _with_marker(text, marker)
    return found


def _instead(edge: LockedEdge, waivers: Iterable[Waiver]) -> list[str]:
    """The bounds that waivers put in the place of an edge's."""
    return [
        waiver.bound
        for waiver in waivers
        if (waiver.package, waiver.on) == (edge.package, edge.on)
        and waiver.extra in ("", edge.extra)
        and waiver.bound
    ]


def _everywhere(name: str, specifier: str, parts: Sequence[UvPart], marker: str = "") -> list[Item]:
    """An override of every requirement of a package. To uv it stands for them with their markers and extras,
    so that it has to have those."""
    there = [part.target for part in parts if name in part.lock.versions]
    if not there:
        return []
    extras = {x for part in parts for edge in part.lock.edges if edge.on == name for x in edge.extras}
    needed = marker_of(there, [part.target for part in parts])
    both = " and ".join(f"({each})" for each in (marker, needed)) if marker and needed else marker or needed
    return [_with_marker(f"{name}{_extras(sorted(extras))}{specifier}", both)]


def _exclusions(exclusions: Collection[Exclusion]) -> tuple[Item, ...]:
    found: list[Item] = [each.on for each in exclusions if not each.package]
    scoped: dict[tuple[str, str], set[str]] = {}
    for each in exclusions:
        if each.package:
            scoped.setdefault((each.package, each.version), set()).add(each.on)
    for (package, version), names in sorted(scoped.items()):
        release = {"name": package, **({"version": version} if version else {})}
        found.append({"package": release, "dependencies": sorted(names)})
    return tuple(found)


def _extras(extras: Sequence[str]) -> str:
    return f"[{','.join(extras)}]" if extras else ""


def _with_marker(text: str, marker: str) -> str:
    return f"{text} ; {marker.replace(chr(34), chr(39))}" if marker else text
