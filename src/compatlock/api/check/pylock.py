"""What is wrong with the text of a pylock.toml (PEP 751), all at once and by line."""

from __future__ import annotations

import re

from compatlock.inputs.freeze import FrozenPin
from compatlock.model import report as kinds
from compatlock.model.display import excerpt
from compatlock.model.names import normalise
from compatlock.model.report import Discrepancy
from compatlock.model.toml import parse_toml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

_HEADER = re.compile(r"\s*\[\[\s*packages\s*\]\]")
_TABLE = re.compile(r"\s*\[")
_SOURCES = ("wheels", "sdist", "vcs", "directory", "archive")
_SHA256 = re.compile(r"[0-9A-Fa-f]{64}\Z")
# Where packaging says that something of a package is wrong.
_CONTEXT = re.compile(r"packages\[0\](?:\.([a-z-]+))?")


def pylock_defects(text: str, path: str) -> tuple[Discrepancy, ...]:
    """Return what is wrong with `text`, the content of the pylock.toml at `path`. Raises InputError, with the
    line, when it is no TOML."""
    return tuple(dict.fromkeys(_Document(text, path).defects()))


def pylock_pins(text: str, path: str) -> tuple[FrozenPin, ...]:
    """Return what a pylock.toml pins, as far as it can be told whatever its defects. Raises InputError when
    it is no TOML."""
    document = _Document(text, path)
    found = []
    for at, table in enumerate(document.packages):
        name, version, marker = (table.get(key) for key in ("name", "version", "marker"))
        if not isinstance(name, str) or not name.strip():
            continue
        marker = marker if isinstance(marker, str) and not _marker_problem(marker) else ""
        version = version if isinstance(version, str) else ""
        place = document.place(at)
        found.append(FrozenPin(normalise(name), version, place, (), marker, False, _hashes(table)))
    return tuple(found)


def pylock_target(text: str, path: str) -> str:
    """Return the target (or targets) that a pylock.toml of ours says it is for, in words; `""` when it does
    not say. Raises InputError when it is no TOML."""
    found: Any = parse_toml(text, path)
    for key in ("tool", "compatlock", "target"):
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, str) else ""


class _Document:
    def __init__(self, text: str, path: str) -> None:
        self._path = path
        self._values = parse_toml(text, path)
        packages = self._values.get("packages")
        tables = packages if isinstance(packages, list) else []
        self.packages = [table for table in tables if isinstance(table, dict)]
        self._lines = text.splitlines()
        self._starts = [at for at, line in enumerate(self._lines) if _HEADER.match(line)]

    def place(self, at: int, key: str = "", text: str = "") -> str:
        """`FILE:LINE` of a package, of one of its keys, or of a text in it."""
        if at >= len(self._starts):
            return self._path
        end = self._starts[at + 1] if at + 1 < len(self._starts) else len(self._lines)
        span = range(self._starts[at], end)
        wanted = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=") if key else None
        line = next((n for n in span if wanted is not None and wanted.match(self._lines[n])), span[0])
        if text:
            line = next((n for n in span if text in self._lines[n]), line)
        return f"{self._path}:{line + 1}"

    def _top_place(self, key: str) -> str:
        for number, line in enumerate(self._lines, 1):
            if _TABLE.match(line):
                break
            if re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
                return f"{self._path}:{number}"
        return self._path

    def defects(self) -> Iterator[Discrepancy]:
        yield from self._of_top()
        seen: dict[str, int] = {}
        for at, table in enumerate(self.packages):
            yield from self._of_package(at, table)
            name = table.get("name")
            if isinstance(name, str) and name:
                first = seen.setdefault(name, at)
                if first != at and not (table.get("marker") and self.packages[first].get("marker")):
                    text = f"{name} is there twice, and no marker says which holds when"
                    yield _defect(self.place(at), text, name, kind=kinds.DUPLICATE)

    def _of_top(self) -> Iterator[Discrepancy]:
        """Of the keys beside the packages; packaging tells the first of them."""
        environments = self._values.get("environments")
        for marker in environments if isinstance(environments, list) else ():
            problem = _marker_problem(marker) if isinstance(marker, str) else ""
            if problem:
                yield _defect(self._top_place("environments"), f"a marker of `environments` is {problem}")
                return
        error = _refused({**self._values, "packages": []})
        if error is not None:
            # Of an unknown version packaging does not tell the place.
            place = self._top_place(error[0].partition("[")[0] or "lock-version")
            yield _defect(place, error[1])
        elif not isinstance(self._values.get("packages"), list):
            yield _defect(self._path, "it has no `packages`")

    def _of_package(self, at: int, table: Mapping[str, Any]) -> Iterator[Discrepancy]:
        name = str(table.get("name", "")) or f"package {at + 1}"
        told = set()
        marker = table.get("marker")
        problem = _marker_problem(marker) if isinstance(marker, str) else ""
        if problem:
            told.add("marker")
            hints = (
                ("leave the key out for a package of all environments",) if not str(marker).strip() else ()
            )
            yield _defect(self.place(at, "marker"), f"the marker of {name} is {problem}", name, hints=hints)
        if not any(table.get(key) for key in _SOURCES):
            told.add("")
            text = f"{name} has no wheels, sdist or other source: there is nothing to install"
            yield _defect(self.place(at), text, name)
        for kind, file in _files(table):
            problem = _hash_problem(file)
            if problem:
                told.update((kind, "wheels", "sdist"))
                shown = _file_name(file) or f"a file of {name}"
                yield _defect(
                    self.place(at, kind, _file_name(file)), f"{shown} {problem}", name, kind=kinds.HASH
                )
        yield from self._missing(at, table, name)
        yield from self._other(at, table, name, told)

    def _other(self, at: int, table: Mapping[str, Any], name: str, told: set[str]) -> Iterator[Discrepancy]:
        """What else packaging refuses; it names one thing at a time, so what was told is put aside first."""
        rest = {key: value for key, value in table.items() if key not in told}
        if "" in told or told & {"wheels", "sdist"}:
            rest = {key: value for key, value in rest.items() if key not in _SOURCES}
            rest["directory"] = {"path": "."}
        header = {"lock-version": "1.0", "created-by": "compatlock", "packages": [rest]}
        error = _refused(header)
        if error is not None:
            found = _CONTEXT.match(error[0])
            key = (found[1] or "") if found is not None else ""
            text = f"{name}: {error[1]}" if not key else f"`{key}` of {name}: {error[1]}"
            yield _defect(self.place(at, key), text, name)

    def _missing(self, at: int, table: Mapping[str, Any], name: str) -> Iterator[Discrepancy]:
        """Dependencies that no package of the file is."""
        there = {normalise(str(other.get("name", ""))) for other in self.packages}
        needs = table.get("dependencies")
        for need in needs if isinstance(needs, list) else ():
            on = need.get("name") if isinstance(need, dict) else None
            if isinstance(on, str) and normalise(on) not in there:
                text = f"{name} needs {on}, which the file does not have"
                place = self.place(at, "dependencies", f'"{on}"')
                yield _defect(place, text, name, kind=kinds.MISSING)._replace(on=normalise(on))


def _defect(
    place: str, text: str, package: str = "", *, kind: str = kinds.DEFECT, hints: Sequence[str] = ()
) -> Discrepancy:
    return Discrepancy(kind, kinds.ERROR, package, "", f"{place}: {text}", hints=tuple(hints), origin=place)


def _refused(values: Mapping[str, Any]) -> tuple[str, str] | None:
    """Where and why packaging refuses a document; None when it takes it."""
    from packaging.pylock import Pylock, PylockValidationError

    try:
        Pylock.from_dict(values)
    except PylockValidationError as error:
        return error.context or "", " ".join(error.message.split())
    return None


def _marker_problem(marker: str) -> str:
    if not marker.strip():
        return "empty"
    from packaging.markers import InvalidMarker, Marker

    try:
        Marker(marker)
    except InvalidMarker:
        return f"no marker (PEP 508): `{excerpt(marker)}`"
    return ""


def _files(table: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    wheels = table.get("wheels")
    for file in wheels if isinstance(wheels, list) else ():
        if isinstance(file, dict):
            yield "wheels", file
    for key in ("sdist", "archive"):
        file = table.get(key)
        if isinstance(file, dict):
            yield key, file


def _file_name(file: Mapping[str, Any]) -> str:
    name = file.get("name") or str(file.get("url") or file.get("path") or "").rpartition("/")[2]
    return str(name)


def _hash_problem(file: Mapping[str, Any]) -> str:
    hashes = file.get("hashes")
    if not isinstance(hashes, dict) or not hashes:
        return "has no hash"
    digest = hashes.get("sha256")
    if isinstance(digest, str) and not _SHA256.match(digest):
        return f"has a SHA-256 that is none: `{excerpt(digest)}`"
    return ""


def _hashes(table: Mapping[str, Any]) -> tuple[str, ...]:
    found = (file.get("hashes") for _, file in _files(table))
    digests = (hashes.get("sha256") for hashes in found if isinstance(hashes, dict))
    return tuple(sorted(digest.lower() for digest in digests if isinstance(digest, str)))
