"""Entries of `[tool.uv]` written into the text of a pyproject.toml, and nothing else of it changed.

Each line that is written ends with the comment that tells it from those of the user (`model.own_lines`).
"""

from __future__ import annotations

import re

from compatlock.errors import InputError
from compatlock.lockfile.toml_text import table_lines
from compatlock.model.display import one_line, printable
from compatlock.model.own_lines import MARK, removed
from compatlock.model.toml import parse_toml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from compatlock.lockfile.tool_uv import UvEntries

# The header of a table or of an item of an array of tables, in its usual form.
_HEADER = r"^[ \t]*\[\[?[ \t]*([A-Za-z0-9_.\"' \t-]*[A-Za-z0-9_])[ \t]*\]\]?[ \t]*(?:#[^\n]*)?\r?$"
_COMMENT = MARK.removeprefix("# ")
# Keys of which uv takes one value, or values that exclude each other: what the user says of these stands.
_WHOLE = ("environments",)
_WORDS = {
    "environments": "Targets of the lock",
    "constraint-dependencies": "Pins",
    "override-dependencies": "Bounds that do not hold, and dependencies that are not declared",
    "exclude-dependencies": "Dependencies that are left out",
}


def render_entries(entries: UvEntries, command: str) -> str:
    """Return the entries as TOML, to stand in a pyproject.toml. `command` is what writes them."""
    return with_entries("", entries, command)[0]


def with_entries(
    text: str, entries: UvEntries, command: str, path: str = "pyproject.toml"
) -> tuple[str, tuple[str, ...]]:
    """Return the text of the pyproject.toml at `path` with the entries in the place of those that were
    written before, and remarks on what of the user's own stands in the place of an entry.

    All else stays as it is: comments, order, and the user's own entries in the same keys. Raises InputError
    when the text is no TOML, or written so that entries cannot be added to it.
    """
    from tomlkit.exceptions import TOMLKitError

    # A file with the line ends of Windows keeps them.
    ends = "\r\n" if 0 < text.count("\n") == text.count("\r\n") else "\n"
    text = text.replace("\r\n", "\n") if ends == "\r\n" else text
    before = removed(text, path)
    wanted = parse_toml(before, path)
    own = _uv_of(wanted, path)
    entries, notes = _without_own(entries, own)
    emptied = _emptied(parse_toml(text, path), own)
    expected = _expected(wanted, own, entries, emptied)
    try:
        result = before
        if expected != wanted:
            result = _with_keys(_with_header(before), entries, own, command, emptied)
            result = _with_tables(result, entries, own)
        good = parse_toml(result, path) == expected
    except (TOMLKitError, InputError, TypeError, AttributeError, KeyError, ValueError):
        good = False
    if not good:
        raise InputError(
            f"{path}: [tool.uv] is written in a way that nothing can be added to",
            hints=[
                "write it as a table of its own, `[tool.uv]`",
                "`--show-tool-uv` prints what belongs there",
            ],
        )
    return result.replace("\n", ends), notes


def exact_names(text: str) -> frozenset[str]:
    """Return the packages that compatlock pinned with `===` in a text."""
    return frozenset(re.findall(rf'^\s*"([a-z0-9-]+)===[^"]*",?[ \t]*{MARK}', text, re.MULTILINE))


def _uv_of(values: Mapping[str, Any], path: str) -> dict[str, Any]:
    tool = values.get("tool", {})
    own = tool.get("uv", {}) if isinstance(tool, dict) else None
    if not isinstance(own, dict):
        raise InputError(f"{path}: tool.uv: must be a table")
    return own


def _without_own(entries: UvEntries, own: Mapping[str, Any]) -> tuple[UvEntries, tuple[str, ...]]:
    """The entries less what the user's file says already, and remarks on what it says otherwise."""
    notes: list[str] = []
    lists = []
    for key, items in entries.lists:
        if key in _WHOLE and own.get(key):
            if sorted(own[key]) != sorted(map(str, items)):
                notes.append(
                    f"tool.uv.{key} stays as you wrote it; the lock is for {'; '.join(map(str, items))}"
                )
            continue
        lists.append((key, tuple(item for item in items if item not in own.get(key, []))))
    values = []
    for key, value in entries.values:
        if key not in own:
            values.append((key, value))
        elif own[key] != value:
            notes.append(f"tool.uv.{key} stays as you wrote it; the lock was made with {value}")
    theirs = [index for index in own.get("index", []) if isinstance(index, dict)]
    urls = {str(index.get("url", "")).rstrip("/") for index in theirs}
    indexes = tuple(index for index in entries.indexes if index.url.rstrip("/") not in urls)
    if any(index.get("default") is True for index in theirs) and any(index.default for index in indexes):
        notes.append("the default index of tool.uv stays as you wrote it; the lock was made with another")
        indexes = tuple(index for index in indexes if not index.default)
    sources = tuple(pair for pair in entries.sources if pair[0] not in own.get("sources", {}))
    left = entries._replace(
        lists=tuple((key, items) for key, items in lists if items),
        values=tuple(values),
        indexes=indexes,
        sources=sources,
    )
    return left, tuple(notes)


def _emptied(before: Mapping[str, Any], own: Mapping[str, Any]) -> set[str]:
    """The arrays in which all entries were written by compatlock."""
    tool = before.get("tool", {}).get("uv", {})
    return {key for key, value in own.items() if value == [] and tool.get(key) != []}


def _expected(
    wanted: dict[str, Any], own: dict[str, Any], entries: UvEntries, emptied: Iterable[str]
) -> dict[str, Any]:
    """What the file is to say."""
    uv = {key: value for key, value in own.items() if key not in emptied}
    for key, items in entries.lists:
        uv[key] = [*uv.get(key, []), *items]
    uv.update(entries.values)
    if entries.indexes:
        uv["index"] = [*uv.get("index", []), *map(_index_values, entries.indexes)]
    if entries.sources:
        uv["sources"] = {
            **uv.get("sources", {}),
            **{name: {"index": index} for name, index in entries.sources},
        }
    if not uv and "uv" not in wanted.get("tool", {}):
        return wanted
    return {**wanted, "tool": {**wanted.get("tool", {}), "uv": uv}}


def _index_values(index: Any) -> dict[str, Any]:
    flags = {word: True for word in ("default", "explicit") if getattr(index, word)}
    return {"name": index.name, "url": index.url, **flags}


def _with_header(text: str) -> str:
    """The text with a `[tool.uv]` to put keys into."""
    headers = list(_headers(text))
    if any(name == "tool.uv" for name, _ in headers):
        return text
    sub = next((place for name, place in headers if name.startswith("tool.uv.")), None)
    if sub is not None:
        return f"{text[:sub]}[tool.uv]\n\n{text[sub:]}"
    if not text.strip():
        return "[tool.uv]\n"
    return text + ("\n[tool.uv]\n" if text.endswith("\n") else "\n\n[tool.uv]\n")


def _with_keys(
    text: str, entries: UvEntries, own: Mapping[str, Any], command: str, emptied: Iterable[str]
) -> str:
    """The text with the arrays and values, and those indexes that go into an array of the user's."""
    import tomlkit

    document: Any = tomlkit.parse(text)
    uv = document["tool"]["uv"]
    lists: list[tuple[str, str, Sequence[Any]]] = [(k, _WORDS[k], items) for k, items in entries.lists]
    if isinstance(uv.get("index"), tomlkit.items.Array) and entries.indexes:
        lists.append(("index", "Indexes", [_index_values(index) for index in entries.indexes]))
    for key in set(emptied) - {key for key, _, _ in lists}:
        del uv[key]
    new = []
    who = f"written by `{printable(one_line(command))}`, which renews them"
    for key, word, items in lists:
        comment = f"{word}, {who} {MARK}"
        who = "written likewise"
        if key in own:
            _extend(uv[key], comment, items)
        else:
            lines = "".join(f"    {_toml(item)}, {MARK}\n" for item in items)
            new.append(f"{key} = [\n    # {comment}\n{lines}]\n")
    new += (f"{key} = {_toml(value)} {MARK}\n" for key, value in entries.values)
    return _inserted(tomlkit.dumps(document), "".join(new), "tool.uv")


def _extend(array: Any, comment: str, items: Iterable[Any]) -> None:
    """Add items to an array of tomlkit, a line each."""
    import tomlkit

    array.add_line(comment=comment)
    for item in items:
        array.add_line(tomlkit.value(_toml(item)), comment=_COMMENT)
    if not array.as_string().rstrip("]").endswith("\n"):
        array.add_line(indent="")


def _with_tables(text: str, entries: UvEntries, own: Mapping[str, Any]) -> str:
    """The text with the tables that go behind the user's."""
    blocks = []
    lines = "".join(f"{name} = {_toml({'index': index})} {MARK}\n" for name, index in entries.sources)
    if "sources" in own:
        text = _inserted(text, lines, "tool.uv.sources")
    elif lines:
        blocks.append(f"[tool.uv.sources]\n{lines}")
    if "index" not in own or any(name == "tool.uv.index" for name, _ in _headers(text)):
        for index in entries.indexes:
            values = _index_values(index).items()
            lines = "".join(f"{key} = {_toml(value)} {MARK}\n" for key, value in values)
            blocks.append(f"[[tool.uv.index]] {MARK}\n{lines}")
    return _inserted(text, "\n".join(blocks), "tool.uv", with_tables=True)


def _inserted(text: str, block: str, table: str, *, with_tables: bool = False) -> str:
    """The text with lines at the end of a table; or, `with_tables`, behind the last of those below it."""
    if not block:
        return text
    headers = [*_headers(text), ("", len(text))]
    last = max(
        number
        for number, (name, _) in enumerate(headers)
        if name == table or (with_tables and name.startswith(f"{table}."))
    )
    lines = text[: headers[last + 1][1]].splitlines(keepends=True)
    # Comments above the next header are about that.
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    head = "".join(lines)
    rest = text[len(head) :]
    if not head.endswith("\n"):
        head += "\n"
    if with_tables:
        block = f"\n{block}"
        rest = f"\n{rest}" if rest.strip() and not rest.startswith("\n") else rest
    return f"{head}{block}{rest}"


def _headers(text: str) -> Iterator[tuple[str, int]]:
    """The names of tables and where their headers stand."""
    for match in re.finditer(_HEADER, text, re.MULTILINE):
        yield re.sub(r"\s", "", match[1]), match.start()


def _toml(value: object) -> str:
    """A text, a flag or a table on one line."""
    return next(table_lines({"x": value})).removeprefix("x = ")
