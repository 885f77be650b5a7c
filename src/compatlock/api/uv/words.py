"""What to say about a project that uv locks: how to install it, and what of it was not locked."""

from __future__ import annotations

from compatlock.errors import InputError
from compatlock.inputs.requirement_line import parse_requirements
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.names import normalise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from compatlock.api.options import LockOptions
    from compatlock.lockfile.tool_uv import UvPart


class UvProject(NamedTuple):
    """A project, from the values of its pyproject.toml at `path`: its extras and groups by normalised name,
    those of the groups that uv installs unless told otherwise, and what it says of its Pythons."""

    path: str
    name: str
    extras: Mapping[str, Any]
    groups: Mapping[str, Any]
    default_groups: tuple[str, ...]
    requires_python: str


def project_of(values: Mapping[str, Any], path: str) -> UvProject:
    """Return the project that a pyproject.toml describes; what is not as it should be counts as not there."""
    project, uv = _table(values, "project"), _table(_table(values, "tool"), "uv")
    groups = _by_name(_table(values, "dependency-groups"))
    if "dev-dependencies" in uv:
        groups.setdefault("dev", uv["dev-dependencies"])
    default = uv.get("default-groups", ["dev"])
    names = list(groups) if default == "all" else [*map(normalise, default)] if _are_texts(default) else []
    demand = project.get("requires-python", "")
    return UvProject(
        path,
        normalise(str(project.get("name", ""))),
        _by_name(_table(project, "optional-dependencies")),
        groups,
        tuple(name for name in names if name in groups),
        demand if isinstance(demand, str) else "",
    )


def sync_command(options: LockOptions, project: UvProject, parts: Sequence[UvPart], folder: str) -> str:
    """Return the command that installs what was locked, and nothing else of the project."""
    words = ["uv", "sync", "--locked"]
    if folder:
        words += ["--project", folder]
    if len(options.files) > 1:
        words.append("--all-packages")
    groups = sorted(project.groups) if options.all_groups else sorted(map(normalise, options.groups))
    if options.only_groups:
        words += [word for group in groups for word in ("--only-group", group)]
    else:
        extras = sorted(map(normalise, options.extras))
        words += ["--all-extras"] if options.all_extras else [w for x in extras for w in ("--extra", x)]
        if not set(project.default_groups) <= set(groups):
            words.append("--no-default-groups")
        words += ["--all-groups"] if options.all_groups else [w for g in groups for w in ("--group", g)]
    minors = {"{}.{}".format(*part.target.python_minor) for part in parts}
    if len(minors) == 1:
        words += ["--python", *minors]
    return " ".join(words)


def not_locked(options: LockOptions, project: UvProject) -> tuple[tuple[str, str], ...]:
    """Return the extras and groups (kind and name) that uv locks too, and that were not asked for."""
    extras = set() if options.all_extras else set(project.extras) - set(map(normalise, options.extras))
    groups = set() if options.all_groups else set(project.groups) - set(map(normalise, options.groups))
    return tuple(sorted([*(("extra", name) for name in extras), *(("group", name) for name in groups)]))


def named(parts: Sequence[tuple[str, str]]) -> str:
    """Return extras and groups in words."""
    return ", ".join(f"the {kind} {name}" for kind, name in parts)


def contradicted(
    left_out: Sequence[tuple[str, str]], project: UvProject, parts: Sequence[UvPart]
) -> Iterator[str]:
    """Yield what extras and groups that were not locked ask for and the pins do not fulfil, in words."""
    from packaging.markers import Marker
    from packaging.specifiers import SpecifierSet

    for kind, name in left_out:
        lines = (project.extras if kind == "extra" else project.groups).get(name, [])
        texts = [(text, project.path) for text in lines if isinstance(text, str)]
        try:
            requirements = parse_requirements(texts)
        except InputError:
            # It was not asked for, and uv has its own words for it.
            continue
        for requirement in requirements:
            for part in parts:
                pinned = part.lock.versions.get(requirement.name)
                environment = {**part.target.marker_environment, "extra": ""}
                holds = not requirement.marker or Marker(requirement.marker).evaluate(environment)
                if pinned is None or not holds or not requirement.specifier:
                    continue
                if not SpecifierSet(requirement.specifier).contains(pinned, prereleases=True):
                    wanted = f"{requirement.name}{requirement.specifier}"
                    yield f"the {kind} {name} needs {wanted}, and {requirement.name} {pinned} is pinned"
                    break


def _table(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = values.get(key, {})
    return found if isinstance(found, dict) else {}


def _by_name(table: Mapping[str, Any]) -> dict[str, Any]:
    return {normalise(name): value for name, value in table.items()}


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
