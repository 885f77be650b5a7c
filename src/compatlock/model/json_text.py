"""JSON that this program wrote, read without the package `json`.

On the warm path: `json` imports `re`, with `enum` and `functools`, to say where a text is wrong, which takes
a fifteenth of a whole run. Its scanner, a class of its own in C, does without.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class _Settings:
    """What `json.JSONDecoder` tells its scanner: to read everything as it is."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def _make_scanner() -> Callable[[str, int], tuple[Any, int]]:
    try:
        from _json import make_scanner

        scan: Callable[[str, int], tuple[Any, int]] = make_scanner(_Settings())  # type: ignore[arg-type]
    except (ImportError, AttributeError, TypeError):  # none in C, or one that wants to be told more
        from json import JSONDecoder

        return JSONDecoder().raw_decode
    return scan


_scan = _make_scanner()


def loads(text: str) -> Any:
    """The value of a JSON text without white space around it. Raises ValueError for any other text."""
    try:
        value, end = _scan(text, 0)
    # Python 3.10 and 3.11 find no words for what is wrong unless `json` is imported.
    except (StopIteration, SystemError):
        raise ValueError("no JSON") from None
    if end != len(text):
        raise ValueError("more than a JSON value")
    return value
