"""Reading a snapshot's document. People change snapshots by hand, so each entry is looked at, and one that is
wrong is named."""

from __future__ import annotations

import json
import lzma
import re
from contextlib import contextmanager
from itertools import product

from packaging.version import InvalidVersion, Version

from compatlock.errors import InputError
from compatlock.index.file_entries import UnusableError
from compatlock.index.simple import Names
from compatlock.model.listing import ABSENT, File, Listing, Release
from compatlock.model.metadata import Metadata
from compatlock.model.names import is_word, normalise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn

FORMAT = 1
# Of Requires-Python, time after the first file, yank, size and hash: trailing fields with these are left out.
DEFAULTS: tuple[Any, ...] = ("", 0, None, 0, "")

_XZ = b"\xfd7zXZ\x00"
# In bytes, unpacked; and in seconds since the epoch, the end of the year 9999.
_LARGEST = 512 * 1024 * 1024
_LAST_TIME = 253_402_300_799
_NONE = type(None)
_FILE_WORDS = "should be [name, Requires-Python, seconds after the release's first file, yank, size, SHA-256]"
_METADATA_WORDS = (
    "should be [project, file name, [Requires-Dist, ...], [extra, ...], Requires-Python, source, problem]"
)
_SHA256 = re.compile(r"(?:[0-9a-f]{64})?\Z")
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_AGAIN = "record it again with `compatlock snapshot`"


def _rows(least: int, *types: tuple[type, ...]) -> frozenset[tuple[type, ...]]:
    """The types of values, in their order, that a list of at least so many of them may have."""
    return frozenset(row for n in range(least, len(types) + 1) for row in product(*types[:n]))


_RELEASE_ROWS = _rows(3, (str,), (int, _NONE), (list,))
_FILE_ROWS = _rows(1, (str,), (str,), (int, _NONE), (str, _NONE), (int,), (str,))
_METADATA_ROWS = _rows(4, (str,), (str,), (list,), (list,), (str,), (str,), (str,))


class _WrongError(Exception):
    """An entry that is wrong: the text says which one, and what it should be."""


def read_document(document: bytes, origin: str) -> tuple[dict[str, Listing], dict[tuple[str, str], Metadata]]:
    """The listings by project, and the metadata by (project, file name), of a document in JSON, as it is or
    compressed by xz. `origin` names it in messages. Raises InputError when it is no snapshot or an entry of
    it is wrong."""
    value = _value(document, origin)
    found = value.get("format")
    if found != FORMAT:
        raise InputError(
            f"{origin} is a snapshot of format {found}, this version reads {FORMAT}"
            if type(found) is int
            else f"{origin} is no snapshot: it does not say its format",
            hints=[_AGAIN],
        )
    projects, metadata = value.get("projects"), value.get("metadata")
    if not isinstance(projects, dict) or not isinstance(metadata, list):
        raise InputError(f"{origin} is no snapshot: `projects` or `metadata` is missing", hints=[_AGAIN])
    try:
        listings = {name: _listing(name, releases) for name, releases in projects.items()}
        rows = (_metadata(number, row) for number, row in enumerate(metadata, 1))
        return listings, dict(rows)
    except _WrongError as error:
        raise InputError(f"{origin}: {error}", hints=[f"correct this entry, or {_AGAIN}"]) from None


def _value(document: bytes, origin: str) -> dict[str, Any]:
    try:
        text = _unpacked(document) if document.startswith(_XZ) else document
        value = json.loads(text)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except lzma.LZMAError:
        reason = "it is damaged or cut off"
    except (ValueError, RecursionError):
        reason = "it is neither JSON nor JSON compressed by xz"
    else:
        if isinstance(value, dict):
            return value
        reason = "it is JSON of something else"
    raise InputError(f"{origin} is no snapshot: {reason}", hints=[_AGAIN])


def _unpacked(document: bytes) -> bytes:
    unpacking = lzma.LZMADecompressor()
    text = unpacking.decompress(document, _LARGEST)
    if not unpacking.eof:
        raise lzma.LZMAError
    return text


# Listings


def _listing(name: str, releases: object) -> Listing:
    with _inside(f"project {_shown(name)}"):
        if not is_word(name) or normalise(name) != name:
            _wrong("is not a normalised name (PEP 503)")
        if releases is None:
            return Listing(name, found=False, digest=ABSENT)
        if not isinstance(releases, list):
            _wrong("is neither a list of releases nor null", releases)
        decoded = tuple(_releases(Names(name), releases))
    # What is replayed does not change, so its name is identity enough.
    return Listing(name, decoded, digest=f"snapshot-{name}")


def _releases(names: Names, releases: list[Any]) -> Iterator[Release]:
    above: Version | None = None
    for number, release in enumerate(releases, 1):
        with _inside(f"release {number}"):
            if not _is_row(release, _RELEASE_ROWS):
                _wrong("should be [version, time of its first file, files]", release)
        text, first, rows = release
        with _inside(f"release {_shown(text)}"):
            version = _version(text)
            if above is not None and version >= above:
                _wrong("is not older than the release before it; the newest comes first")
            if first is not None and not 0 <= first <= _LAST_TIME:
                _wrong("its time should be in seconds since 1970", first)
            yield Release(text, tuple(_files(names, version, first, rows)))
        above = version


def _version(text: str) -> Version:
    try:
        version = Version(text)
    except InvalidVersion:
        _wrong("is no version (PEP 440)")
    if str(version) != text:
        _wrong(f"should be written {version}")
    return version


def _files(names: Names, version: Version, first: int | None, rows: list[Any]) -> Iterator[File]:
    for number, row in enumerate(rows, 1):
        if not _is_row(row, _FILE_ROWS):
            with _inside(f"file {number}"):
                _wrong(_FILE_WORDS, row)
        filename, *rest = row
        fields: list[Any] = [*rest, *DEFAULTS[len(rest) :]]
        requires_python, after, yanked, size, digest = fields
        time = None if first is None or after is None else first + after
        wrong = ""
        try:
            if names.versions[names.version(filename)] != version:
                wrong = "is a file of another release"
        except UnusableError as error:
            wrong = str(error)
        if time is not None and not 0 <= time <= _LAST_TIME:
            wrong = f"its time should be in seconds after the release's first file, not `{after}`"
        if not 0 <= size < 2**63 or not _SHA256.match(digest):
            wrong = "its size should be in bytes, and its hash a SHA-256 in hexadecimal digits"
        if wrong:
            with _inside(f"file {_shown(filename)}"):
                _wrong(wrong)
        yield File(filename, "", digest, size, time, requires_python, yanked)


# Metadata


def _metadata(number: int, row: Any) -> tuple[tuple[str, str], Metadata]:
    if not _is_row(row, _METADATA_ROWS) or not all(type(text) is str for text in (*row[2], *row[3])):
        with _inside(f"metadata, entry {number}"):
            _wrong(_METADATA_WORDS, row)
    project, filename, requires_dist, extras, *rest = row
    return (project, filename), Metadata(tuple(requires_dist), tuple(extras), *rest)


# Both


def _is_row(value: object, rows: frozenset[tuple[type, ...]]) -> bool:
    return type(value) is list and tuple(map(type, value)) in rows


_ABSENT = object()


def _wrong(why: str, found: object = _ABSENT) -> NoReturn:
    raise _WrongError(why if found is _ABSENT else f"{why}, not {_shown(found)}")


@contextmanager
def _inside(where: str) -> Iterator[None]:
    """Say of what is wrong within that it is in the entry `where`."""
    try:
        yield
    except _WrongError as error:
        raise _WrongError(f"{where}: {error}") from None


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return f"`{text[:60]}...`" if len(text) > 63 else f"`{text}`"
