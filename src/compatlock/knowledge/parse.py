"""Text of a facts or profile file -> values, or one FactError with all that is wrong in the file.

Imports tomllib, pydantic and packaging through the schema: only for files that are not memoised.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from compatlock.errors import FactError, InputError
from compatlock.knowledge.fields import Identifier
from compatlock.knowledge.schema import FactsFile, ProfileFile, ProfileTable
from compatlock.model.fact import Fact
from compatlock.model.names import closest
from compatlock.model.profile import Profile
from compatlock.model.toml import parse_toml

_Model = TypeVar("_Model", bound=BaseModel)
_HEADER = re.compile(r"^\s*\[\[\s*fact\s*\]\]", re.MULTILINE)
_TYPES = {
    "string_type": "must be a string",
    "int_type": "must be an integer",
    "list_type": "must be an array",
    "model_type": "must be a table",
    "model_attributes_type": "must be a table",
    "dict_type": "must be a table",
    "too_short": "must not be empty",
}


def parse_facts(content: bytes, origin: str) -> tuple[Fact, ...]:
    """Return the facts of a file's content, in its order; `origin` is the file's name for messages.

    Raises FactError, with a line for every problem: `facts.toml:12: fact "trl-x": bound: ...`.
    """
    return tuple(entry.to_fact(origin) for entry in read_facts_file(content, origin).fact)


def read_facts_file(content: bytes, origin: str) -> FactsFile:
    """Return the file as written, evidence included. Raises FactError as `parse_facts`."""
    data = _toml(content, origin)
    places = _fact_places(content, data, origin)
    parsed = _validated(FactsFile, data, origin, places)
    seen: set[str] = set()
    problems = []
    for place, entry in zip(places, parsed.fact, strict=True):
        if entry.id in seen:
            problems.append(f"{place}: id: used by an earlier fact of the file")
        seen.add(entry.id)
    if problems:
        raise FactError("\n".join(problems))
    return parsed


def parse_profile(content: bytes, origin: str) -> Profile:
    """Return the profile of a file's content. Raises FactError with a line for every problem."""
    parsed = _validated(ProfileFile, _toml(content, origin), origin, [])
    return parsed.to_profile(parsed.name, origin)


def parse_user_profiles(content: bytes, origin: str, *, nested: bool) -> list[Profile]:
    """Return the profiles of a user's file, sorted by name: of its `profiles` tables, or, when `nested`, of
    those below `tool.compatlock`. Other tables are not looked at.

    Raises FactError with a line for every problem: `compatlock.toml:3: profile mine: roots: missing`.
    """
    path = ["tool", "compatlock"] if nested else []
    table = _toml(content, origin)
    for depth, key in enumerate(path, start=1):
        table = _table(table.get(key, {}), f"{origin}: {'.'.join(path[:depth])}")
    for key in table:
        # Other keys may be another part's; a slip of the pen here would drop the profiles silently.
        if key != "profiles" and difflib.get_close_matches(key, ["profiles"], cutoff=0.8):
            raise FactError(f"{origin}: {'.'.join([*path, key])}: unknown key; did you mean `profiles`?")
    profiles = _table(table.get("profiles", {}), f"{origin}: {'.'.join([*path, 'profiles'])}")
    found, problems = [], []
    for name in sorted(profiles):
        place = _profile_place(content, origin, [*path, "profiles"], name)
        try:
            _check_name(name, place)
            parsed = _validated(ProfileTable, _table(profiles[name], place), place, [])
        except FactError as error:
            problems.append(error.message)
        else:
            found.append(parsed.to_profile(name, origin))
    if problems:
        raise FactError("\n".join(problems))
    return found


def _table(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise FactError(f"{place}: must be a table")
    return value


def _check_name(name: str, place: str) -> None:
    try:
        TypeAdapter(Identifier).validate_python(name)
    except ValidationError as error:
        raise FactError(f"{place}: {error.errors()[0]['ctx']['error']}") from None


def _profile_place(content: bytes, origin: str, path: list[str], name: str) -> str:
    """How messages name a profile: file, line of its header if it has one, and name."""
    keys = [rf"(?:{re.escape(key)}|\"{re.escape(key)}\"|'{re.escape(key)}')" for key in [*path, name]]
    header = re.compile(r"^[ \t]*\[[ \t]*" + r"[ \t]*\.[ \t]*".join(keys) + r"[ \t]*\]", re.MULTILINE)
    text = content.decode("utf-8-sig")
    match = header.search(text)
    line = f":{text.count(chr(10), 0, match.start()) + 1}" if match else ""
    return f"{origin}{line}: profile {name}"


def _toml(content: bytes, origin: str) -> dict[str, Any]:
    try:
        return parse_toml(content, origin)
    except InputError as error:
        raise FactError(error.message) from None


def _fact_places(content: bytes, data: dict[str, Any], origin: str) -> list[str]:
    """How messages name each fact: file, line of its header, and id."""
    facts = data.get("fact")
    if not isinstance(facts, list):
        return []
    text = content.decode("utf-8-sig")
    lines = [text.count("\n", 0, match.end()) + 1 for match in _HEADER.finditer(text)]
    if len(lines) != len(facts):  # a header inside a multi-line string, or an inline array
        lines = []
    places = []
    for number, fact in enumerate(facts):
        name = fact.get("id") if isinstance(fact, dict) else None
        label = f'fact "{name}"' if isinstance(name, str) else f"fact number {number + 1}"
        places.append(f"{origin}:{lines[number]}: {label}" if lines else f"{origin}: {label}")
    return places


def _validated(model: type[_Model], data: dict[str, Any], origin: str, places: list[str]) -> _Model:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        details: list[Any] = error.errors(include_url=False)
    problems = [line for detail in details for line in _problem_lines(detail, model, origin, places)]
    raise FactError("\n".join(problems))


def _problem_lines(
    detail: dict[str, Any], model: type[BaseModel], origin: str, places: list[str]
) -> Iterator[str]:
    loc = detail["loc"]
    location = [part for index, part in enumerate(loc) if not _is_union_tag(loc, index)]
    place = origin
    if len(location) > 1 and location[0] == "fact" and places:
        place, location = places[int(location[1])], location[2:]
    path = ""
    for part in location:
        path += f" {part + 1}" if isinstance(part, int) else (f": {part}" if path else f"{part}")
    for message in _message(detail, model).split("\n"):
        yield f"{place}: {path}: {message}" if path else f"{place}: {message}"


def _is_union_tag(location: tuple[str | int, ...], index: int) -> bool:
    """pydantic puts the evidence's type after its number; the reader does not need it."""
    return index > 1 and isinstance(location[index - 1], int) and location[index - 2] == "evidence"


def _message(detail: dict[str, Any], model: type[BaseModel]) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "missing":
        return "missing"
    if kind == "value_error":
        return str(context["error"])
    if kind == "extra_forbidden":
        return "unknown key" + _similar(str(detail["loc"][-1]), _keys(model, len(detail["loc"]) > 1))
    if kind == "literal_error":
        known = re.findall(r"'([^']*)'", context["expected"])
        return f"`{detail['input']}` is not one of {', '.join(known)}" + _similar(str(detail["input"]), known)
    if kind == "union_tag_invalid":
        known = re.findall(r"'([^']*)'", context["expected_tags"])
        return f"unknown type `{context['tag']}`; known: {', '.join(known)}"
    if kind == "union_tag_not_found":
        return "type: missing"
    return _TYPES.get(kind) or str(detail["msg"])


def _keys(model: type[BaseModel], nested: bool) -> list[str]:
    """The keys of the file's top level, or those of all its tables."""
    schema = model.model_json_schema()
    tables = schema.get("$defs", {}).values() if nested else [schema]
    return sorted({name for table in tables for name in table.get("properties", {})})


def _similar(word: str, known: list[str]) -> str:
    close = closest(word, (name for name in known if name != word))
    return f"; did you mean `{close}`?" if close else ""
