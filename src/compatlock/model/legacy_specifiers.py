"""Version bounds that pip accepted before 24.1 and the version specifiers specification does not know.

Published metadata is full of them, above all of `>=1.9.*`. Old pip compared them as text: `1.9.*` came right
before 1.9, so that `<=1.9.*` was below 1.9, though who wrote it will have meant below 1.10.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_RELEASE = r"\d{1,9}(?:\.\d{1,9})*"
ORDERED_WILDCARD = re.compile(rf"(~=|<=|>=|<|>)\s*({_RELEASE})\.\*")


def following(version: str, position: int) -> str:
    """Return the release before which `version` with a freed component after `position` ends."""
    parts = [int(part) for part in version.split(".")[: position + 1]]
    parts[-1] += 1
    return ".".join(map(str, parts))


def without_wildcard(match: re.Match[str]) -> str:
    """What a match of ORDERED_WILDCARD was meant to say: `1.9.*` stands for all of 1.9."""
    operator, version = match[1], match[2]
    if operator in ("<=", ">"):
        return ("<" if operator == "<=" else ">=") + following(version, version.count("."))
    return f"~={version}.0" if operator == "~=" else operator + version


def _under_every_reading(match: re.Match[str]) -> str:
    """The bound that holds whether it is read as it was meant or as old pip did. It refused `~=` itself."""
    operator, version = match[1], match[2]
    if operator == "~=":
        return match[0]
    return f"<{version}" if operator == "<=" else without_wildcard(match)


# Applied in this order, each to the result of the one before.
_REPAIRS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (ORDERED_WILDCARD, _under_every_reading),
    # Any release, as `dev` came before all.
    (re.compile(r">=?\s*dev\b"), ""),
    (re.compile(rf"(!=\s*{_RELEASE})\*"), r"\1.*"),
    (re.compile(r"([<>=!~]=?\s*\d[\w.*+-]*)\s*(?=[<>=~]|!=)"), r"\1,"),
)


def repair_requirement(text: str) -> str:
    """Return an invalid Requires-Dist with its version bounds repaired, `text` itself if there is nothing.

    A bound is only replaced by one that admits nothing that any reading of it, old pip's or the plain one,
    excludes: what satisfies the repaired requirement satisfies the release whoever reads it. Whether the
    result is valid is for the caller to check. A marker is left alone, as is a direct reference.
    """
    head, semicolon, marker = text.partition(";")
    if "@" in head:
        return text
    for pattern, replacement in _REPAIRS:
        head = pattern.sub(replacement, head)
    return head + semicolon + marker
