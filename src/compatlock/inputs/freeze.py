"""Pins as people have them: `pip freeze` output and locks in the form of requirements files."""

from __future__ import annotations

import re

from compatlock.inputs.requirements_text import logical_lines
from compatlock.model.display import excerpt, without_credentials
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.names import normalise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_PIN = re.compile(
    r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[([^\]]*)\])?\s*={2,3}\s*"
    r"([A-Za-z0-9][A-Za-z0-9.!+_-]*)\s*(?:;\s*(.*))?\Z"
)
_REFERENCE = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*@\s*\S")
_EGG = re.compile(r"[#&]egg=([A-Za-z0-9._-]+)")
_HASH = re.compile(r"\s--hash[=\s]sha256:([0-9A-Fa-f]{64})(?=\s|\Z)")
_OPTIONS_AFTER = re.compile(r"\s--[a-z].*\Z", re.S)
_EDITABLE = re.compile(r"(?:-e|--editable)[\s=]")
# What pip-tools, uv and compatlock say below a pin: who needs it, behind `via` or in lines below it.
_PINNED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?\s*==")
_VIA = re.compile(r"\s+# via(?:\s+(\S.*))?\Z")
_VIA_ITEM = re.compile(r"\s+#\s{3,}(\S.*)\Z")
_PACKAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(?:\[[^\]]*\])?\Z")
# What `pip freeze` says above an editable installation whose place it cannot tell.
_EDITABLE_COMMENT = re.compile(
    r"^# Editable (?:install|Git install) .*\(([A-Za-z0-9._-]+)==([^)\s]+)\)", re.MULTILINE
)


class FrozenPin(NamedTuple):
    """One line: `version` is `""` for a URL, a path or an editable installation. `is_root` is set when the
    file says that somebody asked for the package, not only another one. `hashes` are lower-case hex digests
    (SHA-256) of its files."""

    name: str
    version: str
    origin: str
    extras: tuple[str, ...] = ()
    marker: str = ""
    is_root: bool = False
    hashes: tuple[str, ...] = ()


class Frozen(NamedTuple):
    """The pins of a text, and remarks on the lines that are none."""

    pins: tuple[FrozenPin, ...]
    notes: tuple[str, ...]


def read_freeze(text: str, path: str) -> Frozen:
    """Return what `text`, the content of the file `path`, pins. A line that pins nothing gives a note."""
    pins: list[FrozenPin] = []
    notes: list[str] = []
    for line in logical_lines(text):
        origin = f"{path}:{line.number}"
        content = _OPTIONS_AFTER.sub("", line.text).strip()
        if not content or (content.startswith("-") and not _EDITABLE.match(content)):
            continue
        pin = next(_pins(content, origin), None)
        if pin is None:
            shown = excerpt(without_credentials(content))
            notes.append(f"{origin}: {shown} pins no version and is not checked")
        else:
            hashes = (digest.lower() for digest in _HASH.findall(line.text))
            pins.append(pin._replace(hashes=tuple(sorted(hashes))))
    editable = (FrozenPin(normalise(m[1]), m[2], path) for m in _EDITABLE_COMMENT.finditer(text))
    known = {pin.name for pin in pins if pin.version}
    pins += [pin for pin in editable if pin.name not in known]
    roots = roots_of(text)
    pins = [pin._replace(is_root=pin.name in roots) for pin in pins]
    return Frozen(tuple(pins), tuple(notes))


def roots_of(text: str) -> frozenset[str]:
    """Return the packages of which comments below their pins (`# via`) name something else that needs them
    than a package: a file, a project, an option."""
    found = set()
    name, within = "", False
    for line in text.splitlines():
        pinned = _PINNED.match(line)
        if pinned is not None:
            name, within = normalise(pinned[1]), False
            continue
        via = _VIA.match(line)
        item = via or (_VIA_ITEM.match(line) if within else None)
        within = via is not None or item is not None
        if item is not None and item[1] and not _PACKAGE.match(item[1]):
            found.add(name)
    return frozenset(found)


def _pins(content: str, origin: str) -> Iterator[FrozenPin]:
    if match := _PIN.match(content):
        extras = tuple(
            sorted(normalise(item.strip()) for item in (match[2] or "").split(",") if item.strip())
        )
        yield FrozenPin(normalise(match[1]), match[3], origin, extras, (match[4] or "").strip())
    elif match := _REFERENCE.match(content) or _EGG.search(content):
        yield FrozenPin(normalise(match[1]), "", origin)
