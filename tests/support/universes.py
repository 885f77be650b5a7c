"""Small universes in memory: written by hand, or drawn at random.

A case is written with text requirements. A specifier is either a real one (`>=1.0`), answered by
`compatlock.index.specifiers`, or a set of positions in the project's list of releases, newest first:
`{0 2}`, with `p` behind it when it names a pre-release, `!` when it is a pin, and `==` before it when it
counts as an exact bound for waivers.
"""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from compatlock.model.dependencies import Dependencies, Dependency
from compatlock.model.fact import Fact, FactBound
from compatlock.model.package import IS_PIN, NAMES_PRERELEASE, PRERELEASE, SECONDS_PER_DAY, Package
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

    @property
    def request(self) -> Request:
        """The case as the solver is asked."""
        return Request(
            roots=tuple(requirement(r) for r in self.roots),
            target=TARGET,
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
            projects.setdefault(fact.on or fact.package, ())
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


def solve(case: Case) -> Solution | None:
    """What the solver says, presuming nothing."""
    memory = Memory(case)
    universe = memory.universe()
    return memory.drive(search(universe, case.request, thorough=True), universe)


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


# Random cases


class Shape(NamedTuple):
    """How large and how odd random cases are; a share is a probability."""

    packages: tuple[int, int] = (2, 5)
    releases: tuple[int, int] = (1, 4)
    needs: tuple[int, ...] = (1, 2, 3)
    gates: float = 0.5
    facts: int = 2
    waivers: float = 0.3
    problems: float = 0.05
    urls: float = 0.03
    tightness: tuple[float, ...] = (0.2, 0.35, 0.5)
    real: bool = False


SMALL = Shape()
REAL = Shape(real=True)
SHAPES = {
    "small": SMALL,
    "real": REAL,
    "wide": Shape(packages=(4, 7), releases=(1, 3), needs=(1, 2)),
    "gated": Shape(packages=(3, 6), releases=(1, 3), gates=1, facts=0, waivers=0),
    "facts": Shape(releases=(2, 4), facts=5, gates=0.2, waivers=0),
    "waived": Shape(waivers=1, tightness=(0.5, 0.7), gates=0.1, facts=1),
}

_VERSIONS = (
    *("2.0.1", "2.0", "2.0rc1", "1.2", "1.2.dev1", "1.1"),
    *("1.1a1", "1.0.post1", "1.0+local", "1.0", "1.0rc2", "0.9"),
)
_PRERELEASES = re.compile(r"rc|a\d|dev")


def random_case(rng: random.Random, shape: Shape = SMALL) -> Case:
    """Draw a case."""
    return _Draw(rng, shape).case()


class _Draw:
    def __init__(self, rng: random.Random, shape: Shape) -> None:
        self.rng = rng
        self.shape = shape
        count = rng.randint(*shape.packages)
        self.names = [chr(ord("a") + i) for i in range(count)]
        # One project more is named by requirements than exists.
        self.needed = [*self.names, "missing"] if rng.random() < 0.1 else self.names
        self.gated = rng.random() < shape.gates
        self.tightness = rng.choice(shape.tightness)
        self.most_needs = rng.choice(shape.needs)
        self.positions: dict[str, list[int]] = {}
        self.versions: dict[str, list[str]] = {}
        self.edges: list[tuple[str, str, str]] = []
        for name in self.names:
            releases = rng.randint(*shape.releases) if rng.random() > 0.05 else 0
            hidden = rng.randint(0, 2) if rng.random() < 0.3 and not shape.real else 0
            self.positions[name] = sorted(rng.sample(range(releases + hidden), releases))
            drawn = sorted(rng.sample(range(len(_VERSIONS)), releases)) if shape.real else []
            self.versions[name] = [_VERSIONS[k] for k in drawn]

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def case(self) -> Case:
        rng = self.rng
        projects = {name: self.project(name) for name in self.names}
        roots = [
            self.requirement(rng.choice(self.names), root=True) for _ in range(rng.choice((1, 1, 2, 2, 3)))
        ]
        constrained = rng.sample(self.names, rng.choice((0, 0, 0, 1, 2)))
        older = rng.sample(self.names, rng.randint(1, len(self.names))) if self.chance(0.2) else []
        preferred = rng.sample(self.names, rng.randint(1, 2)) if self.chance(0.15) else []
        waived = self.chance(self.shape.waivers)
        return Case(
            projects=projects,
            roots=tuple(roots),
            constraints=tuple(name + self.specifier(name) for name in constrained),
            facts=tuple(self.fact(f"fact-{i}") for i in range(rng.randint(0, self.shape.facts))),
            waivers=self.waivers() if waived else (),
            older={name: rng.choice(self.versions[name] or ["1", "2", "3", "4"]) for name in sorted(older)},
            prefer=tuple(preferred),
            soft_facts=self.chance(0.9),
            prerelease=rng.choice(("if-necessary-or-explicit", "if-necessary-or-explicit", "explicit")),
        )

    def project(self, name: str) -> tuple[Release, ...]:
        dated = self.chance(0.8)
        extras = self.chance(0.5)
        day = float(self.rng.randint(0, 200))
        releases = []
        for position in self.positions[name]:
            # Backports: now and then an older release is uploaded later.
            day -= self.rng.choice((0, 0.25, 0.75, 1, 5, 30, 61, -3, -40))
            releases.append(
                self.release(name, position, day if dated and self.chance(0.98) else None, extras)
            )
        return tuple(releases)

    def release(self, name: str, position: int, day: float | None, extras: bool) -> Release:
        needs = [self.need(name) for _ in range(self.rng.randint(0, self.most_needs))]
        found: dict[str, tuple[str, ...]] = {}
        for extra in ("x", "y"):
            if extras and self.chance(0.6):
                count = self.rng.choice((0, 1, 1, 2))
                found[extra] = tuple(self.need(name, extra) for _ in range(count))
        problem = "odd" if self.chance(self.shape.problems) else ""
        version = self.versions[name][position] if self.shape.real else ""
        compiled = self.shape.waivers > 0 and self.chance(0.4)
        return Release(tuple(needs), found, (), self.gate(version), problem, day, position, version, compiled)

    def gate(self, version: str) -> str:
        if self.gated and self.chance(0.2):
            return "yanked"
        is_prerelease = _PRERELEASES.search(version) if version else self.gated and self.chance(0.4)
        return PRERELEASE if is_prerelease else ""

    def need(self, parent: str, extra: str = "") -> str:
        others = [n for n in self.needed if n != parent] or [parent]
        name = parent if extra and self.chance(0.3) else self.rng.choice(others)
        self.edges.append((parent, extra, name))
        return f"{name}@https://index.example/x" if self.chance(self.shape.urls) else self.requirement(name)

    def requirement(self, name: str, root: bool = False) -> str:
        extras = "[x]" if self.chance(0.15) else "[y]" if self.chance(0.1) else ""
        extras = "[x,y]" if extras and self.chance(0.15) else extras
        return name + extras + self.specifier(name, loose=root)

    def specifier(self, name: str, loose: bool = False) -> str:
        """A random set of positions: mostly a range, sometimes with a hole or empty."""
        if not self.chance(self.tightness) or (loose and self.chance(0.3)):
            return ""
        if self.shape.real:
            return self.real_specifier(name)
        positions = self.positions.get(name) or [0]
        last = positions[-1]
        low = self.rng.randint(0, last)
        within = {*range(low, self.rng.randint(low, last) + 1)}
        if self.chance(0.1):
            within.discard(self.rng.randint(0, last))
        if self.chance(0.1):
            within.add(self.rng.randint(0, last))
        text = "{" + " ".join(map(str, sorted(within))) + "}"
        if self.gated:
            text += "p" * self.chance(0.3) + "!" * self.chance(0.3)
        return "==" + text if self.chance(0.2) else text

    def real_specifier(self, name: str) -> str:
        version = self.rng.choice(self.versions.get(name) or _VERSIONS)
        public = version.partition("+")[0]
        release = ".".join(re.findall(r"\d+", public)[:2])
        other = self.rng.choice(_VERSIONS).partition("+")[0]
        simple = [operator + public for operator in (">=", "<=", "<", ">", "~=", "==", "!=")]
        pairs = [f">={public},<{other}", f">={public},!={other}", f">{public},<={other}"]
        return self.rng.choice([*simple, *pairs, f"=={version}", f"=={release}.*"])

    def fact(self, name: str) -> Fact:
        kind = self.rng.choice(("too-loose", "too-loose", "undeclared", "overlap", "known-bad"))
        package = self.rng.choice(self.names)
        on = self.rng.choice([n for n in self.names if n != package] or ["missing"])
        bounds = []
        for _ in range(self.rng.choice((1, 1, 2))):
            bound = "" if kind == "known-bad" or self.chance(0.2) else self.specifier(on)
            bounds.append(FactBound(self.specifier(package), bound))
        return Fact(
            id=name,
            package=package,
            kind=kind,
            bounds=tuple(bounds),
            on="" if kind == "known-bad" else on,
            present=(self.rng.choice(self.names),) if self.chance(0.2) else (),
            extra=self.rng.choice(("x", "y")) if self.chance(0.15) else "",
            severity=self.rng.choice(("error", "warning", "degraded")),
        )

    def waivers(self) -> tuple[Waiver, ...]:
        """Some waivers, at most one an edge."""
        drawn = [self.waiver() for _ in range(self.rng.randint(1, 4))]
        return tuple({(w.package, w.extra, w.on): w for w in drawn}.values())

    def waiver(self) -> Waiver:
        parent, extra, name = self.rng.choice(self.edges or [("a", "", "b")])
        bound = self.specifier(name) if self.chance(0.3) else ""
        return Waiver(parent, name, extra if self.chance(0.5) else "", bound=bound)
