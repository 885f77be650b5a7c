"""On which line of a TOML text a key or an item of an array stands: tomllib does not tell.

For messages and origins only, so it reads the usual layouts and otherwise falls back to what it knows:
the key's line for an item, the table's line for a key.
"""

from __future__ import annotations

import re
from bisect import bisect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_DOTTED = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
_STATEMENT = re.compile(
    rf"^[ \t]*(?:\[\[?[ \t]*(?P<table>{_DOTTED})[ \t]*\]|(?P<key>{_DOTTED})[ \t]*=)", re.MULTILINE
)
_PARTS = re.compile(_PART)


class TomlLines:
    """Looks up lines, counted from 1; 0 stands for unknown."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends = [match.start() for match in re.finditer("\n", text)]
        self._places: dict[tuple[str, ...], int] = {}
        table: tuple[str, ...] = ()
        for match in _STATEMENT.finditer(text):
            if match["table"] is not None:
                table = place = _parts(match["table"])
            else:
                place = (*table, *_parts(match["key"]))
            self._places.setdefault(place, match.start("table" if match["key"] is None else "key"))

    def of_key(self, *keys: str) -> int:
        """Return the line of a key, or of the table that it must be in."""
        start = self._start(keys)
        return 0 if start < 0 else self._line(start)

    def of_items(self, keys: Sequence[str], items: Iterable[object]) -> list[int]:
        """Return the lines of the items of the array at `keys`, in their order; found are texts."""
        start = self._start(keys)
        line = 0 if start < 0 else self._line(start)
        cursor = max(start, 0)
        lines = []
        for item in items:
            found = self._find(item, cursor) if isinstance(item, str) else None
            if found is not None:
                line, cursor = self._line(found[0]), found[1]
            lines.append(line)
        return lines

    def _start(self, keys: Sequence[str]) -> int:
        for length in range(len(keys), 0, -1):
            place = self._places.get(tuple(keys[:length]))
            if place is not None:
                return place
        return -1

    def _find(self, item: str, start: int) -> tuple[int, int] | None:
        """Return where the text stands as a TOML string at or after `start`: its begin and its end."""
        basic = item.replace("\\", "\\\\").replace('"', '\\"')
        found = [
            (place, place + len(quoted))
            for quoted in (f'"{basic}"', f"'{item}'")
            if (place := self._text.find(quoted, start)) >= 0
        ]
        return min(found, default=None)

    def _line(self, offset: int) -> int:
        return bisect(self._ends, offset - 1) + 1


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in _PARTS.findall(dotted))
