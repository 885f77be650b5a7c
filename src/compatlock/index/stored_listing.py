"""The stored form of a listing's files. Listings run to megabytes: it is made once, for digest and store.

Files are kept in columns: one JSON text, and after it the bytes of all hashes, which as text would be most
of it and which no compression makes shorter. Only the text is compressed.
"""

from __future__ import annotations

import json
import re
import zlib
from itertools import chain, islice

from compatlock.model.listing import File
from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from compatlock.model.listing import Release

_DIGITS = 64
# Where the public index has its files: a folder named by a hash in three parts, "ab/cd/..../".
_FOLDER = re.compile(r"(.*/)[0-9a-f]{2}/[0-9a-f]{2}/[0-9a-f]{60}/\Z", re.DOTALL)
_FOLDER_LENGTH = _DIGITS + 3
_SLASHES = (2, 5, 66)


class _Places(NamedTuple):
    """Where files are: in folders named by `hashes` beyond `root`."""

    root: str
    hashes: bytes


def encode_files(releases: Iterable[Release]) -> bytes:
    """The files of releases: the length of a text in four bytes, the text, and hashes."""
    by_release = [release.files for release in releases]
    columns = [*zip(*chain.from_iterable(by_release), strict=True)] or [()] * len(File._fields)
    filenames, urls, sha256, *others, metadata = columns
    sums, sum_bytes = _hashes(sha256)
    marks, mark_bytes = _hashes(metadata)
    places = _places(urls, filenames)
    text = json.dumps(
        [
            [*map(len, by_release)],
            filenames,
            urls if places is None else places.root,
            sums,
            *map(_shortened, others),
            marks,
        ],
        separators=(",", ":"),
        ensure_ascii=True,
    ).encode("ascii")
    return b"".join(
        (len(text).to_bytes(4, "big"), text, sum_bytes, mark_bytes, b"" if places is None else places.hashes)
    )


def decode_files(encoded: bytes) -> Iterator[tuple[File, ...]]:
    """The files of each release. Raises ValueError for what `encode_files` did not make."""
    end = 4 + int.from_bytes(encoded[:4], "big")
    counts, filenames, urls, sums, *others, marks = json.loads(encoded[4:end].decode("ascii"))
    size = sum(counts)
    sha256, end = _texts(sums, size, encoded, end)
    metadata, end = _texts(marks, size, encoded, end)
    if isinstance(urls, str):
        folders = encoded[end:].hex()
        parts = [folders[at : at + _DIGITS] for at in range(0, len(folders), _DIGITS)]
        named = zip(parts, filenames, strict=True)
        urls = [f"{urls}{part[:2]}/{part[2:4]}/{part[4:]}/{name}" for part, name in named]
    rows = map(File, filenames, urls, sha256, *(_lengthened(o, size) for o in others), metadata)
    for count in counts:
        yield tuple(islice(rows, count))


def deflate(encoded: bytes) -> bytes:
    """What `encode_files` made, with its text compressed."""
    end = 4 + int.from_bytes(encoded[:4], "big")
    text = zlib.compress(encoded[4:end], 1)
    return b"".join((len(text).to_bytes(4, "big"), text, encoded[end:]))


def inflate(stored: bytes) -> bytes:
    """The inverse of `deflate`. Raises zlib.error for what it did not make."""
    end = 4 + int.from_bytes(stored[:4], "big")
    text = zlib.decompress(stored[4:end])
    return b"".join((len(text).to_bytes(4, "big"), text, stored[end:]))


def _shortened(values: Sequence[Any]) -> Any:
    """A column whose values are all the same as that one value."""
    return values[0] if values and len(set(values)) == 1 else values


def _lengthened(column: Any, size: int) -> list[Any]:
    return column if isinstance(column, list) else [column] * size


def _hashes(texts: Sequence[str]) -> tuple[Any, bytes]:
    """A column of hashes: 1 for each whose bytes are in the second part of the answer, in their order; what
    is no hash as it is."""
    digits = "".join([text for text in texts if len(text) == _DIGITS])
    data = _unhex(digits)
    if data is None:
        return texts, b""
    return _shortened([1 if len(text) == _DIGITS else text for text in texts]), data


def _texts(column: Any, size: int, data: bytes, start: int) -> tuple[list[str], int]:
    """The inverse of `_hashes`, for bytes that begin at `start`, and where they end."""
    values = _lengthened(column, size)
    length = values.count(1) * _DIGITS // 2
    digits = data[start : start + length].hex()
    found = iter([digits[at : at + _DIGITS] for at in range(0, len(digits), _DIGITS)])
    return [next(found) if value == 1 else value for value in values], start + length


def _places(urls: Sequence[str], filenames: Sequence[str]) -> _Places | None:
    """The URLs of files in folders named by hashes; None when they are not there."""
    match = _FOLDER.match(urls[0][: -len(filenames[0])]) if urls else None
    if match is None:
        return None
    root = match[1]
    start = len(root)
    folders = "".join([url[start : start + _FOLDER_LENGTH] for url in urls])
    after = start + _FOLDER_LENGTH
    digits = folders.replace("/", "")
    is_so = (
        {url[:start] for url in urls} == {root}
        and [url[after:] for url in urls] == [*filenames]
        and len(folders) == _FOLDER_LENGTH * len(urls)
        and len(digits) == _DIGITS * len(urls)
        and all(folders[at::_FOLDER_LENGTH] == "/" * len(urls) for at in _SLASHES)
    )
    hashes = _unhex(digits) if is_so else None
    return None if hashes is None else _Places(root, hashes)


def _unhex(digits: str) -> bytes | None:
    """The bytes of hexadecimal digits in lower case; None for anything else."""
    try:
        data = bytes.fromhex(digits)
    except ValueError:
        return None
    return data if data.hex() == digits else None
