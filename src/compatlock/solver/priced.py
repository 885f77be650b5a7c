"""The cheapest set of waivers: the search with a waiver on offer for every edge, at a price.

An edge may be waived by up to four literals, the cheapest first: a known fact (what the fact's bound allows),
history (what a later release of the same package allows; and apart from that what its minor series allowed
before a patch release, see `solver.history`), and without evidence (any version). What history allows is
looked up when an answer leans on it, or the proof that the cost has to rise: until then its literal allows
everything, so looking up only ever forbids, and what was proved before stays true.
"""

from __future__ import annotations

from functools import partial

from compatlock.errors import SearchGivenUp
from compatlock.model import objective
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.objective import Tier
from compatlock.model.waiver import Waiver
from compatlock.model.way_out import COST_EXECUTED, COST_LIFTED, COST_OTHER, COST_UPPER
from compatlock.solver.again import Again, run_again
from compatlock.solver.guards import UPPER, WaiverGuards
from compatlock.solver.history import Edge, allowed_before, allowed_later, series_before

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Sequence

    from compatlock.model.dependencies import Dependency
    from compatlock.model.fact import Fact
    from compatlock.model.request import Request
    from compatlock.solver.again import Effort
    from compatlock.solver.sat import Sat
    from compatlock.solver.search import Solution
    from compatlock.solver.universe import Need, Universe

COST = "waiver cost"

# What of history an offer rests on: later releases, or older ones of the same series.
_LATER, _BEFORE = "later", "before"

# Cores larger than this lose assumptions in chunks.
_LARGE = 24
# A search that takes so many variables is given up: where so much contradicts itself, no set of waivers is of
# use, and there are other ways out.
_VARIABLES = 12_000


def cheapest(
    universe: Universe,
    request: Request,
    effort: Effort | None = None,
    below: int | None = None,
    about: Collection[str] = (),
) -> Generator[Need, None, Solution | None]:
    """The best answer when every edge that may be waived at all can be, at its price; its first tier is the
    least cost. None when waivers do not help, or not at a cost below `below`. `about` are the packages that
    a contradiction is known to be about. Raises SearchGivenUp when it takes too much."""
    begin = partial(_Priced, below=below, about=about)
    return (yield from run_again(begin, universe, request, effort))


class _Offer(NamedTuple):
    """What a literal stands for: an edge of the candidate `release` of a package. `history` says what of it
    is to be looked at, if anything."""

    package: str
    release: int
    extra: str
    need: Dependency
    history: str = ""


class _PricedGuards(WaiverGuards):
    """Beside declared waivers, literals at a price for every other edge."""

    def __init__(
        self,
        sat: Sat,
        universe: Universe,
        request: Request,
        on_waiver: Callable[[Waiver, int], None],
        on_price: Callable[[int, int], None],
    ) -> None:
        super().__init__(sat, universe, request.waivers, on_waiver, lambda literal: on_price(literal, 0))
        self._on_price = on_price
        self._hard = {(fact.package, fact.on) for fact in request.facts if fact.kind == "hard"}
        self._facts: dict[tuple[str, str], list[Fact]] = {}
        for fact in request.facts:
            if fact.kind == "too-strict":
                self._facts.setdefault((fact.package, fact.on), []).append(fact)
        self._literals: dict[tuple[str, ...], int] = {}
        self.offers: dict[int, _Offer] = {}
        self.confined: list[tuple[int, str, str]] = []

    def bound(self, parent: str, extra: str, dependency: Dependency, side: str) -> list[int]:
        declared = super().bound(parent, extra, dependency, side)
        on = dependency.name
        if declared or parent == on or (parent, on) in self._hard or self.permission(parent, extra, on):
            return declared
        name, specifier = f"{parent} -> {on}", dependency.specifier
        # Of pins it has to be asked for each release whether they are about compiled interfaces.
        if specifier.startswith(("==", "~=")):
            specifier += f" at {self._index}"
        offer = _Offer(parent, self._index, extra, dependency)
        literals = list(self._by_facts(parent, dependency))
        later = offer._replace(history=_LATER)
        literals.append(self._literal((name, specifier, extra, _LATER), COST_LIFTED, later))
        if self._may_be_patched(offer):
            key = (name, dependency.specifier, extra, _BEFORE, str(self._index))
            literals.append(self._literal(key, COST_LIFTED, offer._replace(history=_BEFORE)))
        cost = COST_UPPER if side == UPPER else COST_OTHER
        return [*literals, self._literal((name, specifier, side), cost, offer)]

    def _may_be_patched(self, offer: _Offer) -> bool:
        """Whether a patch release may have put the bound in, as far as that is known without reading."""
        package = self._universe.packages[offer.package]
        edge = Edge(self._universe, offer.package, offer.release, offer.extra, offer.need, 0)
        for older in series_before(package, offer.release):
            if (offer.package, older) not in self._universe.dependencies:
                return True
            if all(need.specifier != offer.need.specifier for need in edge.needs_of(older)):
                return edge.is_comparable(older)
        return False

    def _by_facts(self, parent: str, dependency: Dependency) -> Sequence[int]:
        found = []
        for fact in self._facts.get((parent, dependency.name), ()):
            for row in fact.bounds:
                if self._universe.packages[parent].admits(row.versions, self._index):
                    cost = COST_EXECUTED if "executed" in fact.evidence else COST_LIFTED
                    key = (f"{parent} -> {dependency.name}", dependency.specifier, fact.id, row.versions)
                    known = key in self._literals
                    offer = _Offer(parent, self._index, "", dependency)
                    literal = self._literal(key, cost, offer)
                    if row.bound and not known:
                        self.confined.append((literal, dependency.name, row.bound))
                    found.append(literal)
        return found

    def _literal(self, key: tuple[str, ...], cost: int, offer: _Offer) -> int:
        literal = self._literals.get(key)
        if literal is None:
            literal = self._literals[key] = self._sat.variable()
            self._sat.add([-literal, self._permission(Waiver(offer.package, offer.need.name))])
            self._on_price(literal, cost)
            self.offers[literal] = offer
        return literal


class _Priced(Again):
    """The search with `_PricedGuards` and what they cost as its first tier."""

    looked_up: set[int]
    share = 2
    most_variables = _VARIABLES

    def __init__(
        self,
        universe: Universe,
        request: Request,
        newest: dict[str, int],
        depths: dict[str, int],
        *,
        thorough: bool = False,
        below: int | None = None,
        about: Collection[str] = (),
    ) -> None:
        super().__init__(universe, request, newest, depths, thorough=thorough)
        self.below = below
        self.about = about

    def _begin(self) -> Generator[Need, None, None]:
        """All that was read of what the contradiction is about is taken in at once: what it costs at least
        is known then before an answer is made as good as can be."""
        yield from super()._begin()
        packages = self.universe.packages
        known = [
            r for r in self.universe.dependencies if r[0] in self.about and r[1] not in packages[r[0]].gates
        ]
        for name in dict.fromkeys(name for name, _ in known):
            self.formula.present(name)
        yield from self.formula.load(known)

    def _tiers(self, *, several_targets: bool) -> tuple[Tier, ...]:
        request = self.request
        rest = objective.tiers(
            waivers=True,
            older=bool(request.older),
            prefer=request.prefer,
            several_targets=several_targets,
        )
        # Sets are told by edges; how many bounds they waive is of no interest here.
        kept = (tier for tier in rest if tier.kind != objective.WAIVED_BOUNDS)
        return (Tier(COST, COST, "points"), *kept)

    def _guards(self) -> WaiverGuards:
        self.looked_up = set()
        self.priced = _PricedGuards(self.sat, self.universe, self.request, self._on_waiver, self._on_price)
        return self.priced

    def _on_price(self, literal: int, cost: int) -> None:
        self.costs.on_side(literal)
        if cost:
            self.costs.on_constant(COST, literal, cost)

    def _raise(self, level: int, core: list[int]) -> Generator[Need, None, bool | None]:
        """Before the cost rises, what history really allows is looked up for all that the contradiction is
        about: with one look-up for each best answer, all other tiers would be proved again in between."""
        cost = self.costs.tiers[0]
        if level == 0:
            _, core = self._shrink([lit for lit in core if lit in cost.soft], core, level)
            if (yield from self._look_up_all([-lit for lit in core])):
                return None
        raised = yield from super()._raise(level, core)
        return False if self._is_too_dear else raised

    @property
    def _is_too_dear(self) -> bool:
        return self.below is not None and self.costs.tiers[0].bound >= self.below

    def _climb(self) -> Generator[Need, None, bool | None]:
        # What follows by propagation alone may suffice.
        return False if self._is_too_dear else (yield from super()._climb())

    def _shrink(self, charged: list[int], core: list[int], level: int) -> tuple[list[int], list[int]]:
        """First drops assumptions in large chunks: with so many waivers on offer cores are large."""
        above = self._assume(level)
        size = len(charged)
        while size > 1 and len(charged) > _LARGE:
            charged, core = self._without_chunks(charged, core, above, size)
            size //= 4
        return super()._shrink(charged, core, level)

    def _without_chunks(
        self, charged: list[int], core: list[int], above: Collection[int], size: int
    ) -> tuple[list[int], list[int]]:
        position = 0
        while len(charged) > _LARGE and position < len(charged):
            self._check()
            # With a chunk as large as all, the whole core is asked for again, which alone makes it smaller.
            rest = charged if size >= len(charged) else charged[:position] + charged[position + size :]
            if self.sat.solve([*above, *rest]) or -self.gates.open in self.sat.core():
                position += size
                continue
            core = self.sat.core()
            kept = set(core)
            before, charged = len(charged), [lit for lit in rest if lit in kept]
            if len(charged) == before:
                position += size
        return charged, core

    def _close(self, assumptions: Iterable[int]) -> Generator[Need, None, bool | None]:
        self._confine()
        if self.sat.variables > self.most_variables:
            raise SearchGivenUp("no cheapest set of waivers was found with a reasonable effort")
        best, broken = self.best, self.broken
        outcome = yield from super()._close(assumptions)
        if not outcome:
            return outcome
        if (yield from self._look_up_all(self.sat.model())):
            self.best, self.broken = best, broken
            return None
        return True

    def _confine(self) -> None:
        while self.priced.confined:
            literal, on, bound = self.priced.confined.pop()
            self.formula.confine([-literal], on, self.universe.packages[on].runs(bound))

    def _look_up_all(self, literals: Iterable[int]) -> Generator[Need, None, bool]:
        """What those of the literals that are waivers really allow; True when that forbids something."""
        grew = False
        for literal in [lit for lit in literals if lit in self.priced.offers and lit not in self.looked_up]:
            grew = (yield from self._look_up(literal)) or grew
        return grew

    def _look_up(self, literal: int) -> Generator[Need, None, bool]:
        """What a waiver that an answer leans on really allows; True when that forbids something."""
        self.looked_up.add(literal)
        offer = self.priced.offers[literal]
        if self.universe.is_abi_pin(offer.package, offer.release, offer.need):
            self.sat.add([-literal])
            return True
        if not offer.history:
            return False
        edge = Edge(self.universe, offer.package, offer.release, offer.extra, offer.need, 0)
        runs = yield from (allowed_later if offer.history == _LATER else allowed_before)(edge)
        self.formula.confine([-literal], offer.need.name, runs)
        return True
