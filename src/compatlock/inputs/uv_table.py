"""`[tool.uv]` of a project or a script: what means the same here, and a word on what is passed over.

Read are `constraint-dependencies`, `override-dependencies` and `exclude-dependencies` (for every package, or
scoped to one and perhaps to one release of it), `index` with `sources` that name one, `index-url`,
`extra-index-url`, `exclude-newer` and `prerelease` where they mean the same, also of single packages, and the
packages whose wheels or builds are refused.
"""

from __future__ import annotations

import datetime
import re
from typing import Any

from compatlock.inputs.problems import marker_problem, problem_of
from compatlock.model.display import excerpt
from compatlock.model.names import normalise
from compatlock.model.policy import NONE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from compatlock.inputs.toml_lines import TomlLines

    # A kind with texts, then the line: see `pyproject.settings_of`.
    Row = tuple[str | int, ...]

_UV = ("tool", "uv")
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?\Z")
# Settings of uv that decide what is resolved and are not followed, with what to do instead.
_PASSED_OVER = {
    "environments": "name targets with `--target`",
    "required-environments": "name targets with `--target`",
    "resolution": "give `--resolution` on the command line",
    "dependency-metadata": "declared metadata counts; `--override` and `--exclude-dependency` change it",
    "find-links": "only indexes are asked",
    "no-index": "give `--offline` on the command line to ask no index",
    "dev-dependencies": "list them in [dependency-groups]",
}
_LISTS = {"no-binary-package": "no-binary", "no-build-package": "only-binary"}
_FLAGS = {"no-binary": "no-binary", "no-build": "only-binary"}


class UvTable:
    """Reads the table `values` (`tool.uv`). `parts` are, by package that is asked for, the parts of the
    project that do (`extra x`, `group x`, `""`).

    `constraints` are requirements with their lines, `rows` settings, `notes` and `problems` pairs of line and
    text.
    """

    def __init__(self, values: Any, places: TomlLines, parts: Mapping[str, Collection[str]]) -> None:
        self.constraints: list[tuple[str, int]] = []
        self.rows: list[Row] = []
        self.notes: list[tuple[int, str]] = []
        self.problems: list[tuple[int, str]] = []
        self._places = places
        self._parts = parts
        if not isinstance(values, dict):
            self.problems.append((places.of_key(*_UV), "tool.uv: must be a table"))
            return
        self._values = values
        self._read()

    def _read(self) -> None:
        for text, line in self._texts("constraint-dependencies"):
            if self._is_usable(text, line, "constraint-dependencies"):
                self.constraints.append((text, line))
        self._edges("override-dependencies", "override")
        self._edges("exclude-dependencies", "exclude")
        self._indexes()
        self._sources()
        for key, kind in _LISTS.items():
            for text, line in self._texts(key):
                self.rows.append((kind, text, line))
        for key, kind in _FLAGS.items():
            if self._values.get(key) is True:
                self.rows.append((kind, ":all:", self._line(key)))
        self._policies()
        for key, advice in _PASSED_OVER.items():
            if self._values.get(key) not in (None, [], {}, "", False):
                self._pass_over(key, advice)

    def _policies(self) -> None:
        """Which releases count: for all packages, and for single ones."""
        for key, usable, advice in (
            ("exclude-newer", _cut, "a time that depends on the day is none that could be locked"),
            ("prerelease", _mode, "its modes but `allow` and `disallow` are not quite the same here"),
        ):
            option = f"give `--{key}` on the command line"
            value = self._values.get(key)
            text = usable(value, "")
            if text == "allow":
                self.rows.append(("pre", self._line(key)))
            elif text:
                self.rows.append(("policy", key, text, self._line(key)))
            elif value not in (None, "if-necessary-or-explicit"):
                self._pass_over(key, f"{advice}: {option}")
            key = f"{key}-package"
            of_packages = self._values.get(key, {})
            if not isinstance(of_packages, dict):
                self._problem(key, "must be a table")
                continue
            for name, value in of_packages.items():
                if _NAME.match(name) and (text := usable(value, name)):
                    self.rows.append(("policy", key, f"{normalise(name)}={text}", self._line(key)))
                else:
                    text = f"tool.uv.{key}.{excerpt(name)} is not read; {advice}: {option}"
                    self.notes.append((self._line(key), text))

    # Dependencies

    def _edges(self, key: str, kind: str) -> None:
        items = self._items(key)
        names = [item if isinstance(item, str) else _package_name(item) for item in items]
        lines = self._places.of_items((*_UV, key), names)
        for item, line in zip(items, lines, strict=True):
            if isinstance(item, str):
                self._edge(kind, key, item, "", "", line)
            elif not self._scoped(kind, key, item, line):
                wanted = "a text or `{ package = { name = ... }, dependencies = [...] }`"
                self._problem(key, f"an item must be {wanted}", line)

    def _scoped(self, kind: str, key: str, item: Any, line: int) -> bool:
        """Take an item about one package; return whether it is such an item."""
        if not isinstance(item, dict) or not isinstance(item.get("package"), dict):
            return False
        name, version = item["package"].get("name"), item["package"].get("version", "")
        texts = item.get("dependencies")
        if not isinstance(name, str) or not _NAME.match(name) or not isinstance(version, str):
            return False
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            return False
        for text in texts:
            self._edge(kind, key, text, normalise(name), _canonical(version), line)
        return True

    def _edge(self, kind: str, key: str, text: str, package: str, version: str, line: int) -> None:
        if kind == "exclude":
            if not _NAME.match(text):
                self._problem(key, f"{excerpt(text)}: is no package name", line)
                return
        elif not self._is_usable(text, line, key):
            return
        self.rows.append((kind, text, package, version, line))

    def _is_usable(self, text: str, line: int, key: str) -> bool:
        problem = problem_of(text)
        if problem:
            self._problem(key, problem, line)
        return not problem

    # Indexes

    def _indexes(self) -> None:
        items = self._items("index")
        urls = [item.get("url", "") if isinstance(item, dict) else item for item in items]
        lines = self._places.of_items((*_UV, "index"), urls)
        for item, url, line in zip(items, urls, lines, strict=True):
            if not isinstance(item, dict) or not isinstance(url, str) or not url:
                self._problem("index", "an index is a table with a `url`", line)
            elif item.get("format", "simple") != "simple":
                self.notes.append((line, f"tool.uv.index: {item.get('name', 'one')} is no Simple index"))
            else:
                name = item.get("name", "")
                kind = "".join(word for word in ("default", "explicit") if item.get(word) is True)
                self.rows.append(("index", url, name if isinstance(name, str) else "", kind, line))
        url = self._values.get("index-url")
        if isinstance(url, str) and url:
            self.rows.append(("index", url, "", "default", self._line("index-url")))
        for url, line in self._texts("extra-index-url"):
            self.rows.append(("index", url, "", "", line))

    def _sources(self) -> None:
        sources = self._values.get("sources", {})
        if not isinstance(sources, dict):
            self._problem("sources", "must be a table")
            return
        others = []
        for written, value in sources.items():
            name = normalise(written)
            if name not in self._parts:
                continue
            line = self._places.of_key(*_UV, "sources", written)
            for source in value if isinstance(value, list) else [value]:
                if not isinstance(source, dict):
                    self._problem("sources", f"{excerpt(written)}: must be a table", line)
                elif not isinstance(source.get("index"), str):
                    others.append(name)
                elif self._applies(source, name):
                    self._assign(name, source, line)
        if others:
            named = ", ".join(sorted(set(others)))
            line = self._places.of_key(*_UV, "sources")
            self.notes.append((line, f"tool.uv.sources is not read: {named} comes from the index"))

    def _applies(self, source: Mapping[str, Any], name: str) -> bool:
        """Whether the part of the project that a source is for, if it is for one, asks for the package."""
        wanted = [f"{kind} {normalise(str(source[kind]))}" for kind in ("extra", "group") if kind in source]
        return not wanted or any(part in self._parts[name] for part in wanted)

    def _assign(self, name: str, source: Mapping[str, Any], line: int) -> None:
        from packaging.markers import InvalidMarker, Marker

        marker = source.get("marker", "")
        try:
            parsed = Marker(marker) if marker else None
        except (InvalidMarker, TypeError):
            self._problem("sources", f"{name}: `{excerpt(str(marker))}` is not an environment marker", line)
            return
        problem = marker_problem(parsed)
        if problem:
            self._problem("sources", f"{name}: {problem}", line)
            return
        written = str(parsed or "")
        self.rows.append(("assign", name, source["index"], written, line))

    # Access

    def _items(self, key: str) -> Sequence[Any]:
        value = self._values.get(key, [])
        if not isinstance(value, list):
            self._problem(key, "must be an array")
            return []
        return value

    def _texts(self, key: str) -> Iterator[tuple[str, int]]:
        items = self._items(key)
        for item, line in zip(items, self._places.of_items((*_UV, key), items), strict=True):
            if isinstance(item, str):
                yield item, line
            else:
                self._problem(key, "an item must be a text", line)

    def _line(self, key: str) -> int:
        return self._places.of_key(*_UV, key)

    def _pass_over(self, key: str, advice: str) -> None:
        self.notes.append((self._line(key), f"tool.uv.{key} is not read; {advice}"))

    def _problem(self, key: str, what: str, line: int = 0) -> None:
        self.problems.append((line or self._line(key), f"tool.uv.{key}: {what}"))


def _cut(value: Any, package: str) -> str:
    """The point in time that `exclude-newer` names; uv also takes durations."""
    if package and value is False:
        return NONE
    if isinstance(value, datetime.date):
        return value.isoformat()
    return value if isinstance(value, str) and re.match(r"\d{4}-\d{2}-\d{2}", value) else ""


def _mode(value: Any, _package: str) -> str:
    return value if value in ("allow", "disallow") else ""


def _package_name(item: Any) -> Any:
    package = item.get("package") if isinstance(item, dict) else None
    return package.get("name") if isinstance(package, dict) else None


def _canonical(version: str) -> str:
    """A version as an index's files are read: in its normal form, when it has one."""
    from packaging.version import InvalidVersion, Version

    try:
        return str(Version(version))
    except InvalidVersion:
        return version
