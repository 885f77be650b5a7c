"""uv.lock read as a lock. It is never written here: the uv binary does that.

The form is uv's own (version 1): a graph of packages, with markers on its edges, for all targets of a
project at once. Here each package gets the marker under which the project reaches it.
"""

from __future__ import annotations

import re
from collections import Counter

from compatlock.errors import InputError
from compatlock.lockfile.reader import Reader
from compatlock.model.display import public_url
from compatlock.model.lock import Lock, LockedEdge, LockedFile, Pin
from compatlock.model.names import normalise
from compatlock.model.toml import parse_toml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compatlock.model.lock import OlderPin

    # A package of the lock, or an extra of it: (name, version, extra).
    Node = tuple[str, str, str]
    # Markers that all have to hold, and alternatives of such.
    Conjunction = frozenset[str]
    Condition = frozenset[Conjunction]

VERSION = 1
_ALWAYS: Condition = frozenset({frozenset()})
# Of a condition with more alternatives it is said that it always holds, which errs on the side of more pins.
_MOST_ALTERNATIVES = 16
# What uv syncs when nothing is said.
_DEFAULT_GROUPS = ("dev",)
# Sources that are the project's own folders, not releases.
_LOCAL = ("virtual", "editable", "directory")


def read_uv_lock(text: str, path: str = "uv.lock", *, whole: bool = False) -> Lock:
    """Return what a uv.lock pins for the projects in it, with their default groups and without extras; with
    all groups and extras of theirs if `whole`.

    Packages from registries are pins, with their files and markers; what is from a URL, a repository or a
    folder is a note. Raises InputError when it is no uv.lock of a version that is known.
    """
    document = Reader(parse_toml(text, path), path)
    version = document.value.get("version")
    if version != VERSION:
        raise InputError(f"{path}: a uv.lock of version {version!r:.20}; this compatlock reads {VERSION}")
    packages = {_key(package): package for package in document.items("package", [])}
    projects = [key for key, package in packages.items() if _is_local(package)]
    conditions = _reached(packages, projects, whole=whole)
    pins, notes = [], []
    for key, package in packages.items():
        if key in projects or (*key, "") not in conditions:
            continue
        if "registry" in _source(package).value:
            pins.append(_pin(package, key, conditions, projects, packages))
        else:
            notes.append(f"{path}: {key[0]} is not a release from an index, and is left out")
    edges = [edge for key, package in packages.items() for edge in _edges(package, key, projects, path)]
    python = document.text("requires-python", "")
    return Lock(
        pins=tuple(sorted(pins)),
        edges=tuple(sorted(set(edges))),
        roots=tuple(sorted({pin.name for pin in pins if pin.is_root})),
        strategy="uv",
        notes=tuple([f"it requires Python {python}"] if python else []) + tuple(sorted(notes)),
    )


def read_uv_pins(text: str, path: str = "uv.lock") -> tuple[OlderPin, ...]:
    """Return the pins of a uv.lock for whatever is asked of its projects: with all extras and groups. Of a
    package of which these have several versions, the pins are those without. Raises as `read_uv_lock`."""
    plain = read_uv_lock(text, path).older_pins
    pins = read_uv_lock(text, path, whole=True).older_pins
    counts = Counter(pin.name for pin in pins)
    contested = {pin.name for pin in plain if counts[pin.name] > 1}
    return tuple(
        sorted(
            (
                *(pin for pin in pins if pin.name not in contested),
                *(pin for pin in plain if pin.name in contested),
            )
        )
    )


def requires_python_of(text: str, path: str = "uv.lock") -> str:
    """Return the specifier of the Pythons that a uv.lock is for, `""` when it does not say. Raises
    InputError when it is no TOML."""
    return Reader(parse_toml(text, path), path).text("requires-python", "")


def _key(package: Reader) -> tuple[str, str]:
    return normalise(package.text("name")), package.text("version", "")


def _source(package: Reader) -> Reader:
    return Reader(package.value.get("source", {}), package.where)


def _is_local(package: Reader) -> bool:
    return any(kind in _source(package).value for kind in _LOCAL)


def _reached(
    packages: Mapping[tuple[str, str], Reader], projects: Sequence[tuple[str, str]], *, whole: bool
) -> dict[Node, Condition]:
    """The packages and extras that the projects lead to, each with the condition under which they do."""
    versions: dict[str, list[str]] = {}
    for name, version in packages:
        versions.setdefault(name, []).append(version)
    found: dict[Node, Condition] = {}
    queue: list[tuple[Node, Condition]] = [((*key, ""), _ALWAYS) for key in projects]
    if whole:
        for key in projects:
            extras = map(normalise, packages[key].value.get("optional-dependencies", {}))
            queue += (((*key, extra), _ALWAYS) for extra in extras)
    while queue:
        node, condition = queue.pop()
        known = found.get(node, frozenset())
        joined = _simplified(known | condition)
        if joined == known:
            continue
        found[node] = joined
        package = packages[node[:2]]
        for need in _needs(package, node[2], is_project=node[:2] in set(projects), all_groups=whole):
            name = normalise(need.text("name"))
            marker = need.text("marker", "")
            under = frozenset(each | {marker} for each in joined) if marker else joined
            for version in [need.text("version", "")] if "version" in need.value else versions.get(name, []):
                if (name, version) in packages:
                    more = [normalise(extra) for extra in need.texts("extra", [])]
                    queue += (((name, version, extra), under) for extra in ("", *more))
    return found


def _needs(package: Reader, extra: str, *, is_project: bool, all_groups: bool = False) -> Iterator[Reader]:
    if extra:
        tables = Reader(package.value.get("optional-dependencies", {}), package.where)
        for written in tables.value:
            if normalise(written) == extra:
                yield from tables.items(written)
        return
    yield from package.items("dependencies", [])
    if is_project:
        groups = Reader(package.value.get("dev-dependencies", {}), package.where)
        for group in tuple(groups.value) if all_groups else _DEFAULT_GROUPS:
            yield from groups.items(group, [])


def _simplified(condition: Condition) -> Condition:
    """Without alternatives that another one covers."""
    kept = frozenset(each for each in condition if not any(other < each for other in condition))
    return kept if len(kept) <= _MOST_ALTERNATIVES else _ALWAYS


def _marker(condition: Condition) -> str:
    """A condition as a marker (PEP 508)."""
    if condition == _ALWAYS:
        return ""
    alternatives = sorted(" and ".join(sorted(map(_part, each))) for each in condition)
    return " or ".join(alternatives)


def _part(marker: str) -> str:
    return f"({marker})" if re.search(r"\bor\b", marker) else marker


def _pin(
    package: Reader,
    key: tuple[str, str],
    conditions: Mapping[Node, Condition],
    projects: Iterable[tuple[str, str]],
    packages: Mapping[tuple[str, str], Reader],
) -> Pin:
    files = [*package.items("wheels", [])]
    if "sdist" in package.value:
        files.append(Reader(package.value["sdist"], package.where))
    asked = {
        normalise(need.text("name"))
        for project in projects
        for need in _needs(packages[project], "", is_project=True)
    }
    node = (*key, "")
    return Pin(
        name=key[0],
        version=key[1],
        files=tuple(map(_file, files)),
        extras=tuple(sorted(node[2] for node in conditions if node[:2] == key and node[2])),
        is_root=key[0] in asked,
        newest=key[1],
        marker=_marker(conditions[node]),
    )


def _file(reader: Reader) -> LockedFile:
    url = reader.text("url", reader.text("path", ""))
    digest = reader.text("hash", "")
    return LockedFile(
        filename=re.split(r"[/\\]", url.partition("#")[0].partition("?")[0])[-1],
        sha256=digest.removeprefix("sha256:") if digest.startswith("sha256:") else "",
        size=reader.number("size", 0),
        url=public_url(url) if "://" in url else "",
    )


def _edges(
    package: Reader, key: tuple[str, str], projects: Iterable[tuple[str, str]], path: str
) -> Iterator[LockedEdge]:
    """Who needs whom; what bounds packages declare, a uv.lock does not say."""
    if key in projects:
        metadata = Reader(package.value.get("metadata", {}), package.where)
        for line in metadata.items("requires-dist", []):
            extras = tuple(sorted(map(normalise, line.texts("extras", []))))
            if "extra ==" not in line.text("marker", ""):
                specifier = line.text("specifier", "")
                yield LockedEdge("", normalise(line.text("name")), specifier, extras=extras, origin=path)
        return
    for extra in ("", *map(normalise, package.value.get("optional-dependencies", {}))):
        for need in _needs(package, extra, is_project=False):
            extras = tuple(sorted(map(normalise, need.texts("extra", []))))
            yield LockedEdge(key[0], normalise(need.text("name")), "", extra, extras)
