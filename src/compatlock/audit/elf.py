"""Reads what a dynamic linker would look at in an ELF file: libraries needed, symbols wanted and given.

System V ABI (gABI) 4.1 chapters 4 and 5, ELF32 and ELF64 in both byte orders, with GNU symbol versioning
(LSB 3.0, 10.7) and the GNU hash table. Own code instead of pyelftools: that one is ten times as slow (18 us
a symbol), needs the end of the file, which of large libraries is not read, and raises all kinds of errors for
damaged files. Input is hostile: every offset is checked, the work is linear in the bytes given.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from compatlock.audit.elf_strings import find_strings, libraries_in
from compatlock.model.named_tuple import NamedTuple

_MAGIC = b"\x7fELF"
_PT_LOAD, _PT_DYNAMIC = 1, 2
_SHT_DYNSYM = 11
_DT_NEEDED, _DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_STRSZ, _DT_SONAME = 1, 4, 5, 6, 10, 14
_DT_GNU_HASH, _DT_VERSYM = 0x6FFFFEF5, 0x6FFFFFF0
_DT_VERDEF, _DT_VERDEFNUM, _DT_VERNEED, _DT_VERNEEDNUM = 0x6FFFFFFC, 0x6FFFFFFD, 0x6FFFFFFE, 0x6FFFFFFF
_STB_LOCAL, _STB_WEAK = 0, 2
_STV_INTERNAL, _STV_HIDDEN = 1, 2
_MAX_NAME = 16 * 1024
_MAX_DYNAMIC = 4096
_MAX_VERSIONS = 4096


class ElfError(Exception):
    """The bytes are no ELF file, or a damaged one; the text says what is wrong."""


class Wanted(NamedTuple):
    """An undefined dynamic symbol. `version` and `library` (the soname that should have that version) are
    `""` where the file does not say; a `weak` one may stay unresolved."""

    name: str
    version: str = ""
    library: str = ""
    weak: bool = False


class Elf(NamedTuple):
    """What was read off an ELF file.

    machine:  e_machine (62 is x86-64, 183 AArch64)
    needed:   DT_NEEDED in order
    soname:   DT_SONAME, `""` if it has none
    defined:  names of the dynamic symbols that other files can bind to
    undefined: the dynamic symbols that others have to define
    versions: the symbol versions that the file defines
    complete: False when the bytes were cut off before the dynamic section or a table of it; then `needed`
              is what the string table, if it was there, tells, and other fields hold what could be read
    """

    machine: int
    needed: tuple[str, ...] = ()
    soname: str = ""
    defined: tuple[str, ...] = ()
    undefined: tuple[Wanted, ...] = ()
    versions: tuple[str, ...] = ()
    complete: bool = True


class _CutError(Exception):
    """A part that is needed lies behind the bytes that are there."""


class _Layout(NamedTuple):
    """Formats of one ELF class in one byte order; fields are picked by position."""

    header: struct.Struct
    program: struct.Struct
    section: struct.Struct
    dynamic: struct.Struct
    symbol: struct.Struct
    order: str
    wide: bool


def _layout(wide: bool, order: str) -> _Layout:
    if wide:
        formats = ("16s2HI3QI6H", "2I6Q", "2I4Q2I2Q", "2Q", "I2BH2Q")
    else:
        formats = ("16s2HI3II6H", "8I", "10I", "2I", "3I2BH")
    header, program, section, dynamic, symbol = (struct.Struct(order + text) for text in formats)
    return _Layout(header, program, section, dynamic, symbol, order, wide)


_LAYOUTS = {(c, d): _layout(c == 2, "<" if d == 1 else ">") for c in (1, 2) for d in (1, 2)}


class _Segment(NamedTuple):
    kind: int
    offset: int
    address: int
    length: int


def read_elf(data: bytes, *, complete: bool = True) -> Elf:
    """Read an ELF file, or the start of one when `complete` is False.

    Raises ElfError when the bytes are none, or when they contradict themselves.
    """
    if len(data) < 20 or data[:4] != _MAGIC:
        raise ElfError("it is no ELF file")
    layout = _LAYOUTS.get((data[4], data[5]))
    if layout is None:
        raise ElfError("it is an ELF file of an unknown class or byte order")
    try:
        return _File(data, layout, complete).read()
    except struct.error:
        raise ElfError("the ELF file is cut off in its header") from None


class _File:
    """One ELF file, or its start, while it is read."""

    def __init__(self, data: bytes, layout: _Layout, complete: bool) -> None:
        self._data = data
        self._layout = layout
        self._complete = complete
        self._header = layout.header.unpack_from(data)
        self._segments: list[_Segment] = []
        # Names may share their ends, and no more than that: together they are hardly longer than the table.
        self._budget = 4 * len(data) + 65536

    def read(self) -> Elf:
        """Return what the file has."""
        machine = self._header[2]
        try:
            self._segments = self._program_headers()
            dynamic = self._dynamic()
        except _CutError:
            return self._by_strings(machine)
        if not dynamic:
            return Elf(machine, complete=True)  # a static program or an object file
        strings = self._strings(dynamic)
        if strings is None:
            return Elf(machine, complete=False)
        needed = tuple(self._name(strings, value) for tag, value in dynamic if tag == _DT_NEEDED)
        first: dict[int, int] = {}
        for tag, value in dynamic:
            first.setdefault(tag, value)
        soname = self._name(strings, first[_DT_SONAME]) if _DT_SONAME in first else ""
        try:
            wanted_versions, own_versions = self._versions(first, strings)
            defined, undefined = self._symbols(first, strings, wanted_versions)
        except _CutError:
            return Elf(machine, needed, soname, complete=False)
        return Elf(machine, needed, soname, defined, undefined, own_versions)

    def _slice(self, offset: int, length: int) -> bytes:
        """Bytes that have to be there. Raises _CutError if more of the file has them, else ElfError."""
        if offset < 0 or length < 0 or offset + length > len(self._data):
            if self._complete:
                raise ElfError("the ELF file points outside of itself")
            raise _CutError
        return self._data[offset : offset + length]

    def _program_headers(self) -> list[_Segment]:
        at, size, count = self._header[5], self._header[9], self._header[10]
        if not count:
            return []
        if size != self._layout.program.size:
            raise ElfError("the ELF file's program headers have an impossible size")
        segments = []
        for fields in self._layout.program.iter_unpack(self._slice(at, size * count)):
            if self._layout.wide:
                kind, _, offset, address, _, length, _, _ = fields
            else:
                kind, offset, address, _, length, _, _, _ = fields
            segments.append(_Segment(kind, offset, address, length))
        return segments

    def _dynamic(self) -> list[tuple[int, int]]:
        """The entries of the dynamic section up to DT_NULL."""
        segment = next((s for s in self._segments if s.kind == _PT_DYNAMIC), None)
        if segment is None:
            return []
        entry = self._layout.dynamic
        length = min(segment.length - segment.length % entry.size, _MAX_DYNAMIC * entry.size)
        entries = []
        for tag, value in entry.iter_unpack(self._slice(segment.offset, length)):
            if tag == 0:
                break
            entries.append((tag, value))
        return entries

    def _offset(self, address: int) -> int:
        """Where in the file an address is loaded from."""
        for segment in self._segments:
            if segment.kind == _PT_LOAD and segment.address <= address < segment.address + segment.length:
                return segment.offset + address - segment.address
        raise ElfError("the ELF file's dynamic section points to what is not loaded")

    def _strings(self, dynamic: list[tuple[int, int]]) -> bytes | None:
        values = dict(dynamic)
        if _DT_STRTAB not in values or _DT_STRSZ not in values:
            raise ElfError("the ELF file's dynamic section has no string table")
        try:
            return self._slice(self._offset(values[_DT_STRTAB]), values[_DT_STRSZ])
        except _CutError:
            return None

    def _name(self, strings: bytes, at: int) -> str:
        end = strings.find(b"\0", at, at + _MAX_NAME)
        if end < 0:
            raise ElfError("the ELF file has a name without an end")
        self._budget -= end - at
        if self._budget < 0:
            raise ElfError("the ELF file's names are absurdly long")
        return strings[at:end].decode("utf-8", "replace")

    def _symbols(
        self, values: dict[int, int], strings: bytes, versions: dict[int, tuple[str, str]]
    ) -> tuple[tuple[str, ...], tuple[Wanted, ...]]:
        if _DT_SYMTAB not in values:
            return (), ()
        start = self._offset(values[_DT_SYMTAB])
        count = self._symbol_count(values, start)
        table = self._slice(start, count * self._layout.symbol.size)
        numbers: tuple[int, ...] = ()
        if _DT_VERSYM in values and count:
            numbers = self._numbers("H", self._offset(values[_DT_VERSYM]), count)
        return self._sort_symbols(table, strings, versions, numbers)

    def _sort_symbols(
        self, table: bytes, strings: bytes, versions: dict[int, tuple[str, str]], numbers: tuple[int, ...]
    ) -> tuple[tuple[str, ...], tuple[Wanted, ...]]:
        """Return the names that the symbol table gives, and what it wants."""
        defined: dict[str, None] = {}
        undefined: dict[Wanted, None] = {}
        wide = self._layout.wide
        for index, fields in enumerate(self._layout.symbol.iter_unpack(table)):
            if wide:
                name, info, other, section, _, _ = fields
            else:
                name, _, _, info, other, section = fields
            binding = info >> 4
            if not name or binding == _STB_LOCAL or other & 3 in (_STV_INTERNAL, _STV_HIDDEN):
                continue
            text = self._name(strings, name)
            if section:
                defined[text] = None
            else:
                number = numbers[index] & 0x7FFF if numbers else 0
                version, library = versions.get(number, ("", ""))
                undefined[Wanted(text, version, library, binding == _STB_WEAK)] = None
        return tuple(sorted(defined)), tuple(sorted(undefined))

    def _symbol_count(self, values: dict[int, int], start: int) -> int:
        """The dynamic section does not tell it; section headers, if they are there, or a hash table do."""
        for kind, offset, length in self._sections():
            if kind == _SHT_DYNSYM and offset == start:
                return length // self._layout.symbol.size
        if _DT_HASH in values:
            return self._numbers("I", self._offset(values[_DT_HASH]), 2)[1]
        if _DT_GNU_HASH in values and (count := self._gnu_count(self._offset(values[_DT_GNU_HASH]))):
            return count
        # A GNU hash table without entries says nothing; linkers put the names right behind the symbols.
        strings = self._offset(values[_DT_STRTAB])
        return max(0, strings - start) // self._layout.symbol.size

    def _sections(self) -> Iterator[tuple[int, int, int]]:
        at, size, count = self._header[6], self._header[11], self._header[12]
        section = self._layout.section
        if not count or size != section.size or at + size * count > len(self._data):
            return
        for fields in section.iter_unpack(self._data[at : at + size * count]):
            yield fields[1], fields[4], fields[5]

    def _gnu_count(self, at: int) -> int:
        """Symbols of a GNU hash table: the last chain's end is the last symbol; 0 if it has no chain."""
        buckets, first, bloom, _ = self._numbers("I", at, 4)
        at += 16 + bloom * (8 if self._layout.wide else 4)
        last = max(self._numbers("I", at, buckets), default=0)
        if last < first or not last:
            return 0
        at += 4 * buckets
        tail = self._data[at + 4 * (last - first) :]
        words = struct.iter_unpack(self._layout.order + "I", tail[: len(tail) - len(tail) % 4])
        for index, (word,) in enumerate(words):
            if word & 1:
                return last + index + 1
        self._slice(len(self._data), 1)
        return 0

    def _numbers(self, kind: str, at: int, count: int) -> tuple[int, ...]:
        size = 2 if kind == "H" else 4
        return struct.unpack(f"{self._layout.order}{count}{kind}", self._slice(at, size * count))

    def _versions(
        self, values: dict[int, int], strings: bytes
    ) -> tuple[dict[int, tuple[str, str]], tuple[str, ...]]:
        """Return `(version, library)` by the number that symbols carry, and the file's own versions."""
        wanted: dict[int, tuple[str, str]] = {}
        order, seen = self._layout.order, 0
        if _DT_VERNEED in values:
            at = self._offset(values[_DT_VERNEED])
            for _ in range(min(values.get(_DT_VERNEEDNUM, 0), _MAX_VERSIONS)):
                _, count, file, first, step = struct.unpack(order + "2H3I", self._slice(at, 16))
                library, inner = self._name(strings, file), at + first
                for _ in range(count):
                    seen += 1
                    if seen > _MAX_VERSIONS:
                        raise ElfError("the ELF file has absurdly many versions")
                    _, _, number, name, onward = struct.unpack(order + "I2H2I", self._slice(inner, 16))
                    wanted[number & 0x7FFF] = (self._name(strings, name), library)
                    inner += onward
                    if not onward:
                        break
                at += step
                if not step:
                    break
        return wanted, self._own_versions(values, strings)

    def _own_versions(self, values: dict[int, int], strings: bytes) -> tuple[str, ...]:
        own: list[str] = []
        if _DT_VERDEF in values:
            order, at = self._layout.order, self._offset(values[_DT_VERDEF])
            for _ in range(min(values.get(_DT_VERDEFNUM, 0), _MAX_VERSIONS)):
                _, flags, _, _, _, first, step = struct.unpack(order + "4H3I", self._slice(at, 20))
                name, _ = struct.unpack(order + "2I", self._slice(at + first, 8))
                if not flags & 1:  # VER_FLG_BASE names the file itself
                    own.append(self._name(strings, name))
                at += step
                if not step:
                    break
        return tuple(own)

    def _by_strings(self, machine: int) -> Elf:
        """What a file without its dynamic section tells: linkers put symbols, then their names, first."""
        found = find_strings(self._data)
        if found is None:
            return Elf(machine, complete=False)
        start, end = found
        strings = self._data[start:end]
        defined, undefined = self._symbols_before(start, strings)
        return Elf(machine, libraries_in(strings), "", defined, undefined, complete=False)

    def _symbols_before(self, end: int, strings: bytes) -> tuple[tuple[str, ...], tuple[Wanted, ...]]:
        """The symbol table that ends where its names begin; nothing unless it looks like one."""
        size = self._layout.symbol.size
        start = end
        while start >= size and self._data[start - size : start].strip(b"\0"):
            name = struct.unpack_from(self._layout.order + "I", self._data, start - size)[0]
            if name >= len(strings):
                return (), ()
            start -= size
        if start < size or start == end:
            return (), ()
        try:
            return self._sort_symbols(self._data[start:end], strings, {}, ())
        except ElfError:
            return (), ()
