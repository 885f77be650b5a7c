"""setup.cfg (setuptools): `install_requires`, `python_requires` and `[options.extras_require]`."""

from __future__ import annotations

import configparser
import re

from compatlock.errors import InputError
from compatlock.inputs.pyproject_tables import choose
from compatlock.inputs.requirements_text import decode
from compatlock.inputs.toml_lines import TomlLines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from compatlock.inputs.pyproject import ProjectSelection
    from compatlock.inputs.pyproject_tables import Chosen

# Where the keys of a pyproject.toml stand here: section and key.
_KEYS = {
    "name": ("metadata", "name"),
    "dependencies": ("options", "install_requires"),
    "requires-python": ("options", "python_requires"),
    "optional-dependencies": ("options.extras_require", ""),
}


def choose_setup_cfg(content: bytes, path: str, selection: ProjectSelection) -> Chosen:
    """Return what `selection` takes of a setup.cfg.

    Raises InputError when it cannot be read, or when a requirement is taken from elsewhere (`file:`).
    """
    text = decode(content, path)
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(text, path)
    except configparser.Error as error:
        raise _unreadable(error, path) from None
    places = _CfgLines(text)
    project: dict[str, Any] = {"name": parser.get("metadata", "name", fallback="")}
    project["requires-python"] = parser.get("options", "python_requires", fallback="").strip()
    project["dependencies"] = _items(parser.get("options", "install_requires", fallback=""))
    extras: dict[str, list[str]] = {}
    if parser.has_section("options.extras_require"):
        defaults = parser.defaults()
        found = parser.items("options.extras_require")
        extras = {name: _items(value) for name, value in found if name not in defaults}
    _refuse_files(path, places, [(("dependencies",), project["dependencies"])])
    _refuse_files(path, places, [(("optional-dependencies", name), items) for name, items in extras.items()])
    project["optional-dependencies"] = extras
    chosen = choose({"project": project}, text, selection, places)
    return chosen._replace(problems=tuple((line, _renamed(problem)) for line, problem in chosen.problems))


def _items(value: str) -> list[str]:
    """The requirements of a value: a line each, or in one line with semicolons between them."""
    lines = value.split("\n") if "\n" in value.strip() else value.split(";")
    if len(lines) > 1 and "\n" not in value.strip() and re.search(r"[<>=!]=?\s*['\"]", value):
        lines = [value]  # the semicolon is that of a marker
    return [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]


def _refuse_files(
    path: str, places: _CfgLines, parts: Iterable[tuple[tuple[str, ...], Sequence[str]]]
) -> None:
    """Raise InputError for a value that names files (`file: requirements.txt`) or code (`attr:`)."""
    for keys, items in parts:
        match = re.match(r"(file|attr):\s*(.*)", items[0]) if items else None
        if match:
            where = f"{path}:{places.of_key('project', *keys)}"
            hints = [f"lock {match[2]} instead"] if match[1] == "file" else []
            raise InputError(f"{where}: the requirements stand elsewhere ({match[0]})", hints=hints)


def _unreadable(error: configparser.Error, path: str) -> InputError:
    line = getattr(error, "lineno", None) or next((n for n, _ in getattr(error, "errors", ())), None)
    where = f"{path}:{line}" if line else path
    reason = str(error).partition("\n")[0]
    for noise in (f"{path!r}", f"'{path}'"):
        reason = reason.replace(noise, "it")
    return InputError(f"{where}: not a valid setup.cfg ({reason})")


def _renamed(problem: str) -> str:
    """A problem with the keys of a setup.cfg in the place of those of a pyproject.toml."""
    for key, (section, written) in _KEYS.items():
        problem = re.sub(rf"\Aproject\.{key}\b", f"{section}.{written}".rstrip("."), problem)
    return problem


class _CfgLines(TomlLines):
    """Looks up lines of a setup.cfg by the keys of a pyproject.toml."""

    def __init__(self, text: str) -> None:
        super().__init__("")
        self._rows = text.splitlines()

    def of_key(self, *keys: str) -> int:
        section, key = _KEYS.get(keys[1], ("metadata", "")) if len(keys) > 1 else ("metadata", "")
        key = keys[2] if len(keys) > 2 else key
        within, found = "", 0
        for number, row in enumerate(self._rows, 1):
            header = re.match(r"\[(.+)\]\s*\Z", row)
            if header:
                within = header[1]
                found = number if within == section else found
            elif within == section and key and re.match(rf"{re.escape(key)}\s*[=:]", row, re.IGNORECASE):
                return number
        return found

    def of_items(self, keys: Sequence[str], items: Iterable[object]) -> list[int]:
        line = self.of_key(*keys)
        lines = []
        for item in items:
            text = str(item).partition(" ; ")[0].strip()
            rows = range(max(line, 1), len(self._rows) + 1)
            line = next((n for n in rows if text and text in self._rows[n - 1]), line)
            lines.append(line)
        return lines
