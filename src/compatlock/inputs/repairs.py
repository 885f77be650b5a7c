"""The requirement that was probably meant by one that is malformed in a well-known way."""

from __future__ import annotations

import re

from compatlock.model.legacy_specifiers import ORDERED_WILDCARD, following, without_wildcard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?:\s*\[[^\]]*\])?"
_VERSION = r"\d[A-Za-z0-9.!+_-]*"

_QUOTED = re.compile(r"\A([\"'])([^\"']*|.*)\1,?\Z")


def _caret(match: re.Match[str]) -> str:
    """Poetry's and npm's `^`: the first component that is not zero stays."""
    version = match[1]
    parts = version.split(".")
    position = next((i for i, part in enumerate(parts) if int(part)), len(parts) - 1)
    return f">={version},<{following(version, position)}"


def _tilde(match: re.Match[str]) -> str:
    """Poetry's and npm's `~`: the minor component stays, or the major one when alone."""
    version = match[1]
    return f">={version},<{following(version, min(1, version.count('.')))}"


def _toml(match: re.Match[str]) -> str:
    name, value = match[1], match[3].strip()
    if value in ("", "*"):
        return name
    return name + value if value[0] in "<>=!~^" else f"{name}=={value}"


# (pattern, replacement, what is wrong); applied in this order, each to the result of the one before.
_REPAIRS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str], str], ...] = (
    (
        re.compile(rf"\A({_NAME})\s*=\s*([\"'])([^\"']*)\2\s*,?\Z"),
        _toml,
        "this is TOML, not a requirements file",
    ),
    (re.compile(rf"\A({_NAME})=({_VERSION})=\S+\Z"), r"\1==\2", "this is conda's form, with a build string"),
    (re.compile(r"==="), "==", "`===` compares versions as text, which is not supported"),
    (re.compile(r"=([<>])(?!=)"), r"\1=", "the operators are `>=` and `<=`"),
    (re.compile(r"([<>])=="), r"\1=", "the operators are `>=` and `<=`"),
    (re.compile(r"<>"), "!=", "the operator is `!=`"),
    (re.compile(r"~>"), "~=", "the operator is `~=`"),
    (re.compile(r"(?<![=<>!~])=(?![=<>~])"), "==", "`=` is no version operator"),
    (re.compile(r"\s*(?:&&?|\band\b)\s*(?=[<>=!~^])"), ",", "bounds are joined by a comma"),
    (re.compile(r"\^\s*(\d{1,9}(?:\.\d{1,9})*)"), _caret, "`^` is no version operator"),
    (re.compile(r"(?<![=<>!])~\s*(\d{1,9}(?:\.\d{1,9})*)"), _tilde, "`~` is no version operator"),
    (re.compile(r"(?<![=!])==\s*\*"), "", "`==*` is any version, which goes without saying"),
    (re.compile(r"([=!]=\s*\d[\d.]*)\*+[\w.*]+"), r"\1*", "a wildcard can only stand last, as `.*`"),
    (
        re.compile(r"([=!]=\s*\d(?:[\d.]*\d)?)(?:\*|\.x\b)"),
        r"\1.*",
        "a wildcard can only stand last, as `.*`",
    ),
    (
        ORDERED_WILDCARD,
        without_wildcard,
        "only `==` and `!=` take a wildcard",
    ),
    (re.compile(r"~=\s*(\d+)(?=\s*(?:,|\Z))"), r"==\1.*", "`~=` needs a version of at least two parts"),
    (re.compile(r"([<>=!~]=?\s*[\w.*+!-]+)\s+(?=[<>=!~])"), r"\1,", "bounds are joined by a comma"),
    (re.compile(rf"\A({_NAME})\s+v?({_VERSION})\Z"), r"\1==\2", "a version follows an operator"),
)


def repair(text: str) -> tuple[tuple[str, ...], str]:
    """Return what is wrong with `text`, in words, and the text that was probably meant.

    Without a known mistake the first is empty. The result is a guess: whether it is a requirement is
    for the caller to check. A marker after `;` is left alone.
    """
    reasons: list[str] = []
    quoted = _QUOTED.match(text)
    if quoted:
        text = quoted[2]
        reasons.append("a line takes no quotes")
    head, semicolon, marker = text.partition(";")
    head = head.strip()
    for pattern, replacement, reason in _REPAIRS:
        changed = pattern.sub(replacement, head)
        if changed != head:
            head = changed
            if reason not in reasons:
                reasons.append(reason)
    return tuple(reasons), (f"{head} ; {marker.strip()}" if semicolon and marker.strip() else head)
