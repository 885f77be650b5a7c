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

from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from compatlock.model.dependencies import Dependency
    from compatlock.model.package import Package
    from compatlock.solver.formula import Formula, Node
    from compatlock.solver.reach import Reach
    from compatlock.solver.sat import Sat

    Run = tuple[int, int]


class _Edge(NamedTuple):
    """An edge of a loaded release (`parent` None: a line of the user's). It holds unless a literal of
    `condition` does, and admits the gated candidates `admits`."""

    parent: Node | None
    admits: frozenset[int]
    condition: tuple[int, ...]


class _Support:
    """A set of nodes that may only be installed when an edge from outside leads into it.

    at:    runs of gated candidates `[low, high)` that packages of the set are at: edges lead to them only
           by admitting one
    known: literals of the edges known
    more:  the literal "or an edge that is not known yet"
    """

    def __init__(self, nodes: frozenset[Node], at: Mapping[str, Run], more: int) -> None:
        self.nodes = nodes
        self.at = at
        self.known: dict[int, None] = {}
        self.more = more

    def led_to(self, node: Node, edge: _Edge) -> bool:
        """Whether the edge leads to a node of the set from outside."""
        if node not in self.nodes or edge.parent in self.nodes:
            return False
        run = self.at.get(node[0])
        return run is None or any(run[0] <= index < run[1] for index in edge.admits)


class Gates:
    """Gate clauses, made for the candidates that a search runs into.

    `apart`: one clause for each candidate, so that `shut` tells exactly what a proof leans on; else
    neighbours are guarded together until one of them is admitted.
    """

    def __init__(self, sat: Sat, *, apart: bool = False) -> None:
        self._sat = sat
        self._apart = apart
        self.open = sat.variable()
        self._literals: dict[tuple[int, ...], int] = {}
        self._incoming: dict[Node, list[_Edge]] = {}
        self._supports: list[_Support] = []
        self._supports_of: dict[Node, list[_Support]] = {}
        self._guards: dict[tuple[str, Run], _Support] = {}
        self._bounds: dict[str, list[str]] = {}
        self._unread: dict[str, int] = {}
        self._known_only = sat.variable()
        self._unknown: dict[Node, tuple[int, int]] = {}

    @property
    def assumptions(self) -> list[int]:
        """What is assumed while nothing is left open."""
        return [-self.open, *self.closed]

    @property
    def closed(self) -> list[int]:
        """The part of the assumptions that is about edges which are not known yet."""
        return [-support.more for support in self._supports]

    def shut(self) -> dict[int, tuple[str, int]]:
        """Those of the assumptions that shut out gated candidates, and the newest one of each."""
        return {-s.more: (name, run[0]) for s in self._supports for name, run in s.at.items()}

    # Told by the formula

    def on_constraint(self, name: str, specifier: str) -> None:
        """A line of the user's admits gated candidates even when it only bounds the package."""
        self._bounds.setdefault(name, []).append(specifier)

    def on_edge(
        self, formula: Formula, parent: Node | None, dependency: Dependency, condition: list[int]
    ) -> None:
        """An edge was encoded; it holds unless a literal of `condition` does."""
        name = dependency.name
        admits = formula.universe.packages[name].admitted_gates(dependency.specifier)
        edge = _Edge(parent, admits, tuple(condition))
        incoming = self._incoming
        for node in (
            [(name, ""), *[(name, x) for x in dependency.extras]] if dependency.extras else [(name, "")]
        ):
            if node in incoming:
                incoming[node].append(edge)
            else:
                incoming[node] = [edge]
            for support in self._supports_of.get(node, ()):
                if support.led_to(node, edge):
                    literal, again = self._holds(edge), self._sat.variable()
                    self._sat.add([-support.more, literal, again])
                    support.known[literal] = None
                    support.more = again

    def on_load(self, formula: Formula, name: str, index: int) -> None:
        """A release was loaded."""
        literal = self._unread.get(name)
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
        """Make sure that a candidate is only chosen when an edge admits it, or one of the gated candidates
        around it; when that was made sure before, it alone. False when that was done before, too."""
        package = formula.universe.packages[name]
        alone = (index, index + 1)
        for run in (alone,) if self._apart else (self._run(package, index), alone):
            if (name, run) not in self._guards:
                self._guards[name, run] = self._support(formula, [(name, "")], {name: run}, [])
                return True
        return False

    def _run(self, package: Package, index: int) -> Run:
        """The gated candidates around one, up to those that a constraint admits."""
        bounds = self._bounds.get(package.name, ())
        free: frozenset[int] = frozenset().union(*(package.admitted_gates(specifier) for specifier in bounds))
        shut = package.gates.keys() - free
        low, high = index, index + 1
        while low - 1 in shut:
            low -= 1
        while high in shut:
            high += 1
        return low, high

    def forbid_unsupported(self, formula: Formula, found: Reach) -> None:
        """After a solve that succeeded: what the model installs beside what was reached holds itself up.
        Each of these packages and extras must not be installed unless an edge from outside leads there."""
        nodes = found.unreached(formula.active_extras())
        at = {name: (index, index + 1) for name, index in found.gated}
        for node in nodes:
            literal = formula.extras[node] if node[1] else formula.present(node[0])
            self._support(formula, nodes, at, [-literal])

    def _support(
        self, formula: Formula, nodes: Iterable[Node], at: Mapping[str, Run], condition: list[int]
    ) -> _Support:
        support = _Support(frozenset(nodes), at, self._sat.variable())
        clause = list(condition)
        for name, run in at.items():
            clause += formula.outside(name, *run)
        for node in sorted(support.nodes):
            for edge in self._incoming.get(node, ()):
                if support.led_to(node, edge):
                    support.known[self._holds(edge)] = None
            self._supports_of.setdefault(node, []).append(support)
        self._sat.add([*clause, *support.known, support.more, self.open])
        self._supports.append(support)
        return support

    def leaned_on(self, core: Iterable[int]) -> set[str]:
        """The packages that a proof keeps out, or away from a gated candidate, because no edge known so far
        leads there."""
        closed = set(core)
        return {name for s in self._supports if -s.more in closed for name, _ in s.nodes}

    def known_parents(self, names: Iterable[str]) -> set[str]:
        """The packages of which some loaded release depends on one of `names`."""
        wanted = set(names)
        return {
            edge.parent[0]
            for node, edges in self._incoming.items()
            if node[0] in wanted
            for edge in edges
            if edge.parent is not None
        }

    def something_unread(self, formula: Formula, among: Collection[str]) -> list[int]:
        """Assumptions that imply: one of these packages is at a release that is not loaded (and, where that
        takes one, an edge known so far admits it), and edges known so far lead to those that are installed.
        In every answer with such a release this is true of the part that edges of loaded releases lead to."""
        unread = self._sat.variable()
        names = [name for name in formula.order if name in among]
        self._sat.add([-unread, *(self._at_unread(formula, name) for name in names)])
        for (name, run), support in self._guards.items():
            if name in among:
                self._sat.add([-unread, -self._unread[name], *formula.outside(name, *run), *support.known])
        unknown = [self._unknown_edge((name, ""), formula.present(name)) for name in names]
        return [unread, self._known_only, *(-literal for literal in unknown)]

    def _at_unread(self, formula: Formula, name: str) -> int:
        """A literal that implies that the package is installed at a release that is not loaded."""
        literal = self._unread.get(name)
        if literal is None:
            literal = self._unread[name] = self._sat.variable()
            self._sat.add([-literal, formula.present(name)])
            for index in sorted(formula.loaded[name]):
                self._sat.add([-literal, *formula.not_at(name, index)])
        return literal

    def _unknown_edge(self, node: Node, installed: int) -> int:
        """The literal "an edge not known yet leads to this node", defined anew whenever edges were added."""
        edges = self._incoming.get(node, [])
        count, literal = self._unknown.get(node, (0, 0))
        if not literal:
            literal = self._sat.variable()
            self._sat.add([-self._known_only, -installed, literal])
        if len(edges) > count:
            again = self._sat.variable()
            self._sat.add([-literal, *dict.fromkeys(map(self._holds, edges[count:])), again])
            literal = again
        self._unknown[node] = len(edges), literal
        return literal
