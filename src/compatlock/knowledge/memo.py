"""Compiled facts and profiles as text, remembered by the content that they were parsed from.

On the warm path: a file whose content is remembered needs neither tomllib nor pydantic, whose imports cost
more than the rest of a run.
"""

from __future__ import annotations

import os
from zlib import crc32

from compatlock.model.fact import Fact, FactBound
from compatlock.model.json_text import loads
from compatlock.model.requirement import Requirement
from compatlock.model.waiver import Waiver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping
    from typing import Any, TypeVar

    from compatlock.model.profile import Profile

    _Value = TypeVar("_Value")

# Changes with the schema and with what the compiled values hold; old memo entries are then left alone.
SCHEMA_VERSION = "2"
# The folder of what is shipped compiled, see compiled.py.
COMPILED = "compiled"


def remembered(
    what: str,
    content: bytes,
    memo: MutableMapping[str, str] | None,
    parse: Callable[[], _Value],
    decode: Callable[[Any], _Value],
) -> _Value:
    """Return what `parse` gives for a file's content, from `memo` when it holds it.

    `what` tells apart what one content can be parsed as; `decode` makes the value from the JSON values of
    the memo. An entry that is damaged is made again.
    """
    if memo is None:
        return parse()
    key = _key(what, content)
    known = memo.get(key)
    if known is not None:
        try:
            return decode(loads(known))
        except (ValueError, TypeError, RecursionError):
            pass
    import json

    value = parse()
    memo[key] = json.dumps(value)
    return value


def read_compiled(data: str, origin: str, content: bytes) -> Any:
    """The JSON values of the file `origin` of the folder `data`, whose content is this; None when they were
    made of another content, or cannot be read."""
    try:
        with open(compiled_path(data, origin), encoding="utf-8") as file:
            made_of, values = loads(file.read().rstrip())
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    return values if made_of == content_mark(content) else None


def compiled_path(data: str, origin: str) -> str:
    """Where the compiled form of the file `origin` of the folder `data` is."""
    return os.path.join(data, COMPILED, os.path.splitext(os.path.basename(origin))[0] + ".json")


def content_mark(content: bytes) -> str:
    """What tells that a compiled form was made of this content, by these rules."""
    return f"{SCHEMA_VERSION} {len(content)} {crc32(content):08x}"


def _key(what: str, content: bytes) -> str:
    # The content itself, and not a hash of it: hashlib takes longer to import than this text to compare.
    return f"{what}:{SCHEMA_VERSION}:{content.decode('latin-1')}"


def decode_fact(values: list[Any]) -> Fact:
    """Return the fact that JSON made of one. Raises TypeError or ValueError for anything else."""
    fact = Fact(*values)
    return fact._replace(
        bounds=tuple(FactBound(*row) for row in fact.bounds),
        present=tuple(fact.present),
        evidence=tuple(fact.evidence),
    )


def decode_profile(values: list[Any]) -> Profile:
    """Return the profile that JSON made of one. Raises TypeError or ValueError for anything else."""
    from compatlock.model.profile import Profile

    profile = Profile(*values)
    roots = tuple(Requirement(*root) for root in profile.roots)
    return profile._replace(
        roots=tuple(root._replace(extras=tuple(root.extras)) for root in roots),
        waivers=tuple(Waiver(*waiver) for waiver in profile.waivers),
        features=tuple(profile.features),
        imports=tuple(profile.imports),
    )
