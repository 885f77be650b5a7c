"""Facts and profiles from their files, parsed once per content.

On the warm path, see memo.py. Names of profiles are looked up in the user's own files first.
"""

from __future__ import annotations

import os

from compatlock.errors import FactError, InputError
from compatlock.knowledge.memo import decode_fact, decode_profile, read_compiled, remembered
from compatlock.model.fact import SHIPPED_FACTS, Fact
from compatlock.model.names import closest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, MutableMapping, Sequence
    from pathlib import Path
    from typing import Any

    from compatlock.model.profile import Profile

# What is shipped. Our wheels are always unpacked, and importlib.resources costs imports.
DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data")


def load_facts(
    paths: Sequence[str | Path] = (), *, shipped: bool = True, memo: MutableMapping[str, str] | None = None
) -> tuple[Fact, ...]:
    """Return the facts of the shipped file (unless `shipped` is false) and of the files `paths`, in order.

    `memo` remembers compiled files by content. Raises FactError for files that cannot be read or are
    wrong, with one line for every problem of every file, and when two files use the same id.
    """
    facts: dict[str, Fact] = {}
    problems: list[str] = []
    for path, origin in fact_files(paths, shipped=shipped).items():
        try:
            found = _facts_of(read_file(path, origin), origin, memo)
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


def fact_files(paths: Sequence[str | Path] = (), *, shipped: bool = True) -> dict[str, str]:
    """Return the paths of facts files, the shipped one first, each with its name for messages."""
    files = {os.path.join(DATA, SHIPPED_FACTS): SHIPPED_FACTS} if shipped else {}
    files.update((os.fspath(path), os.fspath(path)) for path in paths)
    return files


def load_profile(
    name_or_path: str, *, memo: MutableMapping[str, str] | None = None, start: str | Path = "."
) -> Profile:
    """Return a profile by its name, or the profile in a file: a path separator or `.toml` makes the text a
    path.

    Names are looked up in the user's own files, from the folder `start` upwards (see user_profiles.py), then
    among the shipped ones. Raises InputError for an unknown name, with the known ones; FactError for a file
    that is wrong.
    """
    if name_or_path.endswith(".toml") or "/" in name_or_path or os.sep in name_or_path:
        return _profile_of(read_file(name_or_path, name_or_path), name_or_path, memo)
    from compatlock.knowledge.user_profiles import find_user_profiles

    own = find_user_profiles(start, memo=memo)
    if name_or_path in own:
        return own[name_or_path]
    if name_or_path not in profile_names():
        raise _unknown_profile(name_or_path, [*own, *profile_names()])
    return _shipped_profile(name_or_path, memo)


def all_profiles(
    *, memo: MutableMapping[str, str] | None = None, start: str | Path = "."
) -> tuple[Profile, ...]:
    """Return the user's own profiles and the shipped ones that they do not shadow, by name.

    Raises FactError for a file of the user's that is wrong.
    """
    from compatlock.knowledge.user_profiles import find_user_profiles

    profiles = find_user_profiles(start, memo=memo)
    for name in profile_names():
        if name not in profiles:
            profiles[name] = _shipped_profile(name, memo)
    return tuple(profiles[name] for name in sorted(profiles))


def profile_names() -> tuple[str, ...]:
    """Return the names of the shipped profiles, sorted."""
    files = os.listdir(os.path.join(DATA, "profiles"))
    return tuple(sorted(name[: -len(".toml")] for name in files if name.endswith(".toml")))


def shadowing_note(profile: Profile) -> str:
    """Return what to say when a profile is the user's own and hides a shipped one of its name, else `""`."""
    from compatlock.knowledge.user_profiles import OWN_FILE, PROJECT_FILE

    own = os.path.basename(profile.origin) in (OWN_FILE, PROJECT_FILE)
    if not own or profile.name not in profile_names():
        return ""
    return f"profile {profile.name} is the one of {profile.origin}, which hides the shipped one"


def _shipped_profile(name: str, memo: MutableMapping[str, str] | None) -> Profile:
    origin = _shipped_origin(name)
    content = read_file(os.path.join(DATA, "profiles", f"{name}.toml"), origin)
    compiled = read_compiled(DATA, origin, content)
    if compiled is not None:
        return decode_profile(compiled[0])._replace(origin=origin)
    return _profile_of(content, origin, memo)


def _shipped_origin(name: str) -> str:
    return f"profiles/{name}.toml"


def _unknown_profile(name: str, known: Iterable[str]) -> InputError:
    names = sorted(set(known))
    close = closest(name, names)
    hints = [f"did you mean `{close}`?"] if close else []
    hints.append(f"known profiles: {', '.join(names)}; a file is named with its `.toml`")
    return InputError(f"unknown profile `{name}`", hints=hints)


def read_file(path: str, origin: str) -> bytes:
    """Return a file's content. Raises FactError, naming it `origin`, when it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise FactError(f"{origin}: cannot be read: {error.strerror or error}") from None


def _facts_of(content: bytes, origin: str, memo: MutableMapping[str, str] | None) -> tuple[Fact, ...]:
    def parse() -> tuple[Fact, ...]:
        from compatlock.knowledge.parse import parse_facts

        return parse_facts(content, origin)

    def decode(rows: list[Any]) -> tuple[Fact, ...]:
        return tuple(decode_fact(row) for row in rows)

    compiled = read_compiled(DATA, origin, content) if origin == SHIPPED_FACTS else None
    facts = decode(compiled) if compiled is not None else remembered("facts", content, memo, parse, decode)
    # The origin is not the memo's: the same content can stand in several files.
    return tuple(fact._replace(origin=origin) for fact in facts)


def _profile_of(content: bytes, origin: str, memo: MutableMapping[str, str] | None) -> Profile:
    def parse() -> Profile:
        from compatlock.knowledge.parse import parse_profile

        return parse_profile(content, origin)

    return remembered("profile", content, memo, parse, decode_profile)._replace(origin=origin)
