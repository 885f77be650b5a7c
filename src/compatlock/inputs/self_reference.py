"""Requirements of a project on itself: the usual way to build one extra of others."""

from __future__ import annotations

import re

from compatlock.model.named_tuple import NamedTuple
from compatlock.model.names import normalise

_NAME = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")


class SelfReference(NamedTuple):
    """The extras (normalised, sorted) of itself that a project asks for, and when."""

    extras: tuple[str, ...]
    marker: str = ""


def self_reference(text: str, project: str) -> SelfReference | None:
    """Return what `text` asks of the project with the normalised name `project`, or None when it is about
    another project or no valid requirement. A version or a URL in it says nothing about other packages."""
    match = _NAME.match(text)
    if not project or match is None or normalise(match[1].rstrip("._-")) != project:
        return None
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        parsed = Requirement(text)
    except InvalidRequirement:
        return None
    extras = sorted({normalise(extra) for extra in parsed.extras})
    return SelfReference(tuple(extras), str(parsed.marker or ""))


def under_marker(outer: str, inner: str) -> str:
    """Return the marker that holds when both do; `""` always holds."""
    if outer and inner:
        return f"({outer}) and ({inner})"
    return outer or inner
