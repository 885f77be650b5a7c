"""All minimal cores of a contradiction, by MARCO (Liffiton and others, 2016).

What is enumerated are sets of *merged* statements: everything that releases of a package, or of an extra of
it, say of one other package is one statement, whatever bound the single release declares; a line of the
user's, or a fact, is one by itself. So cores differ in who excludes whom, never only in versions.

A map, a formula over these statements, holds what is known: a core rules out all sets that contain it, a set
that can be satisfied all sets within. As long as the map has a set left, it is looked at: when it contradicts
itself it is made smaller until it is a core, else whatever it lacks is what every further core has part of.
When none is left, all cores are known.
"""

from __future__ import annotations

from compatlock.model.core import EDGE, PROBLEM, URL
from compatlock.model.named_tuple import NamedTuple
from compatlock.solver.explain import _Explanation
from compatlock.solver.guards import Label
from compatlock.solver.sat import Sat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterable, Sequence

    from compatlock.model.core import Core
    from compatlock.model.request import Request
    from compatlock.solver.universe import Need, Universe

# So many cores are told at most, so many sets are looked at for them, and no further one after so many calls
# of the SAT solver: where more excludes each other, a list of all reasons is of no use.
MOST = 6
_LOOKS = 40
_CALLS = 4000
# How many releases that nothing has read before may be read for cores beyond the first.
_READS = 30


class Cores(NamedTuple):
    """Cores, those that are shortest to tell first; `complete`: there is no other, that is proved."""

    cores: tuple[Core, ...]
    complete: bool


def merged(label: Label) -> Label:
    """What all labels have in common that are one statement."""
    if label.kind in (EDGE, URL, PROBLEM):
        return Label(*label[:4])
    return label


def all_cores(
    universe: Universe, request: Request, given_up: Iterable[Collection[Label]] = (), most: int = MOST
) -> Generator[Need, None, Cores]:
    """Find the minimal cores of a request for which `search` found no answer: `CoreFinder` at one go."""
    finder = CoreFinder(universe, request)
    try:
        yield from finder.first()
        return (yield from finder.all(given_up, most))
    finally:
        finder.close()


class _Map:
    """Sets of statements that were not looked at yet. A variable says that a statement is dropped: the
    solver prefers variables to be false, which gives large sets."""

    def __init__(self) -> None:
        self._sat = Sat()
        self._dropped: dict[Label, int] = {}

    def close(self) -> None:
        self._sat.close()

    def learn(self, statements: Iterable[Label]) -> None:
        """Take in statements that turned up."""
        for statement in statements:
            if statement not in self._dropped:
                self._dropped[statement] = self._sat.variable()

    def core(self, statements: Iterable[Label]) -> None:
        """These contradict each other."""
        self._sat.add([self._dropped[statement] for statement in statements])

    def satisfiable_without(self, statements: Iterable[Label]) -> None:
        """All others together can be satisfied."""
        self._sat.add([-self._dropped[statement] for statement in statements])

    def dropped(self) -> set[Label] | None:
        """What to drop for a set that was not looked at yet; None when there is no such set."""
        if not self._sat.solve([]):
            return None
        model = self._sat.model()
        gone = {statement for statement, literal in self._dropped.items() if model[literal - 1] > 0}
        # As little as possible: what can be kept as well is.
        for statement in sorted(gone):
            kept = [-lit for s, lit in self._dropped.items() if s not in gone or s == statement]
            if self._sat.solve(kept):
                gone.remove(statement)
        return gone


class CoreFinder(_Explanation):
    """Finds one core at once, and all others when asked. To be closed at the end."""

    def __init__(self, universe: Universe, request: Request) -> None:
        super().__init__(universe, request)
        self.map = _Map()
        self.told: tuple[frozenset[Label], Core] | None = None

    def close(self) -> None:
        """Free the native solvers."""
        self.sat.close()
        self.map.close()

    def first(self) -> Generator[Need, None, Core]:
        """Find one minimal core, that which is short to tell (see `solver.explain.explain`)."""
        labels = yield from self.first_core()
        core = yield from self.tell(labels)
        self.told = self._statements(labels), core
        return core

    def all(
        self, given_up: Iterable[Collection[Label]] = (), most: int = MOST
    ) -> Generator[Need, None, Cores]:
        """After `first`: find all cores, up to `most`.

        `given_up`: sets of merged statements without which an answer is known (of a way out: what it
        breaks); they need not be looked for. Yields a `Need` whenever something must be read, and goes on
        when `universe` holds it. Raises RuntimeError when there is an answer.
        """
        assert self.told is not None
        first, core = self.told
        found: dict[frozenset[Label], Core] = {}
        complete = False
        self.reads, self.most_reads, self.limited, self.sparing = 0, _READS, False, True
        self.map.learn(self._statements(self.guards.literals))
        for statements in given_up:
            self.map.learn(statements)
            self.map.satisfiable_without(statements)
        calls = self.sat.calls
        for _ in range(_LOOKS):
            gone = self.map.dropped()
            if gone is None:
                complete = not self.limited
                break
            if len(found) >= most or self.sat.calls - calls > _CALLS:
                break
            if (yield from self._is_satisfiable_without(gone)):
                self.map.satisfiable_without(gone)
                continue
            statements = yield from self._shrunk(gone, first)
            self.map.core(statements)
            if statements == first:
                found[statements] = core
            else:
                labels = yield from self._minimise(self._labels(statements))
                found[statements] = yield from self.tell(labels)
        if not found:
            found[first] = core

        def length(statements: frozenset[Label]) -> tuple[object, ...]:
            return len(statements), len(found[statements].edges), statements != first, sorted(statements)

        return Cores(tuple(found[statements] for statements in sorted(found, key=length)), complete)

    # Statements

    def _statements(self, literals: Iterable[int]) -> frozenset[Label]:
        return frozenset(merged(self.guards.literals[literal]) for literal in literals)

    def _labels(self, statements: Collection[Label]) -> list[int]:
        return self._ordered(
            lit for lit, label in self.guards.literals.items() if merged(label) in statements
        )

    def _without(self, gone: Collection[Label]) -> list[int]:
        """All labels known but for those of statements; the map learns of new ones."""
        self.map.learn(self._statements(self.guards.literals))
        return [lit for lit, label in self.guards.literals.items() if merged(label) not in gone]

    def _is_satisfiable_without(self, gone: Collection[Label]) -> Generator[Need, None, bool]:
        """Whether there is an answer that keeps to everything else, what is yet to be read included; also
        true where finding that out would take too much."""
        while self.satisfiable(self._without(gone)):
            missing = yield from self._grow(None)
            if missing is None:
                return True
            if not (yield from self.may_load(missing)):
                return True
        return False

    def _shrunk(
        self, gone: Collection[Label], preferred: frozenset[Label]
    ) -> Generator[Need, None, frozenset[Label]]:
        """A core among all statements but these; the preferred one if it is one."""
        core = set(self.sat.core())
        found = self._statements(lit for lit in self._without(gone) if -lit in core)
        if preferred.isdisjoint(gone):
            found = preferred
        for statement in reversed(self._by_distance(found)):
            if statement not in found:
                continue
            smaller = yield from self._contradicting(found - {statement})
            if smaller is not None:
                found = self._statements(smaller)
        return found

    def _contradicting(self, statements: Collection[Label]) -> Generator[Need, None, list[int] | None]:
        """Those labels of statements that a proof of their contradiction used; None when there is none."""
        while True:
            labels = self._labels(statements)
            found = yield from self._contradiction(labels)
            # What was read for that may say more of the same.
            if found is not None or self._labels(statements) == labels:
                return found

    def _by_distance(self, statements: Collection[Label]) -> Sequence[Label]:
        """Those nearest to the user's lines first."""
        return list(dict.fromkeys(merged(self.guards.literals[lit]) for lit in self._labels(statements)))
