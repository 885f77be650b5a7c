"""Identifiers that a package's C and C++ headers have: what its libraries may export, told cheaply."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence

from compatlock.model.artefact import Artefact, Member, Observations, WheelReader
from compatlock.model.named_tuple import NamedTuple

KIND = "identifiers/1"
# Everything but ASCII letters, digits and `_` becomes a blank: far faster than a regular expression.
_WORDS = bytes(c if (c < 128 and chr(c).isalnum()) or c == 0x5F else 0x20 for c in range(256))
_PART = 80
# PyTorch's, the largest there are, have 9 MB, 40 MB unpacked.
_MAX_PACKED = 48 * 1024 * 1024
_MAX_UNPACKED = 256 * 1024 * 1024


class Identifiers(NamedTuple):
    """All identifiers of some headers, and parts that macros make further ones of.

    A `problem` says that some header could not be read; the absence of a name then means nothing.
    """

    names: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    problem: str = ""

    def __or__(self, other: Identifiers) -> Identifiers:
        return Identifiers(
            self.names | other.names,
            self.prefixes + other.prefixes,
            self.suffixes + other.suffixes,
            self.problem or other.problem,
        )

    def may_have(self, name: str) -> bool:
        """Whether a name is there, or may be made by a macro."""
        return (
            name in self.names
            or (bool(self.prefixes) and name.startswith(self.prefixes))
            or (bool(self.suffixes) and name.endswith(self.suffixes))
        )


def read_identifiers(
    artefact: Artefact,
    subject: str,
    headers: Sequence[Member],
    reader: WheelReader,
    observations: Observations,
) -> Identifiers:
    """Return the identifiers of `headers` of one wheel; `subject` names this choice of them in the cache."""
    key = artefact.file.sha256, subject
    known = observations.get(KIND, [key]).get(key) if artefact.file.sha256 else None
    if known is not None and (found := _decode(known)) is not None:
        return found
    if sum(m.packed for m in headers) > _MAX_PACKED or sum(m.size for m in headers) > _MAX_UNPACKED:
        return Identifiers(problem="its headers are absurdly large")
    names: set[bytes] = set()
    prefixes: set[bytes] = set()
    suffixes: set[bytes] = set()
    read = 0
    for _, member, content in reader.each_content([(artefact.file, m) for m in headers]):
        if content.problem or not content.complete:
            return Identifiers(problem=f"{member.path}: {content.problem or 'it was not read in full'}")
        read += 1
        words = content.data.translate(_WORDS)
        names.update(words.split())
        for at in _pasted(content.data):
            prefixes.update(words[max(0, at - _PART) : at].split()[-1:])
            suffixes.update(words[at + 2 : at + 2 + _PART].split()[:1])
    if read < len(headers):
        return Identifiers(problem="some headers were not read")
    # Short parts (`_##x`) would fit every name.
    found = Identifiers(
        frozenset(name.decode("ascii", "replace") for name in names),
        tuple(sorted(p.decode("ascii", "replace") for p in prefixes if len(p) > 4)),
        tuple(sorted(s.decode("ascii", "replace") for s in suffixes if len(s) > 4)),
    )
    if artefact.file.sha256:
        observations.put(KIND, {key: _encode(found)})
    return found


def _pasted(data: bytes) -> Iterator[int]:
    """Where the preprocessor makes one name of two: `prefix_##name`, `name##_suffix`."""
    at = data.find(b"##")
    while at >= 0:
        yield at
        at = data.find(b"##", at + 2)


def _encode(found: Identifiers) -> bytes:
    parts = (sorted(found.names), found.prefixes, found.suffixes)
    return zlib.compress("\0".join(" ".join(part) for part in parts).encode("ascii", "replace"), 6)


def _decode(summary: bytes) -> Identifiers | None:
    try:
        text = zlib.decompressobj().decompress(summary, _MAX_UNPACKED).decode("ascii")
        names, prefixes, suffixes = (part.split() for part in text.split("\0"))
    except (zlib.error, ValueError):
        return None
    return Identifiers(frozenset(names), tuple(prefixes), tuple(suffixes))
