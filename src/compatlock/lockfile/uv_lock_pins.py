"""What uv would install from a uv.lock: for one target, some extras and some groups of its project."""

from __future__ import annotations

import re

from compatlock.errors import InputError
from compatlock.lockfile.reader import Reader
from compatlock.lockfile.uv_lock_read import VERSION
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.names import normalise
from compatlock.model.toml import parse_toml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from compatlock.model.lock import Lock
    from compatlock.model.target import Target

    Key = tuple[str, str]  # name and version

# The folder of the project itself, as uv.lock names it.
_HERE = "."
_LOCAL = ("virtual", "editable", "directory")
# How uv writes that an extra or a group of a package is chosen, the name's length before the name.
_CHOSEN = re.compile(r"extra\s*(==|!=)\s*'(extra|group)-(\d+)-([a-z0-9-]+)'")
_TABLES = {"extra": "optional-dependencies", "group": "dev-dependencies"}
_TRUE, _FALSE = "python_version >= '0'", "python_version < '0'"


class Chosen(NamedTuple):
    """What is installed of projects: themselves (`project`), extras and groups; None is all of them. `places`
    are their folders, as uv.lock names them: `.` is its own."""

    extras: Collection[str] | None = ()
    groups: Collection[str] | None = ()
    project: bool = True
    places: tuple[str, ...] = (_HERE,)


class UvPackage(NamedTuple):
    """A package as uv.lock has it: `source` is `registry`, `git` and so on, `hashes` those of its files by
    file name."""

    version: str
    source: str
    hashes: Mapping[str, str]


class UvLock:
    """A uv.lock, read from its text. Raises InputError when it is none of a version that is known."""

    def __init__(self, text: str, path: str = "uv.lock") -> None:
        document = Reader(parse_toml(text, path), path)
        version = document.value.get("version")
        if version != VERSION:
            raise InputError(f"{path}: a uv.lock of version {version!r:.20}; this compatlock reads {VERSION}")
        self._packages = {_key(package): package for package in document.items("package", [])}
        self._supported = document.texts("supported-markers", [])
        self._path = path

    @property
    def packages(self) -> dict[str, list[str]]:
        """The versions of every package that is from an index, whatever it is for."""
        found: dict[str, list[str]] = {}
        for (name, version), package in self._packages.items():
            if _kind(package) not in _LOCAL:
                found.setdefault(name, []).append(version)
        return found

    def supports(self, target: Target) -> bool:
        """Whether the target is one of the environments that it is for."""
        holds = _Markers(target, frozenset())
        return not self._supported or any(map(holds, self._supported))

    def installed(self, target: Target, chosen: Chosen) -> dict[str, UvPackage]:
        """What is installed for a target, without what is a folder of the project's own."""
        projects = [self._project(place) for place in chosen.places]
        active = {each for project in projects for each in _active(project, chosen)}
        holds = _Markers(target, active)
        queue: list[tuple[Key, str]] = []

        def follow(needs: Iterable[Reader]) -> None:
            for need in needs:
                if not need.text("marker", "") or holds(need.text("marker")):
                    for key in self._meant(need, target):
                        queue.append((key, ""))
                        queue.extend((key, normalise(extra)) for extra in need.texts("extra", []))

        for project in projects:
            if chosen.project:
                follow(project.items("dependencies", []))
        for kind, name, part in sorted(active):
            for project in projects:
                if normalise(project.text("name")) == name:
                    follow(_of(project, _TABLES[kind], part))
        seen: set[tuple[Key, str]] = set()
        while queue:
            node = queue.pop()
            if node in seen:
                continue
            seen.add(node)
            package = self._packages[node[0]]
            if node[1]:
                follow(_of(package, _TABLES["extra"], node[1]))
            else:
                follow(package.items("dependencies", []))
        found = {key: self._packages[key] for key, _ in seen}
        return {key[0]: _package(key, p) for key, p in found.items() if _kind(p) not in _LOCAL}

    def _project(self, place: str) -> Reader:
        """The project in a folder. Raises InputError when there is none."""
        for package in self._packages.values():
            if _place(package) == place:
                return package
        where = "its folder" if place == _HERE else place
        raise InputError(f"{self._path}: it is not about the project in {where}")

    def _meant(self, need: Reader, target: Target) -> Iterator[Key]:
        """The packages that a need names. Where it does not name a version, there is one, or one by the
        markers of where it was resolved for."""
        name = normalise(need.text("name"))
        if "version" in need.value:
            keys = [(name, need.text("version"))]
        else:
            keys = [key for key in self._packages if key[0] == name]
        holds = _Markers(target, frozenset())
        for key in keys:
            package = self._packages.get(key)
            if package is not None:
                markers = package.texts("resolution-markers", [])
                if len(keys) == 1 or not markers or any(map(holds, markers)):
                    yield key


def _active(project: Reader, chosen: Chosen) -> Iterator[tuple[str, str, str]]:
    """The extras and groups of a project that are chosen: kind, project and name. With an extra go those that
    it names."""
    name = normalise(project.text("name"))
    groups = _names(project, _TABLES["group"])
    yield from (("group", name, g) for g in groups if chosen.groups is None or g in chosen.groups)
    if not chosen.project:
        return
    extras = _names(project, _TABLES["extra"])
    queue = [extra for extra in extras if chosen.extras is None or extra in chosen.extras]
    found: set[str] = set()
    while queue:
        extra = queue.pop()
        if extra not in found:
            found.add(extra)
            yield "extra", name, extra
            for need in _of(project, _TABLES["extra"], extra):
                if normalise(need.text("name")) == name:
                    queue += map(normalise, need.texts("extra", []))


class _Markers:
    """Evaluates markers for a target; `active` are the extras and groups that count as chosen: kind, package
    and name."""

    def __init__(self, target: Target, active: Collection[tuple[str, str, str]]) -> None:
        self._environment = {**target.marker_environment, "extra": ""}
        self._active = active

    def __call__(self, marker: str) -> bool:
        from packaging.markers import Marker

        return Marker(_CHOSEN.sub(self._truth, marker)).evaluate(self._environment)

    def _truth(self, match: re.Match[str]) -> str:
        operator, kind, length, rest = match.groups()
        size = int(length)
        chosen = (kind, rest[:size], rest[size + 1 :]) in self._active
        return _TRUE if chosen == (operator == "==") else _FALSE


def differences(lock: Lock, target: Target, uv_lock: UvLock, chosen: Chosen) -> tuple[str, ...]:
    """Return how what uv would install for a target differs from what a lock for it pins, in words."""
    if not uv_lock.supports(target):
        return (f"{target}: none of the environments of uv.lock",)
    installed = uv_lock.installed(target, chosen)
    pins = {pin.name: pin for pin in lock.pins}
    found = []
    for name in sorted(pins.keys() | installed.keys()):
        pin, package = pins.get(name), installed.get(name)
        if pin is None and package is not None:
            found.append(f"{name} {package.version} is in uv.lock, and not needed")
        elif pin is not None and package is None:
            found.append(f"{name} {pin.version} is not in uv.lock")
        elif pin is not None and package is not None:
            if package.source != "registry":
                found.append(f"{name}: uv.lock has it from {package.source}, not from an index")
            elif package.version != pin.version:
                found.append(f"{name} is {pin.version}, and {package.version} in uv.lock")
            else:
                found += _other_files(name, {f.filename: f.sha256 for f in pin.files}, package.hashes)
    return tuple(found)


def local_builds(lock: Lock, target: Target, uv_lock: UvLock, chosen: Chosen) -> tuple[str, ...]:
    """Return the packages of which uv would install a local build of what a lock for the target pins."""
    installed = uv_lock.installed(target, chosen)
    return tuple(
        pin.name
        for pin in lock.pins
        if pin.name in installed and installed[pin.name].version.startswith(f"{pin.version}+")
    )


def _other_files(name: str, ours: Mapping[str, str], theirs: Mapping[str, str]) -> Sequence[str]:
    return [
        f"{name}: {filename} has another hash in uv.lock"
        for filename, digest in sorted(ours.items())
        if digest and theirs.get(filename, digest) != digest
    ]


def _key(package: Reader) -> Key:
    return normalise(package.text("name")), package.text("version", "")


def _source(package: Reader) -> Mapping[str, object]:
    source = package.value.get("source", {})
    return source if isinstance(source, dict) else {}


def _kind(package: Reader) -> str:
    return next(iter(_source(package)), "registry")


def _place(package: Reader) -> str:
    """The folder of a package that is one of the project's own, `""` for any other."""
    source = _source(package)
    return next((str(source[kind]) for kind in _LOCAL if kind in source), "")


def _names(package: Reader, table: str) -> set[str]:
    return set(map(normalise, package.value.get(table, {})))


def _of(package: Reader, table: str, name: str) -> Iterator[Reader]:
    tables = Reader(package.value.get(table, {}), package.where)
    for written in tables.value:
        if normalise(written) == name:
            yield from tables.items(written)


def _package(key: Key, package: Reader) -> UvPackage:
    files = [*package.items("wheels", [])]
    if "sdist" in package.value:
        files.append(Reader(package.value["sdist"], package.where))
    hashes = {}
    for file in files:
        place = file.text("url", file.text("path", ""))
        digest = file.text("hash", "")
        if digest.startswith("sha256:"):
            filename = re.split(r"[/\\]", place.partition("#")[0].partition("?")[0])[-1]
            hashes[filename] = digest.removeprefix("sha256:")
    return UvPackage(key[1], _kind(package), hashes)
