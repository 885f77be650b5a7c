"""JSON answers whose entries are all written alike, as the public index writes them, read as text.

Listings run to megabytes. Making a dict of each entry and taking it apart again takes twice as long as one
regular expression, made of the first entry, that finds the fields of all. An answer that is different in any
way is left to `simple`, which gives the same for this one.
"""

from __future__ import annotations

import json
import re

from compatlock.index.file_entries import METADATA_KEYS, Columns, files_in
from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from compatlock.model.listing import File

_decode = json.JSONDecoder().raw_decode

_FILES = re.compile(r'"files":\s*(?=\[\{")')
# What stands between texts in the two ways to write JSON: after a key, and after a value.
_STYLES = ((":", ","), (": ", ", "))
_HASH = r'\{"sha256"<colon>"([^"]*)"\}'
# Strings without escapes, but for the reasons of yanks: no other text has a backslash. What is null, or no
# hash, gives "".
_VALUES = {
    "filename": '"([^"]*)"',
    "url": '"([^"]*)"',
    "hashes": _HASH,
    "size": "([0-9]+)",
    "upload-time": '"([^"]*)"',
    "requires-python": '(?:null|"([^"]*)")',
    "yanked": r'(false|true|null|"[^"\\]*(?:\\.[^"\\]*)*")',
}
_SIDE_FILE = f"(?:false|null|{_HASH})"
_OF_NO_INTEREST = r'(?:"[^"]*"|[a-z]+|[0-9]+|\{[^{}]*\})'
_NEEDED = frozenset({"filename", "url", "hashes"})
_KEY = re.compile(r"[\w-]+\Z", re.ASCII)
_YANKED = {"false": None, "null": None, "true": "", '""': None}


class UniformAnswer(NamedTuple):
    """`files` are those of the answer, in its order, `rest` is the answer without them, and `text` is how
    they are written."""

    files: list[File]
    rest: dict[str, object]
    text: str


def read_uniform(body: bytes) -> UniformAnswer | None:
    """The files of an answer; None for one that is written in another way, or has none."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    begins = _FILES.search(text)
    if begins is None:
        return None
    start = begins.end()
    try:
        first, _ = _decode(text, start + 1)
        # There is no other list among the entries, or they are not as expected.
        end = text.index("]", start)
        rest = json.loads(f"{text[:start]}[]{text[end + 1 :]}")
    except (ValueError, RecursionError):
        return None
    if not isinstance(rest, dict) or rest.get("files") != []:
        return None
    entries = text[start + 1 : end]
    try:
        columns = _columns(entries, [*first])
    except ValueError:
        return None
    files = None if columns is None else files_in(columns)
    return None if files is None else UniformAnswer(files, rest, entries)


def _columns(entries: str, keys: list[str]) -> Columns | None:
    """The fields of all entries, which have these keys in this order; None when one has others. Raises
    ValueError."""
    if not keys or not all(map(_KEY.match, keys)):
        return None
    first = f'{{"{keys[0]}"'
    colon, comma = _STYLES[entries.startswith(f"{first}: ")]
    side_file = next((key for key in METADATA_KEYS if key in keys), "")
    patterns = {**_VALUES, side_file: _SIDE_FILE}
    written = comma.join(f'"{key}"<colon>{patterns.get(key, _OF_NO_INTEREST)}' for key in keys)
    rows = re.findall(rf"\{{{written}\}}".replace("<colon>", colon), entries)
    # Nothing stands between two entries, or around them, that was not found.
    is_whole = entries.startswith(first) and entries.endswith("}")
    between = entries.count(f"}}{comma}{first}{colon}")
    if not is_whole or not between + 1 == len(rows) == entries.count('"filename"'):
        return None
    found = [key for key in keys if key in patterns]
    if not _NEEDED.issubset(found):
        return None
    fields: dict[str, Sequence[Any]] = dict(zip(found, zip(*rows, strict=True), strict=True))
    size = len(rows)
    yanks = fields.get("yanked", ())
    if "\\" in entries and entries.count("\\") != sum(written.count("\\") for written in yanks):
        return None
    reasons = {written: _reason(written) for written in {*yanks}}
    return Columns(
        fields["filename"],
        fields["url"],
        fields["hashes"],
        [*map(int, fields["size"])] if "size" in fields else [0] * size,
        fields.get("upload-time", [None] * size),
        fields.get("requires-python", [""] * size),
        [None] * size if {*reasons.values()} <= {None} else [*map(reasons.get, yanks)],
        fields.get(side_file, [""] * size),
    )


def _reason(written: str) -> str | None:
    """Why a file is yanked; None when it is not. Raises ValueError."""
    if written in _YANKED:
        return _YANKED[written]
    return str(json.loads(written)) if "\\" in written else written[1:-1]
