"""Two distributions of a set that install the same path with different content: the one installed last wins.

Sizes and checksums of the wheels' central directories tell it; only small Python sources are read, to see
whether they differ in more than comments.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping, Sequence

from compatlock.audit.layout import PREFIX, install_path, is_harmless, is_shared_object
from compatlock.audit.observed import not_with
from compatlock.audit.source import NOT_UNDERSTOOD, parse_source
from compatlock.model.artefact import Artefact, Content, Directory, Member, Observations, WheelReader
from compatlock.model.display import counted
from compatlock.model.finding import CERTAIN, POSSIBLE, Finding, Place
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.names import normalise

CHECK = "overlap"
KIND = "alike/1"  # paths of two wheels whose sources do the same

# Sources up to this size (unpacked, bytes) are compared statement by statement, this many at most.
_COMPARED = 64 * 1024
_COMPARED_COUNT = 256
_SHARE = 0.9
_PROJECT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

_NAMESPACE_CALLS = frozenset({"extend_path", "declare_namespace", "__import__"})


class Collision(NamedTuple):
    """Two members that are installed at the same path with different content."""

    path: str
    one: Member
    other: Member


class Overlap(NamedTuple):
    """What two artefacts have in common: how many paths, and those that differ, by what they are."""

    common: int = 0
    code: tuple[Collision, ...] = ()  # Python modules and shared objects
    data: tuple[Collision, ...] = ()  # other files, scripts
    harmless: tuple[Collision, ...] = ()  # tests, documentation, licences, stray build files


def check_overlap(
    artefacts: Sequence[Artefact], reader: WheelReader, observations: Observations
) -> list[Finding]:
    """Look for pairs of artefacts that overwrite each other's files; one finding a pair, sorted by names."""
    directories = reader.directories(artefact.file for artefact in artefacts)
    by_package = {artefact.package: artefact for artefact in artefacts}
    findings = []
    for first, second in _pairs(artefacts, directories):
        one, other = by_package[first], by_package[second]
        found = _overlap(one, other, directories, _Compare(reader, observations))
        if found.code or found.data or found.harmless:
            findings.append(_finding(one, other, found, directories))
    return findings


def overlap(
    one: Artefact, other: Artefact, reader: WheelReader, observations: Observations
) -> Overlap | None:
    """Return what two artefacts have in common, None when one cannot be read. Costs two central directories,
    and the small sources that differ."""
    directories = reader.directories([one.file, other.file])
    if any(directory.problem for directory in directories.values()):
        return None
    return _overlap(one, other, directories, _Compare(reader, observations))


def _pairs(artefacts: Iterable[Artefact], directories: Mapping[str, Directory]) -> list[tuple[str, str]]:
    """The pairs of packages that have a path in common with different content."""
    owners: dict[str, list[tuple[str, int, int]]] = {}
    for artefact in artefacts:
        for path, member in _installed(directories[artefact.file.filename]).items():
            owners.setdefault(path, []).append((artefact.package, member.size, member.crc))
    pairs: set[tuple[str, str]] = set()
    for several in owners.values():
        for at, one in enumerate(several[1:], 1):
            pairs.update((min(one[0], o[0]), max(one[0], o[0])) for o in several[:at] if o[1:] != one[1:])
    return sorted(pairs)


def _installed(directory: Directory) -> dict[str, Member]:
    """Members by the path where they are installed."""
    paths = ((install_path(member.path), member) for member in directory.members)
    return {path: member for path, member in paths if path}


def _overlap(
    one: Artefact, other: Artefact, directories: Mapping[str, Directory], compare: _Compare
) -> Overlap:
    ours = _installed(directories[one.file.filename])
    theirs = _installed(directories[other.file.filename])
    common = sorted(ours.keys() & theirs.keys())
    differ = [
        Collision(path, ours[path], theirs[path])
        for path in common
        if (ours[path].size, ours[path].crc) != (theirs[path].size, theirs[path].crc)
    ]
    harmless = [found for found in differ if is_harmless(found.path)]
    rest = [found for found in differ if not is_harmless(found.path)]
    alike = compare.alike(one, other, [found for found in rest if found.path.endswith(".py")])
    code = [found for found in rest if _is_code(found.path) and found.path not in alike]
    data = [found for found in rest if not _is_code(found.path)]
    return Overlap(len(common), tuple(code), tuple(data), tuple(harmless))


def _is_code(path: str) -> bool:
    return not path.startswith(PREFIX) and (path.endswith(".py") or is_shared_object(path))


class _Compare:
    """Compares sources of two artefacts; what came out is remembered."""

    def __init__(self, reader: WheelReader, observations: Observations) -> None:
        self._reader = reader
        self._observations = observations

    def alike(self, one: Artefact, other: Artefact, collisions: Sequence[Collision]) -> frozenset[str]:
        """The paths of sources that do the same: they differ in comments only, or both declare a
        namespace."""
        small = [c for c in collisions if max(c.one.size, c.other.size) <= _COMPARED][:_COMPARED_COUNT]
        if not small:
            return frozenset()
        key = (one.file.sha256, other.file.sha256)
        known = self._observations.get(KIND, [key]).get(key) if all(key) else None
        if known is not None:
            return frozenset(json.loads(known))
        ours = self._reader.contents([(one.file, c.one) for c in small])
        theirs = self._reader.contents([(other.file, c.other) for c in small])
        pairs = [
            (c.path, ours[one.file.filename, c.one.path], theirs[other.file.filename, c.other.path])
            for c in small
        ]
        found = [path for path, mine, its in pairs if _same(mine, its)]
        if all(key) and all(content.data or not content.problem for _, *both in pairs for content in both):
            self._observations.put(KIND, {key: json.dumps(found).encode()})
        return frozenset(found)


def _same(ours: Content, theirs: Content) -> bool:
    if ours.problem or theirs.problem or not (ours.complete and theirs.complete):
        return False
    try:
        one, other = parse_source(ours.data), parse_source(theirs.data)
        if _declares_namespace(one.body) and _declares_namespace(other.body):
            return True
        return ast.dump(one) == ast.dump(other)
    except NOT_UNDERSTOOD:
        return False


def _declares_namespace(statements: Iterable[ast.stmt]) -> bool:
    """Whether a module is empty, or does no more than to make its package a namespace (by pkgutil or
    pkg_resources, as before PEP 420)."""
    return all(_is_part_of_a_namespace(statement) for statement in statements)


def _is_part_of_a_namespace(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) or _calls_namespace(node.value)
    if isinstance(node, ast.Assign):
        names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        return names == ["__path__"] and _calls_namespace(node.value)
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        names = [alias.name for alias in node.names]
        module = node.module if isinstance(node, ast.ImportFrom) else ""
        return module in ("pkgutil", "pkg_resources", "__future__") or names in (
            ["pkgutil"],
            ["pkg_resources"],
        )
    if isinstance(node, ast.Try):
        bodies = [node.body, *(handler.body for handler in node.handlers), node.orelse, node.finalbody]
        return all(_declares_namespace(body) for body in bodies)
    return isinstance(node, ast.Pass)


def _calls_namespace(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in _NAMESPACE_CALLS


def _finding(one: Artefact, other: Artefact, found: Overlap, directories: Mapping[str, Directory]) -> Finding:
    """Put a pair's overlap into words. The older release is named first: the newer one, as a rule, has
    been made with it in mind."""
    if _age(other, directories) < _age(one, directories):
        one, other = other, one
        found = Overlap(found.common, *map(_turned, (found.code, found.data, found.harmless)))
    meant = _is_meant(found, one, other, directories)
    telling = found.code or found.data or found.harmless
    summary = _summary(one, other, found, telling, meant)
    severity = "degraded" if meant else "error"
    return Finding(
        check=CHECK,
        package=one.package,
        on=other.package,
        certainty=CERTAIN if found.code and not meant else POSSIBLE,
        summary=summary,
        places=tuple(
            Place(artefact.package, artefact.version, artefact.file.filename, member.path)
            for artefact, member in ((one, telling[0].one), (other, telling[0].other))
        ),
        fact=not_with(CHECK, CHECK, one, other, summary=summary, evidence=CHECK, severity=severity)
        if found.code
        else None,
        details=tuple(c.path for c in [*found.code, *found.data, *found.harmless]),
    )


def _age(artefact: Artefact, directories: Mapping[str, Directory]) -> tuple[float, int]:
    """Sorts the older release first; without times, the smaller one."""
    time = artefact.file.upload_time
    return time if time is not None else float("inf"), len(directories[artefact.file.filename].members)


def _turned(collisions: Iterable[Collision]) -> tuple[Collision, ...]:
    return tuple(Collision(c.path, c.other, c.one) for c in collisions)


def _is_meant(found: Overlap, one: Artefact, other: Artefact, directories: Mapping[str, Directory]) -> str:
    """Why either one's files may well do, `""` when they do not: builds of the same code (opencv-python and
    opencv-python-headless), or one that requires what it overwrites (nvidia-cutlass-dsl-libs-cu13)."""
    for upper, lower in ((one, other), (other, one)):
        if any(_names(line) == lower.package for line in upper.requires):
            return f"{upper.package} requires {lower.package}, which it overwrites"
    tops = {c.path.partition("/")[0] for c in found.code}
    counts = [
        sum(path.partition("/")[0] in tops for path in _installed(directories[a.file.filename]))
        for a in (one, other)
    ]
    if one.version == other.version and found.common >= _SHARE * min(counts):
        return "they are builds of the same release"
    return ""


def _names(line: str) -> str:
    """The normalised name of the project that a Requires-Dist line is for."""
    found = _PROJECT.match(line)
    return normalise(found[0]) if found else ""


def _summary(one: Artefact, other: Artefact, found: Overlap, telling: Sequence[Collision], meant: str) -> str:
    names = f"{one.package} {one.version} and {other.package} {other.version}"
    files = counted(len(telling), "file")
    same = "the same path" if len(telling) == 1 else "the same paths"
    if found.code:
        return (
            f"{names} both install {files} of code at {same} with different content, such as "
            f"`{telling[0].path}`: what is imported depends on which was installed last"
            + (f" ({meant})" if meant else "")
        )
    what = "data or scripts" if found.data else "tests, documentation or build files"
    return f"{names} both install {files} ({what}) at {same} with different content: `{telling[0].path}`"
