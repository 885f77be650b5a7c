"""Reading core metadata: the dependency fields of a METADATA or PKG-INFO file."""

from __future__ import annotations

import re
from email.message import Message
from email.parser import HeaderParser

from compatlock.model.metadata import Metadata

# The fields whose value an sdist may leave to its build (metadata 2.2, field Dynamic).
_DEPENDENCY_FIELDS = frozenset({"requires-dist", "requires-python", "provides-extra"})
_VERSION = re.compile(r"(\d{1,3})\.(\d{1,3})\Z", re.ASCII)
_BLANK_LINE = re.compile(rb"\r?\n\r?\n|\r\r")


def parse_metadata(text: bytes, source: str) -> Metadata:
    """Reduce core metadata (email headers in UTF-8) to its dependency fields.

    `source` is `side-file`, `wheel` or `sdist`; `sdist` becomes `sdist-unverified` when the metadata
    is older than 2.2 or declares a dependency field dynamic: a build may then say something else.
    Single Requires-Dist lines are not checked here. Never raises: unusable metadata has a `problem`.
    """
    try:
        # The description, which may be long, comes after the headers and is of no interest.
        headers = _BLANK_LINE.split(text.lstrip(b"\r\n"), maxsplit=1)[0]
        message = HeaderParser().parsestr(headers.decode("utf-8", "replace"))
        return _digest(message, source)
    except Exception as error:  # The email package promises not to raise, and has done so nevertheless.
        return Metadata(source=source, problem=f"its metadata cannot be parsed ({type(error).__name__})")


def _digest(message: Message, source: str) -> Metadata:
    declared = _one(message, "Metadata-Version")
    if not declared and not _one(message, "Name"):
        return Metadata(source=source, problem="its metadata has neither Metadata-Version nor Name")
    match = _VERSION.match(declared)
    version = (int(match[1]), int(match[2])) if match else (0, 0)
    if version >= (3, 0):
        return Metadata(source=source, problem=f"its metadata version {declared} is not understood (2.x is)")
    dynamic = {field.lower() for field in _all(message, "Dynamic")}
    if source == "sdist" and (version < (2, 2) or dynamic & _DEPENDENCY_FIELDS):
        source = "sdist-unverified"
    return Metadata(
        _all(message, "Requires-Dist"),
        _all(message, "Provides-Extra"),
        _one(message, "Requires-Python"),
        source,
    )


def _all(message: Message, field: str) -> tuple[str, ...]:
    """All values of a field, folded lines joined; setuptools used to write UNKNOWN for "not given"."""
    values = (" ".join(str(value).split()) for value in message.get_all(field, []))
    return tuple(value for value in values if value and value != "UNKNOWN")


def _one(message: Message, field: str) -> str:
    values = _all(message, field)
    return values[0] if values else ""
