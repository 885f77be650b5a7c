"""The tables of a pyproject.toml (PEP 621, PEP 735) -> the requirement lines that are chosen.

Only reached when the file is not memoised, so `packaging` may be imported here. The groups are walked
here and not by `packaging.dependency_groups`, which does not say where its requirements stand.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from compatlock.inputs.compatlock_table import CompatlockTable
from compatlock.inputs.problems import problem_of
from compatlock.inputs.self_reference import self_reference, under_marker
from compatlock.inputs.toml_lines import TomlLines
from compatlock.inputs.uv_table import UvTable
from compatlock.model.display import excerpt
from compatlock.model.names import closest, normalise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from compatlock.inputs.pyproject import ProjectSelection
    from compatlock.inputs.uv_table import Row

EXTRAS = ("project", "optional-dependencies")
GROUPS = ("dependency-groups",)


class Chosen(NamedTuple):
    """Requirement lines with their line numbers (0: unknown) and the part of the project that they stand in
    (`extra x`, `group x`, `""` for its own dependencies), and what else there is to say of a project.

    `problems` and `notes` are pairs of line number and text. `unknown` are extras and groups that were
    asked for and are not there, each with its kind and what to say. `constraints` have their line numbers,
    and `rows` are settings of [tool.uv] (see `pyproject.settings_of`).
    """

    lines: tuple[tuple[str, int, str], ...] = ()
    requires_python: tuple[tuple[str, int], ...] = ()
    notes: tuple[tuple[int, str], ...] = ()
    problems: tuple[tuple[int, str], ...] = ()
    unknown: tuple[tuple[str, str, str], ...] = ()
    constraints: tuple[tuple[str, int], ...] = ()
    rows: tuple[Row, ...] = ()


def choose(
    values: Mapping[str, Any], text: str, selection: ProjectSelection, places: TomlLines | None = None
) -> Chosen:
    """Return what `selection` takes of the parsed pyproject.toml `values`, whose text is `text`. `places` are
    the lines of values that are not from TOML."""
    places = places or TomlLines(text)
    chooser = _Chooser(values, places)
    try:
        chooser.choose(selection)
    except RecursionError:
        chooser.problems.append((0, "extras or groups are nested too deeply"))
    requires_python = chooser.requires_python()
    uv = UvTable(_peek(values, "tool", "uv") or {}, places, _parts(chooser.lines))
    own = CompatlockTable(_peek(values, "tool", "compatlock") or {}, places)
    # Where both tables speak of one policy, our own is meant.
    rows = [
        row for row in uv.rows if {"policy": row[1], "pre": "prerelease"}.get(str(row[0])) not in own.keys
    ]
    return Chosen(
        tuple(chooser.lines),
        requires_python,
        (*uv.notes, *own.notes),
        tuple(
            sorted(
                dict.fromkeys([*chooser.problems, *uv.problems, *own.problems]),
                key=lambda problem: problem[0],
            )
        ),
        tuple(chooser.unknown),
        tuple(uv.constraints),
        (*rows, *own.rows),
    )


class _Chooser:
    """Walks the tables, and gathers lines and problems."""

    def __init__(self, values: Mapping[str, Any], places: TomlLines) -> None:
        self.lines: dict[tuple[str, int, str], None] = {}
        self.problems: list[tuple[int, str]] = []
        self.unknown: list[tuple[str, str, str]] = []
        self._values = values
        self._places = places
        self._project = self._table("project")
        name = self._project.get("name")
        self._name = normalise(name) if isinstance(name, str) else ""
        self._extras = self._named(EXTRAS, self._table(*EXTRAS))
        self._groups = self._named(GROUPS, self._table(*GROUPS))
        self._done: set[tuple[str, ...]] = set()
        self._open: list[str] = []

    def choose(self, selection: ProjectSelection) -> None:
        """Take what is wanted."""
        extras = {*map(normalise, selection.extras), *(self._extras if selection.all_extras else ())}
        groups = {*map(normalise, selection.groups), *(self._groups if selection.all_groups else ())}
        if extras or selection.all_extras or not (selection.only_groups or groups):
            self._demand_project(bool(extras) or selection.all_extras)
        if not selection.only_groups:
            self._own()
        for extra in sorted(extras):
            if self._is_known("extra", extra, self._extras):
                self._extra(extra)
        for group in sorted(groups):
            if self._is_known("group", group, self._groups):
                self._group(group, ())

    # Parts of the project

    def _own(self, marker: str = "") -> None:
        if "dependencies" in self._dynamic():
            self._problem(("project", "dynamic"), _dynamic_advice(self._values, "dependencies"))
        if self._first("own", marker):
            keys = ("project", "dependencies")
            self._take(keys, self._project.get("dependencies", []), marker)

    def _extra(self, name: str, marker: str = "") -> None:
        # Within itself an extra adds nothing: the markers there only say less often.
        if name not in self._open and self._first("extra", name, marker):
            self._open.append(name)
            keys = (*EXTRAS, self._extras[name])
            self._take(keys, self._table(*EXTRAS)[self._extras[name]], marker)
            self._open.pop()

    def _group(self, name: str, within: tuple[str, ...]) -> None:
        if not self._first("group", name):
            return
        keys = (*GROUPS, self._groups[name])
        for item, line in self._items(keys, self._table(*GROUPS)[self._groups[name]]):
            if isinstance(item, str):
                self._requirement(item, line, keys, "")
            elif isinstance(item, dict) and [*map(type, item.values())] == [str] and "include-group" in item:
                self._include(item["include-group"], line, keys, (*within, name))
            else:
                wanted = 'a requirement or `{ include-group = "NAME" }`'
                self._problem(keys, f"an item must be {wanted}", line)

    def _include(self, name: str, line: int, keys: Sequence[str], within: tuple[str, ...]) -> None:
        group = normalise(name)
        if group in within:
            circle = " -> ".join((*within[within.index(group) :], group))
            self._problem(keys, f"the group includes itself ({circle}); remove one of these", line)
        elif group not in self._groups:
            self._problem(keys, _missing("group", name, self._groups), line)
        else:
            self._group(group, within)

    def _take(self, keys: Sequence[str], value: Any, marker: str) -> None:
        for item, line in self._items(keys, value):
            if isinstance(item, str):
                self._requirement(item, line, keys, marker)
            else:
                self._problem(keys, "an item must be a text", line)

    def _requirement(self, text: str, line: int, keys: Sequence[str], marker: str) -> None:
        """Take one requirement, or what it stands for when it is the project itself."""
        text = text.strip()
        own = self_reference(text, self._name)
        if own is not None:
            inner = under_marker(marker, own.marker)
            if keys[0] in GROUPS:
                self._own(inner)
            for extra in own.extras:
                if extra in self._extras:
                    self._extra(extra, inner)
                else:
                    what = f"{excerpt(text)}: {_missing('extra', extra, self._extras)}"
                    self._problem(keys, what, line)
            return
        problem = problem_of(text)
        if problem:
            self._problem(keys, problem, line)
            return
        if marker:
            from packaging.markers import Marker
            from packaging.requirements import Requirement

            parsed = Requirement(text)
            parsed.marker = Marker(under_marker(marker, str(parsed.marker or "")))
            text = str(parsed)
        self.lines[text, line, _part(keys)] = None

    # What else there is to say

    def requires_python(self) -> tuple[tuple[str, int], ...]:
        """The project's `requires-python` with its line."""
        from packaging.specifiers import InvalidSpecifier, SpecifierSet

        keys = ("project", "requires-python")
        value = self._project.get("requires-python", "")
        try:
            specifier = str(SpecifierSet(value)) if isinstance(value, str) else None
        except InvalidSpecifier:
            specifier = None
        if specifier is None:
            self._problem(keys, f"`{excerpt(str(value))}` is no version specifier (like `>=3.10`)")
        return ((specifier, self._places.of_key(*keys)),) if specifier else ()

    def _demand_project(self, extras: bool) -> None:
        """Say so when there is no project to take dependencies or extras of."""
        if "project" not in self._values:
            poetry = "; Poetry's own tables are not read, but it takes [project] too"
            advice = poetry if _peek(self._values, "tool", "poetry") is not None else ""
            self._problem((), f"there is no [project] table, so there are no dependencies to read{advice}")
        elif extras and "optional-dependencies" in self._dynamic():
            self._problem(("project", "dynamic"), _dynamic_advice(self._values, "optional-dependencies"))

    def _dynamic(self) -> Sequence[Any]:
        dynamic = self._project.get("dynamic")
        return dynamic if isinstance(dynamic, list) else ()

    # Access to the tables

    def _table(self, *keys: str) -> Mapping[str, Any]:
        """The table at `keys`, empty when there is none or it is something else."""
        table: Mapping[str, Any] = self._values
        for depth, key in enumerate(keys, 1):
            value = table.get(key, {})
            if not isinstance(value, dict):
                self._problem(keys[:depth], "must be a table")
                return {}
            table = value
        return table

    def _named(self, keys: tuple[str, ...], table: Mapping[str, Any]) -> dict[str, str]:
        """`{normalised name: name}` of the arrays in a table."""
        names: dict[str, str] = {}
        for name in table:
            first = names.setdefault(normalise(name), name)
            if first != name:
                self._problem((*keys, name), f"the same name as `{first}` (PEP 503); rename one of them")
        return names

    def _items(self, keys: Sequence[str], value: Any) -> list[tuple[Any, int]]:
        if not isinstance(value, list):
            self._problem(keys, "must be an array of requirements")
            return []
        return list(zip(value, self._places.of_items(keys, value), strict=True))

    def _first(self, *what: str) -> bool:
        """Whether this part has not been taken before."""
        if what in self._done:
            return False
        self._done.add(what)
        return True

    def _is_known(self, kind: str, name: str, known: Mapping[str, str]) -> bool:
        if name not in known:
            self.unknown.append((kind, name, _missing(kind, name, known)))
        return name in known

    def _problem(self, keys: Sequence[str], what: str, line: int = 0) -> None:
        place = ".".join(keys)
        self.problems.append((line or self._places.of_key(*keys), f"{place}: {what}" if place else what))


def _part(keys: Sequence[str]) -> str:
    """The part of the project that the table at `keys` is."""
    kind = {"optional-dependencies": "extra", "dependency-groups": "group"}.get(keys[-2])
    return f"{kind} {normalise(keys[-1])}" if kind else ""


def _parts(lines: Iterable[tuple[str, int, str]]) -> dict[str, set[str]]:
    """The parts of the project that ask for each package."""
    from packaging.requirements import Requirement

    parts: dict[str, set[str]] = {}
    for text, _, part in lines:
        parts.setdefault(normalise(Requirement(text).name), set()).add(part)
    return parts


def _dynamic_advice(values: Mapping[str, Any], field: str) -> str:
    advice = "list them in [project], or lock a requirements file"
    found = _peek(values, "tool", "setuptools", "dynamic", field, "file")
    files = [found] if isinstance(found, str) else found
    if isinstance(files, list) and files and all(isinstance(file, str) for file in files):
        advice = f"lock {', '.join(files)} instead, where tool.setuptools.dynamic takes them from"
    return f"the {field} are dynamic: only building the project, which is not done, would tell; {advice}"


def _peek(values: Any, *keys: str) -> Any:
    """Return the value at `keys`, or None when there is none."""
    for key in keys:
        values = values.get(key) if isinstance(values, dict) else None
    return values


def _missing(kind: str, name: str, known: Collection[str]) -> str:
    """Return that there is no such extra or group, what was probably meant, and what there is."""
    close = closest(normalise(name), known)
    meant = f" (did you mean `{close}`?)" if close else ""
    there = ", ".join(sorted(known)) or f"no {kind}s"
    return f"there is no {kind} `{excerpt(name, 60)}`{meant}; the project has {there}"
