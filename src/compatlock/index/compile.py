"""Core metadata evaluated for a marker environment: which dependencies a release really has there."""

from __future__ import annotations

import re

from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from compatlock.model.dependencies import Dependencies, Dependency
from compatlock.model.legacy_specifiers import repair_requirement
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.names import normalise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compatlock.model.metadata import Metadata
    from compatlock.model.target import Target


# How a marker speaks of extras, but for oddities.
_EXTRA_IS = re.compile(r'\bextra == "([^"]*)"|"([^"]*)" == extra\b')
# A name as far as nobody could take more for it, or less.
_NAME = re.compile(r"[ \t]*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?![\w.-])", re.ASCII)


class _Line(NamedTuple):
    """A dependency, and its marker with its text; `extras` are those that the marker can tell from no
    extra, None for any; `repaired` says how an invalid line was read."""

    dependency: Dependency
    marker: Marker | None
    condition: str
    extras: frozenset[str] | None
    repaired: str = ""


class Compiler:
    """Evaluates metadata for one target."""

    def __init__(self, target: Target) -> None:
        self._environment = target.marker_environment
        self._lines: dict[str, _Line | str] = {}
        # By what follows the name, and by the marker: see `_in_parts`.
        self._asked: dict[str, Dependency] = {}
        self._conditions: dict[str, tuple[Marker | None, str, frozenset[str] | None]] = {}
        self._markers: dict[tuple[str, str], bool] = {}
        self._python: dict[str, bool] = {}

    def compile(self, metadata: Metadata) -> Dependencies:
        """Evaluate the metadata of one file. `problem` says why the release cannot be used, `""` if it can:
        unusable metadata, a dependency line that is not valid and cannot be repaired, a wrong Python."""
        if metadata.problem:
            return Dependencies((), {}, (), metadata.source, metadata.problem)
        problem = self._python_problem(metadata.requires_python)
        provides = tuple(dict.fromkeys(normalise(extra) for extra in metadata.provides_extra))
        base: list[Dependency] = []
        extras: dict[str, list[Dependency]] = {}
        repaired: dict[str, None] = {}
        for line in metadata.requires_dist:
            parsed = self._parse(line)
            if isinstance(parsed, str):
                problem = problem or f"invalid dependency `{line}`: {parsed}"
                continue
            if parsed.repaired:
                repaired[parsed.repaired] = None
            if self._holds(parsed, ""):
                base.append(parsed.dependency)
            elif parsed.extras is None or parsed.extras:
                for extra in provides:
                    if (parsed.extras is None or extra in parsed.extras) and self._holds(parsed, extra):
                        extras.setdefault(extra, []).append(parsed.dependency)
        by_extra = {extra: tuple(found) for extra, found in extras.items()}
        return Dependencies(tuple(base), by_extra, provides, metadata.source, problem, tuple(repaired))

    def _python_problem(self, requires_python: str) -> str:
        if not requires_python:
            return ""
        known = self._python.get(requires_python)
        if known is None:
            try:
                known = SpecifierSet(requires_python).contains(
                    self._environment["python_full_version"], prereleases=True
                )
            except InvalidSpecifier:
                known = True
            self._python[requires_python] = known
        return "" if known else f"requires Python {requires_python}"

    def _parse(self, line: str) -> _Line | str:
        known = self._lines.get(line)
        if known is None:
            known = self._lines[line] = self._in_parts(line) or _whole(line)
        return known

    def _in_parts(self, line: str) -> _Line | None:
        """A line put together from its name, what is asked of it and its marker: of these, most are in other
        lines too. None for one with a URL, and for what is not valid."""
        head, mark, marker = line.partition(";")
        name = _NAME.match(head)
        if name is None or "@" in head:
            return None
        rest, key = head[name.end() :], mark + marker
        asked, condition = self._asked.get(rest), self._conditions.get(key)
        try:
            if asked is None:
                asked = self._asked[rest] = _dependency(Requirement(f"x{rest}"))
            if condition is None:
                condition = self._conditions[key] = _condition(Marker(marker) if mark else None)
        except (InvalidRequirement, InvalidMarker):
            return None
        return _Line(asked._replace(name=normalise(name[1])), *condition)

    def _holds(self, line: _Line, extra: str) -> bool:
        if line.marker is None:
            return True
        key = (line.condition, extra)
        known = self._markers.get(key)
        if known is None:
            try:
                known = line.marker.evaluate({**self._environment, "extra": extra})
            except (UndefinedEnvironmentName, UndefinedComparison):
                known = False  # as uv has it, of what compares platforms like versions too
            self._markers[key] = known
        return known


def _whole(line: str) -> _Line | str:
    """A line read at once; what is wrong with it if it cannot be."""
    try:
        return _line(Requirement(line))
    except InvalidRequirement as error:
        return _repaired(line) or str(error).splitlines()[0]


def _line(requirement: Requirement) -> _Line:
    return _Line(_dependency(requirement), *_condition(requirement.marker))


def _condition(marker: Marker | None) -> tuple[Marker | None, str, frozenset[str] | None]:
    condition = str(marker or "")
    return marker, condition, _named(condition)


def _repaired(line: str) -> _Line | None:
    """An invalid line as it was meant, as far as all readings of it agree."""
    try:
        parsed = _line(Requirement(repair_requirement(line)))
    except InvalidRequirement:
        return None
    return parsed._replace(repaired=f"{line.partition(';')[0].strip()} -> {parsed.dependency}")


def _named(condition: str) -> frozenset[str] | None:
    """The extras that a marker compares with; None when it does something else with them."""
    found = _EXTRA_IS.findall(condition)
    if len(found) != condition.count("extra"):
        return None
    return frozenset(normalise(left or right) for left, right in found)


def _dependency(requirement: Requirement) -> Dependency:
    return Dependency(
        normalise(requirement.name),
        str(requirement.specifier),
        tuple(sorted(normalise(extra) for extra in requirement.extras)),
        requirement.url or "",
    )
