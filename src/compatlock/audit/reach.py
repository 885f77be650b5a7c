"""Which modules are imported when the distributions of a set are, starting from their top-level packages."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from compatlock.audit.library import Library
from compatlock.audit.modules import NOW, TYPING
from compatlock.audit.outline import EMPTY, Named
from compatlock.audit.site import SOURCE


def reach(library: Library, entries: Iterable[str], followed: frozenset[str]) -> dict[str, str]:
    """Return the modules with a source that importing `entries` imports, each with the module that does so
    (`""` for an entry), in the order of the search (breadth first, then by name).

    It goes by outlines, so `is_sure` should be asked where it counts. Modules of packages that are not
    `followed` are reached, but not looked into.
    """
    site = library.site
    reached: dict[str, str] = {}
    layer: dict[str, str] = {}
    for entry in sorted(entries):
        for module in _with_parents(entry):
            layer.setdefault(module, "")
    while layer:
        layer = {m: by for m, by in layer.items() if m not in reached and site.find(m).kind == SOURCE}
        reached.update(layer)
        looked_into = [m for m in layer if site.find(m).owner in followed]
        library.outline(looked_into)
        edges = [(m, edge) for m in looked_into for edge in library.outlines[m].imports if edge.at_margin]
        library.outline({edge.module for _, edge in edges if edge.name and not edge.attribute})
        library.load({edge.module for _, edge in edges if library.outlines.get(edge.module, EMPTY).lazy})
        following: dict[str, str] = {}
        for module, edge in edges:
            for target in _targets(library, edge):
                following.setdefault(target, module)
        layer = dict(sorted(following.items()))
    return reached


def _targets(library: Library, edge: Named) -> list[str]:
    """The modules that an import loads."""
    if edge.attribute:
        return []
    found = _with_parents(edge.module)
    outline = library.outlines.get(edge.module)
    if not edge.name or outline is None or edge.name in outline.names:
        return found
    summary = library.summaries.get(edge.module)
    if summary is not None and edge.name in summary.offered:
        typed = (i for i in summary.imports if i.when == TYPING and i.name == edge.name)
        return found + [module for given in typed for module in _with_parents(given.module)]
    return [*found, f"{edge.module}.{edge.name}"]


def _with_parents(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]


def chain(reached: dict[str, str], module: str) -> list[str]:
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
            if edge.when == NOW:
                targets.update(_targets(library, Named(edge.module, edge.name, True, edge.attribute)))
        if following not in targets:
            return False
    return True
