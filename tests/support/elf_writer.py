"""Writes tiny ELF shared objects: what the audit reads of them, and nothing else (gABI, chapters 4 and 5)."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import NamedTuple

WEAK, GLOBAL = 2, 1
_DT_NULL, _DT_NEEDED, _DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_STRSZ, _DT_SONAME = 0, 1, 4, 5, 6, 10, 14
_DT_GNU_HASH, _DT_VERSYM = 0x6FFFFEF5, 0x6FFFFFF0
_DT_VERDEF, _DT_VERDEFNUM, _DT_VERNEED, _DT_VERNEEDNUM = 0x6FFFFFFC, 0x6FFFFFFD, 0x6FFFFFFE, 0x6FFFFFFF


class Undefined(NamedTuple):
    """A symbol to be wanted, of a `version` that `library` has to have, if given."""

    name: str
    version: str = ""
    library: str = ""
    weak: bool = False


class _Strings:
    def __init__(self) -> None:
        self.data = bytearray(b"\0")
        self._at: dict[str, int] = {"": 0}

    def add(self, text: str) -> int:
        if text not in self._at:
            self._at[text] = len(self.data)
            self.data += text.encode() + b"\0"
        return self._at[text]


def gnu_hash(name: str) -> int:
    """The hash function of DT_GNU_HASH."""
    value = 5381
    for byte in name.encode():
        value = (value * 33 + byte) & 0xFFFFFFFF
    return value


def shared_object(
    *,
    needed: Sequence[str] = (),
    soname: str = "",
    defined: Iterable[str] = (),
    undefined: Iterable[str | Undefined] = (),
    versions: Sequence[str] = (),
    bits: int = 64,
    little: bool = True,
    machine: int = 62,
    table: str = "gnu",
    code: int = 0,
) -> bytes:
    """Return a shared object laid out as linkers do: symbols and names first, `code` bytes of something
    else, the dynamic section last.

    `table` is how the number of symbols can be known: `gnu`, `sysv` (hash tables), `sections` (a section
    header) or `order` (names right behind symbols).
    """
    order, wide = "<" if little else ">", bits == 64
    strings = _Strings()
    wanted = [u if isinstance(u, Undefined) else Undefined(u) for u in undefined]
    given = sorted(defined, key=lambda name: gnu_hash(name) % 4)
    numbers = {
        pair: 2 + i for i, pair in enumerate(sorted({(u.library, u.version) for u in wanted if u.version}))
    }
    symbols = bytearray(_symbol(order, wide, 0, 0, 0, 0))
    for u in wanted:
        symbols += _symbol(order, wide, strings.add(u.name), (WEAK if u.weak else GLOBAL) << 4, 0, 0)
    for position, name in enumerate(given):
        symbols += _symbol(order, wide, strings.add(name), GLOBAL << 4 | 2, 12, 4096 + position)
    libraries = [strings.add(name) for name in needed]
    own_name = strings.add(soname)
    need = _verneed(order, strings, numbers)
    define = _verdef(order, strings, versions)
    marks = [0] + [numbers.get((u.library, u.version), 1) for u in wanted] + [1] * len(given)
    versym = struct.pack(f"{order}{len(marks)}H", *marks)

    header = 64 if wide else 52
    program = 56 if wide else 32
    parts = {
        "symbols": bytes(symbols),
        "strings": bytes(strings.data),
        "versym": versym,
        "need": need,
        "define": define,
        "gnu": _gnu_table(order, wide, len(wanted) + 1, given) if table == "gnu" else b"",
        "sysv": struct.pack(order + "2I", 0, len(marks)) if table == "sysv" else b"",
        "code": b"\xcc" * code,
    }
    at: dict[str, int] = {}
    body = bytearray(b"\0" * (header + 2 * program))
    for name, part in parts.items():
        body += b"\0" * (0 if name == "strings" else -len(body) % 8)
        at[name] = len(body)
        body += part
    body += b"\0" * (-len(body) % 8)
    entries = [(_DT_NEEDED, n) for n in libraries]
    entries += [(_DT_SONAME, own_name)] if soname else []
    entries += [(_DT_SYMTAB, at["symbols"]), (_DT_STRTAB, at["strings"]), (_DT_STRSZ, len(strings.data))]
    entries += [(_DT_GNU_HASH, at["gnu"])] if table == "gnu" else []
    entries += [(_DT_HASH, at["sysv"])] if table == "sysv" else []
    entries += [(_DT_VERSYM, at["versym"])] if numbers or versions else []
    if numbers:
        entries += [(_DT_VERNEED, at["need"]), (_DT_VERNEEDNUM, len({lib for lib, _ in numbers}))]
    if versions:
        entries += [(_DT_VERDEF, at["define"]), (_DT_VERDEFNUM, len(versions))]
    start = len(body)
    word = "Q" if wide else "I"
    for entry in [*entries, (_DT_NULL, 0)]:
        body += struct.pack(f"{order}2{word}", *entry)
    length = len(body) - start
    sections = len(body) if table == "sections" else 0
    if sections:
        body += _section(order, wide, 11, at["symbols"], len(symbols))
    loaded = _program(order, wide, 1, 0, len(body)) + _program(order, wide, 2, start, length)
    body[:header] = _header(order, wide, machine, header, program, sections)
    body[header : header + len(loaded)] = loaded
    return bytes(body)


def _symbol(order: str, wide: bool, name: int, info: int, section: int, value: int) -> bytes:
    if wide:
        return struct.pack(order + "I2BH2Q", name, info, 0, section, value, 8 if section else 0)
    return struct.pack(order + "3I2BH", name, value, 8 if section else 0, info, 0, section)


def _program(order: str, wide: bool, kind: int, at: int, length: int) -> bytes:
    if wide:
        return struct.pack(order + "2I6Q", kind, 4, at, at, at, length, length, 8)
    return struct.pack(order + "8I", kind, at, at, at, length, length, 4, 8)


def _section(order: str, wide: bool, kind: int, at: int, length: int) -> bytes:
    if wide:
        return struct.pack(order + "2I4Q2I2Q", 0, kind, 2, at, at, length, 0, 0, 8, 24)
    return struct.pack(order + "10I", 0, kind, 2, at, at, length, 0, 0, 8, 16)


def _header(order: str, wide: bool, machine: int, header: int, program: int, sections: int) -> bytes:
    ident = b"\x7fELF" + bytes([2 if wide else 1, 1 if order == "<" else 2, 1]) + bytes(9)
    word = "3QI" if wide else "3II"
    section = (64 if wide else 40) if sections else 0
    return struct.pack(
        f"{order}16s2HI{word}6H",
        ident,
        3,
        machine,
        1,
        0,
        header,
        sections,
        0,
        header,
        program,
        2,
        section,
        1 if sections else 0,
        0,
    )


def _gnu_table(order: str, wide: bool, first: int, given: Sequence[str]) -> bytes:
    """A hash table of four buckets, its Bloom filter left blank; `given` are sorted by bucket."""
    buckets, chains = [0] * 4, []
    for position, name in enumerate(given):
        bucket = gnu_hash(name) % 4
        buckets[bucket] = buckets[bucket] or first + position
        last = position + 1 == len(given) or gnu_hash(given[position + 1]) % 4 != bucket
        chains.append(gnu_hash(name) & ~1 | last)
    head = struct.pack(order + "4I", 4, first, 1, 6) + bytes(8 if wide else 4)
    return head + struct.pack(f"{order}4I", *buckets) + struct.pack(f"{order}{len(chains)}I", *chains)


def _verneed(order: str, strings: _Strings, numbers: dict[tuple[str, str], int]) -> bytes:
    libraries = sorted({library for library, _ in numbers})
    data = b""
    for position, library in enumerate(libraries):
        own = [(version, number) for (name, version), number in numbers.items() if name == library]
        size = 16 + 16 * len(own)
        step = size if position + 1 < len(libraries) else 0
        data += struct.pack(order + "2H3I", 1, len(own), strings.add(library), 16, step)
        for index, (version, number) in enumerate(own):
            onward = 16 if index + 1 < len(own) else 0
            data += struct.pack(order + "I2H2I", 0, 0, number, strings.add(version), onward)
    return data


def _verdef(order: str, strings: _Strings, versions: Sequence[str]) -> bytes:
    data = b""
    for position, version in enumerate(versions):
        step = 28 if position + 1 < len(versions) else 0
        data += struct.pack(order + "4H3I", 1, 0, 64 + position, 1, 0, 20, step)
        data += struct.pack(order + "2I", strings.add(version), 0)
    return data
