"""The stored form of a listing's files. Listings run to megabytes: it is made once, for digest and store."""

from __future__ import annotations

import json

from compatlock.model.listing import File

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from compatlock.model.listing import Release


def encode_files(releases: Iterable[Release]) -> bytes:
    """The files of releases as JSON."""
    files = [release.files for release in releases]
    return json.dumps(files, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def decode_files(encoded: bytes) -> Iterator[tuple[File, ...]]:
    """The files of each release. Raises ValueError for what `encode_files` did not make."""
    for files in json.loads(encoded.decode("ascii")):
        yield tuple(File(*file) for file in files)
