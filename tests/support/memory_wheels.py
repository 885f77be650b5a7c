"""Wheels that are given as `{path: bytes}`, and a memory for what was read off them."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from compatlock.model.artefact import MEMBER_LIMIT, Artefact, Content, Directory, Member, WheelReader
from compatlock.model.lock import LockedFile


class MemoryWheels(WheelReader):
    """Reads wheels of `{file name: {path: bytes}}`; `reads` lists what members were read.

    Members are not packed: a limit of compressed bytes is one of their bytes. `broken` are wheels, or
    members, that cannot be read.
    """

    def __init__(self, wheels: Mapping[str, Mapping[str, bytes]], broken: Iterable[str] = ()) -> None:
        self._wheels = wheels
        self._broken = set(broken)
        self.reads: list[tuple[str, str, int]] = []

    def directories(self, files: Iterable[LockedFile]) -> dict[str, Directory]:
        return {file.filename: self._directory(file.filename) for file in files}

    def each_content(
        self, wanted: Iterable[tuple[LockedFile, Member]], *, limit: int = MEMBER_LIMIT
    ) -> Iterator[tuple[LockedFile, Member, Content]]:
        for file, member in wanted:
            data = self._wheels[file.filename][member.path]
            self.reads.append((file.filename, member.path, min(limit, len(data))))
            if member.path in self._broken:
                yield file, member, Content(complete=False, problem="the connection broke")
            else:
                yield file, member, Content(data[:limit], len(data) <= limit)

    def _directory(self, name: str) -> Directory:
        if name in self._broken or name not in self._wheels:
            return Directory(problem="there is no such file")
        return Directory(
            tuple(
                Member(path, len(data), len(data), zlib.crc32(data), 0, 0)
                for path, data in self._wheels[name].items()
            )
        )


class MemoryObservations:
    """`Observations` in a dictionary."""

    def __init__(self) -> None:
        self.held: dict[tuple[str, str, str], bytes] = {}

    def get(self, kind: str, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], bytes]:
        known = {(sha256, subject): self.held.get((kind, sha256, subject)) for sha256, subject in keys}
        return {key: summary for key, summary in known.items() if summary is not None}

    def put(self, kind: str, summaries: Mapping[tuple[str, str], bytes]) -> None:
        self.held.update({(kind, *key): summary for key, summary in summaries.items()})


def artefact(package: str, version: str, requires: Sequence[str] = ()) -> Artefact:
    """The artefact of one release, with a hash of its own."""
    name = f"{package.replace('-', '_')}-{version}-py3-none-any.whl"
    return Artefact(
        package, version, LockedFile(name, hashlib.sha256(name.encode()).hexdigest()), tuple(requires)
    )
