"""Reading core metadata: the dependency fields of a METADATA or PKG-INFO file."""

from __future__ import annotations

import re

from compatlock.model.metadata import Metadata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    # The values of each field, by its name in lower case.
    Fields: TypeAlias = "dict[str, list[str]]"

# The fields whose value an sdist may leave to its build (metadata 2.2, field Dynamic).
_DEPENDENCY_FIELDS = frozenset({"requires-dist", "requires-python", "provides-extra"})
_VERSION = re.compile(r"(\d{1,3})\.(\d{1,3})\Z", re.ASCII)
_BLANK_LINE = re.compile(rb"\r?\n\r?\n|\r\r")
# A header on one line. Others are left to the email package, which takes ten times as long.
_HEADER = re.compile(r"([!-9;-~]+):(.*)")
_BREAKS = re.compile("[\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def parse_metadata(text: bytes, source: str) -> Metadata:
    """Reduce core metadata (email headers in UTF-8) to its dependency fields.

    `source` is `side-file`, `wheel` or `sdist`; `sdist` becomes `sdist-unverified` when the metadata
    is older than 2.2 or declares a dependency field dynamic: a build may then say something else.
    Single Requires-Dist lines are not checked here. Never raises: unusable metadata has a `problem`.
    """
    try:
        # The description, which may be long, comes after the headers and is of no interest.
        headers = _BLANK_LINE.split(text.lstrip(b"\r\n"), maxsplit=1)[0]
        return _digest(_fields(headers.decode("utf-8", "replace")), source)
    except Exception as error:  # The email package promises not to raise, and has done so nevertheless.
        return Metadata(source=source, problem=f"its metadata cannot be parsed ({type(error).__name__})")


def _fields(headers: str) -> Fields:
    found: Fields = {}
    lines = headers.rstrip("\n").split("\n")
    matches = [*map(_HEADER.fullmatch, lines)]
    if None in matches or _BREAKS.search(headers):
        from email.parser import HeaderParser

        for name, value in HeaderParser().parsestr(headers).items():
            found.setdefault(name.lower(), []).append(str(value))
        return found
    for match in matches:
        if match is not None:
            found.setdefault(match[1].lower(), []).append(match[2])
    return found


def _digest(fields: Fields, source: str) -> Metadata:
    declared = _one(fields, "Metadata-Version")
    if not declared and not _one(fields, "Name"):
        return Metadata(source=source, problem="its metadata has neither Metadata-Version nor Name")
    match = _VERSION.match(declared)
    version = (int(match[1]), int(match[2])) if match else (0, 0)
    if version >= (3, 0):
        return Metadata(source=source, problem=f"its metadata version {declared} is not understood (2.x is)")
    dynamic = {field.lower() for field in _all(fields, "Dynamic")}
    if source == "sdist" and (version < (2, 2) or dynamic & _DEPENDENCY_FIELDS):
        source = "sdist-unverified"
    return Metadata(
        _all(fields, "Requires-Dist"),
        _all(fields, "Provides-Extra"),
        _one(fields, "Requires-Python"),
        source,
    )


def _all(fields: Fields, field: str) -> tuple[str, ...]:
    """All values of a field, folded lines joined; setuptools used to write UNKNOWN for "not given"."""
    values = (" ".join(value.split()) for value in fields.get(field.lower(), ()))
    return tuple(value for value in values if value and value != "UNKNOWN")


def _one(fields: Fields, field: str) -> str:
    values = _all(fields, field)
    return values[0] if values else ""
