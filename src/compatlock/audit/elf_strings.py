"""Finds the dynamic string table in the start of an ELF file, without what tells where it is.

Linkers put the dynamic symbols and then their names before all code, and the dynamic section behind it.
"""

from __future__ import annotations

import re

# Names of shared libraries among the strings: what the file needs (and what it is called itself).
_LIBRARY = re.compile(rb"\0(lib[A-Za-z0-9_.+-]{1,120}?\.so(?:\.[0-9]{1,6}){0,4})(?=\0)")
_NOT_TEXT = re.compile(rb"[^\x00\x20-\x7e]|\0{2,}")
_STEP = 65536


def find_strings(data: bytes) -> tuple[int, int] | None:
    """Return where the strings begin, at the NUL that is name 0, and end; None without a library."""
    found = _LIBRARY.search(data)
    if not found:
        return None
    behind = _NOT_TEXT.search(data, found.start())
    return _start(data, found.start()), behind.start() + 1 if behind else len(data)


def libraries_in(strings: bytes) -> tuple[str, ...]:
    """The names of shared libraries in a string table, in its order."""
    return tuple(dict.fromkeys(match[1].decode() for match in _LIBRARY.finditer(strings)))


def _start(data: bytes, at: int) -> int:
    """Where the run of strings begins that covers `at`; searched for backwards, in pieces."""
    while at > 0:
        begin = max(0, at - _STEP)
        last = -1
        for found in _NOT_TEXT.finditer(data, begin, min(len(data), at + 1)):
            last = found.end() - 1 if found[0].startswith(b"\0") else found.end()
        if last >= 0:
            return last
        at = begin
    return 0
