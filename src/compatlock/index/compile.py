"""Core metadata evaluated for a marker environment: which dependencies a release really has there."""

from __future__ import annotations

from packaging.markers import Marker, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from compatlock.model.dependencies import Dependencies, Dependency
from compatlock.model.names import normalise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compatlock.model.metadata import Metadata
    from compatlock.model.target import Target


class Compiler:
    """Evaluates metadata for one target."""

    def __init__(self, target: Target) -> None:
        self._environment = target.marker_environment
        self._lines: dict[str, Requirement | str] = {}
        self._markers: dict[tuple[str, str], bool] = {}
        self._python: dict[str, bool] = {}

    def compile(self, metadata: Metadata) -> Dependencies:
        """Evaluate the metadata of one file. `problem` says why the release cannot be used, `""` if it can:
        unusable metadata, a dependency line that is not valid, a wrong Python."""
        if metadata.problem:
            return Dependencies((), {}, (), metadata.source, metadata.problem)
        problem = self._python_problem(metadata.requires_python)
        provides = tuple(dict.fromkeys(normalise(extra) for extra in metadata.provides_extra))
        base: list[Dependency] = []
        extras: dict[str, list[Dependency]] = {}
        for line in metadata.requires_dist:
            requirement = self._parse(line)
            if isinstance(requirement, str):
                problem = problem or f"invalid dependency `{line}`: {requirement}"
                continue
            dependency = _dependency(requirement)
            where = [""] if self._holds(requirement.marker, "") else []
            if not where and requirement.marker is not None and "extra" in str(requirement.marker):
                where = [extra for extra in provides if self._holds(requirement.marker, extra)]
            for extra in where:
                (extras.setdefault(extra, []) if extra else base).append(dependency)
        by_extra = {extra: tuple(found) for extra, found in extras.items()}
        return Dependencies(tuple(base), by_extra, provides, metadata.source, problem)

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

    def _parse(self, line: str) -> Requirement | str:
        known = self._lines.get(line)
        if known is None:
            try:
                known = Requirement(line)
            except InvalidRequirement as error:
                known = str(error).splitlines()[0]
            self._lines[line] = known
        return known

    def _holds(self, marker: Marker | None, extra: str) -> bool:
        if marker is None:
            return True
        key = (str(marker), extra)
        known = self._markers.get(key)
        if known is None:
            try:
                known = marker.evaluate({**self._environment, "extra": extra})
            except UndefinedEnvironmentName:
                known = False
            self._markers[key] = known
        return known


def _dependency(requirement: Requirement) -> Dependency:
    return Dependency(
        normalise(requirement.name),
        str(requirement.specifier),
        tuple(sorted(normalise(extra) for extra in requirement.extras)),
        requirement.url or "",
    )
