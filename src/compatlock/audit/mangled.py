"""The names within mangled C++ symbols (Itanium C++ ABI, 5.1): as much as tells what a symbol is called."""

from __future__ import annotations

import re

from compatlock.model.named_tuple import NamedTuple

# vtables, type information, guard variables and thunks: the name of a class or function follows.
_SPECIAL = re.compile(r"T[VTIS]|GV|GR|T[hv]n?\d+_(?:n?\d+_)?|Tc(?:h|v)n?\d+_(?:n?\d+_)?h?n?\d*_?")
_QUALIFIERS = re.compile(r"[rVK]*[RO]?")
_ABI_TAG = re.compile(r"B(\d+)")
_LENGTH = re.compile(r"L?(\d+)")
_CONSTRUCTOR = re.compile(r"[CD][0-5]E")


class Mangled(NamedTuple):
    """What a symbol is called.

    scopes: the names from the outermost namespace inwards, as far as they could be read (up to the first
            template argument, operator or substitution)
    whole:  whether that is the whole name; then the last one is the function, variable or class
    member: `constructor` (or destructor) or `class data` (vtable, type information) of the class that the
            scopes name, else `""`
    """

    scopes: tuple[str, ...] = ()
    whole: bool = False
    member: str = ""

    def __str__(self) -> str:
        """The name as C++ writes it."""
        scopes = self.scopes
        if self.member == "constructor":
            scopes += scopes[-1:]
        return "::".join(scopes)


def read_mangled(symbol: str) -> Mangled | None:
    """Return the name in a mangled symbol, None if it is none of C++."""
    if not symbol.startswith("_Z"):
        return None
    at, member = 2, ""
    special = _SPECIAL.match(symbol, at)
    if special:
        at = special.end()
        member = "class data" if special[0] in ("TV", "TT", "TI", "TS") else ""
    if symbol.startswith("N", at):
        scopes, whole, end = _nested(symbol, _skip(_QUALIFIERS, symbol, at + 1))
        return Mangled(scopes, whole, member or end)
    standard = symbol.startswith("St", at)
    name, at = _source_name(symbol, at + 2 if standard else at)
    if not name:
        return Mangled()
    scopes = ("std", name) if standard else (name,)
    return Mangled(scopes, not symbol.startswith("I", at), member)


def _skip(pattern: re.Pattern[str], symbol: str, at: int) -> int:
    match = pattern.match(symbol, at)
    return match.end() if match else at


def _nested(symbol: str, at: int) -> tuple[tuple[str, ...], bool, str]:
    """Read the names of `N...E`; return them, whether that is all, and what special member it is."""
    scopes: list[str] = []
    if symbol.startswith("St", at):
        scopes.append("std")
        at += 2
    while True:
        name, end = _source_name(symbol, at)
        if not name:
            break
        scopes.append(name)
        at = end
    if symbol.startswith("E", at):
        return tuple(scopes), True, ""
    if scopes and _CONSTRUCTOR.match(symbol, at):
        return tuple(scopes), True, "constructor"
    return tuple(scopes), False, ""


def _source_name(symbol: str, at: int) -> tuple[str, int]:
    """Read `<length><identifier>` and its ABI tags; `""` if there is none."""
    match = _LENGTH.match(symbol, at)
    if not match or len(match[1]) > 5:
        return "", at
    end = match.end() + int(match[1])
    if end > len(symbol):
        return "", at
    name = symbol[match.end() : end]
    while tag := _ABI_TAG.match(symbol, end):
        if len(tag[1]) > 5:
            break
        end = tag.end() + int(tag[1])
    return name, end
