"""From pins to the artefacts that an audit looks into: the file of each that an installer would pick."""

from __future__ import annotations

from compatlock.model.artefact import Artefact
from compatlock.model.lock import LockedFile
from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from compatlock.index.supply import Supply
    from compatlock.model.listing import File


class Artefacts(NamedTuple):
    """The wheels of a set; `missing` says of the other pins why there is none."""

    found: tuple[Artefact, ...]
    missing: tuple[str, ...]


def artefacts_of(
    supply: Supply, versions: Mapping[str, str], extras: Mapping[str, Iterable[str]]
) -> Artefacts:
    """Return the artefacts of `{package: version}` for the supply's target, in name order. Versions have
    to be spelled as the index's candidates are. Raises as `Supply.packages`."""
    packages = supply.packages(versions)
    at = {name: packages[name].index_of(version) for name, version in versions.items()}
    there = {name: index for name, index in at.items() if index is not None}
    supply.dependencies(there.items())
    files = supply.installable_files(there)
    found, missing = [], []
    for name in sorted(versions):
        label = f"{name} {versions[name]}"
        if name not in there:
            missing.append(f"{label}: the index has no file of it for {supply.target}")
        elif not files[name][0].is_wheel:
            missing.append(f"{label}: a source distribution, its build is not known")
        else:
            requires = _requires(supply, name, there[name], extras.get(name, ()))
            found.append(Artefact(name, versions[name], locked_file(files[name][0]), requires))
    return Artefacts(tuple(found), tuple(missing))


def artefact_at(supply: Supply, name: str, index: int) -> Artefact | None:
    """Return the artefact of one candidate, or None when an installer would not pick a wheel."""
    file = supply.installable_files({name: index})[name][0]
    if not file.is_wheel:
        return None
    requires = _requires(supply, name, index, ())
    return Artefact(name, supply.package(name).versions[index], locked_file(file), requires)


def locked_file(file: File) -> LockedFile:
    """A file of a listing as artefacts have it. Its address keeps what gives access to it."""
    return LockedFile(file.filename, file.sha256, file.size, file.upload_time, file.url)


def _requires(supply: Supply, name: str, index: int, extras: Iterable[str]) -> tuple[str, ...]:
    release = supply.release(name, index)
    lines = {str(need) for extra in ("", *extras) for need in release.of(extra) if need.name != name}
    return tuple(sorted(lines))
