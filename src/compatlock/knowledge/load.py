"""Facts and profiles from their files, parsed once per content.

On the warm path: a memoised file needs neither tomllib nor pydantic, whose imports cost more than the
rest of a run. The memo maps the file's hash to the compiled values as JSON.
"""

from __future__ import annotations

import json
import os

from compatlock.errors import FactError, InputError
from compatlock.model.fact import Fact, FactBound
from compatlock.model.profile import Profile
from compatlock.model.requirement import Requirement
from compatlock.model.waiver import Waiver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import MutableMapping, Sequence
    from pathlib import Path
    from typing import Any

# Changes with the schema and with what the compiled values hold; old memo entries are then left alone.
SCHEMA_VERSION = "1"

SHIPPED_FACTS = "known_conflicts.toml"

# Our wheels are always unpacked, and importlib.resources costs imports.
_DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data")


def load_facts(
    paths: Sequence[str | Path] = (), *, shipped: bool = True, memo: MutableMapping[str, str] | None = None
) -> tuple[Fact, ...]:
    """Return the facts of the shipped file (unless `shipped` is false) and of the files `paths`, in order.

    `memo` remembers compiled files by content. Raises FactError for files that cannot be read or are
    wrong, with one line for every problem of every file, and when two files use the same id.
    """
    files = {os.path.join(_DATA, SHIPPED_FACTS): SHIPPED_FACTS} if shipped else {}
    files.update((os.fspath(path), os.fspath(path)) for path in paths)
    facts: dict[str, Fact] = {}
    problems: list[str] = []
    for path, origin in files.items():
        try:
            found = _facts_of(_read(path, origin), origin, memo)
        except FactError as error:
            problems.append(error.message)
            continue
        problems += [
            f'{origin}: fact "{fact.id}": id: also in {facts[fact.id].origin}; choose another'
            for fact in found
            if fact.id in facts
        ]
        facts.update((fact.id, fact) for fact in found)
    if problems:
        raise FactError("\n".join(problems))
    return tuple(facts.values())


def load_profile(name_or_path: str, *, memo: MutableMapping[str, str] | None = None) -> Profile:
    """Return a shipped profile by its name, or the profile in a file: a path separator or `.toml` makes
    the text a path.

    Raises InputError for an unknown name, with the known ones; FactError for a file that is wrong.
    """
    if name_or_path.endswith(".toml") or "/" in name_or_path or os.sep in name_or_path:
        return _profile_of(_read(name_or_path, name_or_path), name_or_path, memo)
    path = os.path.join(_DATA, "profiles", f"{name_or_path}.toml")
    if name_or_path not in profile_names():
        raise _unknown_profile(name_or_path)
    origin = f"profiles/{name_or_path}.toml"
    return _profile_of(_read(path, origin), origin, memo)


def profile_names() -> tuple[str, ...]:
    """Return the names of the shipped profiles, sorted."""
    files = os.listdir(os.path.join(_DATA, "profiles"))
    return tuple(sorted(name[: -len(".toml")] for name in files if name.endswith(".toml")))


def _unknown_profile(name: str) -> InputError:
    import difflib

    known = profile_names()
    close = difflib.get_close_matches(name, known, n=1)
    hints = [f"did you mean `{close[0]}`?"] if close else []
    hints.append(f"known profiles: {', '.join(known)}; a file is named with its `.toml`")
    return InputError(f"unknown profile `{name}`", hints=hints)


def _read(path: str, origin: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise FactError(f"{origin}: cannot be read: {error.strerror or error}") from None


def _facts_of(content: bytes, origin: str, memo: MutableMapping[str, str] | None) -> tuple[Fact, ...]:
    key = _memo_key("facts", content) if memo is not None else ""
    known = memo.get(key) if memo is not None else None
    facts = _decode_facts(known, origin) if known is not None else None
    if facts is None:
        from compatlock.knowledge.parse import parse_facts

        facts = parse_facts(content, origin)
        if memo is not None:
            memo[key] = json.dumps(facts)
    return facts


def _profile_of(content: bytes, origin: str, memo: MutableMapping[str, str] | None) -> Profile:
    key = _memo_key("profile", content) if memo is not None else ""
    known = memo.get(key) if memo is not None else None
    profile = _decode_profile(known, origin) if known is not None else None
    if profile is None:
        from compatlock.knowledge.parse import parse_profile

        profile = parse_profile(content, origin)
        if memo is not None:
            memo[key] = json.dumps(profile)
    return profile


def _memo_key(what: str, content: bytes) -> str:
    from hashlib import sha256

    return f"{what}:{SCHEMA_VERSION}:{sha256(content).hexdigest()}"


def _decode_facts(text: str, origin: str) -> tuple[Fact, ...] | None:
    """Return the facts of a memo's entry, or None when the entry is damaged. The origin is not the
    entry's: the same content can stand in several files."""
    try:
        return tuple(_fact(values)._replace(origin=origin) for values in json.loads(text))
    except (ValueError, TypeError, RecursionError):
        return None


def _fact(values: list[Any]) -> Fact:
    fact = Fact(*values)
    return fact._replace(
        bounds=tuple(FactBound(*row) for row in fact.bounds),
        present=tuple(fact.present),
        evidence=tuple(fact.evidence),
    )


def _decode_profile(text: str, origin: str) -> Profile | None:
    """Return the profile of a memo's entry, or None when the entry is damaged."""
    try:
        profile = Profile(*json.loads(text))
        roots = tuple(Requirement(*root) for root in profile.roots)
        return profile._replace(
            roots=tuple(root._replace(extras=tuple(root.extras)) for root in roots),
            waivers=tuple(Waiver(*waiver) for waiver in profile.waivers),
            features=tuple(profile.features),
            imports=tuple(profile.imports),
            origin=origin,
        )
    except (ValueError, TypeError, RecursionError):
        return None
