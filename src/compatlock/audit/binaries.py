"""Which ELF members of the wheels of a lock are read, and how much of each.

A lock of machine learning has gigabytes of machine code, of which little is needed: of every wheel a few
small members, and only where those (or names) point to CUDA or PyTorch the others, large ones from their
start alone: linkers put the names of symbols and libraries there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from compatlock.audit.elf import Elf, ElfError, read_elf
from compatlock.audit.elf_summary import KIND, decode_elf, encode_elf
from compatlock.model.artefact import MEMBER_LIMIT, Artefact, Content, Member, Observations, WheelReader
from compatlock.model.named_tuple import NamedTuple

# Compressed bytes: up to FULL a member is read whole, of a larger one its first START.
FULL = 2 * 1024 * 1024
START = 1024 * 1024
# Of one wheel, and of all wheels of an audit together; the smallest come first.
WHEEL_BUDGET = 16 * 1024 * 1024
TOTAL_BUDGET = 160 * 1024 * 1024
_SAMPLE = 3
_GLANCE = 128 * 1024
_MOST_MEMBERS = 64
# Of a wheel that is linked to no PyTorch: its CUDA is soon seen.
_LIGHT_BUDGET = 4 * 1024 * 1024
_LIGHT_MEMBERS = 12

_SHARED_OBJECT = re.compile(r"\.so(\.\d+)*\Z")
_HINT = re.compile(r"cuda|torch|nccl|gpu|(?<![a-z])cu1\d|cudnn|cutlass|flash", re.IGNORECASE)
_TORCH = re.compile(r"lib(torch|c10)")
_CUDA = re.compile(r"lib(cuda|cublas|cudnn|cusparse|cusolver|cufft|curand|nvrtc|nvJitLink|nccl)")
# NVIDIA's libraries are told by their names; libraries of another machine are for cross compilation.
_NOT_READ = re.compile(r"\Anvidia/|/stubs/|\.debug\Z")
# PyTorch's large libraries are rewritten after linking: their start has no names, and their ends are far.
_REWRITTEN = re.compile(r"/libtorch_\w+\.so\Z")


class Binary(NamedTuple):
    """An ELF member of a wheel. `problem` says why it could not be read; it has no `elf` then."""

    artefact: Artefact
    path: str
    elf: Elf | None = None
    problem: str = ""


class Binaries(NamedTuple):
    """What was read off a set of wheels, by package.

    `names` are the paths of all shared objects, read or not, `problems` the wheels without a directory.
    """

    read: Mapping[str, tuple[Binary, ...]]
    names: Mapping[str, tuple[str, ...]]
    problems: Mapping[str, str]

    def of(self, package: str) -> tuple[tuple[str, Elf], ...]:
        """The members of a package that could be read, with their paths."""
        return tuple((b.path, b.elf) for b in self.read.get(package, ()) if b.elf is not None)


def is_vendored(path: str) -> bool:
    """Whether a member is a copy of a foreign library that a wheel was repaired with (auditwheel)."""
    return path.split("/", 1)[0].endswith(".libs")


def read_binaries(artefacts: Sequence[Artefact], reader: WheelReader, observations: Observations) -> Binaries:
    """Read what the checks of binaries need of `artefacts`, what is remembered first. Never raises for a
    wheel: what cannot be read is told in the result."""
    objects, problems = _shared_objects(artefacts, reader)
    source = _Source(reader, observations)
    read = source.read([(a, m) for a in artefacts for m in _own(objects[a.package])[:_SAMPLE]])
    # The largest member is the likeliest to have code for GPUs.
    glance = _Source(reader, observations, full=_GLANCE, start=_GLANCE)
    glances = glance.read([(a, m) for a in artefacts for m in _largest(objects[a.package])])
    rest = [(a, m) for a in artefacts for m in _rest(a, objects[a.package], glances | read)]
    missing = [(a, m) for a, m in rest if (a.file.filename, m.path) not in read]
    read |= source.read(_within_budget(missing))
    return _result(objects, problems, artefacts, read)


def read_more_and_more(
    artefact: Artefact, reader: WheelReader, observations: Observations
) -> Iterator[Binaries]:
    """Read one wheel's members in steps, the smallest first, for who stops as soon as something is seen;
    the last step has all that `read_binaries` reads."""
    objects, problems = _shared_objects([artefact], reader)
    own = _own(objects[artefact.package])[:_MOST_MEMBERS]
    source = _Source(reader, observations)
    read: dict[tuple[str, str], Binary] = {}
    done, count = 0, _SAMPLE
    while done < len(own):
        read |= source.read([(artefact, m) for m in own[done:count]])
        yield _result(objects, problems, [artefact], read)
        done, count = count, count * 2
    whole = read_binaries([artefact], reader, observations).read[artefact.package]
    read |= {(artefact.file.filename, b.path): b for b in whole}
    yield _result(objects, problems, [artefact], read)


def _shared_objects(
    artefacts: Sequence[Artefact], reader: WheelReader
) -> tuple[dict[str, list[Member]], dict[str, str]]:
    """Return the members that are shared objects, and why there are none, by package."""
    directories = reader.directories([a.file for a in artefacts])
    objects: dict[str, list[Member]] = {}
    problems = {}
    for artefact in artefacts:
        directory = directories.get(artefact.file.filename)
        if directory is None or directory.problem:
            problems[artefact.package] = directory.problem if directory else "it was not read"
        members = directory.members if directory else ()
        objects[artefact.package] = [m for m in members if _SHARED_OBJECT.search(m.path)]
    return objects, problems


def _result(
    objects: Mapping[str, Sequence[Member]],
    problems: Mapping[str, str],
    artefacts: Sequence[Artefact],
    read: Mapping[tuple[str, str], Binary],
) -> Binaries:
    found: dict[str, tuple[Binary, ...]] = {}
    for artefact in artefacts:
        keys = ((artefact.file.filename, m.path) for m in objects[artefact.package])
        found[artefact.package] = tuple(read[key] for key in keys if key in read)
    names = {package: tuple(m.path for m in members) for package, members in objects.items()}
    return Binaries(found, names, problems)


def read_members(
    wanted: Sequence[tuple[Artefact, Member]],
    reader: WheelReader,
    observations: Observations,
    *,
    full: int = MEMBER_LIMIT,
) -> list[Binary]:
    """Read the given members, those of up to `full` bytes, compressed, whole."""
    found = _Source(reader, observations, full=full).read(wanted)
    return [found[a.file.filename, m.path] for a, m in wanted]


def _largest(members: Sequence[Member]) -> list[Member]:
    """The largest of a wheel's own members, unless it is among the smallest or its start tells nothing."""
    own = sorted((m for m in members if _is_own(m)), key=_by_size)
    return [m for m in own[_SAMPLE:][-1:] or own[-1:] if m.packed > _GLANCE and not _REWRITTEN.search(m.path)]


def _own(members: Iterable[Member]) -> list[Member]:
    """The small members that are a wheel's own, the smallest first: they show what it is about."""
    return sorted((m for m in members if _is_own(m) and m.packed <= FULL), key=_by_size)


def _is_own(member: Member) -> bool:
    return not is_vendored(member.path) and not _NOT_READ.search(member.path)


def _rest(
    artefact: Artefact, members: Sequence[Member], read: Mapping[tuple[str, str], Binary]
) -> list[Member]:
    """What else is read of a wheel that may be bound to a CUDA or a PyTorch: the smallest first."""
    needed: set[str] = set()
    for member in members:
        binary = read.get((artefact.file.filename, member.path))
        needed.update(binary.elf.needed if binary and binary.elf else ())
    if any(map(_TORCH.match, needed)) or any(re.match(r"torch\b(?!-)", line) for line in artefact.requires):
        return _smallest(members, WHEEL_BUDGET, _MOST_MEMBERS)
    if any(map(_CUDA.match, needed)) or any(_HINT.search(m.path) for m in members):
        return _smallest(members, _LIGHT_BUDGET, _LIGHT_MEMBERS)
    return []


def _smallest(members: Sequence[Member], budget: int, most: int) -> list[Member]:
    """The members that are worth reading, the smallest first, up to `budget` bytes."""
    chosen: list[Member] = []
    spent = 0
    for member in sorted(members, key=_by_size):
        if _NOT_READ.search(member.path) or (member.packed > FULL and _REWRITTEN.search(member.path)):
            continue
        if is_vendored(member.path) and member.packed > FULL:
            continue
        spent += _cost(member)
        if spent > budget or len(chosen) >= most:
            break
        chosen.append(member)
    return chosen


def _by_size(member: Member) -> tuple[int, str]:
    return member.packed, member.path


def _cost(member: Member, full: int = FULL) -> int:
    return member.packed if member.packed <= full else START


def _within_budget(wanted: list[tuple[Artefact, Member]]) -> list[tuple[Artefact, Member]]:
    chosen, spent = [], 0
    for artefact, member in sorted(wanted, key=lambda pair: (_by_size(pair[1]), pair[0].package)):
        spent += _cost(member)
        if spent > TOTAL_BUDGET:
            break
        chosen.append((artefact, member))
    return chosen


class _Source:
    """Reads members, remembered ones from the observations; those of more than `full` bytes, compressed, to
    `start`."""

    def __init__(
        self, reader: WheelReader, observations: Observations, full: int = FULL, start: int = START
    ) -> None:
        self._reader = reader
        self._observations = observations
        self._full = full
        self._start = start

    def read(self, wanted: Iterable[tuple[Artefact, Member]]) -> dict[tuple[str, str], Binary]:
        """Return the members by file name and path."""
        wanted = list(wanted)
        keys = {self._key(a, m): (a, m) for a, m in wanted if a.file.sha256}
        found: dict[tuple[str, str], Binary] = {}
        for key, summary in self._observations.get(KIND, sorted(keys)).items():
            elf = decode_elf(summary)
            if elf is not None and key in keys:
                artefact, member = keys[key]
                found[artefact.file.filename, member.path] = Binary(artefact, member.path, elf)
        missing = [(a, m) for a, m in wanted if (a.file.filename, m.path) not in found]
        found |= self._fetch(missing)
        return found

    def _key(self, artefact: Artefact, member: Member) -> tuple[str, str]:
        """A start of a member is another thing than the whole."""
        subject = member.path if member.packed <= self._full else f"{member.path}@{self._start}"
        return artefact.file.sha256, subject

    def _fetch(self, missing: list[tuple[Artefact, Member]]) -> dict[tuple[str, str], Binary]:
        found: dict[tuple[str, str], Binary] = {}
        summaries: dict[tuple[str, str], bytes] = {}
        owners = {a.file.filename: a for a, _ in missing}
        for limit, part in (
            (self._full, [(a.file, m) for a, m in missing if m.packed <= self._full]),
            (self._start, [(a.file, m) for a, m in missing if m.packed > self._full]),
        ):
            for file, member, content in self._reader.each_content(part, limit=limit) if part else ():
                artefact = owners[file.filename]
                found[file.filename, member.path] = binary = _parse(artefact, member, content)
                if binary.elf is not None and file.sha256:
                    summaries[self._key(artefact, member)] = encode_elf(binary.elf)
        if summaries:
            self._observations.put(KIND, summaries)
        for artefact, member in missing:
            unread = Binary(artefact, member.path, problem="it was not read")
            found.setdefault((artefact.file.filename, member.path), unread)
        return found


def _parse(artefact: Artefact, member: Member, content: Content) -> Binary:
    if content.problem:
        return Binary(artefact, member.path, problem=content.problem)
    if content.data[:4] != b"\x7fELF":
        return Binary(artefact, member.path, Elf(0))  # a linker script, a file of another system
    try:
        return Binary(artefact, member.path, read_elf(content.data, complete=content.complete))
    except ElfError as error:
        return Binary(artefact, member.path, problem=str(error))
