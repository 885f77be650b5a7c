"""Ways out of a contradiction that need no other index: each is solved completely."""

from __future__ import annotations

from compatlock.model import core as kinds
from compatlock.model import objective
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.waiver import Exclusion, Waiver
from compatlock.model.way_out import DROP, MOVE, WAIVE, BrokenEdge, WayOut, waiver_cost
from compatlock.solver.again import search_again
from compatlock.solver.history import Edge, price
from compatlock.solver.priced import cheapest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from compatlock.model.core import Core, CoreEdge
    from compatlock.model.fact import Fact
    from compatlock.model.request import Request
    from compatlock.model.requirement import Requirement
    from compatlock.solver.again import Effort
    from compatlock.solver.search import Solution
    from compatlock.solver.universe import Need, Universe

SOURCE = "--waive"


class Change(NamedTuple):
    """A changed request: what `way` says of it, and the request."""

    way: WayOut
    request: Request


class Solved(NamedTuple):
    """A way out with its answer."""

    way: WayOut
    solution: Solution
    universe: Universe
    request: Request

    @property
    def order(self) -> tuple[object, ...]:
        """The key by which ways out are ranked: kind and evidence, cost, worst root lag, how much evidence,
        and the rest of the objective."""
        waived = (objective.WAIVERS, objective.WAIVED_BOUNDS)
        values = [t.value for t in self.solution.tiers if t.name not in ("waivers spent", *waived)]
        found = sum(len(edge.evidence) for edge in self.way.breaks)
        return (
            self.way.rank, self.way.cost, self.way.worst_lag, -found, len(self.way.breaks), values,
            self.way.accept,
        )  # fmt: skip


def moves(request: Request, core: Core) -> Iterator[Change]:
    """A line of the user's that is part of the contradiction is moved: the bound dropped, to see where to."""
    for edge in core.edges:
        if edge.origin == kinds.QUESTION or edge.origin.startswith(f"{kinds.GUARD} "):
            continue
        if edge.kind == kinds.ROOT and edge.specifier:
            roots = tuple(r._replace(specifier="") if _is(r, edge) else r for r in request.roots)
            # Whoever asks for another version than the older lock has wants none that is near that.
            older = {name: version for name, version in request.older.items() if name != edge.on}
            moved = request._replace(roots=roots, older=older)
            yield Change(WayOut(MOVE, "", replaces=line_of(edge)), moved)
        elif edge.kind == kinds.CONSTRAINT:
            rest = tuple(c for c in request.constraints if not _is(c, edge))
            yield Change(WayOut(MOVE, "", replaces=line_of(edge)), request._replace(constraints=rest))


def waivers(request: Request, core: Core) -> Iterator[Change]:
    """One bound of the contradiction is waived. (A single waiver that suffices is part of every core; the
    need itself stays, so an edge without a bound is none.)"""
    permitted = {(w.package, w.on) for w in request.waivers if not w.extra}
    hard = _hard(request)
    edges = dict.fromkeys((e.package, e.on) for e in core.edges if e.kind == kinds.EDGE and e.specifier)
    known = {(fact.package, fact.on) for fact in request.facts if fact.kind == "too-strict"}
    # What is known to be too strict goes first: not all may be searched to the end.
    for package, on in sorted(edges, key=lambda edge: edge not in known):
        if package != on and (package, on) not in permitted and (package, on) not in hard:
            waiver = Waiver(package, on, source=SOURCE, bound=_offered(request.facts, package, on))
            yield waived(request, [waiver])


def waived(request: Request, permitted: Sequence[Waiver]) -> Change:
    """A request with further waivers."""
    accept = " ".join(f"--waive '{waiver}'" for waiver in permitted)
    way = WayOut(WAIVE, accept, waivers=tuple(permitted))
    return Change(way, request._replace(waivers=tuple(sorted((*request.waivers, *permitted)))))


def drops(request: Request, core: Core) -> Iterator[Change]:
    """A dependency of the contradiction is dropped, unless its bound must never be waived."""
    hard = _hard(request)
    edges = (e for e in core.edges if e.kind in (kinds.EDGE, kinds.URL))
    for package, on in dict.fromkeys((e.package, e.on) for e in edges):
        if package != on and (package, on) not in hard:
            exclusion = Exclusion(package, on)
            way = WayOut(DROP, f"--exclude-dependency '{exclusion}'", exclusions=(exclusion,))
            yield Change(way, request._replace(exclusions=(*request.exclusions, exclusion)))


def _hard(request: Request) -> set[tuple[str, str]]:
    return {(fact.package, fact.on) for fact in request.facts if fact.kind == "hard"}


def _offered(facts: Sequence[Fact], package: str, on: str) -> str:
    """The bound that a known fact offers instead of the waived one."""
    rows = (
        row
        for fact in facts
        if fact.kind == "too-strict" and (fact.package, fact.on) == (package, on)
        for row in fact.bounds
    )
    bounds = {row.bound for row in rows}
    return bounds.pop() if len(bounds) == 1 else ""


def _is(line: Requirement, edge: CoreEdge) -> bool:
    same = (line.name, line.specifier, line.origin) == (edge.on, edge.specifier, edge.origin)
    return same and (edge.kind != kinds.ROOT or line.extras == edge.extras)


def line_of(edge: CoreEdge) -> str:
    """The line of the user's that a statement of a core is about."""
    extras = f"[{','.join(edge.extras)}]" if edge.extras else ""
    return f"{edge.on}{extras}{edge.specifier}"


def solve(
    universe: Universe, change: Change, core: Core, effort: Effort | None = None
) -> Generator[Need, None, Solved | None]:
    """Solve a changed request completely; None when that does not help. The universe has to be amended as
    the request says. Raises SearchGivenUp when it takes more than what is left of `effort`."""
    request = change.request
    solution = yield from search_again(universe, request, effort)
    if solution is None:
        return None
    way = yield from complete(change.way, universe, request, core, solution)
    return Solved(way, solution, universe, request)


def cheapest_waivers(
    universe: Universe, request: Request, core: Core, effort: Effort | None = None, below: int | None = None
) -> Generator[Need, None, Solved | None]:
    """The cheapest set of waivers, proved; None when waivers do not help, or not at a cost below `below`.
    Raises SearchGivenUp as `solve`."""
    about = {name for edge in core.edges for name in (edge.package, edge.on)}
    solution = yield from cheapest(universe, request, effort, below, about)
    if solution is None:
        return None
    least = solution.tiers[0].value
    breaks = yield from broken_edges(universe, request, solution)
    declared = {(w.package, w.on) for w in request.waivers}
    new = [edge for edge in breaks if (edge.package, edge.on) not in declared]
    edges = sorted({(e.package, e.on) for e in new})
    plain = [Waiver(p, on, source=SOURCE, bound=_offered(request.facts, p, on)) for p, on in edges]
    solved = yield from solve(universe, waived(request, plain), core, effort)
    if solved is None or solved.way.cost > least:
        # The best answer under bare permission lies beyond what the evidence is about: stay within that.
        pinned = {(e.package, e.on): f"=={e.pinned}" for e in new}
        exact = [Waiver(p, on, source=SOURCE, bound=pinned[p, on]) for p, on in edges]
        solved = yield from solve(universe, waived(request, exact), core, effort)
    if solved is None:
        return None
    return solved._replace(way=solved.way._replace(smallest=solved.way.cost == least))


def complete(
    way: WayOut, universe: Universe, request: Request, core: Core, solution: Solution
) -> Generator[Need, None, WayOut]:
    """The way out with what its answer gives and breaks."""
    breaks = yield from broken_edges(universe, request, solution)
    names = dict.fromkeys([r.name for r in request.roots])
    names.update(dict.fromkeys(n for e in core.edges for n in (e.package, e.on) if n))
    chosen = solution.chosen
    pins = tuple((n, universe.packages[n].versions[chosen[n]]) for n in names if n in chosen)
    lags = [universe.packages[n].lag_days(chosen[n], i) for n, i in solution.newest.items()]
    way = way._replace(pins=pins, breaks=breaks, worst_lag=max(lags, default=0))
    if way.kind == WAIVE:
        declared = {(w.package, w.on) for w in request.waivers} - {(w.package, w.on) for w in way.waivers}
        way = way._replace(cost=waiver_cost(e for e in breaks if (e.package, e.on) not in declared))
    if way.kind == MOVE:
        way = way._replace(accept=_moved(way, request, dict(pins)))
    return way


def broken_edges(
    universe: Universe, request: Request, solution: Solution
) -> Generator[Need, None, tuple[BrokenEdge, ...]]:
    """Every declared edge of an answer that does not hold, priced."""
    found = []
    for name, index in solution.chosen.items():
        for extra in ("", *solution.extras.get(name, ())):
            # Metadata may say the same twice, or with other extras.
            needs = {(n.name, n.specifier): n for n in universe.dependencies[name, index].of(extra)}
            for need in needs.values():
                at = solution.chosen.get(need.name)
                if at is not None and not universe.packages[need.name].admits(need.specifier, at):
                    edge = Edge(universe, name, index, extra, need, at)
                    found.append((yield from price(edge, request.facts)))
    return tuple(found)


def _moved(way: WayOut, request: Request, pins: dict[str, str]) -> str:
    """The line that stands for the moved one: as loose as it may be with the same answer."""
    name, extras, specifier = _split(way.replaces)
    if name not in {root.name for root in request.roots}:
        return f"without the constraint `{way.replaces}`"
    operator = ">=" if all(c.strip().startswith(">") for c in specifier.split(",")) else "=="
    return f"{name}{extras}{operator}{pins[name]}"


def _split(line: str) -> tuple[str, str, str]:
    end = next((i for i, c in enumerate(line) if c in "<>=!~["), len(line))
    name, rest = line[:end], line[end:]
    if rest.startswith("["):
        extras, _, specifier = rest.partition("]")
        return name, f"{extras}]", specifier
    return name, "", rest
