"""pylock.toml (PEP 751) read back: compatlock's own whole, those of other tools as far as a lock says it."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

from compatlock.errors import InputError
from compatlock.lockfile.reader import Reader
from compatlock.model.display import public_url
from compatlock.model.lock import Lock, LockedEdge, LockedFile, OlderPin, Pin, SoftFactReport, TierValue
from compatlock.model.names import normalise
from compatlock.model.toml import parse_toml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from packaging.pylock import Package, PackageSdist, PackageWheel, Pylock

FORM = 1  # of the tool tables; within a form keys are only added
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_OWN = re.compile(r'^created-by = "compatlock"$', re.MULTILINE)
_PACKAGE = re.compile(r"^\[\[packages\]\]$", re.MULTILINE)
_MARKER = re.compile(r"^marker\b", re.MULTILINE)
_PIN = re.compile(
    r'^\[\[packages\]\]\nname = "([a-z0-9-]+)"\nversion = "([A-Za-z0-9.!+]+)"$',
    re.MULTILINE,
)


def read_pylock(text: str, path: str = "pylock.toml") -> Lock:
    """Return the lock that a pylock.toml states; `path` names it in messages.

    Of what `render_pylock` wrote, all comes back. A file of another tool gives pins with their files, and
    edges without specifiers. Raises InputError when it is not valid (PEP 751), or holds what a lock for one
    target from indexes cannot: two versions of a package, or one from a URL, a repository or a folder.
    """
    document = _valid(parse_toml(text, path), path)
    tool = _tool(document, path)
    form = tool.value.get("form", FORM)
    if form != FORM:
        raise InputError(f"{path}: its tool.compatlock has the form {form!r:.40}, not {FORM}: lock again")
    is_own = bool(tool.value)
    packages = [(package, _tool(package, path)) for package in document.packages]
    # Pins of one name for different targets repeat the name's edges.
    edges = [*{edge for package, notes in packages for edge in _edges_of(package, notes, is_own)}]
    edges += [_edge(reader, reader.text("package", "")) for reader in tool.items("requirements", [])]
    roots = tool.texts("roots", [])
    return Lock(
        pins=tuple(_pin(package, notes, roots) for package, notes in packages),
        edges=tuple(sorted(edges)),
        roots=roots,
        waivers=tool.texts("waivers", []),
        broken_soft_facts=tuple(
            SoftFactReport(fact.text("id"), fact.text("summary"), fact.number("days"))
            for fact in tool.items("broken-soft-facts", [])
        ),
        objective=tuple(
            TierValue(tier.text("name"), tier.number("value"), tier.text("unit"), tier.flag("proved"))
            for tier in tool.items("objective", [])
        ),
        command=tool.text("command", ""),
        target=tool.text("target", ""),
        index_state=tool.text("index", ""),
        cuda=tool.text("cuda", ""),
        strategy=tool.text("strategy", ""),
        notes=tool.texts("notes", []),
    )


def read_pylock_pins(text: str, path: str = "pylock.toml") -> tuple[OlderPin, ...]:
    """Return what a pylock.toml of any tool pins, with normalised names.

    Tolerant: what has no name or no version is passed over. Raises InputError, naming `path`, when it is no
    TOML at all.
    """
    rows = _rows_of_own(text)
    if rows is None:
        packages = parse_toml(text, path).get("packages")
        tables = (
            [table for table in packages if isinstance(table, dict)] if isinstance(packages, list) else []
        )
        rows = [(table.get("name"), table.get("version"), table.get("marker", "")) for table in tables]
    return tuple(
        OlderPin(normalise(name), version, marker if isinstance(marker, str) else "")
        for name, version, marker in rows
        if isinstance(name, str) and isinstance(version, str)
    )


def _rows_of_own(text: str) -> list[tuple[Any, Any, Any]] | None:
    """Names, versions and no markers of an own file without markers, or None: a TOML parser takes longer than
    the rest of a run."""
    if not _OWN.search(text) or _MARKER.search(text):
        return None
    rows: list[tuple[Any, Any, Any]] = [(*pair, "") for pair in _PIN.findall(text)]
    return rows if len(rows) == len(_PACKAGE.findall(text)) else None


def _valid(values: dict[str, Any], path: str) -> Pylock:
    """The document, when it is one that a lock can be made of."""
    from packaging.pylock import Pylock, PylockValidationError

    try:
        document = Pylock.from_dict(values)
    except PylockValidationError as error:
        raise InputError(f"{path} is no valid pylock.toml (PEP 751): {error}") from None
    seen: set[str] = set()
    for package in document.packages:
        if package.is_direct or package.version is None:
            raise InputError(f"{path}: {package.name} is not a version from an index; lock again")
        if package.name in seen and package.marker is None:
            raise InputError(f"{path}: {package.name} is there twice, and no marker says which holds when")
        seen.add(package.name)
    return document


def _tool(holder: Pylock | Package, path: str) -> Reader:
    """compatlock's own table of the document or of a package, empty when there is none."""
    name = getattr(holder, "name", "")
    where = f"{path}, tool.compatlock" + (f" of {name}" if name else "")
    return Reader((holder.tool or {}).get("compatlock", {}), where)


def _pin(package: Package, notes: Reader, roots: tuple[str, ...]) -> Pin:
    version = str(package.version)
    files = [*(package.wheels or ()), *([package.sdist] if package.sdist else ())]
    return Pin(
        name=package.name,
        version=version,
        files=(*map(_file, files), *map(_other_file, notes.items("other-files", []))),
        extras=notes.texts("extras", []),
        is_root=package.name in roots,
        newest=notes.text("newest", version),
        lag_days=notes.number("lag-days", 0),
        lag_releases=notes.number("lag-releases", 0),
        held_by=notes.texts("held-by", []),
        notes=notes.texts("notes", []),
        index_url=public_url(package.index or ""),
        marker=str(package.marker or ""),
        repaired=notes.texts("repaired", []),
    )


def _file(file: PackageWheel | PackageSdist) -> LockedFile:
    return LockedFile(
        file.filename,
        file.hashes.get("sha256", ""),
        file.size or 0,
        None if file.upload_time is None else _seconds(file.upload_time),
        public_url(file.url or ""),
    )


def _other_file(reader: Reader) -> LockedFile:
    time = reader.value.get("upload-time")
    return LockedFile(
        reader.text("name"),
        Reader(reader.value.get("hashes", {}), reader.where).text("sha256", ""),
        reader.number("size", 0),
        _seconds(time) if isinstance(time, datetime) else None,
        public_url(reader.text("url", "")),
    )


def _seconds(time: datetime) -> int:
    """Seconds since the epoch; a time without an offset is UTC, as the standard has it."""
    aware = time if time.tzinfo else time.replace(tzinfo=timezone.utc)
    return (aware - _EPOCH) // timedelta(seconds=1)


def _edges_of(package: Package, notes: Reader, is_own: bool) -> list[LockedEdge]:
    """The edges as compatlock noted them; in a file of another tool, only who needs whom."""
    if is_own:
        return [_edge(reader, package.name) for reader in notes.items("needs", [])]
    names = [table.get("name") for table in package.dependencies or ()]
    return [LockedEdge(package.name, name) for name in names if isinstance(name, str)]


def _edge(reader: Reader, package: str) -> LockedEdge:
    return LockedEdge(
        package=package,
        on=reader.text("on"),
        specifier=reader.text("specifier", ""),
        extra=reader.text("extra", ""),
        extras=reader.texts("extras", []),
        origin=reader.text("origin", ""),
        waived=reader.flag("waived", False),
    )
