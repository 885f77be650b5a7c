"""TOML text into values, with the line in messages."""

from __future__ import annotations

import re

from compatlock.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_AT_LINE = re.compile(r" \(at line (\d+), column \d+\)\Z")


def parse_toml(content: bytes | str, origin: str) -> dict[str, Any]:
    """Return the table that `content` (as bytes: UTF-8, a byte order mark allowed) is.

    Raises InputError that names `origin`, and the line where there is one, when it is no TOML.
    """
    import sys
    from importlib import import_module

    # tomli is tomllib for Python 3.10. Imported here: memoised files need neither.
    loads = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli").loads
    try:
        text = content.decode("utf-8-sig") if isinstance(content, bytes) else content
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(f"{origin}:{line}: not UTF-8 text; TOML must be") from None
    try:
        values: dict[str, Any] = loads(text)
    except RecursionError:
        raise InputError(f"{origin}: not valid TOML: nested too deeply") from None
    except ValueError as error:
        message = str(error)
        place = _AT_LINE.search(message)
        where = f"{origin}:{place[1]}" if place else origin
        raise InputError(f"{where}: not valid TOML: {_AT_LINE.sub('', message)}") from None
    return values
