"""Values as TOML 1.0 text, in a layout of its own.

The layout is part of what makes a lock byte-identical from machine to machine, so it does not hang on
the version of a library. Tables stand in one line each, which keeps differences between locks readable.
"""

from __future__ import annotations

import re
from datetime import datetime, timezone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

_WIDTH = 100
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+\Z", re.ASCII)
_TO_ESCAPE = re.compile(r'["\\\x00-\x1f\x7f]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def table_lines(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the `key = value` lines of a table, in the order of `values`.

    Values are texts, whole numbers, booleans, aware datetimes, and lists and dicts (inline tables) of
    them. A list of tables, or one that is too long for a line, has a line for each item.
    """
    for name, value in values.items():
        line = f"{_key(name)} = {_value(value)}"
        if isinstance(value, list) and value and (isinstance(value[0], dict) or len(line) > _WIDTH):
            yield f"{_key(name)} = ["
            for item in value:
                yield f"    {_value(item)},"
            yield "]"
        else:
            yield line


def _value(value: Any) -> str:
    """Return any value on one line."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).replace(tzinfo=None).isoformat() + "Z"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        inner = ", ".join(f"{_key(name)} = {_value(item)}" for name, item in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    raise TypeError(f"no TOML value: {type(value).__name__}")


def _key(name: str) -> str:
    return name if _BARE_KEY.match(name) else _text(name)


def _text(text: str) -> str:
    """Return a basic string. A lone surrogate, which no TOML text can hold, becomes `?`."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    return f'"{_TO_ESCAPE.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    return _SHORT.get(match[0]) or f"\\u{ord(match[0]):04x}"
