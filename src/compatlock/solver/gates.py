"""Pre-releases and yanked releases: candidates that only some edge admits.

A gated candidate may be chosen only when a line of the user's, or an edge of a release that is needed
without it, admits it (`reach`). Answers that break this are forbidden one by one: a *support* says "this
set of packages and extras is not installed like that unless an edge from outside leads into it". The edges
are known only of loaded releases, and loading must never admit what was forbidden before. So the clause of
a support reads "not like that, or an edge known so far, or *more*, or *open*":

* *more* is a fresh literal that is assumed false; when another edge gets known it is defined as "that
  edge, or *more* again". Whatever was proved before stays true of every answer that holds the new edge's
  release, because that release was not loaded then, which is what *open* stands for.
* *open* means "some chosen release is not loaded and might have such an edge". It is assumed false; a
  proof that used this is only taken when the other case is refuted too (see `search`).
"""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from compatlock.model.dependencies import Dependency
    from compatlock.solver.formula import Formula, Node
    from compatlock.solver.reach import Reach
    from compatlock.solver.sat import Sat


class _Edge(NamedTuple):
    """An edge of a loaded release (`parent` None: a line of the user's). It holds unless a literal of
    `condition` does, and admits the gated candidates `admits`."""

    parent: Node | None
    admits: frozenset[int]
    condition: tuple[int, ...]


class _Support:
    """A set of nodes that may only be installed when an edge from outside leads into it.

    at:   the gated candidates among them that are to be chosen: edges lead there only by admitting them
    more: the literal "or an edge that is not known yet"
    """

    def __init__(self, nodes: frozenset[Node], at: Mapping[str, int], more: int) -> None:
        self.nodes = nodes
        self.at = at
        self.more = more

    def led_to(self, node: Node, edge: _Edge) -> bool:
        """Whether the edge leads to a node of the set from outside."""
        if node not in self.nodes or edge.parent in self.nodes:
            return False
        # A candidate that still has to be admitted cannot admit itself or others of the set.
        if edge.parent is not None and edge.parent[0] in self.at:
            return False
        index = self.at.get(node[0])
        return index is None or index in edge.admits


class Gates:
    """Gate clauses, made for the candidates that a search runs into."""

    def __init__(self, sat: Sat) -> None:
        self._sat = sat
        self.open = sat.variable()
        self._literals: dict[tuple[int, ...], int] = {}
        self._incoming: dict[Node, list[_Edge]] = {}
        self._supports: list[_Support] = []
        self._guarded: set[tuple[str, int]] = set()
        self._unloaded: dict[str, int] = {}

    @property
    def assumptions(self) -> list[int]:
        """What is assumed while nothing is left open."""
        return [-self.open, *(-support.more for support in self._supports)]

    def shut(self) -> dict[int, tuple[str, int]]:
        """Those of the assumptions that shut out a gated candidate, and which one."""
        return {-s.more: next(iter(s.at.items())) for s in self._supports if s.at}

    # Told by the formula

    def on_edge(
        self, formula: Formula, parent: Node | None, dependency: Dependency, condition: list[int]
    ) -> None:
        """An edge was encoded; it holds unless a literal of `condition` does."""
        admits = formula.universe.packages[dependency.name].admitted_gates(dependency.specifier)
        edge = _Edge(parent, admits, tuple(condition))
        for node in ((dependency.name, ""), *((dependency.name, x) for x in dependency.extras)):
            self._incoming.setdefault(node, []).append(edge)
            for support in self._supports:
                if support.led_to(node, edge):
                    again = self._sat.variable()
                    self._sat.add([-support.more, self._holds(edge), again])
                    support.more = again

    def on_load(self, formula: Formula, name: str, index: int) -> None:
        """A release was loaded."""
        literal = self._unloaded.get(name)
        if literal is not None:
            self._sat.add([-literal, *formula.not_at(name, index)])

    def _holds(self, edge: _Edge) -> int:
        """A literal that implies that the edge holds."""
        literal = self._literals.get(edge.condition)
        if literal is None:
            literal = self._literals[edge.condition] = self._sat.variable()
            for other in edge.condition:
                self._sat.add([-literal, -other])
        return literal

    # Used by the search

    def guard(self, formula: Formula, name: str, index: int) -> bool:
        """Make sure that the candidate is only chosen when an edge of another package admits it; False
        when that was made sure before."""
        if (name, index) in self._guarded:
            return False
        self._guarded.add((name, index))
        self._support(formula, [(name, "")], {name: index}, [])
        return True

    def forbid_unsupported(self, formula: Formula, found: Reach) -> None:
        """After a solve that succeeded: what the model installs beside what was reached holds itself up.
        Each of these packages and extras must not be installed unless an edge from outside leads there."""
        nodes = found.unreached(formula.active_extras())
        at = dict(found.gated)
        for node in nodes:
            literal = formula.extras[node] if node[1] else formula.present(node[0])
            self._support(formula, nodes, at, [-literal])

    def _support(
        self, formula: Formula, nodes: Iterable[Node], at: Mapping[str, int], condition: list[int]
    ) -> None:
        support = _Support(frozenset(nodes), at, self._sat.variable())
        clause = list(condition)
        for name, index in at.items():
            clause += formula.not_at(name, index)
        edges = (
            self._holds(edge)
            for node in sorted(support.nodes)
            for edge in self._incoming.get(node, ())
            if support.led_to(node, edge)
        )
        self._sat.add([*clause, *dict.fromkeys(edges), support.more, self.open])
        self._supports.append(support)

    def something_unloaded(self, formula: Formula) -> int:
        """A literal that implies that some installed package is at a release that is not loaded."""
        for name in formula.order:
            if name not in self._unloaded:
                literal = self._unloaded[name] = self._sat.variable()
                self._sat.add([-literal, formula.present(name)])
                for index in sorted(formula.loaded[name]):
                    self._sat.add([-literal, *formula.not_at(name, index)])
        unloaded = self._sat.variable()
        self._sat.add([-unloaded, *self._unloaded.values()])
        return unloaded
