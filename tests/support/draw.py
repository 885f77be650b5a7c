"""Random problems, small enough to judge in other ways than by the search."""

from __future__ import annotations

import random
import re
from typing import NamedTuple

from compatlock.model.cuda import CUDA
from compatlock.model.fact import Fact, FactBound
from compatlock.model.package import PRERELEASE
from compatlock.model.waiver import Waiver
from tests.support.universes import Case, Release


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
    cuda: float = 0.1


SMALL = Shape()
REAL = Shape(real=True)
SHAPES = {
    "small": SMALL,
    "real": REAL,
    "wide": Shape(packages=(4, 7), releases=(1, 3), needs=(1, 2)),
    "gated": Shape(packages=(3, 6), releases=(1, 3), gates=1, facts=0, waivers=0),
    "facts": Shape(releases=(2, 4), facts=5, gates=0.2, waivers=0),
    "cuda": Shape(releases=(2, 4), facts=6, gates=0.2, cuda=0.8),
    "waived": Shape(waivers=1, tightness=(0.5, 0.7), gates=0.1, facts=1),
}

_VERSIONS = (
    *("2.0.1", "2.0+cu130", "2.0", "2.0rc1", "1.2+cu118", "1.2", "1.2.dev1", "1.1+cpu", "1.1"),
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
            driver=rng.choice(("", "", "470", "570", "580.65.06")) if self.chance(self.shape.cuda) else "",
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
        package = self.rng.choice(self.names)
        if self.chance(self.shape.cuda):
            return self.cuda_fact(name, package)
        kind = self.rng.choice(("too-loose", "too-loose", "undeclared", "overlap", "known-bad"))
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

    def cuda_fact(self, name: str, package: str) -> Fact:
        """A release is bound to some CUDA majors."""
        bounds = ("==11.*", "==12.*", "==13.*", ">=12", "<13", "!=12")
        rows = [
            FactBound(self.specifier(package), self.rng.choice(bounds))
            for _ in range(self.rng.choice((1, 1, 2)))
        ]
        return Fact(name, package, "cuda", tuple(rows), CUDA)

    def waivers(self) -> tuple[Waiver, ...]:
        """Some waivers, at most one an edge."""
        drawn = [self.waiver() for _ in range(self.rng.randint(1, 4))]
        return tuple({(w.package, w.extra, w.on): w for w in drawn}.values())

    def waiver(self) -> Waiver:
        parent, extra, name = self.rng.choice(self.edges or [("a", "", "b")])
        bound = self.specifier(name) if self.chance(0.3) else ""
        return Waiver(parent, name, extra if self.chance(0.5) else "", bound=bound)
