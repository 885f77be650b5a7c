"""`[tool.compatlock]` of a project or a script: which releases count, for all packages and for single ones.

[tool.compatlock]
exclude-newer = "2026-05-30"
exclude-newer-package = { numpy = "2026-07-01", mine = false }
prerelease = "disallow"
prerelease-package = { torch = "allow" }
allow-yanked = ["old-thing"]
no-yanked = true
"""

from __future__ import annotations

import datetime
from typing import Any

from compatlock.model.display import excerpt
from compatlock.model.names import closest, normalise
from compatlock.model.policy import NONE, PRERELEASE_MODES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compatlock.inputs.toml_lines import TomlLines
    from compatlock.inputs.uv_table import Row

_TABLE = ("tool", "compatlock")
_KEYS = (
    "exclude-newer", "exclude-newer-package", "prerelease", "prerelease-package", "allow-yanked", "no-yanked",
)  # fmt: skip
_ALLOW_BUILDS = "allow-builds"
# The user's own profiles, which `--profile` reads.
_PROFILES = "profiles"


class CompatlockTable:
    """Reads the table `values`. `rows` are settings (see `pyproject.settings_of`), `keys` the keys that are
    there, `notes` and `problems` pairs of line and text."""

    def __init__(self, values: Any, places: TomlLines) -> None:
        self.rows: list[Row] = []
        self.notes: list[tuple[int, str]] = []
        self.problems: list[tuple[int, str]] = []
        self.keys: frozenset[str] = frozenset()
        self._places = places
        if not isinstance(values, dict):
            self.problems.append((places.of_key(*_TABLE), "tool.compatlock: must be a table"))
            return
        self.keys = frozenset(values)
        for key, value in values.items():
            self._read(key, value)

    def _read(self, key: str, value: Any) -> None:
        if key == _PROFILES:
            return
        if key == _ALLOW_BUILDS:
            advice = "builds run code of packages: who locks allows them, with `--allow-builds`"
            self.notes.append((self._line(key), f"tool.compatlock.{key} is not read; {advice}"))
        elif key not in _KEYS:
            near = closest(key, (*_KEYS, _PROFILES))
            self._problem(key, f"unknown key{f'; did you mean `{near}`?' if near else ''}")
        elif key == "no-yanked":
            if not isinstance(value, bool):
                self._problem(key, "must be true or false")
            elif value:
                self._add(key, key, "")
        elif key == "allow-yanked":
            if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
                self._problem(key, "must be an array of package names")
            else:
                for name in value:
                    self._add(key, key, name)
        elif key.endswith("-package"):
            self._of_packages(key, value)
        else:
            text = self._value(key, value)
            if text:
                self._add(key, key, text)

    def _of_packages(self, key: str, values: Any) -> None:
        if not isinstance(values, dict):
            self._problem(key, "must be a table of packages")
            return
        for name, value in values.items():
            text = self._value(key, value, name)
            if text:
                self._add(key, key, f"{normalise(name)}={text}")

    def _value(self, key: str, value: Any, name: str = "") -> str:
        """The text of a time or a mode; `""` for what is none, which is a problem."""
        who = f"{excerpt(name)}: " if name else ""
        if key.startswith("exclude-newer"):
            if isinstance(value, (str, datetime.date)) and value:
                return value if isinstance(value, str) else value.isoformat()
            if name and value is False:
                return NONE
            self._problem(key, f"{who}must be a date or timestamp{', or false for any time' if name else ''}")
        elif value in PRERELEASE_MODES:
            return str(value)
        else:
            self._problem(key, f"{who}must be one of {', '.join(PRERELEASE_MODES)}")
        return ""

    def _add(self, key: str, kind: str, value: str) -> None:
        self.rows.append(("policy", kind, value, self._line(key)))

    def _line(self, key: str) -> int:
        return self._places.of_key(*_TABLE, key)

    def _problem(self, key: str, what: str) -> None:
        self.problems.append((self._line(key), f"tool.compatlock.{excerpt(key)}: {what}"))
