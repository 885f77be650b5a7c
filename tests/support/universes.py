"""Small universes in memory, written by hand or drawn (`tests.support.draw`).

A case is written with text requirements. A specifier is either a real one (`>=1.0`), answered by
`compatlock.index.specifiers`, or a set of positions in the project's list of releases, newest first:
`{0 2}`, with `p` behind it when it names a pre-release, `!` when it is a pin, and `==` before it when it
counts as an exact bound for waivers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from compatlock.model.cuda import CUDA
from compatlock.model.dependencies import Dependencies, Dependency
from compatlock.model.fact import Fact
from compatlock.model.package import IS_PIN, NAMES_PRERELEASE, SECONDS_PER_DAY, Package
from compatlock.model.request import Request
from compatlock.model.requirement import Requirement
from compatlock.model.target import Target
from compatlock.model.waiver import Waiver
from compatlock.solver.search import Solution, search
from compatlock.solver.universe import Need, Universe

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

Answer = TypeVar("Answer")

TARGET = Target("3.12.0", "x86_64-manylinux_2_34")

_REQUIREMENT = re.compile(r"([a-z][a-z0-9-]*)(?:\[([a-z0-9,-]*)\])?(?:@(\S+)|(.*))")
_POSITIONS = re.compile(r"(?:==)?\{([\d ]*)\}(p?)(!?)")


class Release(NamedTuple):
    """A candidate. `needs` are its requirements, `extras` those of its extras; an extra in `provides` has
    none. `day` is its upload time in days, `position` its place among all releases of the project (by
    default the one after the candidate before it), `version` its version where specifiers are real,
    `compiled` whether it is a platform's wheel."""

    needs: tuple[str, ...] = ()
    extras: dict[str, tuple[str, ...]] = {}  # noqa: RUF012 - a default that nobody mutates
    provides: tuple[str, ...] = ()
    gate: str = ""
    problem: str = ""
    day: float | None = None
    position: int | None = None
    version: str = ""
    compiled: bool = False


class Case(NamedTuple):
    """A problem: projects with their candidates, newest first, and what is asked."""

    projects: Mapping[str, tuple[Release, ...]]
    roots: tuple[str, ...]
    constraints: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    older: dict[str, str] = {}  # noqa: RUF012
    prefer: tuple[str, ...] = ()
    soft_facts: bool = True
    prerelease: str = "if-necessary-or-explicit"
    driver: str = ""

    @property
    def request(self) -> Request:
        """The case as the solver is asked."""
        return Request(
            roots=tuple(requirement(r) for r in self.roots),
            target=TARGET._replace(driver=self.driver),
            constraints=tuple(requirement(c) for c in self.constraints),
            waivers=self.waivers,
            facts=self.facts,
            older=self.older,
            prefer=self.prefer,
            soft_facts=self.soft_facts,
        )

    def texts(self) -> list[str]:
        """All requirements of lines and releases."""
        texts = [*self.roots, *self.constraints]
        for releases in self.projects.values():
            for release in releases:
                texts += release.needs
                texts += (need for needs in release.extras.values() for need in needs)
        return texts

    def source(self) -> str:
        """The case as Python text, to be pasted into a test."""
        return _source(self)


def dependency(text: str) -> Dependency:
    """`name[extras]specifier` or `name@url` as a dependency."""
    match = _REQUIREMENT.fullmatch(text)
    assert match, text
    name, extras, url, specifier = match.groups()
    return Dependency(name, specifier or "", tuple((extras or "").split(",")) if extras else (), url or "")


def requirement(text: str) -> Requirement:
    """The same as a line of the user's."""
    parsed = dependency(text)
    return Requirement(parsed.name, parsed.specifier, parsed.extras, url=parsed.url, origin="test")


class Memory:
    """Answers what a search needs from a case, and hands out no more than is asked for. A project that the
    case only names has no candidates."""

    def __init__(self, case: Case) -> None:
        named = {dependency(text).name: () for text in case.texts()}
        projects: dict[str, tuple[Release, ...]] = {**named, **case.projects}
        for fact in case.facts:
            projects.setdefault(fact.package if fact.on in ("", CUDA) else fact.on, ())
        self.packages = {
            name: _package(name, releases, case.prerelease) for name, releases in projects.items()
        }
        self.dependencies = {
            (name, index): _dependencies(release)
            for name, releases in case.projects.items()
            for index, release in enumerate(releases)
        }
        self.compiled = {
            (name, index)
            for name, releases in case.projects.items()
            for index, release in enumerate(releases)
            if release.compiled
        }
        self.asked: list[tuple[str, int]] = []

    def universe(self) -> Universe:
        """A universe that knows nothing yet."""
        return Universe(compiled=lambda name, index: (name, index) in self.compiled)

    def answer(self, universe: Universe, need: Need) -> None:
        """Add what is needed to the universe."""
        self.asked += need.releases
        universe.add(
            {name: self.packages[name] for name in need.packages},
            {release: self.dependencies[release] for release in need.releases},
        )

    def drive(self, run: Generator[Need, None, Answer], universe: Universe) -> Answer:
        """Run a search to its end."""
        while True:
            try:
                need = next(run)
            except StopIteration as finished:
                answer: Answer = finished.value
                return answer
            assert need.packages or need.releases
            self.answer(universe, need)


def solve(case: Case, *, thorough: bool = True) -> Solution | None:
    """What the solver says; `thorough`: presuming nothing."""
    memory = Memory(case)
    universe = memory.universe()
    return memory.drive(search(universe, case.request, thorough=thorough), universe)


def _package(name: str, releases: tuple[Release, ...], prerelease: str) -> Package:
    positions, following = [], 0
    for release in releases:
        following = following if release.position is None else release.position
        positions.append(following)
        following += 1
    versions = [r.version or f"{following - p}" for r, p in zip(releases, positions, strict=True)]

    def compute(specifier: str) -> tuple[int, ...]:
        if "{" in specifier:
            return _positions(specifier)
        from compatlock.index.specifiers import answer

        return answer(specifier, versions)

    return Package(
        name,
        versions,
        positions=positions,
        times=[None if r.day is None else int(r.day * SECONDS_PER_DAY) for r in releases],
        gates={i: r.gate for i, r in enumerate(releases) if r.gate},
        file_keys=[f"{name}-{version}" for version in versions],
        full_runs={},
        compute=compute,
        prerelease=prerelease,
    )


def _positions(specifier: str) -> tuple[int, ...]:
    match = _POSITIONS.fullmatch(specifier)
    assert match, specifier
    flags = (NAMES_PRERELEASE if match[2] else 0) | (IS_PIN if match[3] else 0)
    runs = [flags]
    for position in sorted({int(p) for p in match[1].split()}):
        if len(runs) > 1 and runs[-1] == position:
            runs[-1] += 1
        else:
            runs += [position, position + 1]
    return tuple(runs)


def _dependencies(release: Release) -> Dependencies:
    extras = {x: tuple(dependency(d) for d in needs) for x, needs in release.extras.items()}
    return Dependencies(
        tuple(dependency(d) for d in release.needs),
        {x: needs for x, needs in extras.items() if needs},
        tuple(sorted({*extras, *release.provides})),
        "wheel",
        release.problem,
    )


def _source(value: object) -> str:
    fields = getattr(value, "_fields", None)
    if fields is not None:
        defaults = type(value)._field_defaults  # type: ignore[attr-defined]
        fields = ((f, getattr(value, f)) for f in fields)
        shown = [f"{f}={_source(v)}" for f, v in fields if f not in defaults or defaults[f] != v]
        return f"{type(value).__name__}({', '.join(shown)})"
    if isinstance(value, tuple):
        return f"({', '.join(map(_source, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{k!r}: {_source(v)}' for k, v in value.items())}}}"
    return repr(value)
