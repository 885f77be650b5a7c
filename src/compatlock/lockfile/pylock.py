"""pylock.toml (PEP 751): the lock in the standard's form, for pip, uv and others.

What the standard has no place for stands in `[tool.compatlock]` tables, so that the lock can be read
back whole: one for the file, and one for each package.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from compatlock.errors import InputError, LockInvalid
from compatlock.lockfile.header import comment, pip_refuses
from compatlock.lockfile.origins import without_line_numbers
from compatlock.lockfile.pylock_read import FORM, read_pylock, read_pylock_pins
from compatlock.lockfile.toml_text import table_lines
from compatlock.model.display import printable, public_url, quote, without_credentials
from compatlock.model.target import targets_in_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from compatlock.model.lock import Lock, LockedEdge, LockedFile, Pin
    from compatlock.model.target import Target

__all__ = ["read_pylock", "read_pylock_pins", "render_pylock"]

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MARKERS = ("implementation_name", "python_version", "sys_platform", "platform_machine")


def render_pylock(lock: Lock, *, tool_version: str, path: str = "pylock.toml") -> str:
    """Return the text of a pylock.toml for `lock`, with `\\n` line ends and one at the end.

    `path` is where it will stand, for the installation commands at its top. The text depends on nothing
    but the lock, holds neither credentials of URLs nor numbers of the user's lines, and was accepted by
    packaging's validator.

    Raises InputError when the file of a package that installers should take has no hash or no URL, which
    the standard demands; LockInvalid when the validator refuses anything else, as no lock that compatlock
    made gives it cause to.
    """
    document = _document(without_line_numbers(lock))
    _validate(document)
    packages = document.pop("packages")
    tool = document.pop("tool")["compatlock"]
    lines = [*_comments(lock, tool_version, path), *table_lines(document)]
    if not packages:
        lines.append("packages = []")
    for package in packages:
        notes = package.pop("tool", {}).get("compatlock")
        lines += ["", "[[packages]]", *table_lines(package)]
        if notes:
            lines += ["", "[packages.tool.compatlock]", *table_lines(notes)]
    lines += ["", "[tool.compatlock]", *table_lines(tool)]
    return "\n".join(lines) + "\n"


def _comments(lock: Lock, tool_version: str, path: str) -> Iterator[str]:
    yield printable(comment(f"# Locked by compatlock {tool_version}"))
    yield "# Made by the command in [tool.compatlock]; to change a pin, change its input and lock again."
    yield "# Install:"
    yield printable(comment(f"#   uv pip install -r {quote(path)}"))
    if not pip_refuses(lock):
        yield printable(comment(f"#   pip install -r {quote(path)}"))
    yield from map(printable, pip_refuses(lock))
    yield ""


def _validate(document: dict[str, Any]) -> None:
    from packaging.pylock import Pylock, PylockValidationError

    try:
        Pylock.from_dict(document)
    except PylockValidationError as error:
        raise LockInvalid(
            "the lock cannot be written as pylock.toml (PEP 751)", violations=[str(error)]
        ) from error


# The document as values, keys in the order of the standard


def _document(lock: Lock) -> dict[str, Any]:
    needs: dict[str, list[LockedEdge]] = {pin.name: [] for pin in lock.pins}
    others: list[LockedEdge] = []
    for edge in lock.edges:
        needs.get(edge.package, others).append(edge)
    pins = sorted(lock.pins)
    problems = [problem for problem in map(_problem, pins) if problem]
    if problems:
        raise InputError(
            "a pylock.toml (PEP 751) needs the URL and the hash of every file that is to be installed:\n"
            + "\n".join(problems),
            hints=["write a requirements.lock instead (`-o requirements.lock`)"],
        )
    return {
        "lock-version": "1.0",
        **_environment(lock),
        "created-by": "compatlock",
        "packages": [_package(pin, needs) for pin in pins],
        "tool": {"compatlock": _tool(lock, others)},
    }


def _environment(lock: Lock) -> dict[str, Any]:
    """The targets: a marker for each, and Python from their first patch release on. (What a marker cannot
    say, such as the glibc, the wheels' tags say.)"""
    targets = targets_in_words(lock.target)
    if not targets:
        return {}
    first = min(targets, key=lambda target: [int(part) for part in target.python.split(".")])
    return {
        "environments": [_environment_marker(target) for target in targets],
        "requires-python": f">={first.python.removesuffix('.0')}",
    }


def _environment_marker(target: Target) -> str:
    values = target.marker_environment
    return " and ".join(f"{name} == '{values[name]}'" for name in _MARKERS)


def _package(pin: Pin, needs: dict[str, list[LockedEdge]]) -> dict[str, Any]:
    places: dict[str, list[LockedFile]] = {"wheel": [], "sdist": [], "other": []}
    for file in pin.files:
        places[_place(pin, file, places["sdist"])].append(file)
    dependencies = sorted({e.on for e in needs[pin.name] if e.on in needs and e.on != pin.name})
    table: dict[str, Any] = {
        "name": pin.name,
        "version": pin.version,
        "marker": pin.marker,
        "dependencies": [{"name": name} for name in dependencies],
        "index": public_url(pin.index_url),
        "sdist": _file(places["sdist"][0]) if places["sdist"] else {},
        "wheels": [_file(file) for file in places["wheel"]],
    }
    tool = _package_tool(pin, needs[pin.name], places["other"])
    if tool:
        table["tool"] = {"compatlock": tool}
    return {key: value for key, value in table.items() if value}


def _place(pin: Pin, file: LockedFile, sdists: Sequence[LockedFile]) -> str:
    if _unfit(pin, file):
        return "other"
    if file.filename.endswith(".whl"):
        return "wheel"
    return "other" if sdists else "sdist"  # the standard has room for one


def _problem(pin: Pin) -> str:
    """Return why installers could not take the file that they should: the first; `""` if they can."""
    reason = _unfit(pin, pin.files[0]) if pin.files else "the lock has no files of it"
    return f"  {pin.name} {pin.version}: {reason}" if reason else ""


def _unfit(pin: Pin, file: LockedFile) -> str:
    """Return why the file has no place in the standard's tables, or `""`."""
    from packaging.utils import parse_sdist_filename, parse_wheel_filename
    from packaging.version import Version

    if not file.sha256:
        return f"the index gives no hash for {file.filename}"
    if not file.url:
        return f"the lock does not know the URL of {file.filename}"
    parse = parse_wheel_filename if file.filename.endswith(".whl") else parse_sdist_filename
    try:
        name, version = parse(file.filename)[:2]
        fits = name == pin.name and version == Version(pin.version)
    except ValueError:
        fits = False
    return "" if fits else f"the standard takes no file name such as {file.filename}"


def _file(file: LockedFile) -> dict[str, Any]:
    table: dict[str, Any] = {"name": file.filename}
    if file.upload_time is not None:
        table["upload-time"] = _EPOCH + timedelta(seconds=file.upload_time)
    if file.url:
        table["url"] = public_url(file.url)
    if file.size:
        table["size"] = file.size
    if file.sha256:
        table["hashes"] = {"sha256": file.sha256}
    return table


# What the standard has no place for; absent is what is false, zero or empty


def _tool(lock: Lock, edges: Sequence[LockedEdge]) -> dict[str, Any]:
    values = {
        "form": FORM,
        "command": lock.command,
        "target": lock.target,
        "cuda": lock.cuda,
        "index": lock.index_state,
        "strategy": lock.strategy,
        "roots": lock.roots,
        "requirements": [_edge({"package": edge.package}, edge) for edge in edges],
        "objective": [tier._asdict() for tier in lock.objective],
        "waivers": lock.waivers,
        "broken-soft-facts": [fact._asdict() for fact in lock.broken_soft_facts],
        "notes": lock.notes,
    }
    return _given(values)


def _package_tool(pin: Pin, needs: Sequence[LockedEdge], files: Sequence[LockedFile]) -> dict[str, Any]:
    values = {
        "extras": pin.extras,
        "lag-days": pin.lag_days,
        "lag-releases": pin.lag_releases,
        "held-by": pin.held_by,
        "notes": pin.notes,
        "repaired": pin.repaired,
        "needs": [_edge({}, edge) for edge in needs],
        "other-files": [_file(file) for file in files],
    }
    # Most pins are the newest, so that goes without saying.
    newest = {"newest": pin.newest} if pin.newest != pin.version else {}
    return {**newest, **_given(values)}


def _edge(first: dict[str, Any], edge: LockedEdge) -> dict[str, Any]:
    values = edge._asdict()
    del values["package"]
    return _given({**first, **values})


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {key: _plain(value) for key, value in values.items() if value}


def _plain(value: Any) -> Any:
    """Return `value` with tuples as lists, and without credentials."""
    if isinstance(value, str):
        return without_credentials(value)
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value
