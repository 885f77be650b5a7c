"""What the roots really need of a model: the answer proper."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from compatlock.model.package import Package
    from compatlock.model.requirement import Requirement
    from compatlock.solver.formula import Formula, Node


class Reach:
    """The part of a model that the roots lead to.

    chosen: index of every package reached; nodes: every (package, extra) reached;
    specifiers: the bounds of all edges that lead to a package
    """

    def __init__(self) -> None:
        self.chosen: dict[str, int] = {}
        self.nodes: set[Node] = set()
        self.specifiers: dict[str, list[str]] = {}

    def admits(self, package: Package, index: int) -> bool:
        """Whether some edge admits a gated candidate."""
        return any(index in package.admitted_gates(s) for s in self.specifiers.get(package.name, ()))

    def unreached(self, formula: Formula) -> list[Node]:
        """Packages and extras that the model installs though nothing needs them."""
        installed: list[Node] = [(name, "") for name in formula.selection()]
        return sorted(node for node in (*installed, *formula.active_extras()) if node not in self.nodes)


def reach(formula: Formula, roots: Iterable[Requirement]) -> Reach:
    """Follow the edges of loaded releases from the roots through the current model."""
    chosen = formula.selection()
    result = Reach()
    queue: list[Node] = []
    for root in roots:
        result.specifiers.setdefault(root.name, []).append(root.specifier)
        queue += [(root.name, ""), *((root.name, x) for x in root.extras)]
    while queue:
        node = queue.pop()
        name, extra = node
        if node in result.nodes or name not in chosen:
            continue
        result.nodes.add(node)
        index = result.chosen[name] = chosen[name]
        if index not in formula.loaded[name]:
            continue
        for dependency in formula.dependencies_of(name, index, extra):
            if dependency.url:
                continue
            result.specifiers.setdefault(dependency.name, []).append(dependency.specifier)
            queue.append((dependency.name, ""))
            queue += [(dependency.name, x) for x in dependency.extras]
    return result
