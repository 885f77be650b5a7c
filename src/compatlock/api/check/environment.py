"""What is installed in an environment, as the rules of a check want it."""

from __future__ import annotations

from compatlock.api.check.rules import Held
from compatlock.index.compile import Compiler
from compatlock.index.tags import TagRanks
from compatlock.model import report as kinds
from compatlock.model.metadata import Metadata
from compatlock.model.report import Discrepancy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from compatlock.environment.installed import Installed
    from compatlock.model.target import Target

_PATCHES = 40


class InstalledReader:
    """Judges installed distributions for a target. `python` is the environment's version; without its patch
    release (`3.12`), any patch release will do. `notes` collects what could not be told."""

    def __init__(self, target: Target, python: str) -> None:
        self._target = target
        self._compiler = Compiler(target)
        self._ranks = TagRanks(target)
        minor = python.count(".") == 1
        self._pythons = [f"{python}.{patch}" for patch in range(_PATCHES)] if minor else [target.python]
        self.notes: list[str] = []

    def held(self, installed: Sequence[Installed]) -> dict[str, Held]:
        """The distributions that Python finds, by name."""
        groups: dict[str, list[Installed]] = {}
        for item in installed:
            if not item.is_hidden:
                groups.setdefault(item.name, []).append(item)
        return {name: self._one(group) for name, group in groups.items()}

    def _one(self, group: Sequence[Installed]) -> Held:
        item = group[0]
        metadata = Metadata(item.requires, item.provides, source="installed")
        dependencies = self._compiler.compile(metadata)
        if dependencies.problem:
            self.notes.append(f"{item.name} {item.version}: {dependencies.problem}")
        return Held(item.name, item.version, dependencies, tuple(self._problems(group)))

    def _problems(self, group: Sequence[Installed]) -> Iterator[Discrepancy]:
        item = group[0]
        label = f"{item.name} {item.version}"
        versions = sorted({other.version for other in group})
        if len(versions) > 1:
            text = f"{item.name} is installed more than once in {item.folder}: {', '.join(versions)}"
            yield Discrepancy(kinds.DUPLICATE, kinds.ERROR, item.name, item.version, text)
        if item.requires_python and not self._fits(item.requires_python):
            text = f"{label} requires Python {item.requires_python}, which {self._target.python} is not"
            yield Discrepancy(
                kinds.PYTHON, kinds.ERROR, item.name, item.version, text, "python", needs=item.requires_python
            )
        if item.tags and not any(map(self._is_supported, item.tags)):
            text = f"{label} is not for {self._target}: its wheel is tagged {', '.join(item.tags)}"
            yield Discrepancy(kinds.PLATFORM, kinds.ERROR, item.name, item.version, text)

    def _fits(self, requires_python: str) -> bool:
        from packaging.specifiers import InvalidSpecifier, SpecifierSet

        try:
            specifier = SpecifierSet(requires_python)
        except InvalidSpecifier:
            return True
        return any(specifier.contains(python, prereleases=True) for python in self._pythons)

    def _is_supported(self, tag: str) -> bool:
        parts = tag.split("-")
        if len(parts) != 3:
            return True
        interpreter, abi, platform = parts
        # A free-threaded build cannot be told from the outside: its ABI counts as the interpreter's own.
        abis = ".".join({abi, abi[:-1] if abi.startswith("cp") and abi.endswith("t") else abi})
        return self._ranks.rank(interpreter, abis, platform) is not None
