"""Reads summaries of modules in batches: remembered ones first, the others off the wheels."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from itertools import chain

from compatlock.audit import outline as outlines
from compatlock.audit.modules import KIND, UNKNOWN, Summary, decode, encode, summarise
from compatlock.audit.outline import Outline
from compatlock.audit.site import Site
from compatlock.model.artefact import Member, Observations, WheelReader
from compatlock.model.lock import LockedFile

# How much is read in all, and at once: modules, and bytes as packed.
MAX_MODULES = 20_000
MAX_PACKED = 100 * 1024 * 1024
_BATCH = 32 * 1024 * 1024
_LIMIT = 1024 * 1024  # of one module, packed

EXPORTS = "exports/1"
_DEFINED = re.compile(rb"^(?:class|def|async def) (\w+)|^(\w+) *=", re.MULTILINE)
_ALL = re.compile(rb"^__all__ *\+?= *[\[(]", re.MULTILINE)
_CLOSE = re.compile(rb"[\])]")
_LONGEST = 100_000  # bytes of an `__all__`
_QUOTED = re.compile(rb"[\"'](\w+)[\"']")

# Sources kept in memory, in bytes.
_KEEP = 96 * 1024 * 1024
_NO_FILE = LockedFile("")

_Entry = tuple[str, LockedFile, Member, str]  # a module, where its source is, and whose it is
Folder = tuple[str, str]  # a package of the set, and a folder of its artefact


class Library:
    """The outlines and summaries that were asked for so far, by module."""

    def __init__(self, site: Site, reader: WheelReader, observations: Observations) -> None:
        self.site = site
        self.outlines: dict[str, Outline] = {}
        self.summaries: dict[str, Summary] = {}
        self.exports: dict[Folder, frozenset[str]] = {}
        self.patches: set[str] = set()
        self.hooked: set[str] = set()  # packages of which some module has hooks
        self.unread: set[str] = set()  # modules that were not read: limits, damaged files
        self._reader = reader
        self._observations = observations
        self._packed = 0
        self._sources: dict[str, bytes] = {}
        self._kept = 0

    def outline(self, modules: Iterable[str]) -> None:
        """Have the outlines of modules, as far as the limits go; others are empty then."""
        for entry, data in self._look(outlines.KIND, modules, self.outlines):
            module, _, _, owner = entry
            found = outlines.decode(data) if data is not None else None
            self.outlines[module] = found or outlines.EMPTY
            if found is not None:
                self.patches |= found.patches
                if found.hooks:
                    self.hooked.add(owner)

    def load(self, modules: Iterable[str]) -> None:
        """Have the summaries of modules, as far as the limits go; others are `UNKNOWN` then."""
        for entry, data in self._look(KIND, modules, self.summaries):
            self.summaries[entry[0]] = decode(data) if data is not None else UNKNOWN

    def _look(
        self, kind: str, modules: Iterable[str], known: Container[str]
    ) -> Iterator[tuple[_Entry, bytes | None]]:
        """Yield what is remembered or can be read of modules that are not known yet, encoded."""
        wanted = []
        for module in sorted(set(modules)):
            if module in known:
                continue
            found = self.site.find(module)
            if found.member is None:
                yield (module, _NO_FILE, Member("", 0, 0, 0), ""), None
            else:
                file = self.site.artefacts[found.owner].file
                wanted.append((module, file, found.member, found.owner))
        remembered = self._observations.get(kind, [(e[1].sha256, e[2].path) for e in wanted if e[1].sha256])
        missing = []
        for entry in wanted:
            data = remembered.get((entry[1].sha256, entry[2].path))
            if data is None:
                missing.append(entry)
            else:
                yield entry, data
        for batch in self._batches(missing):
            yield from self._read(kind, batch)

    def _batches(self, wanted: list[_Entry]) -> Iterator[list[_Entry]]:
        """What is to be read in one go; beyond the limits nothing is."""
        batch: list[_Entry] = []
        size = 0
        for entry in wanted:
            batch.append(entry)
            size += entry[2].size
            if size > _BATCH:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _read(self, kind: str, batch: list[_Entry]) -> Iterator[tuple[_Entry, bytes | None]]:
        read: list[tuple[LockedFile, Member]] = []
        for module, file, member, _ in batch:
            allowed = len(self.outlines) < MAX_MODULES and self._packed + member.packed <= MAX_PACKED
            if module not in self._sources and allowed and member.packed <= _LIMIT:
                self._packed += member.packed
                read.append((file, member))
        learned: dict[tuple[str, str], bytes] = {}
        by_place = {(entry[1].filename, entry[2].path): entry for entry in batch}
        at_hand = ((entry, self._sources[entry[0]]) for entry in batch if entry[0] in self._sources)
        fetched = (
            (by_place[file.filename, member.path], content.data)
            for file, member, content in self._reader.each_content(read, limit=_LIMIT)
            if content.complete and not content.problem
        )
        for entry, source in chain(list(at_hand), fetched):
            module, file, member, _ = entry
            self._keep(module, source)
            data = self._digest(kind, module, source)
            by_place.pop((file.filename, member.path))
            if file.sha256:
                learned[file.sha256, member.path] = data
            yield entry, data
        self._observations.put(kind, learned)
        for entry in by_place.values():
            self.unread.add(entry[0])
            yield entry, None

    def _digest(self, kind: str, module: str, source: bytes) -> bytes:
        is_package = self.site.find(module).is_package
        if kind == KIND:
            return encode(summarise(source, module, is_package=is_package))
        return outlines.encode(outlines.outline(source, module, is_package=is_package))

    def _keep(self, module: str, source: bytes) -> None:
        """Keep a source at hand, as most that are summarised were outlined before."""
        if module not in self._sources and self._kept + len(source) <= _KEEP:
            self._kept += len(source)
            self._sources[module] = source

    def load_exports(self, folders: Iterable[Folder]) -> None:
        """Have the names that the modules right in a folder (of a package's artefact) may export, and `*`
        when one of them could not be read."""
        wanted = sorted(set(folders) - self.exports.keys())
        files = {folder: self.site.artefacts[folder[0]].file for folder in wanted}
        keys = {folder: (files[folder].sha256, folder[1]) for folder in wanted}
        known = self._observations.get(EXPORTS, [key for key in keys.values() if key[0]])
        missing = []
        for folder in wanted:
            data = known.get(keys[folder])
            if data is None:
                missing.append(folder)
            else:
                self.exports[folder] = frozenset(data.decode().split())
        members = {folder: self.site.sources(*folder) for folder in missing}
        names: dict[Folder, set[str]] = {folder: set() for folder in missing}
        places = {(files[f].filename, member.path): f for f in missing for member in members[f]}
        asked = [(files[folder], member) for folder in missing for member in members[folder]]
        for file, member, content in self._reader.each_content(asked, limit=_LIMIT):
            found = {"*"} if content.problem or not content.complete else exported(content.data)
            names[places[file.filename, member.path]] |= found
        self.exports.update((folder, frozenset(found)) for folder, found in names.items())
        sound = [folder for folder in missing if keys[folder][0] and "*" not in names[folder]]
        learned = {keys[folder]: " ".join(sorted(names[folder])).encode() for folder in sound}
        self._observations.put(EXPORTS, learned)


def exported(source: bytes) -> set[str]:
    """Return the names that a module's text may define or name in `__all__`; too many rather than too few."""
    names = {one or other for one, other in _DEFINED.findall(source)}
    at = 0
    while begin := _ALL.search(source, at):
        # What was searched in vain is not searched again, or endless beginnings would take endless time.
        end = _CLOSE.search(source, begin.end(), begin.end() + _LONGEST)
        at = end.start() if end else begin.end() + _LONGEST
        if end:
            names.update(_QUOTED.findall(source, begin.end(), at))
    return {name.decode("ascii", "replace") for name in names}
