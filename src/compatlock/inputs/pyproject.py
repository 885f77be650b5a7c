"""pyproject.toml (setup.cfg, scripts) as an input: dependencies, extras and groups into requirement lines.

On the warm path: what is memoised needs neither tomllib nor packaging, whose imports cost more than the
rest. The memo maps the hashes of the file and of what is wanted of it to the lines as JSON.
"""

from __future__ import annotations

import json

from compatlock.inputs.file_bytes import PYPROJECT, SCRIPT, SETUP_CFG, kind_of, read_bytes
from compatlock.inputs.file_settings import Assigned, FileIndex, FilePolicy, FileSettings, ScopedEdge, joined
from compatlock.inputs.requirements_file import RequirementsFile
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.names import normalise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, MutableMapping, Sequence
    from typing import Any

    from compatlock.inputs.pyproject_tables import Chosen
    from compatlock.inputs.uv_table import Row

_FORM = "4"  # changes with what the memo holds


class ProjectSelection(NamedTuple):
    """What is wanted of a project: its own dependencies (unless `only_groups`), extras and groups."""

    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    all_extras: bool = False
    all_groups: bool = False
    only_groups: bool = False

    @property
    def is_default(self) -> bool:
        """Whether nothing but the project's own dependencies is wanted."""
        return self == ProjectSelection()


def read_pyproject(
    path: str,
    *,
    extras: Sequence[str] = (),
    groups: Sequence[str] = (),
    all_extras: bool = False,
    all_groups: bool = False,
    only_groups: bool = False,
    memo: MutableMapping[str, str] | None = None,
) -> RequirementsFile:
    """Return the requirement lines that the pyproject.toml at `path` has for what is wanted.

    That are `[project] dependencies` (PEP 621; not with `only_groups`), the extras and `[dependency-groups]`
    (PEP 735) named or all of them; their names are normalised, and an extra that asks for further extras of
    the project itself is replaced by what those hold. A line of an extra or a group says so where it stands:
    `FILE:LINE (extra NAME)`. `requires_python` is the project's, for the caller to
    compare with the target. `memo` remembers what was read by content.

    Raises one InputError for everything that is wrong in what is wanted, a line of the message each:
    requirements that cannot be used, unknown extras and groups, dependencies that only a build would tell.
    """
    wanted = ProjectSelection(tuple(extras), tuple(groups), all_extras, all_groups, only_groups)
    found = read_project(path, wanted, memo)
    if found.problems or found.unknown:
        from compatlock.inputs.problems import input_error

        raise input_error([*found.problems, *(f"{path}: {text}" for _, _, text in found.unknown)])
    return found.result


class ReadProject(NamedTuple):
    """What was found in a pyproject.toml: lines, or the problems that are in their way.

    `unknown` are the extras and groups that it does not have: kind, normalised name, and what to say.
    """

    result: RequirementsFile
    problems: tuple[str, ...] = ()
    unknown: tuple[tuple[str, str, str], ...] = ()


def read_project(
    path: str, wanted: ProjectSelection, memo: MutableMapping[str, str] | None = None
) -> ReadProject:
    """Read as `read_pyproject`, and return what is wrong. A setup.cfg and a script (PEP 723) are read too, by
    the name of the file. Raises InputError when `path` is no file of its kind."""
    kind = kind_of(path) or PYPROJECT
    content = read_bytes(path, kind)
    key = _memo_key(kind, content, wanted) if memo is not None else ""
    known = memo.get(key) if memo is not None else None
    result = _decode(known, path) if known is not None else None
    if result is not None:
        return ReadProject(result)
    chosen = _chosen(kind, content, path, wanted)
    if memo is not None and not chosen.problems and not chosen.unknown:
        memo[key] = json.dumps(_memorable(chosen))
    problems = tuple(f"{_origin(path, line)}: {text}" for line, text in chosen.problems)
    return ReadProject(_result(path, *_memorable(chosen)), problems, chosen.unknown)


def _chosen(kind: str, content: bytes, path: str, wanted: ProjectSelection) -> Chosen:
    if kind == SETUP_CFG:
        from compatlock.inputs.setup_cfg import choose_setup_cfg

        return choose_setup_cfg(content, path, wanted)
    if kind == SCRIPT:
        from compatlock.inputs.script import choose_script

        return choose_script(content, path, wanted)
    from compatlock.inputs.pyproject_tables import choose
    from compatlock.model.own_lines import blanked, has_own_lines
    from compatlock.model.toml import parse_toml

    values = parse_toml(content, path)
    text = content.decode("utf-8-sig")
    if has_own_lines(text):
        # What compatlock wrote into it is no demand of the user's.
        text = blanked(text, path)
        values = parse_toml(text, path)
    return choose(values, text, wanted)


def _memorable(chosen: Chosen) -> tuple[Any, ...]:
    return chosen.lines, chosen.requires_python, chosen.notes, chosen.constraints, chosen.rows


def python_problems(
    requires_python: Sequence[tuple[str, str]],
    python: str,
    memo: MutableMapping[str, str] | None = None,
) -> tuple[str, ...]:
    """Return which of `requires_python` (as in RequirementsFile) exclude the Python version, in words."""
    return tuple(
        f"{origin}: the project needs Python {specifier}, the target is {python}"
        for specifier, origin in requires_python
        if not _admits(specifier, python, memo)
    )


def _admits(specifier: str, python: str, memo: MutableMapping[str, str] | None) -> bool:
    key = f"requires-python:{python}:{specifier}"
    known = memo.get(key) if memo is not None else None
    if known is None:
        from packaging.specifiers import SpecifierSet

        known = str(SpecifierSet(specifier).contains(python, prereleases=True))
        if memo is not None:
            memo[key] = known
    return known == "True"


def _result(
    path: str,
    lines: Sequence[tuple[str, int, str]],
    requires_python: Sequence[tuple[str, int]],
    notes: Sequence[tuple[int, str]],
    constraints: Sequence[tuple[str, int]],
    rows: Sequence[Row],
) -> RequirementsFile:
    return RequirementsFile(
        lines=tuple((text, _origin(path, line, part)) for text, line, part in lines),
        constraints=tuple((text, _origin(path, line)) for text, line in constraints),
        files=(path,),
        notes=tuple(f"{_origin(path, line)}: {text}" for line, text in notes),
        requires_python=tuple((text, _origin(path, line)) for text, line in requires_python),
        settings=settings_of(rows, path) if rows else FileSettings(),
    )


def settings_of(rows: Iterable[Row], path: str) -> FileSettings:
    """Return the settings of [tool.uv] that `rows` are: `(kind, texts ..., line)` each.

    Raises ValueError for other rows.
    """
    found = []
    for kind, *texts, line in rows:
        if type(line) is not int or not all(isinstance(text, str) for text in texts):
            raise ValueError("a row consists of texts and a line")
        found.append(_SETTINGS[str(kind)](_origin(path, line), *map(str, texts)))
    return joined(found)


_SETTINGS: dict[str, Callable[..., FileSettings]] = {
    "override": lambda origin, *texts: FileSettings(overrides=(_scoped(origin, *texts),)),
    "exclude": lambda origin, *texts: FileSettings(exclusions=(_scoped(origin, *texts),)),
    "index": lambda origin, url, name, kind: FileSettings(
        indexes=(FileIndex(url, origin, name, kind.startswith("default"), kind.endswith("explicit")),)
    ),
    "assign": lambda origin, project, index, marker: FileSettings(
        assigned=(Assigned(project, index, origin, marker),)
    ),
    "no-binary": lambda _origin, package: FileSettings(no_binary=(package,)),
    "only-binary": lambda _origin, package: FileSettings(only_binary=(package,)),
    "pre": lambda origin: FileSettings(prereleases=(origin,)),
    "policy": lambda origin, kind, value: FileSettings(policies=(FilePolicy(kind, value, origin),)),
}


def _scoped(origin: str, text: str, package: str, version: str) -> ScopedEdge:
    return ScopedEdge(text, origin, package, version)


def _origin(path: str, line: int, part: str = "") -> str:
    place = f"{path}:{line}" if line else path
    return f"{place} ({part})" if part else place


def _memo_key(kind: str, content: bytes, wanted: ProjectSelection) -> str:
    from hashlib import sha256

    extras, groups = (sorted(set(map(normalise, names))) for names in wanted[:2])
    selection = json.dumps([extras, groups, *wanted[2:]])
    return f"{kind}:{_FORM}:{sha256(content).hexdigest()}:{selection}"


def _decode(entry: str, path: str) -> RequirementsFile | None:
    """Return what a memo's entry holds, or None when it is damaged."""
    try:
        lines, requires_python, notes, constraints, rows = json.loads(entry)
        triples = [*lines, *((text, line, "") for text, line in requires_python)]
        triples += [(text, line, "") for line, text in notes]
        triples += [(text, line, "") for text, line in constraints]
        if not all(isinstance(a, str) and type(line) is int and isinstance(b, str) for a, line, b in triples):
            return None
        return _result(path, lines, requires_python, notes, constraints, rows)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
