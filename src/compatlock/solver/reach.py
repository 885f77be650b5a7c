"""What the roots really need of a model: the answer proper."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from compatlock.model.dependencies import Dependency
    from compatlock.model.requirement import Requirement
    from compatlock.solver.formula import Formula, Node

    Holds = Callable[[Node | None, Requirement | Dependency], bool]


class Reach:
    """The part of a model that the roots lead to, along the edges of loaded releases.

    A gated release is part of it only once a line of the user's, or an edge of what is part of it already,
    admits it; edges into it wait for that, so no release can admit itself.

    chosen: index of every package reached
    nodes:  every (package, extra) reached
    """

    def __init__(self, formula: Formula) -> None:
        self.chosen: dict[str, int] = {}
        self.nodes: set[Node] = set()
        self._formula = formula
        self._model = formula.selection()
        self._queue: list[Node] = []
        self._admitted: set[str] = set()
        self._waiting: dict[str, list[Node]] = {}

    @property
    def gated(self) -> list[tuple[str, int]]:
        """Candidates that edges lead to but none admits."""
        return [(name, self._model[name]) for name in self._waiting]

    def unread(self) -> list[tuple[str, int]]:
        """Releases reached that are not loaded."""
        loaded = self._formula.loaded
        return [(name, index) for name, index in self.chosen.items() if index not in loaded[name]]

    def unreached(self) -> list[Node]:
        """Packages and extras that the model installs though nothing needs them."""
        installed: list[Node] = [(name, "") for name in self._model]
        return sorted(n for n in (*installed, *self._formula.active_extras()) if n not in self.nodes)

    def admit(self, releases: Iterable[tuple[str, int]]) -> None:
        """These gated candidates need no edge that admits them."""
        self._admitted.update(name for name, index in releases if self._model.get(name) == index)

    def follow(self, edge: Requirement | Dependency) -> None:
        """An edge holds whose parent is reached."""
        name = edge.name
        index = self._model[name]
        nodes = [(name, ""), *((name, x) for x in edge.extras)]
        package = self._formula.universe.packages[name]
        if index in package.gates and name not in self._admitted:
            if index not in package.admitted_gates(edge.specifier):
                self._waiting.setdefault(name, []).extend(nodes)
                return
            self._admitted.add(name)
            nodes += self._waiting.pop(name, ())
        self._queue += nodes

    def walk(self, holds: Holds | None) -> None:
        """Follow all edges from what is reached."""
        while self._queue:
            node = self._queue.pop()
            if node in self.nodes:
                continue
            self.nodes.add(node)
            name, extra = node
            index = self.chosen[name] = self._model[name]
            if index in self._formula.loaded[name]:
                for dependency in self._formula.dependencies_of(name, index, extra):
                    if holds is None or holds(node, dependency):
                        self.follow(dependency)


def reach(
    formula: Formula,
    roots: Sequence[Requirement],
    constraints: Sequence[Requirement],
    *,
    opened: Collection[tuple[str, int]] = (),
    holds: Holds | None = None,
) -> Reach:
    """Follow the edges from the roots through the current model.

    `opened` are gated candidates that need not be admitted, `holds` says which edges the model keeps to
    (None: all), the lines of the user's being edges without parent.
    """
    result = Reach(formula)
    result.admit(opened)
    packages = formula.universe.packages
    # A line of the user's admits gated releases, whether it asks for the package or only bounds it.
    for line in (*roots, *constraints):
        if formula.knows(line.name):
            admitted = packages[line.name].admitted_gates(line.specifier)
            result.admit((line.name, index) for index in admitted)
    for root in roots:
        if holds is None or holds(None, root):
            result.follow(root)
    result.walk(holds)
    return result
