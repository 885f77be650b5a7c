"""What the user's lines really need of a set of releases: the answer proper."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from compatlock.model.dependencies import Dependency
    from compatlock.model.package import Package
    from compatlock.model.requirement import Requirement
    from compatlock.solver.formula import Formula, Node

    Holds = Callable[[Node | None, Requirement | Dependency], bool]
    Needs = Callable[[str, int, str], Iterable[Dependency] | None]


class Reach:
    """The part of `installed` that the user's lines lead to, along the edges that are known.

    A gated release is part of it only once a line of the user's, or an edge of what is part of it already,
    admits it; edges into it wait for that, so no release can admit itself.

    installed: index of every package that could be reached
    needs:     what a release, or an extra of it, needs; None when that is not known yet

    chosen: index of every package reached
    nodes:  every (package, extra) reached
    """

    def __init__(self, installed: Mapping[str, int], packages: Mapping[str, Package], needs: Needs) -> None:
        self.chosen: dict[str, int] = {}
        self.nodes: set[Node] = set()
        self._installed = installed
        self._packages = packages
        self._needs = needs
        self._queue: list[Node] = []
        self._unread: set[str] = set()
        # Gated releases that something admits, and the nodes that edges lead to in vain.
        self._opened: set[str] = set()
        self._waiting: dict[str, list[Node]] = {}

    @property
    def gated(self) -> list[tuple[str, int]]:
        """Candidates that edges lead to but none admits."""
        return [(name, self._installed[name]) for name in self._waiting]

    @property
    def extras(self) -> dict[str, tuple[str, ...]]:
        """The extras reached, by package."""
        found: dict[str, list[str]] = {}
        for name, extra in sorted(self.nodes):
            if extra:
                found.setdefault(name, []).append(extra)
        return {name: tuple(extras) for name, extras in found.items()}

    def unread(self) -> list[tuple[str, int]]:
        """Releases reached whose needs are not known."""
        return [(name, index) for name, index in self.chosen.items() if name in self._unread]

    def unreached(self, extras: Iterable[Node]) -> list[Node]:
        """What is installed, and which of `extras` are on, though nothing needs them."""
        installed: list[Node] = [(name, "") for name in self._installed]
        return sorted(node for node in (*installed, *extras) if node not in self.nodes)

    def run(
        self,
        roots: Sequence[Requirement],
        constraints: Sequence[Requirement],
        *,
        opened: Collection[tuple[str, int]] = (),
        holds: Holds | None = None,
    ) -> Reach:
        """Follow the edges from the roots; see `reach`. Returns itself."""
        self._admit(opened)
        # A line of the user's admits gated releases, whether it asks for the package or only bounds it.
        for line in (*roots, *constraints):
            if line.name in self._installed:
                admitted = self._packages[line.name].admitted_gates(line.specifier)
                self._admit((line.name, index) for index in admitted)
        for root in roots:
            if holds is None or holds(None, root):
                self._follow(root)
        self._walk(holds)
        return self

    def _admit(self, releases: Iterable[tuple[str, int]]) -> None:
        self._opened.update(name for name, index in releases if self._installed.get(name) == index)

    def _follow(self, edge: Requirement | Dependency) -> None:
        name, extras = edge.name, edge.extras
        nodes = [(name, ""), *[(name, extra) for extra in extras]] if extras else [(name, "")]
        package, index = self._packages[name], self._installed[name]
        if index in package.gates and name not in self._opened:
            if index not in package.admitted_gates(edge.specifier):
                self._waiting.setdefault(name, []).extend(nodes)
                return
            self._opened.add(name)
            nodes += self._waiting.pop(name, ())
        self._queue += nodes

    def _walk(self, holds: Holds | None) -> None:
        queue, nodes, chosen = self._queue, self.nodes, self.chosen
        installed, packages = self._installed, self._packages
        while queue:
            node = queue.pop()
            if node in nodes:
                continue
            nodes.add(node)
            name, extra = node
            index = chosen[name] = installed[name]
            needs = self._needs(name, index, extra)
            if needs is None:
                self._unread.add(name)
                continue
            for edge in needs:
                target = edge.name
                # Most edges lead where another one led before.
                if (target in chosen and not edge.extras) or not (holds is None or holds(node, edge)):
                    continue
                if edge.extras or installed[target] in packages[target].gates:
                    self._follow(edge)
                else:
                    queue.append((target, ""))


def reach(
    formula: Formula,
    roots: Sequence[Requirement],
    constraints: Sequence[Requirement],
    *,
    opened: Collection[tuple[str, int]] = (),
    holds: Holds | None = None,
) -> Reach:
    """Follow the edges of loaded releases from the roots through the current model of a formula.

    `opened` are gated candidates that need not be admitted, `holds` says which edges the model keeps to
    (None: all), the lines of the user's being edges without parent.
    """
    result = Reach(formula.selection(), formula.universe.packages, formula.needs)
    return result.run(roots, constraints, opened=opened, holds=holds)
