"""Recorded observations of wheels: an audit that is replayed over them needs neither network nor wheels.

A snapshot is an xz-compressed document: a first line, then records of a file's hash, kind, subject and
summary, each with its lengths before it.
"""

from __future__ import annotations

import lzma
import struct

from compatlock.errors import InputError
from compatlock.index.observations import StoredObservations
from compatlock.index.wheel_local import LocalWheels
from compatlock.index.wheel_memory import RememberedWheels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_FIRST_LINE = b"compatlock observations 1\n"
_HEAD = struct.Struct("<32s3L")


def dump_observations(observations: StoredObservations, hashes: Iterable[str]) -> bytes:
    """Return a snapshot of what is remembered of files, by their SHA-256 (hex)."""
    document = bytearray(_FIRST_LINE)
    for sha256 in sorted(set(hashes)):
        for kind, subject, body in observations.of_file(sha256):
            texts = kind.encode(), subject.encode()
            document += _HEAD.pack(bytes.fromhex(sha256), len(texts[0]), len(texts[1]), len(body))
            document += b"".join((*texts, body))
    return lzma.compress(bytes(document), preset=9)


def load_observations(snapshot: bytes, origin: str) -> StoredObservations:
    """Return observations, in memory, that know what a snapshot holds; `origin` names it in messages.

    Raises InputError when it is no snapshot.
    """
    observations = StoredObservations(None)
    try:
        document = lzma.decompress(snapshot)
        if not document.startswith(_FIRST_LINE):
            raise ValueError("it begins with something else")
        at = len(_FIRST_LINE)
        found: dict[str, dict[tuple[str, str], bytes]] = {}
        while at < len(document):
            digest, *lengths = _HEAD.unpack_from(document, at)
            at += _HEAD.size
            parts = []
            for length in lengths:
                parts.append(document[at : at + length])
                at += length
            found.setdefault(parts[0].decode(), {})[digest.hex(), parts[1].decode()] = parts[2]
        if at != len(document):
            raise ValueError("it ends early")
    except (lzma.LZMAError, struct.error, ValueError) as error:
        raise InputError(f"{origin} is no snapshot of observations: {error}") from error
    for kind, summaries in found.items():
        observations.put(kind, summaries)
    return observations


def recorded_wheels(observations: StoredObservations) -> RememberedWheels:
    """A wheel reader that knows the directories of a snapshot, and nothing else."""
    return RememberedWheels(LocalWheels({}, missing="the snapshot does not hold what is in it"), observations)
