"""Which modules are imported when the distributions of a set are, starting from their top-level packages."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from compatlock.audit.library import Library
from compatlock.audit.modules import NOW, TYPING
from compatlock.audit.outline import ATTRIBUTE, EMPTY, INDENTED
from compatlock.audit.site import SOURCE


def reach(
    library: Library,
    entries: Iterable[str],
    followed: frozenset[str],
    before: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return the modules with a source that importing `entries` imports, each with the module that does so
    (`""` for an entry), in the order of the search (breadth first, then by name).

    It goes by outlines, so `is_sure` should be asked where it counts. Modules of packages that are not
    `followed` are reached, but not looked into. What was reached `before` is part of the answer.
    """
    site = library.site
    reached = dict(before or {})
    layer: dict[str, str] = {}
    for entry in sorted(entries):
        for module in _with_parents(entry):
            layer.setdefault(module, "")
    while layer:
        layer = {m: by for m, by in layer.items() if m not in reached and site.find(m).kind == SOURCE}
        reached.update(layer)
        looked_into = [m for m in layer if site.find(m).owner in followed]
        library.outline(looked_into)
        edges = [
            (module, target, name)
            for module in looked_into
            for target, names in library.outlines[module].imports.items()
            if site.is_ours(target)
            for name in names
            if name[:1] not in (INDENTED, ATTRIBUTE)
        ]
        library.outline({target for _, target, name in edges if name})
        library.load({target for _, target, _ in edges if library.outlines.get(target, EMPTY).lazy})
        following: dict[str, str] = {}
        for module, target, name in edges:
            for loaded in _loaded(library, module, target, name):
                following.setdefault(loaded, module)
        layer = dict(sorted(following.items()))
    return reached


def _loaded(library: Library, importer: str, module: str, name: str) -> list[str]:
    """The modules that `from module import name` loads, or, without a name, `import module`."""
    found = _with_parents(module)
    outline = library.outlines.get(module)
    if not name or outline is None:
        return found
    # A package that has a name binds it itself, by an import that is followed in its turn.
    if name in outline.names and module != importer:
        return found
    summary = library.summaries.get(module)
    if summary is not None and name in summary.offered:
        typed = (i.module for i in summary.imports if i.when == TYPING and i.name == name)
        return found + [loaded for given in typed for loaded in _with_parents(given)]
    return [*found, f"{module}.{name}"]


def _with_parents(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]


# Of a longer chain the middle is left out where it is told.
_TOLD = 12


class Chains:
    """What leads to the modules of a search: the entry, and whether one import after the other is sure."""

    def __init__(self, library: Library, reached: Mapping[str, str]) -> None:
        self._library = library
        self._reached = reached
        self._sure: dict[str, bool] = {}
        self._entries: dict[str, str] = {}
        self._always: dict[str, frozenset[str]] = {}  # by a module, whenever it is imported

    def told(self, module: str) -> list[str]:
        """The modules from the entry to one, each imported by the one before; "..." stands for what is left
        out of a long chain."""
        steps = [module]
        while self._reached.get(steps[-1]) and len(steps) < _TOLD:
            steps.append(self._reached[steps[-1]])
        entry = self.entry(module)
        return [entry, *(["..."] if self._reached.get(steps[-1]) else []), *steps[::-1]][steps[-1] == entry :]

    def is_sure(self, module: str) -> bool:
        """Whether each module that leads to one really imports the next, whenever it is imported itself."""
        steps = self._steps(module, self._sure)
        self._library.load(steps)
        for step in reversed(steps):
            by = self._reached.get(step, "")
            self._sure[step] = not by or (self._sure[by] and step in self._surely_loaded(by))
        return self._sure[module]

    def entry(self, module: str) -> str:
        """The entry that leads to a module."""
        for step in reversed(self._steps(module, self._entries)):
            by = self._reached.get(step, "")
            self._entries[step] = self._entries[by] if by else step
        return self._entries[module]

    def _steps(self, module: str, known: Container[str]) -> list[str]:
        """A module and those that lead to it, up to the first that is known."""
        steps = []
        while module and module not in known:
            steps.append(module)
            module = self._reached.get(module, "")
        return steps

    def _surely_loaded(self, module: str) -> frozenset[str]:
        if module not in self._always:
            self._always[module] = frozenset(
                loaded
                for edge in self._library.summaries[module].imports
                if edge.when == NOW and not edge.attribute
                for loaded in _loaded(self._library, module, edge.module, edge.name)
            )
        return self._always[module]
