"""Pre-releases and yanked releases: candidates that only some edge admits.

A gated candidate may be chosen only when a chosen release has an edge that admits it. The edges are
known only of loaded releases, and loading must never admit what was forbidden before. So the clause of a
gate reads "not chosen, or an admitting edge known so far, or *more*, or *open*":

* *more* is a fresh literal that is assumed false; when another admitting edge gets known it is defined as
  "that edge, or *more* again". Whatever was proved before stays true of every answer that holds the new
  edge's release, because that release was not loaded then, which is what *open* stands for.
* *open* means "some chosen release is not loaded and might admit it". It is assumed false; a proof that
  used this is only taken when the other case is refuted too (see `search`).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from compatlock.model.dependencies import Dependency
    from compatlock.solver.formula import Formula, Node
    from compatlock.solver.sat import Sat


class Gates:
    """Gate clauses, made for the candidates that a search runs into."""

    def __init__(self, sat: Sat) -> None:
        self._sat = sat
        self.open = sat.variable()
        self._edges: dict[tuple[int, ...], int] = {}
        # For each gated candidate: literals of admitting edges; None once a line of the user's admits it.
        self._admitting: dict[tuple[str, int], list[int] | None] = {}
        self._more: dict[tuple[str, int], int] = {}
        self._incoming: dict[Node, list[tuple[Node | None, tuple[int, ...]]]] = {}
        self._supports: list[_Support] = []
        self._unloaded: dict[str, int] = {}

    @property
    def assumptions(self) -> list[int]:
        """What is assumed while nothing is left open."""
        more = [-literal for literal in self._more.values()]
        return [-self.open, *more, *(-support.more for support in self._supports)]

    # Told by the formula

    def on_edge(
        self, formula: Formula, parent: Node | None, dependency: Dependency, condition: list[int]
    ) -> None:
        """An edge was encoded; it holds unless a literal of `condition` does."""
        edge = tuple(condition)
        for node in [(dependency.name, ""), *((dependency.name, x) for x in dependency.extras)]:
            self._incoming.setdefault(node, []).append((parent, edge))
            for support in self._supports:
                if node in support.nodes and parent not in support.nodes:
                    support.more = self._widen(support.more, self._holds(edge))
        package = formula.universe.packages[dependency.name]
        for index in package.admitted_gates(dependency.specifier):
            key = (dependency.name, index)
            known = self._admitting.setdefault(key, [])
            if known is None:
                continue
            if parent is None:
                self._admitting[key] = None
                if key in self._more:
                    self._widen(self._more.pop(key), None)
                continue
            literal = self._holds(edge)
            known.append(literal)
            if key in self._more:
                self._more[key] = self._widen(self._more[key], literal)

    def on_load(self, formula: Formula, name: str, index: int) -> None:
        """A release was loaded."""
        literal = self._unloaded.get(name)
        if literal is not None:
            self._sat.add([-literal, *formula.not_at(name, index)])

    def _holds(self, condition: tuple[int, ...]) -> int:
        """A literal that implies that the edge holds."""
        literal = self._edges.get(condition)
        if literal is None:
            literal = self._edges[condition] = self._sat.variable()
            for other in condition:
                self._sat.add([-literal, -other])
        return literal

    def _widen(self, more: int, literal: int | None) -> int:
        """Define `more` as "`literal` or more again"; None for a literal that always holds."""
        if literal is None:
            return more
        again = self._sat.variable()
        self._sat.add([-more, literal, again])
        return again

    # Used by the search

    def guard(self, formula: Formula, name: str, index: int) -> bool:
        """Make sure that the candidate has its gate clause; False when it had it before (or needs none)."""
        key = (name, index)
        admitting = self._admitting.setdefault(key, [])
        if key in self._more or admitting is None:
            return False
        more = self._more[key] = self._sat.variable()
        self._sat.add([*formula.not_at(name, index), *admitting, more, self.open])
        return True

    def forbid_unsupported(self, nodes: Iterable[Node], present: Iterable[int]) -> None:
        """The nodes hold each other up, but nothing that is needed leads to them: at least one of
        `present` must be false, or an edge from outside must hold."""
        support = _Support(frozenset(nodes), self._sat.variable())
        clause = [-literal for literal in present]
        for node in sorted(support.nodes):
            for parent, edge in self._incoming.get(node, ()):
                if parent not in support.nodes:
                    clause.append(self._holds(edge))
        self._sat.add([*clause, support.more, self.open])
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


class _Support:
    """A set of nodes that may only be installed when an edge from outside leads into it."""

    def __init__(self, nodes: frozenset[Node], more: int) -> None:
        self.nodes = nodes
        self.more = more
