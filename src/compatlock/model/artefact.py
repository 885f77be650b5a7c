"""What an audit looks at: the artefacts of a lock, and a way to look into them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from compatlock.model.lock import LockedFile
from compatlock.model.named_tuple import NamedTuple


class Artefact(NamedTuple):
    """The file that an installer would pick for one pin; always a wheel.

    `package` is a normalised name, `version` canonical. `requires` are the Requires-Dist lines of this
    file that hold for the target (markers evaluated; those of requested extras included).
    """

    package: str
    version: str
    file: LockedFile
    requires: tuple[str, ...] = ()


class Member(NamedTuple):
    """An entry of a wheel's central directory (APPNOTE.TXT 4.3.12); sizes in bytes."""

    path: str
    size: int
    packed: int
    crc: int
    offset: int = 0
    method: int = 8


class Directory(NamedTuple):
    """The members of a wheel in the archive's order (folders left out), or why they could not be read."""

    members: tuple[Member, ...] = ()
    problem: str = ""


class Content(NamedTuple):
    """The bytes of a member from its start. `complete` is False when they were cut at a limit; `problem`
    says why there are none (the data is then empty)."""

    data: bytes = b""
    complete: bool = True
    problem: str = ""


# Compressed bytes of a member up to which it is read whole.
MEMBER_LIMIT = 20 * 1024 * 1024


class WheelReader(Protocol):
    """Looks into wheels. Answers come for everything asked, failures as `problem`: it never raises for a
    file that is missing, damaged or hostile. Many are read at once. Files are told apart by their names."""

    @abstractmethod
    def directories(self, files: Iterable[LockedFile]) -> Mapping[str, Directory]:
        """Return the directories, by file name."""
        ...

    @abstractmethod
    def each_content(
        self, wanted: Iterable[tuple[LockedFile, Member]], *, limit: int = MEMBER_LIMIT
    ) -> Iterator[tuple[LockedFile, Member, Content]]:
        """Yield members' bytes one after the other, as they come, in no certain order; each pair once.

        Little is held beyond what was yielded last, so that gigabytes can be summarised.
        """
        ...

    def contents(
        self, wanted: Iterable[tuple[LockedFile, Member]], *, limit: int = MEMBER_LIMIT
    ) -> dict[tuple[str, str], Content]:
        """Return members' bytes, by (file name, member path); `limit` counts compressed bytes of each.

        All of them are held at once: who wants many uses `each_content`.
        """
        found = self.each_content(wanted, limit=limit)
        return {(file.filename, member.path): content for file, member, content in found}


class Observations(Protocol):
    """Remembers what was read off a file, by the file's SHA-256: a cache of summaries, never of facts.

    `kind` names what the summary is and its version (`elf/1`), `subject` what in the file it is of.
    """

    def get(self, kind: str, keys: Sequence[tuple[str, str]]) -> Mapping[tuple[str, str], bytes]:
        """Return the known summaries of `(sha256, subject)` keys; what is not known is left out."""
        ...

    def put(self, kind: str, summaries: Mapping[tuple[str, str], bytes]) -> None:
        """Remember summaries by `(sha256, subject)`. A file without a hash (`""`) is not remembered."""
        ...
