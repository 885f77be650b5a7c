"""Packages whose libraries others are linked to, and what their libraries and headers offer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from compatlock.audit.binaries import read_members
from compatlock.audit.elf import Elf
from compatlock.audit.headers import Identifiers, read_identifiers
from compatlock.audit.mangled import read_mangled
from compatlock.model.artefact import MEMBER_LIMIT, Artefact, Directory, Member, Observations, WheelReader
from compatlock.model.named_tuple import NamedTuple


class Family(NamedTuple):
    """A package that exports a C++ or C interface from its wheel, and how its own symbols are told.

    include: the folder of its headers; scopes: its namespaces; prefixes: what its C functions begin with;
    stable:  headers (a pattern) that have all of its C functions
    split:   headers (a pattern) of one function each, by its name: too many to read all
    """

    include: str
    scopes: frozenset[str]
    prefixes: tuple[str, ...]
    stable: re.Pattern[str]
    split: re.Pattern[str]


FAMILIES = {
    "torch": Family(
        "torch/include/",
        frozenset({"at", "c10", "torch", "caffe2"}),
        ("aoti_torch_", "torch_"),
        re.compile(r"torch/include/torch/(csrc/(stable|inductor|shim)|headeronly)"),
        re.compile(r"torch/include/ATen/ops/(\w+)\.h\Z"),
    )
}
_HEADER = re.compile(r"\.(h|hh|hpp|cuh|inl|inc)\Z")
# Headers of other projects that are copied into PyTorch's folder.
_FOREIGN = re.compile(r"torch/include/(google|oneapi|pybind11|fmt|kineto|tensorpipe|gloo|dnnl\w*|nlohmann)\b")
# What is behind the operator's name in the names of the headers for one operator.
_STEM = re.compile(r"_(ops|native|(cpu|cuda|meta|compositeimplicit|compositeexplicit)\w*_dispatch)\Z")
# Compressed bytes of one wheel's libraries that are read at most. (PyTorch's that can be read have 12 MB.)
_MAX_LIBRARIES = 64 * 1024 * 1024


class Libraries(NamedTuple):
    """The libraries of one wheel, by file name; those without an `Elf` were not read in full."""

    artefact: Artefact
    paths: Mapping[str, str]
    read: Mapping[str, Elf]

    def closure(self, needed: Sequence[str]) -> frozenset[str]:
        """The libraries of this wheel that are loaded for `needed`, as far as can be seen."""
        found: set[str] = set()
        waiting = [name for name in needed if name in self.paths]
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            found.add(name)
            elf = self.read.get(name)
            waiting.extend(n for n in (elf.needed if elf else ()) if n in self.paths)
        return frozenset(found)

    def are_whole(self, needed: Sequence[str]) -> bool:
        """Whether all that is loaded for `needed` was read in full."""
        return self.closure(needed) <= self.read.keys()


def read_libraries(
    artefact: Artefact,
    directory: Directory,
    names: Iterable[str],
    reader: WheelReader,
    observations: Observations,
    *,
    limit: int = MEMBER_LIMIT,
) -> Libraries:
    """Read the libraries `names` of a wheel and those of the same wheel that they need.

    What has more than `limit` bytes, compressed, is left out, and so is what is beyond a total.
    """
    members: dict[str, Member] = {}
    for member in directory.members:
        members.setdefault(member.path.rpartition("/")[2], member)
    paths = {name: member.path for name, member in members.items()}
    read: dict[str, Elf] = {}
    left = _MAX_LIBRARIES
    asked: set[str] = set()
    waiting = set(names) & members.keys()
    while waiting:
        asked |= waiting
        wanted = []
        for name in sorted(waiting, key=lambda n: (members[n].packed, n)):
            if members[name].packed <= min(limit, left):
                left -= members[name].packed
                wanted.append((artefact, members[name]))
        found = {b.path.rpartition("/")[2]: b.elf for b in read_members(wanted, reader, observations)}
        read |= {name: elf for name, elf in found.items() if elf is not None and elf.complete}
        waiting = {n for elf in read.values() for n in elf.needed if n in members} - asked
    return Libraries(artefact, paths, read)


class Interface:
    """What the headers of a provider declare; read no further than has to be."""

    def __init__(
        self,
        family: Family,
        artefact: Artefact,
        directory: Directory,
        reader: WheelReader,
        observations: Observations,
    ) -> None:
        self._family = family
        self._artefact = artefact
        self._reader = reader
        self._observations = observations
        self._headers = [
            m for m in directory.members if m.path.startswith(family.include) and _HEADER.search(m.path)
        ]
        self._known: dict[str, Identifiers] = {}

    @property
    def has_headers(self) -> bool:
        """Whether the wheel comes with headers at all."""
        return bool(self._headers)

    def lacks(self, symbol: str) -> str:
        """The part of a symbol's name that no header has, `""` if all of it may be declared."""
        mangled = read_mangled(symbol)
        if mangled is None:
            found = self._read("stable")
            if found.problem or found.may_have(symbol):
                return ""
            whole = self._read("rest")
            return "" if whole.problem or whole.may_have(symbol) else symbol
        names = [name for name in mangled.scopes if name != "std"]
        found = self._read("rest")
        unknown = [name for name in names if not found.may_have(name)]
        if found.problem or not unknown:
            return ""
        # Mostly it is an operator, in the header of its name; before anything is claimed, look into all.
        for further in (self._operators, self._all_split):
            found = further(names)
            unknown = [name for name in unknown if not found.may_have(name)]
            if found.problem or not unknown:
                return ""
        return unknown[0]

    @property
    def problem(self) -> str:
        """Why headers could not be read, as far as they had to be."""
        return next((found.problem for found in self._known.values() if found.problem), "")

    def _read(self, part: str) -> Identifiers:
        if part not in self._known:
            self._known[part] = self._identifiers(part, [m for m in self._headers if self._is_in(m, part)])
        return self._known[part]

    def _is_in(self, header: Member, part: str) -> bool:
        if part == "stable":
            return bool(self._family.stable.match(header.path))
        is_split = bool(self._family.split.match(header.path))
        return is_split if part == "split" else not is_split and not _FOREIGN.match(header.path)

    def _operators(self, names: Sequence[str]) -> Identifiers:
        """Identifiers of the headers that are named like one of `names`, or like the beginning of one."""
        stems = {name[:end] for name in names for end in (*_ends(name), len(name))}
        found = Identifiers()
        for member in self._headers:
            match = self._family.split.match(member.path)
            if match and _STEM.sub("", match[1]) in stems:
                if member.path not in self._known:
                    self._known[member.path] = self._identifiers(member.path, [member])
                found |= self._known[member.path]
        return found

    def _all_split(self, _: Sequence[str]) -> Identifiers:
        return self._read("split")

    def _identifiers(self, part: str, headers: Sequence[Member]) -> Identifiers:
        return read_identifiers(
            self._artefact, f"{self._family.include}{part}", headers, self._reader, self._observations
        )


def _ends(name: str) -> list[int]:
    """Where a name's words end: `add_Tensor` is an overload of `add`."""
    return [match.start() for match in re.finditer(r"(?<=\w)_", name)]
