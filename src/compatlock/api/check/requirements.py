"""What is wrong with the text of a lock in the form of a requirements file, all at once and by line."""

from __future__ import annotations

import re

from compatlock.inputs.requirements_text import logical_lines
from compatlock.model import report as kinds
from compatlock.model.display import excerpt, without_credentials
from compatlock.model.names import normalise
from compatlock.model.report import Discrepancy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_HASH = re.compile(r"\s--hash[=\s]\s*(\S+)")
_SHA256 = re.compile(r"sha256:[0-9A-Fa-f]{64}\Z")
_OTHER = re.compile(r"sha(?:384|512):[0-9A-Fa-f]+\Z")
_OPTIONS_AFTER = re.compile(r"\s--[a-z].*\Z", re.S)
_NAME = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*")
_EXACT = re.compile(r"={2,3}\s*[^\s*,;]+\s*\Z")
_OWN = "# Locked by compatlock "


def requirements_defects(text: str, path: str) -> tuple[Discrepancy, ...]:
    """Return what is wrong with `text`, the content of the requirements-like lock `path`.

    Hashes are asked for where the file has any, as installers do then (`--require-hashes`), and, as a
    warning, in a lock of ours. Markers are judged in any file.
    """
    lines = [(f"{path}:{line.number}", line.text) for line in logical_lines(text)]
    pinned = [(place, line) for place, line in lines if not line.startswith("-")]
    hashed = any(_HASH.search(line) for _, line in pinned)
    found: list[Discrepancy] = []
    for place, line in lines:
        if line.startswith("--hash"):
            words = "a hash that belongs to no package: is a line before it gone, or its backslash?"
            found.append(_defect(place, words, "", kind=kinds.HASH))
    for place, line in pinned:
        name_match = _NAME.match(line)
        name = normalise(name_match[1]) if name_match else ""
        content = _OPTIONS_AFTER.sub("", line).strip()
        found += _marker(place, name, content)
        if hashed:
            found += _hashes(place, name, line, content)
    if pinned and not hashed and text.startswith(_OWN):
        words = f"{path}: no package has a hash, so nothing tells whether files are those that were locked"
        found.append(Discrepancy(kinds.HASH, kinds.WARNING, "", "", words, origin=path))
    return tuple(found)


def _marker(place: str, name: str, content: str) -> Iterator[Discrepancy]:
    _, semicolon, marker = content.partition(";")
    if not semicolon or "@" in content.partition(";")[0]:
        return
    from packaging.markers import InvalidMarker, Marker

    marker = marker.strip()
    try:
        if marker:
            Marker(marker)
            return
        words = "empty"
    except InvalidMarker:
        words = "empty" if not marker.strip("\"' ") else f"no marker (PEP 508): `{excerpt(marker)}`"
    hints = ("leave the `;` out for a package of all environments",) if words == "empty" else ()
    yield _defect(place, f"the marker of {name or 'a line'} is {words}", name, hints=hints)


def _hashes(place: str, name: str, line: str, content: str) -> Iterator[Discrepancy]:
    digests = _HASH.findall(line)
    bad = [digest for digest in digests if not (_SHA256.match(digest) or _OTHER.match(digest))]
    for digest in bad:
        yield _defect(place, f"{name} has a hash that is none: `{excerpt(digest)}`", name, kind=kinds.HASH)
    requirement = content.partition(";")[0].strip()
    after = requirement[len(match[0]) :] if (match := _NAME.match(requirement)) else requirement
    if not _EXACT.match(after) and not after.startswith("@"):
        shown = excerpt(without_credentials(requirement))
        words = f"{shown} is not pinned with `==`, which installers refuse in a file with hashes"
        yield _defect(place, words, name)
    elif not digests:
        words = f"{name} has no hash, and installers refuse a file in which only some packages have one"
        yield _defect(place, words, name, kind=kinds.HASH)


def _defect(
    place: str, text: str, package: str, *, kind: str = kinds.DEFECT, hints: tuple[str, ...] = ()
) -> Discrepancy:
    return Discrepancy(kind, kinds.ERROR, package, "", f"{place}: {text}", hints=hints, origin=place)
