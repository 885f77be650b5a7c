"""What pip would choose: resolvelib, newest first, over the same universe as the optimal search.

Identifiers are (package, extra) pairs; a candidate of an extra asks for its package at the same release.
Facts are invented packages (`exclusions`), with package `""` and their key in the extra's place.
"""

from __future__ import annotations

from collections import Counter

from compatlock.errors import SearchGivenUp
from compatlock.model.cuda import CudaRules
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.undeclared import undeclared_dependencies
from compatlock.solver.exclusions import Exclusions, Identifier
from compatlock.solver.reach import Reach
from compatlock.solver.search import search

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from resolvelib.structs import RequirementInformation, State

    from compatlock.model.dependencies import Dependency
    from compatlock.model.request import Request
    from compatlock.model.requirement import Requirement
    from compatlock.model.waiver import Waiver
    from compatlock.solver.universe import Need, Universe

    Fetch = Callable[[Need], None]
    Information = RequirementInformation["Wanted", "Candidate"]

# Rounds after which resolvelib gives up (pip has ten times as many).
_ROUNDS = 20_000

# Nothing satisfies a requirement for this.
_IMPOSSIBLE = ("", "impossible")


class Greedy(NamedTuple):
    """An answer: index of each package's release, and the extras needed, by package."""

    chosen: dict[str, int]
    extras: dict[str, tuple[str, ...]]


class Candidate(NamedTuple):
    """A release of a package, or one of its extras at that release."""

    identifier: Identifier
    release: int


class Wanted(NamedTuple):
    """A requirement that `parent` (`""`: the user) has: within `specifier`, only at index `exact`, and not
    at index `barred`, where they are given."""

    identifier: Identifier
    specifier: str = ""
    parent: str = ""
    exact: int | None = None
    barred: int | None = None


def greedy(universe: Universe, request: Request, fetch: Fetch) -> Greedy | None:
    """Resolve as pip does; None when the requirements contradict each other. Soft facts play no part.
    Waivers are spent only where there is no answer without: those without which there is none either.

    `fetch` adds to the universe what a Need names; what it raises passes through. Raises SearchGivenUp when
    resolvelib finds no answer though there is one: it is not complete where packages depend on each other
    in circles or where a later choice would admit a pre-release, and it stops at a limit of rounds.
    """
    kept: tuple[Waiver, ...] = ()
    found = _greedy(universe, request._replace(waivers=kept), fetch)
    if found is not None or not request.waivers:
        return found
    kept = request.waivers
    found = _greedy(universe, request, fetch)
    for waiver in request.waivers if found is not None else ():
        fewer = tuple(other for other in kept if other != waiver)
        without = _greedy(universe, request._replace(waivers=fewer), fetch) if fewer else None
        if without is not None:
            kept, found = fewer, without
    return found


def _greedy(universe: Universe, request: Request, fetch: Fetch) -> Greedy | None:
    """The answer in which the bounds that waivers name do not hold."""
    provider = _Provider(universe, request, fetch)
    while True:
        installed = _resolve(provider)
        found = None if installed is None else _reach(provider, installed, request)
        if found is None:
            if _is_satisfiable(universe, request, fetch):
                raise SearchGivenUp(
                    "the greedy search found no answer, though there is one",
                    hints=["use `--strategy optimal`"],
                )
            return None
        if not found.gated:
            return Greedy(dict(sorted(found.chosen.items())), found.extras)
        # While resolvelib went back and forth, what admitted these was replaced.
        provider.banned.update(found.gated)


def _reach(provider: _Provider, installed: dict[str, int], request: Request) -> Reach | None:
    """What the user's lines need of the releases pinned; None when an edge or a fact does not hold."""
    packages = provider.universe.packages
    broken = False

    def holds(_parent: Identifier | None, edge: Requirement | Dependency) -> bool:
        nonlocal broken
        index = installed.get(edge.name)
        if index is None or not packages[edge.name].admits(edge.specifier, index):
            broken = True
        return not broken

    found = Reach(installed, packages, provider.needs)
    found.run(request.roots, request.constraints, holds=holds)
    return None if broken or provider.breaks_fact(found) else found


def _is_satisfiable(universe: Universe, request: Request, fetch: Fetch) -> bool:
    """Whether there is any answer."""
    run = search(universe, request._replace(older={}, prefer=()))
    while True:
        try:
            need = next(run)
        except StopIteration as finished:
            return finished.value is not None
        fetch(need)


def _resolve(provider: _Provider) -> dict[str, int] | None:
    """The release that resolvelib pins of each package; None when it finds no answer."""
    from resolvelib import BaseReporter, ResolutionImpossible, ResolutionTooDeep
    from resolvelib.resolvers import Resolution

    class DropStalePins(BaseReporter[Wanted, Candidate, Identifier]):
        """Drops pins that stopped to satisfy what is asked of them.

        resolvelib forgets at once what such a pin asked for; were the pin right again later, it would be
        kept without asking anew.
        """

        def ending_round(self, index: int, state: State[Wanted, Candidate, Identifier]) -> None:  # noqa: ARG002
            for identifier, candidate in list(state.mapping.items()):
                asked = state.criteria[identifier].iter_requirement()
                if not all(provider.is_satisfied_by(wanted, candidate) for wanted in asked):
                    del state.mapping[identifier]

    untyped: Any = provider
    try:
        state = Resolution(untyped, DropStalePins()).resolve(provider.wanted_by_user(), max_rounds=_ROUNDS)
    except (ResolutionImpossible, ResolutionTooDeep):
        return None
    return {
        name: candidate.release for (name, extra), candidate in state.mapping.items() if name and not extra
    }


class _Provider:
    """Answers resolvelib's questions (its AbstractProvider, which would cost an import here)."""

    def __init__(self, universe: Universe, request: Request, fetch: Fetch) -> None:
        self.banned: set[tuple[str, int]] = set()
        self.universe = universe
        self._fetch = fetch
        self._roots = request.roots
        self._lines = _by_name((*request.roots, *request.constraints))
        self._bounds = _by_name(request.constraints)
        self._asked_extras = {r.name: {x for s in request.roots if s.name == r.name for x in s.extras}
                              for r in request.roots}  # fmt: skip
        facts = [f for f in request.facts if request.soft_facts or not f.is_soft]
        self._undeclared = [f for f in facts if f.kind == "undeclared"]
        cuda = CudaRules(facts, universe.is_elsewhere)
        self._exclusions = Exclusions(facts, request.target.cuda_majors, cuda)
        self._waivers = {(w.package, w.extra, w.on): w for w in request.waivers}
        self._allowed: dict[str, list[int]] = {}
        self._order: dict[str, int] = {}
        for root in request.roots:
            self._order.setdefault(root.name, len(self._order))

    # What there is

    def wanted_by_user(self) -> list[Wanted]:
        """The roots as requirements."""
        self._read_packages(root.name for root in self._roots)
        return [wanted for root in self._roots for wanted in _wanted(root, "")]

    def needs(self, name: str, index: int, extra: str) -> list[Dependency]:
        """What a release, or an extra of it, needs: declared, but for waived bounds, and undeclared by known
        facts."""
        for need in self.universe.want_dependencies([(name, index)]):
            self._fetch(need)
        package = self.universe.packages[name]
        added = undeclared_dependencies(self._undeclared, package, index, extra)
        declared = self.universe.dependencies[name, index].of(extra)
        if not self._waivers:
            return [*declared, *added]
        return [*(self._waived(name, index, extra, dependency) for dependency in declared), *added]

    def _waived(self, name: str, index: int, extra: str, dependency: Dependency) -> Dependency:
        """A dependency without its bound, or with that of the waiver, where one permits that."""
        on = dependency.name
        waiver = (self._waivers.get((name, extra, on)) if extra else None) or self._waivers.get(
            (name, "", on)
        )
        if waiver is None or on == name or dependency.url:
            return dependency
        self._read_packages([on])
        if self.universe.is_abi_pin(name, index, dependency):
            return dependency
        return dependency._replace(specifier=waiver.bound)

    def breaks_fact(self, found: Reach) -> bool:
        """Whether an answer holds together what must not be together."""
        barred = {key for name, extra in found.nodes for key in self._barred(name, extra, found.chosen[name])}
        together = Counter(key for key, _ in barred)
        return any(count == self._exclusions.sizes[key] for key, count in together.items())

    def _barred(self, name: str, extra: str, index: int) -> list[tuple[str, int]]:
        package = self.universe.packages[name]
        return self._exclusions.barred((name, extra), package, index)

    def _read_packages(self, names: Iterable[str]) -> None:
        for need in self.universe.want_packages(names):
            self._fetch(need)

    def _within_constraints(self, name: str) -> list[int]:
        allowed = self._allowed.get(name)
        if allowed is None:
            package = self.universe.packages[name]
            bounds = [line.specifier for line in self._bounds.get(name, ())]
            allowed = [i for i in range(package.size) if all(package.admits(b, i) for b in bounds)]
            self._allowed[name] = allowed
        return allowed

    # The provider's interface

    def identify(self, requirement_or_candidate: Wanted | Candidate) -> Identifier:
        return requirement_or_candidate.identifier

    def find_matches(
        self,
        identifier: Identifier,
        requirements: Mapping[Identifier, Iterator[Wanted]],
        incompatibilities: Mapping[Identifier, Iterator[Candidate]],
    ) -> list[Candidate]:
        name, extra = identifier
        wanted = list(requirements[identifier])
        if extra and name:
            wanted += requirements.get((name, ""), ())
        unfit = {candidate.release for candidate in incompatibilities[identifier]}
        indexes = self._within_constraints(name) if name else range(self._exclusions.sizes.get(extra, 0))
        fit = [i for i in indexes if i not in unfit and all(self._satisfies(w, i) for w in wanted)]
        if name and self.universe.packages[name].gates:
            fit = [i for i in fit if self._is_open(name, i, wanted)]
        return [Candidate(identifier, i) for i in fit]

    def _is_open(self, name: str, index: int, wanted: Iterable[Wanted]) -> bool:
        """Whether a candidate is ordinary, or a line of the user's or another package admits it."""
        package = self.universe.packages[name]
        if index not in package.gates:
            return True
        if (name, index) in self.banned:
            return False
        specifiers = [line.specifier for line in self._lines.get(name, ())]
        specifiers += [w.specifier for w in wanted if w.parent != name]
        return any(index in package.admitted_gates(specifier) for specifier in specifiers)

    def is_satisfied_by(self, requirement: Wanted, candidate: Candidate) -> bool:
        return self._satisfies(requirement, candidate.release)

    def _satisfies(self, wanted: Wanted, index: int) -> bool:
        name = wanted.identifier[0]
        if index == wanted.barred or (wanted.exact is not None and index != wanted.exact):
            return False
        return not wanted.specifier or self.universe.packages[name].admits(wanted.specifier, index)

    def get_dependencies(self, candidate: Candidate) -> list[Wanted]:
        (name, extra), index = candidate
        if not name:
            return []
        needs = self.needs(name, index, extra)
        release = self.universe.dependencies[name, index]
        lacks = self._asked_extras.get(name, set()) - set(release.provides)
        if release.problem or lacks or any(dependency.url for dependency in needs):
            return [Wanted(_IMPOSSIBLE, parent=name)]
        self._read_packages(dependency.name for dependency in needs)
        same = [Wanted((name, ""), parent=name, exact=index)] if extra else []
        asked = [wanted for dependency in needs for wanted in _wanted(dependency, name)]
        barred = self._barred(name, extra, index)
        return [*same, *asked, *(Wanted(("", key), parent=name, barred=thing) for key, thing in barred)]

    def narrow_requirement_selection(
        self,
        identifiers: Iterable[Identifier],
        resolutions: Mapping[Identifier, Candidate],  # noqa: ARG002 - the interface
        candidates: Mapping[Identifier, Iterator[Candidate]],  # noqa: ARG002
        information: Mapping[Identifier, Iterator[Information]],  # noqa: ARG002
        backtrack_causes: Sequence[Information],
    ) -> list[Identifier]:
        """As pip: what took part in the last conflict goes first."""
        causes = {cause.requirement.identifier for cause in backtrack_causes}
        causes |= {cause.parent.identifier for cause in backtrack_causes if cause.parent is not None}
        identifiers = list(identifiers)
        return [identifier for identifier in identifiers if identifier in causes] or identifiers

    def get_preference(
        self,
        identifier: Identifier,
        resolutions: Mapping[Identifier, Candidate],  # noqa: ARG002 - the interface
        candidates: Mapping[Identifier, Iterator[Candidate]],  # noqa: ARG002
        information: Mapping[Identifier, Iterator[Information]],
        backtrack_causes: Sequence[Information],  # noqa: ARG002
    ) -> tuple[bool, bool, bool, int, bool, Identifier]:
        """As pip: pinned, then bounded above, then in the order of the user's lines, then bounded at all,
        then by name."""
        wanted = [info.requirement for info in information[identifier]]
        clauses = [c.strip() for w in wanted for c in w.specifier.split(",") if c.strip()]
        pinned = any(w.exact is not None for w in wanted) or any(
            c.startswith("==") and not c.endswith("*") for c in clauses
        )
        bounded = any(c.startswith(("<", "~=")) or (c.startswith("==") and c.endswith("*")) for c in clauses)
        order = self._order.get(identifier[0], len(self._order))
        return not identifier[0], not pinned, not bounded, order, not clauses, identifier


def _wanted(edge: Requirement | Dependency, parent: str) -> list[Wanted]:
    return [Wanted((edge.name, extra), edge.specifier, parent) for extra in ("", *edge.extras)]


def _by_name(lines: Iterable[Requirement]) -> dict[str, list[Requirement]]:
    result: dict[str, list[Requirement]] = {}
    for line in lines:
        result.setdefault(line.name, []).append(line)
    return result
