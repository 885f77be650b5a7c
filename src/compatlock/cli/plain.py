"""Parsing plain command lines, without click, whose import takes longer than a warm lock's search.

What is plain is read as click reads it (the tests compare the two). Anything else (help, an unknown or
shortened name, flags joined in one word, a value that is empty or looks like an option) is left to click,
which also knows the words for what is wrong.
"""

from __future__ import annotations

import os

from compatlock.cli.option import FLAG, MANY, TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from compatlock.cli.option import Option


def parse_plainly(
    arguments: Sequence[str], options: Sequence[Option], positional: str
) -> dict[str, Any] | None:
    """The values of all options by field, and the other arguments as `positional`; None when click has to
    look at them."""
    by_name = {name: option for option in options for name in option.names}
    given: dict[str, list[str]] = {positional: []}
    words = iter(arguments)
    for word in words:
        if not word.strip():
            return None
        if word == "-" or not word.startswith("-"):
            given[positional].append(word)
            continue
        name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        option = by_name.get(name)
        if option is None or (option.kind == FLAG and equals):
            return None
        if option.kind != FLAG and not equals:
            value = next(words, "--")
            if value != "-" and value.startswith("-"):
                return None
        if option.kind != FLAG and not value.strip():
            return None
        if option.choices and value not in option.choices:
            return None
        given.setdefault(option.field, []).append(value)
    values = {option.field: _value(option, given.get(option.field, [])) for option in options}
    return {**values, positional: tuple(given[positional])}


def _value(option: Option, given: list[str]) -> object:
    if option.kind == MANY:
        return tuple(given)
    if option.kind == TEXT:
        return given[-1] if given else os.environ.get(option.variable) or option.default
    return bool(given)
