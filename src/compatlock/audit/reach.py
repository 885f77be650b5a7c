"""Which modules are imported when the distributions of a set are, starting from their top-level packages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

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


def chain(reached: Mapping[str, str], module: str) -> list[str]:
    """Return the modules from an entry to `module`, each imported by the one before."""
    steps = [module]
    while reached.get(steps[-1]):
        steps.append(reached[steps[-1]])
    return steps[::-1]


def is_sure(library: Library, steps: list[str]) -> bool:
    """Whether each module of a chain really imports the next one, whenever it is imported itself."""
    library.load(steps)
    for module, following in pairwise(steps):
        targets = set()
        for edge in library.summaries[module].imports:
            if edge.when == NOW and not edge.attribute:
                targets.update(_loaded(library, module, edge.module, edge.name))
        if following not in targets:
            return False
    return True
