"""Core metadata of a source distribution, read from its archive in memory; nothing is executed."""

from __future__ import annotations

import bz2
import gzip
import io
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from typing import IO

from compatlock.index.metadata import parse_metadata
from compatlock.index.requires_txt import parse_requires_txt
from compatlock.model.metadata import Metadata
from compatlock.model.names import normalise

MAX_MEMBER = 16 * 1024 * 1024
MAX_MEMBERS = 100_000
MAX_UNPACKED = 512 * 1024 * 1024

_PKG_INFO = re.compile(r"[^/]+/PKG-INFO\Z")
_REQUIRES_TXT = re.compile(r"(?:[^/]+/){1,3}([^/]+)\.egg-info/requires\.txt\Z")


def sdist_metadata(data: bytes, filename: str) -> Metadata:
    """Read the PKG-INFO of the sdist `filename` with the bytes `data` (.tar.gz, .tgz, .tar.bz2, .zip).

    Setuptools long wrote the dependencies not there but in `NAME.egg-info/requires.txt`: that is used when
    PKG-INFO is older than metadata 2.2 and names none. Never raises: what is unusable has a `problem`.
    """
    try:
        return _metadata(archive_members(data, filename, _may_tell), filename)
    except UnusableError as error:
        return Metadata(source="sdist", problem=str(error))
    except Exception as error:  # Archives are other people's bytes: what can go wrong is not a closed set.
        return Metadata(source="sdist", problem=f"the sdist is not a readable archive ({error})")


def head_metadata(data: bytes, filename: str) -> Metadata | None:
    """Read the PKG-INFO of the sdist `filename` that begins with the bytes `data`.

    None when they end before it, or when it is one that may leave the dependencies to
    `NAME.egg-info/requires.txt`, which comes later. Never raises.
    """
    metadata = None
    try:
        for path, member in archive_members(data, filename, _may_tell):
            if _PKG_INFO.match(path):
                metadata = parse_metadata(_read(path, member), "sdist")
                break
    except Exception:  # Whatever else is wrong, the data ends somewhere.
        return None
    is_told = metadata is not None and (metadata.source == "sdist" or metadata.requires_dist)
    return metadata if is_told else None


class UnusableError(Exception):
    """The sdist cannot be used; the text is the reason."""


def _metadata(members: Iterator[tuple[str, IO[bytes]]], filename: str) -> Metadata:
    metadata: Metadata | None = None
    requires: dict[str, bytes] = {}
    for path, member in members:
        if metadata is None and _PKG_INFO.match(path):
            metadata = parse_metadata(_read(path, member), "sdist")
            if metadata.problem or metadata.source == "sdist" or metadata.requires_dist:
                return metadata
        elif _is_requires_txt(path, filename):
            requires[path] = _read(path, member)
    if metadata is None:
        raise UnusableError("the sdist has no PKG-INFO")
    if not requires:
        return metadata
    nearest = min(requires, key=lambda path: (path.count("/"), path))
    lines, extras = parse_requires_txt(requires[nearest].decode("utf-8", "replace"))
    known = {normalise(extra) for extra in metadata.provides_extra}
    added = tuple(extra for extra in extras if normalise(extra) not in known)
    return metadata._replace(requires_dist=lines, provides_extra=metadata.provides_extra + added)


def _may_tell(path: str) -> bool:
    return path.endswith(("/PKG-INFO", "/requires.txt"))


def _is_requires_txt(path: str, filename: str) -> bool:
    """Whether it is this project's own: test data may contain further egg-info directories."""
    match = _REQUIRES_TXT.match(path)
    return match is not None and normalise(filename).startswith(f"{normalise(match[1])}-")


def _read(path: str, member: IO[bytes]) -> bytes:
    text = member.read(MAX_MEMBER + 1)
    if len(text) > MAX_MEMBER:
        raise UnusableError(f"its {path} is larger than {MAX_MEMBER} bytes")
    return text


def archive_members(
    data: bytes, filename: str, is_wanted: Callable[[str], bool]
) -> Iterator[tuple[str, IO[bytes]]]:
    """The regular files of an archive by path, a stream each, to be read before the next; those of a tar
    are bounded. Only members that are wanted by their paths are opened. Raises UnusableError and whatever
    a damaged archive makes the standard library raise."""
    stream = io.BytesIO(data)
    if filename.endswith(".zip"):
        yield from _zip_members(stream, is_wanted)
    elif filename.endswith((".tar.gz", ".tgz")):
        yield from _tar_members(gzip.GzipFile(fileobj=stream), is_wanted)
    elif filename.endswith(".tar.bz2"):
        yield from _tar_members(bz2.BZ2File(stream), is_wanted)
    else:
        raise UnusableError("the sdist is not a readable archive (it is of no supported kind)")


def _zip_members(stream: IO[bytes], is_wanted: Callable[[str], bool]) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(stream) as archive:
        for info in archive.infolist():
            if not info.is_dir() and is_wanted(info.filename):
                with archive.open(info) as member:
                    yield info.filename, member


def _tar_members(
    unpacked: gzip.GzipFile | bz2.BZ2File, is_wanted: Callable[[str], bool]
) -> Iterator[tuple[str, IO[bytes]]]:
    with tarfile.open(fileobj=_Bounded(unpacked), mode="r|") as archive:
        for count, info in enumerate(archive):
            if count >= MAX_MEMBERS:
                raise UnusableError(f"the sdist has more than {MAX_MEMBERS} members")
            path = info.name.removeprefix("./")
            member = archive.extractfile(info) if info.isreg() and is_wanted(path) else None
            if member is not None:
                yield path, member


class _Bounded(io.RawIOBase):
    """A stream that fails after MAX_UNPACKED bytes: a small archive can unpack to any size."""

    def __init__(self, unpacked: gzip.GzipFile | bz2.BZ2File) -> None:
        self._unpacked = unpacked
        self._left = MAX_UNPACKED

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._unpacked.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise UnusableError(f"the sdist unpacks to more than {MAX_UNPACKED // 2**20} MB")
        return data
