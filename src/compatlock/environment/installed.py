"""The distributions of an environment, read from their metadata (dist-info and egg-info folders)."""

from __future__ import annotations

import os

from compatlock.environment.locate import Environment, locate
from compatlock.errors import InputError
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.names import normalise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.metadata import Distribution, PackageMetadata


class Installed(NamedTuple):
    """One installed distribution, as its metadata says.

    requires, provides: the Requires-Dist lines and the extras; tags: those of its wheel, if it was one
    folder:  where it was found; is_hidden: a folder earlier on the path has the same project
    """

    name: str
    version: str
    requires: tuple[str, ...] = ()
    requires_python: str = ""
    provides: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    folder: str = ""
    is_hidden: bool = False


def installed_distributions(path: str = "") -> tuple[Installed, ...]:
    """Return the distributions of the environment at `path` (see `locate.locate`), sorted by name; several of
    one name are all there, the one that Python would find first. Raises InputError when it cannot be read."""
    return read_environment(locate(path))


def read_environment(environment: Environment) -> tuple[Installed, ...]:
    """Return the distributions of an environment; see `installed_distributions`."""
    found: list[Installed] = []
    owner: dict[str, str] = {}
    for folder in environment.folders:
        if not os.path.exists(folder):
            continue
        if os.path.isdir(folder) and not os.access(folder, os.R_OK | os.X_OK):
            raise InputError(f"{folder} cannot be read: permission denied")
        # Dist-info folders of one name are told apart by their order, which is the file system's.
        here = [_read(distribution, folder) for distribution in _distributions(folder)]
        for item in sorted(filter(None, here)):
            first = owner.setdefault(item.name, folder)
            found.append(item._replace(is_hidden=first != folder))
    return tuple(sorted(found, key=lambda item: item.name))


def _distributions(folder: str) -> list[Distribution]:
    from importlib.metadata import distributions

    return list(distributions(path=[folder]))


def _read(distribution: Distribution, folder: str) -> Installed | None:
    """None for what has no metadata, such as the folder that a broken installation left behind."""
    try:
        metadata = distribution.metadata
    except (OSError, UnicodeDecodeError):
        return None
    # Indexing it warns, or fails, for what is not there, as Python's version has it.
    name, version, python = (_first(metadata, key) for key in ("Name", "Version", "Requires-Python"))
    if not name or not version:
        return None
    return Installed(
        name=normalise(name),
        version=version,
        requires=tuple(distribution.requires or ()),
        requires_python=python,
        provides=tuple(normalise(str(extra)) for extra in metadata.get_all("Provides-Extra") or ()),
        tags=_tags(distribution),
        folder=folder,
    )


def _first(metadata: PackageMetadata | None, key: str) -> str:
    values = metadata.get_all(key) if metadata is not None else None
    return str(values[0]).strip() if values else ""


def _tags(distribution: Distribution) -> tuple[str, ...]:
    try:
        text = distribution.read_text("WHEEL") or ""
    except (OSError, UnicodeDecodeError):
        return ()
    lines = (line.partition(":") for line in text.splitlines())
    return tuple(value.strip() for key, _, value in lines if key.strip().lower() == "tag")
