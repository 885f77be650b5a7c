"""What other files and releases declare than the chosen ones: what the audit compares metadata with."""

from __future__ import annotations

from compatlock.api.audit.artefacts import locked_file
from compatlock.audit.bounds import Declared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compatlock.index.supply import Supply
    from compatlock.model.artefact import Artefact, Member, WheelReader
    from compatlock.model.listing import File
    from compatlock.model.lock import LockedFile

_METADATA = ".dist-info/METADATA"


def other_declarations(
    supply: Supply, artefacts: Sequence[Artefact], extras: Mapping[str, Iterable[str]]
) -> list[Declared]:
    """Return what the chosen releases' other extras declare, and all that the next newer and the next older
    release declare, as far as that is for the supply's target. Raises as `Supply.packages`."""
    at = {a.package: supply.package(a.package).index_of(a.version) for a in artefacts}
    chosen = {name: index for name, index in at.items() if index is not None}
    neighbours = [(name, i) for name, index in chosen.items() for i in _beside(supply, name, index)]
    supply.dependencies(neighbours)
    found: list[Declared] = []
    for name, index in chosen.items():
        release, asked = supply.release(name, index), set(extras.get(name, ()))
        version = supply.package(name).versions[index]
        for extra in sorted(set(release.extras) - asked):
            found += (Declared(name, version, str(need), extra) for need in release.of(extra))
    for name, index in neighbours:
        version = supply.package(name).versions[index]
        found += (Declared(name, version, str(need)) for need in supply.release(name, index).base)
    return [line for line in found if " @ " not in line.requires]


def _beside(supply: Supply, name: str, index: int) -> Iterator[int]:
    package = supply.package(name)
    for step in (-1, 1):
        near = index + step
        while 0 <= near < package.size and near in package.gates:
            near += step
        if 0 <= near < package.size:
            yield near


def builds_of(
    supply: Supply, artefacts: Sequence[Artefact], reader: WheelReader
) -> tuple[dict[str, dict[str, tuple[str, ...]]], dict[str, str]]:
    """Return what the wheels of each release declare that the target could install, if there are several,
    `{package: {file name: Requires-Dist lines}}`, and the one that an installer would pick that takes the
    first build instead of the last, where that is another. Raises as `Supply.packages`."""
    wheels: dict[str, list[LockedFile]] = {}
    peers: dict[str, str] = {}
    for artefact in artefacts:
        index = supply.package(artefact.package).index_of(artefact.version)
        if index is None:
            continue
        files = supply.installable_files({artefact.package: index})[artefact.package]
        found = [file for file in files if file.is_wheel]
        if len(found) > 1:
            wheels[artefact.package] = [locked_file(file) for file in found]
            peer = _first_build(found)
            if peer != found[0].filename:
                peers[artefact.package] = peer
    lines = _requires(reader, [file for files in wheels.values() for file in files])
    declared = {
        name: {file.filename: lines[file.filename] for file in files if file.filename in lines}
        for name, files in wheels.items()
    }
    return declared, peers


def _first_build(files: Sequence[File]) -> str:
    """The file with the tags of the best one, and the lowest build tag (binary distribution format)."""
    from packaging.utils import parse_wheel_filename

    parsed = {file.filename: parse_wheel_filename(file.filename) for file in files}
    tags = parsed[files[0].filename][3]
    same = [name for name, (_, _, _, its) in parsed.items() if its == tags]
    return min(same, key=lambda name: parsed[name][2])


def _requires(reader: WheelReader, files: Sequence[LockedFile]) -> dict[str, tuple[str, ...]]:
    """The Requires-Dist lines of wheels, as far as they can be read."""
    from compatlock.index.metadata import parse_metadata

    directories = reader.directories(files)
    wanted: list[tuple[LockedFile, Member]] = []
    for file in files:
        members = directories[file.filename].members
        wanted += ((file, m) for m in members if m.path.endswith(_METADATA) and m.path.count("/") == 1)
    found = {}
    for (name, _), content in reader.contents(wanted).items():
        metadata = parse_metadata(content.data, "wheel") if content.complete and not content.problem else None
        if metadata is not None and not metadata.problem:
            found[name] = tuple(sorted(metadata.requires_dist))
    return found
