"""The axes of a compatibility matrix: releases of a package, or minors, newest first."""

from __future__ import annotations

from compatlock.errors import InputError
from compatlock.inputs.requirement_line import parse_requirement
from compatlock.model.matrix import Axis
from compatlock.model.names import normalise
from compatlock.solver.depth import root_indexes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compatlock.index.supply import Supply
    from compatlock.model.package import Package
    from compatlock.model.request import Request
    from compatlock.model.requirement import Requirement
    from compatlock.model.target import Target

RELEASE, MINOR, AUTO = "release", "minor", "auto"
STEPS = (AUTO, RELEASE, MINOR)
# An axis of more releases than this goes by minors unless it is said otherwise.
MOST_RELEASES = 100


def parse_by(texts: Sequence[str], axes: Sequence[Requirement]) -> dict[str, str]:
    """How the steps of axes are made, by package (`""` for all): `release`, `minor` or `auto`, each maybe as
    `PKG=minor`. Raises InputError for anything else, and for a package that is none of the axes."""
    found = {"": AUTO}
    names = [axis.name for axis in axes]
    for text in texts:
        package, equals, word = text.rpartition("=")
        name = normalise(package.strip())
        if word not in STEPS or (equals and not name):
            raise InputError(
                f"`{text}` is no way to go along an axis", hints=["write `minor`, `release` or `PKG=minor`"]
            )
        if name and name not in names:
            raise InputError(
                f"`--by {text}`: no axis of this matrix is {name}",
                hints=[f"write {' or '.join(f'`--by {each}={word}`' for each in names)}"],
            )
        found[name] = word
    return found


def parse_axes(texts: Sequence[str]) -> tuple[Requirement, Requirement]:
    """The two packages of a matrix, as the requirements that `texts` are: `vllm`, `vllm>=0.6`.

    Raises InputError.
    """
    rows, columns = (parse_requirement(text, f"the axis `{text}`") for text in texts)
    for axis in (rows, columns):
        if axis.marker or axis.url:
            raise InputError(f"`{axis}` is no axis: markers and URLs mean nothing there")
    if rows.name == columns.name:
        raise InputError(f"a matrix needs two packages, and both axes are {rows.name}")
    return rows, columns


def axis_of(asked: Requirement, request: Request, supply: Supply, by: Mapping[str, str]) -> Axis:
    """The releases that an axis, and the user's lines about its package, allow: no pre-releases, nothing
    yanked, nothing that the target cannot install. Raises InputError when there is none."""
    package = supply.package(asked.name)
    if not package.found:
        raise InputError(f"the index has no project `{asked.name}`", hints=["is it spelt right?"])
    allowed = root_indexes(package, [asked, *request.roots, *request.constraints])
    releases = [index for index in allowed if index not in package.gates]
    if not releases:
        lines = [line for line in (*request.roots, *request.constraints) if line.name == asked.name]
        within = f" within {', '.join(f'`{line}`' for line in lines)}" if lines else ""
        raise InputError(
            f"no release of `{asked}`{within} can be used for {request.target}",
            hints=_hidden_lines((asked, *lines), request.target, supply),
        )
    word = by.get(asked.name, by[""])
    if word == MINOR or (word == AUTO and len(releases) > MOST_RELEASES):
        return _by_minor(package, releases)
    versions = [package.versions[index] for index in releases]
    return Axis(asked.name, tuple(versions), tuple((version,) for version in versions))


def _hidden_lines(lines: Sequence[Requirement], target: Target, supply: Supply) -> list[str]:
    """Why releases that lines about one package ask for cannot be used."""
    from compatlock.api.why.hidden_words import hidden_lines, within
    from compatlock.api.why.obstacles import obstacles

    name = lines[0].name
    bounds = [[line.specifier] for line in lines if line.specifier]
    return hidden_lines(name, within(obstacles(supply, name), bounds), target)


def _by_minor(package: Package, releases: Sequence[int]) -> Axis:
    from packaging.version import Version

    minors: dict[str, list[str]] = {}
    for index in releases:
        version = Version(package.versions[index])
        epoch = f"{version.epoch}!" if version.epoch else ""
        minors.setdefault(f"{epoch}{version.major}.{version.minor}", []).append(package.versions[index])
    return Axis(package.name, tuple(minors), tuple(map(tuple, minors.values())))
