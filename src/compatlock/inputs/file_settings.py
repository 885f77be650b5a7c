"""What input files say: their lines, and what they ask for beside them (indexes, policies, hashes, amended
dependencies)."""

from __future__ import annotations

from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class FileIndex(NamedTuple):
    """An index that a file names: a URL, perhaps with credentials. `explicit` ones are only for the projects
    that are assigned to them."""

    url: str
    origin: str
    name: str = ""
    default: bool = False
    explicit: bool = False


class Assigned(NamedTuple):
    """A project that is to be taken from the index `index_name`, when the marker holds (`""`: always)."""

    project: str
    index_name: str
    origin: str
    marker: str = ""


class ScopedEdge(NamedTuple):
    """What a file says of the edges of a package (`""`: of every package, and of the user's lines) on
    another: `text` is the requirement that replaces them, or the name of what is left out. `version` is the
    release that is meant, `""` for all."""

    text: str
    origin: str
    package: str = ""
    version: str = ""


class FilePolicy(NamedTuple):
    """A policy of a file: `exclude-newer`, `prerelease` (a value for all), `exclude-newer-package`,
    `prerelease-package` (`PKG=...`), `allow-yanked` (a package) or `no-yanked`."""

    kind: str
    value: str
    origin: str


class FileSettings(NamedTuple):
    """Everything of that kind in some files, each with its origin (`FILE:LINE`).

    prereleases:  where pre-releases are let in (`--pre`)
    no_binary, only_binary: packages whose wheels, or source distributions, may not be used (`:all:`)
    hashes:       the SHA-256 digests (lower-case hex) that the requirement at an origin allows
    policies:     which releases count
    """

    indexes: tuple[FileIndex, ...] = ()
    assigned: tuple[Assigned, ...] = ()
    prereleases: tuple[str, ...] = ()
    no_binary: tuple[str, ...] = ()
    only_binary: tuple[str, ...] = ()
    overrides: tuple[ScopedEdge, ...] = ()
    exclusions: tuple[ScopedEdge, ...] = ()
    hashes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    policies: tuple[FilePolicy, ...] = ()


class RequirementsFile(NamedTuple):
    """Lines of requirements files as pairs of text and origin (`FILE:LINE`).

    `files` are the paths read, nested ones included, `notes` remarks on what was left out.
    `requires_python` are the versions of Python that projects ask for: specifiers and their origins.
    `settings` is what the files ask for besides.
    """

    lines: tuple[tuple[str, str], ...] = ()
    constraints: tuple[tuple[str, str], ...] = ()
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    requires_python: tuple[tuple[str, str], ...] = ()
    settings: FileSettings = FileSettings()


def joined(settings: Iterable[FileSettings]) -> FileSettings:
    """Return all settings of several files together."""
    return FileSettings(*(sum(parts, ()) for parts in zip(*settings, strict=True)))
