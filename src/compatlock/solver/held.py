"""A search that is kept, and asked again with further bounds: what was read, encoded and learned stays.

A further bound is a literal that is assumed. What is proved without any is true with more, so each question
starts from what the tiers of the bare one came to. A bound that changes what lag is counted from, or that
admits a gated candidate, makes another problem: such a question is answered by a search of its own.
"""

from __future__ import annotations

from compatlock.solver.depth import frame
from compatlock.solver.search import Search, search

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from compatlock.model.request import Request
    from compatlock.model.requirement import Requirement
    from compatlock.solver.solution import Solution
    from compatlock.solver.universe import Need, Universe

    Afresh = Callable[[Universe, Request], Generator[Need, None, Solution | None]]
    # How much of the formula there is: packages, cuts, loaded releases.
    Growth = tuple[int, int, int]


def hold(
    universe: Universe, request: Request, *, thorough: bool = False
) -> Generator[Need, None, HeldSearch]:
    """Make ready for questions about a request; to be closed. `thorough` is as in `search`."""
    run = HeldSearch(universe, request, *(yield from frame(universe, request)), thorough=thorough)
    yield from run._begin()
    return run


def bounded(request: Request, bounds: Sequence[Requirement]) -> Request:
    """The request with further constraints."""
    return request._replace(constraints=tuple(sorted((*request.constraints, *bounds))))


class HeldSearch(Search):
    """Answers one question after the other; the answers are those of `search`."""

    _bounds: tuple[int, ...] = ()
    _asked_before = False
    # Whether the answer without further bounds is proved: else no other is chased to a proof, either.
    _proved = True
    # How much there is, if the last answer took no more.
    _grown: Growth | None = None
    _kept: tuple[Growth, list[tuple[int, dict[int, int]]]] | None = None

    @classmethod
    def after(cls, run: Search) -> HeldSearch:
        """A search that has ended, kept: it takes over all that the other one is."""
        held = cls.__new__(cls)
        vars(held).update(vars(run))
        held._literals = {}
        held._asked_before = True
        if held.best is not None:
            held._keep()
        return held

    def close(self) -> None:
        """Free the solver."""
        self.sat.close()

    @property
    def _fixed(self) -> list[int]:
        return [self.active, *self._bounds]

    def _begin(self) -> Generator[Need, None, None]:
        self._literals: dict[Requirement, int] = {}
        yield from super()._begin()

    def solve(
        self, bounds: Sequence[Requirement] = (), *, afresh: Afresh | None = None
    ) -> Generator[Need, None, Solution | None]:
        """The best answer with further bounds on packages (without extras and markers); None when there is
        none. `afresh` answers what is another problem, in the place of `search`."""
        if bounds:
            question = bounded(self.request, bounds)
            yield from self.universe.want_packages(bound.name for bound in bounds)
            same = (yield from frame(self.universe, question)) == (self.newest, self.depths)
            if not same or any(self._admits(bound) for bound in bounds):
                if afresh is not None:
                    return (yield from afresh(self.universe, question))
                return (yield from search(self.universe, question, thorough=self.thorough))
        literals = tuple(dict.fromkeys(self._literal(bound) for bound in bounds))
        if literals and self._kept is not None and self._kept[0] != self._growth() == self._grown:
            # The formula has grown, and may have come to rest: it pays to prove again what always holds.
            yield from self._answer(())
        return (yield from self._answer(literals))

    def _answer(self, bounds: tuple[int, ...]) -> Generator[Need, None, Solution | None]:
        before = self._growth()
        self._bounds = bounds
        if self._asked_before:
            self._restore()
        self._asked_before = True
        optimal: bool | None = None
        while optimal is None:
            optimal = yield from self._descend()
        if optimal:
            yield from self._make_unique()
            if not bounds:
                self._keep()
        self._grown = before if before == self._growth() else None
        return self._solution() if optimal else None

    def _admits(self, bound: Requirement) -> bool:
        """Whether the bound opens a gate."""
        return bool(self.universe.packages[bound.name].admitted_gates(bound.specifier))

    def _literal(self, bound: Requirement) -> int:
        key = bound._replace(origin="")
        literal = self._literals.get(key)
        if literal is None:
            literal = self._literals[key] = self.sat.variable()
            runs = self.universe.packages[bound.name].runs(bound.specifier)
            self.formula.confine([-literal], bound.name, runs)
        return literal

    # What the tiers came to without further bounds

    def _growth(self) -> Growth:
        formula = self.formula
        cuts, loaded = formula.cuts.values(), formula.loaded.values()
        return len(formula.order), sum(map(len, cuts)), sum(map(len, loaded))

    def _keep(self) -> None:
        tiers = [(tier.bound, dict(tier.soft)) for tier in self.costs.tiers]
        self._kept = self._growth(), tiers
        self._proved = self.closed_world.proved

    def _restore(self) -> None:
        """Begin with what is proved of every question, or, where the formula grew since, anew."""
        # What was presumed stays so: the clauses that were proved by it are kept.
        self.failures.clear()
        if self._proved:
            self.closed_world.chases = 0
        if self._kept is not None and self._kept[0] == self._growth():
            for tier, (bound, soft) in zip(self.costs.tiers, self._kept[1], strict=True):
                tier.bound, tier.soft = bound, dict(soft)
        else:
            for tier in self.costs.tiers:
                tier.reset(self.formula)
