"""Facts for a resolver that knows only packages and requirements.

A fact that forbids some things together becomes an invented package with one candidate for each of these
things: each of them rules out one candidate, so that all together leave none. `__cuda` is one more, with a
candidate for each major that the target runs.
"""

from __future__ import annotations

from compatlock.model.cuda import CUDA
from compatlock.model.fact import BINDING_KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from compatlock.model.cuda import CudaRules
    from compatlock.model.fact import Fact
    from compatlock.model.package import Package

# (package, extra)
Identifier = tuple[str, str]


class Exclusions:
    """The hard ones among some facts, as invented packages.

    majors: the CUDA majors that the target runs; cuda: those that a candidate allows by itself

    `sizes` says how many candidates each has.
    """

    def __init__(self, facts: Iterable[Fact], majors: Sequence[str], cuda: CudaRules) -> None:
        self.sizes: dict[str, int] = {CUDA: len(majors)}
        self._majors = majors
        self._cuda = cuda
        # For a package or an extra: (invented package, its candidate, specifier, whether the release has to
        # be within it).
        self._things: dict[Identifier, list[tuple[str, int, str, bool]]] = {}
        for fact in facts:
            if fact.kind in BINDING_KINDS and fact.kind != "cuda" and not fact.is_soft:
                for bound in fact.bounds:
                    self._add(fact, bound.versions, bound.bound)

    def _add(self, fact: Fact, versions: str, bound: str) -> None:
        things: list[tuple[Identifier, str, bool]] = [((fact.package, ""), versions, True)]
        things += [((name, ""), "", True) for name in fact.present]
        if fact.extra:
            things.append(((fact.package, fact.extra), "", True))
        if fact.kind != "known-bad":
            things.append(((fact.on, ""), bound, fact.kind == "overlap"))
        key = f"fact {len(self.sizes)}"
        self.sizes[key] = len(things)
        for number, (identifier, specifier, inside) in enumerate(things):
            self._things.setdefault(identifier, []).append((key, number, specifier, inside))

    def barred(self, identifier: Identifier, package: Package, index: int) -> list[tuple[str, int]]:
        """The candidates of invented packages that a release, or an extra of it, rules out."""
        things = self._things.get(identifier, ())
        found = [(k, n) for k, n, specifier, inside in things if package.admits(specifier, index) == inside]
        allowed = self._cuda.majors(package, index)
        return found + [(CUDA, n) for n, major in enumerate(self._majors) if major not in allowed]
