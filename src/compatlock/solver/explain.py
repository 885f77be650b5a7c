"""Why there is no answer: one minimal set of statements that contradict each other.

The formula is built again with a literal for every label (an edge that releases of a package share, a line of
the user's, a fact); assuming some of them means to insist on those labels only. What is insisted on
contradicts itself only when that is *proved*: a model that uses unread releases is no proof of either, so
they are read and the question is put again. Labels that are not insisted on are free, not false, so that
dropping one only ever admits more.

Pre-releases and yanked releases are taken as `search` left them: nothing unread is expected to admit one.
Those that the contradiction leans on are named in the core's gaps.
"""

from __future__ import annotations

from itertools import groupby
from zlib import crc32

from compatlock.model.core import TARGET
from compatlock.solver.gates import Gates
from compatlock.solver.guards import Label, LabelGuards, constraint_label, root_label
from compatlock.solver.joint import targets_of
from compatlock.solver.labelled import LabelledFormula
from compatlock.solver.reach import reach
from compatlock.solver.sat import Sat
from compatlock.solver.statements import Statements, depths_of, speaker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence

    from compatlock.model.core import Core
    from compatlock.model.request import Request
    from compatlock.model.waiver import Waiver
    from compatlock.solver.universe import Need, Universe

# A package whose chosen release failed this often loads further ones ahead: 2, 4, 8, ...
_PATIENCE = 2
_MOST_AHEAD = 32
# How many releases that the search did not read may be read to make the core smaller.
_READS = 100
# How many gated candidates may be read at once to find out whether the contradiction leans on them.
_GATED_READS = 20
# How many further contradictions are looked at for one that is shorter to tell.
_LOOKS = 10
# No further look is begun after so many calls of the SAT solver.
_CALLS = 3000


def explain(universe: Universe, request: Request) -> Generator[Need, None, Core]:
    """Find one minimal core of a request for which `search` found no answer.

    Yields a `Need` whenever something must be read, and goes on when `universe` holds it. The core is
    minimal in this sense: with any one of its edges dropped the others can be satisfied. (Where finding
    that out would take too many reads, an edge is kept.) Raises RuntimeError when there is an answer.
    """
    run = _Explanation(universe, request)
    try:
        return (yield from run.run())
    finally:
        run.sat.close()


class _Explanation:
    def __init__(self, universe: Universe, request: Request) -> None:
        self.universe = universe
        self.request = request
        self.sat = Sat()
        self.guards = LabelGuards(self.sat, universe, request.waivers, self._on_waiver)
        self.gates = Gates(self.sat, apart=True)
        self.facts = [f for f in request.facts if request.soft_facts or not f.is_soft]
        self.formula = LabelledFormula(self.sat, universe, self.guards, self.gates, self.facts, request.roots)
        self.failures: dict[str, int] = {}
        self.reading = False
        self.reads, self.most_reads = 0, _READS
        # Whether something was not found out because it takes too many reads.
        self.limited = False
        # Whether nothing is read ahead.
        self.sparing = False
        self.opened: set[tuple[str, int]] = set()

    def _on_waiver(self, waiver: Waiver, literal: int) -> None:
        self.formula.replace_bound(waiver, literal)

    def run(self) -> Generator[Need, None, Core]:
        labels = yield from self.first_core()
        return (yield from self.tell(labels))

    def first_core(self) -> Generator[Need, None, list[int]]:
        """Labels that contradict each other, each of which is needed for that."""
        active = self.sat.variable()
        self.sat.add([active])
        self.formula.add_targets(targets_of(self.request))
        for constraint in self.request.constraints:
            self.formula.add_constraint(constraint)
        for root in self.request.roots:
            yield from self.formula.add_root(active, root)
        yield from self._first()
        labels = yield from self._shortest()
        self.reading = True
        self.failures.clear()
        return (yield from self._minimise(labels))

    def tell(self, labels: list[int]) -> Generator[Need, None, Core]:
        """The core that these labels stand for."""
        shut = yield from self._needed_gates(labels)
        labels.sort(key=self._line)
        core = Statements(self.formula, self.guards, self.facts, labels, self.satisfiable).core(shut)
        self.opened.clear()
        return core

    def _line(self, literal: int) -> int:
        """The user's lines in the order in which they were given, before all else; what the target rules out
        last."""
        label = self.guards.literals[literal]
        lines = [*map(root_label, self.request.roots), *map(constraint_label, self.request.constraints)]
        return lines.index(label) if label in lines else len(lines) + (label.kind == TARGET)

    # Whether labels contradict each other

    def closed(self) -> list[int]:
        """The assumption that gated candidates which nothing admits are not chosen."""
        shut = self.gates.shut()
        return [lit for lit in self.gates.assumptions if shut.get(lit) not in self.opened]

    def satisfiable(self, labels: Iterable[int], extra: Sequence[int] = ()) -> bool:
        """Whether the labels can hold together as far as releases are read."""
        return self.sat.solve([*self.closed(), *(-literal for literal in labels), *extra])

    def _first(self) -> Generator[Need, None, None]:
        """Read on until all labels together are a contradiction."""
        read_all = False
        while True:
            if not self.satisfiable(self.guards.literals):
                if read_all or -self.gates.open not in self.sat.core():
                    return
                # Something that the search has read might admit the gated candidate.
                read_all = True
                yield from self._read_all()
                continue
            missing = yield from self._grow(None)
            if missing is None:
                raise RuntimeError("there is nothing to explain: the requirements can be satisfied")
            # What the search has read suffices for a proof: use that before anything else is read.
            at_hand = [release for release in missing if release in self.universe.dependencies]
            if missing and not at_hand and not read_all:
                read_all = True
                yield from self._read_all()
            else:
                yield from self.formula.load(at_hand or self._ahead(missing))

    def _read_all(self) -> Generator[Need, None, None]:
        """Take in every release that the search has read, until no new package turns up."""
        while True:
            known = [r for r in self.universe.dependencies if self.formula.knows(r[0])]
            fresh = [(n, i) for n, i in known if i not in self.formula.loaded[n]]
            if not fresh:
                return
            yield from self.formula.load(fresh)

    def _contradiction(self, labels: Sequence[int]) -> Generator[Need, None, list[int] | None]:
        """Those of the labels that a proof of their contradiction used; None when there is no proof."""
        wanted = [self.guards.literals[literal] for literal in labels]
        parents = {label.package if label.kind == "fact" else speaker(label) for label in wanted}
        while self._holds(labels):
            missing = yield from self._grow(parents)
            if missing is None:
                return None
            if not self.reading and not self.universe.dependencies.keys() >= set(missing):
                return None
            if not (yield from self.may_load(missing)):
                return None
        core = set(self.sat.core())
        return [literal for literal in labels if -literal in core]

    def may_load(self, missing: Sequence[tuple[str, int]]) -> Generator[Need, None, bool]:
        """Load what is missing and some more; False when that takes too many reads."""
        ahead = [r for r in self._ahead(missing) if not self.sparing or r in self.universe.dependencies]
        ahead += [r for r in missing if self.sparing and r not in self.universe.dependencies]
        unread = sum(release not in self.universe.dependencies for release in ahead)
        if self.reads + unread > self.most_reads:
            self.limited = True
            return False
        self.reads += unread
        yield from self.formula.load(ahead)
        return True

    def _holds(self, labels: Sequence[int]) -> bool:
        """Whether the labels can hold together; if possible with no other, so that little has to be read."""
        others = sorted(self.guards.literals.keys() - set(labels))
        if self.satisfiable(labels, others):
            return True
        # Only an edge that admits a gated candidate can be of help here.
        return not set(others).isdisjoint(self.sat.core()) and self.satisfiable(labels)

    def _grow(self, parents: set[str] | None) -> Generator[Need, None, list[tuple[str, int]] | None]:
        """After a solve that succeeded: the releases (of `parents`, or all) that have to be read before it
        counts, `[]` when clauses about gated candidates had to be added first, None when it counts."""
        yield from ()
        with self.formula.keeping(self.sat.model()) as holds:
            found = reach(
                self.formula, self.request.roots, self.request.constraints, opened=self.opened, holds=holds
            )
        if [g for g in found.gated if self.gates.guard(self.formula, *g)]:
            return []
        missing = [(n, i) for n, i in found.unread() if parents is None or n in parents]
        if missing or not found.gated:
            return missing or None
        self.gates.forbid_unsupported(self.formula, found)
        return []

    def _ahead(self, missing: Sequence[tuple[str, int]]) -> Iterable[tuple[str, int]]:
        """The missing releases, and for packages that keep failing some older ones."""
        for name, index in missing:
            yield name, index
            package = self.universe.packages[name]
            if index in package.gates:
                continue
            failures = self.failures[name] = self.failures.get(name, 0) + 1
            if failures > _PATIENCE:
                count = min(_MOST_AHEAD, 1 << (failures - _PATIENCE))
                for older in range(index + 1, min(package.size, index + count)):
                    if older not in package.gates:
                        yield name, older

    # Making it minimal

    def _ordered(self, literals: Iterable[int]) -> list[int]:
        """Literals of labels by distance from the user's lines, then by name."""
        labels = {literal: self.guards.literals[literal] for literal in literals}
        depths = depths_of(labels.values())
        return sorted(labels, key=lambda lit: (depths[labels[lit]], labels[lit]))

    def _shortest(self) -> Generator[Need, None, list[int]]:
        """Of some minimal contradictions, the one that is shortest to tell. Which one the solver finds
        depends on the order in which it is asked to assume labels: nearest to the user first, then others."""
        best: list[int] = []
        for look in range(_LOOKS):
            labels = self._ordered(self.guards.literals) if not look else self._shuffled(look)
            if (best and self.sat.calls > _CALLS) or self.satisfiable(labels):
                break
            core = set(self.sat.core())
            found = yield from self._minimise([literal for literal in labels if -literal in core])
            if not best or self._length(found) < self._length(best):
                best = found
        return best

    def _shuffled(self, seed: int) -> list[int]:
        """All labels in an order that depends on nothing but the labels and the seed."""
        keys = {lit: crc32(f"{seed}{label}".encode()) for lit, label in self.guards.literals.items()}
        return sorted(keys, key=lambda lit: (keys[lit], self.guards.literals[lit]))

    def _length(self, labels: Sequence[int]) -> tuple[int, int, list[Label]]:
        """How long a contradiction is to tell: pairs of packages, labels, and to make it unique, names."""
        return len(self._groups(labels)), len(labels), [self.guards.literals[lit] for lit in labels]

    def _groups(self, labels: Iterable[int]) -> list[set[int]]:
        """Labels by kind, package, extra and what they are about."""
        by_label = self.guards.literals
        return [set(group) for _, group in groupby(self._ordered(labels), key=lambda lit: by_label[lit][:4])]

    def _minimise(self, labels: list[int]) -> Generator[Need, None, list[int]]:
        """Drop labels that the contradiction does not need: edges to the same package together first, those
        far from the user's lines first; then label by label."""
        needed: set[int] = set()
        for alone in (False, True):
            groups = self._groups(labels)
            if alone:
                groups = [{literal} for literal in self._ordered(labels)]
            for group in reversed(groups):
                rest = [literal for literal in labels if literal not in group]
                if len(rest) == len(labels) or group <= needed:
                    continue
                smaller = yield from self._contradiction(rest)
                if smaller is not None:
                    labels = smaller
                elif len(group) == 1:
                    needed |= group
        return self._ordered(labels)

    def _needed_gates(self, labels: Sequence[int]) -> Generator[Need, None, list[tuple[str, int]]]:
        """Gated candidates without which, were they free to be chosen, the contradiction would vanish."""
        needed: list[tuple[str, int]] = []
        # Also after a try, for what it read may have to be looked at first.
        while (yield from self._contradiction(labels)) is not None:
            core = set(self.sat.core())
            shut = self.gates.shut()
            untried = sorted(key for lit, key in shut.items() if lit in core and key not in needed)
            if not untried:
                self.opened.update(key for key in shut.values() if key not in needed)
                break
            unread = [key for key in untried if key not in self.universe.dependencies]
            if len(unread) > _GATED_READS:
                # Better to say of all of them that they are left out than to read them for some that are not.
                needed += unread
                continue
            yield from self.formula.load(unread)
            self.opened.add(untried[0])
            if (yield from self._contradiction(labels)) is None:
                self.opened.remove(untried[0])
                needed.append(untried[0])
        return needed
