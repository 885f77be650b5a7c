"""The schema of facts and profile files, and their conversion to `Fact` and `Profile`.

Imports pydantic and packaging: only for files that are not memoised (see load.py).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from compatlock.knowledge.evidence import Evidence, Strict
from compatlock.knowledge.fields import (
    Bound,
    CudaVersion,
    DottedName,
    DriverVersion,
    EdgeText,
    Identifier,
    Line,
    OtherEnd,
    PlatformName,
    ProjectName,
    PythonVersion,
    Root,
    Text,
    Versions,
    edge_parts,
    parse_root,
)
from compatlock.model.cuda import CUDA, majors_within
from compatlock.model.fact import BINDING_KINDS, Fact, FactBound
from compatlock.model.profile import Profile
from compatlock.model.requirement import requirement_of
from compatlock.model.waiver import Waiver

Kind = Literal[
    "too-strict",
    "too-loose",
    "undeclared",
    "overlap",
    "known-bad",
    "hard",
    "cuda",
    "abi",
    "api",
    "declared-unsat",
    "policy",
]

# What a broken interface (binary or Python) does to an edge: its declared bound is too loose.
_SAME_AS = {"abi": "too-loose", "api": "too-loose"}


class When(Strict):
    """When a fact holds: all of `present` installed, `extra` of the package requested, `feature` named by
    the profile."""

    present: list[ProjectName] = Field(default_factory=list)
    extra: ProjectName | None = None
    feature: DottedName | None = None


class Row(Strict):
    """The bound on `on` for some releases of the package. `""` says: these releases are fine."""

    versions: Versions
    bound: Bound


class FactEntry(Strict):
    """One `[[fact]]`."""

    id: Identifier
    package: ProjectName
    kind: Kind
    summary: Line
    source: Line
    evidence: Annotated[list[Evidence], Field(min_length=1)]
    versions: Versions | None = None
    on: OtherEnd | None = None
    bound: Bound | None = None
    bounds: Annotated[list[Row], Field(min_length=1)] | None = None
    when: When = Field(default_factory=When)
    severity: Literal["error", "warning", "degraded"] = "error"

    @property
    def meaning(self) -> str:
        """The kind as model/fact.py knows it."""
        return _SAME_AS.get(self.kind, self.kind)

    @model_validator(mode="after")
    def _consistent(self) -> FactEntry:
        problems = [*self._range_problems(), *self._kind_problems()]
        if problems:
            raise ValueError("\n".join(problems))
        return self

    def _range_problems(self) -> list[str]:
        if self.bounds is None:
            return (
                [] if self.versions is not None else ['versions: missing ("*" is every release), or bounds']
            )
        beside = [key for key in ("versions", "bound") if getattr(self, key) is not None]
        return [f"{key}: the rows of bounds say it already; leave it out" for key in beside]

    def _kind_problems(self) -> list[str]:
        problems = []
        bounded = self.bound is not None or self.bounds is not None
        if self.meaning == "known-bad":
            if self.on is not None:
                problems.append(
                    "on: a known-bad release has none; packages that it fails with are when.present"
                )
            if bounded:
                problems.append("bound: a known-bad release has none")
        elif self.meaning == "cuda":
            problems += self._cuda_problems()
        elif self.on is None and self.meaning != "policy":
            problems.append(f"on: missing; a {self.kind} fact is about an edge")
        if self.on == CUDA and self.meaning != "cuda":
            problems.append(f"on: only a cuda fact is about `{CUDA}`")
        if self.meaning in ("hard", "declared-unsat") and bounded:
            problems.append(f"bound: a {self.kind} fact has none, the declared one counts")
        if self.meaning in ("too-loose", "cuda") and not (
            self.bound or any(row.bound for row in self.bounds or ())
        ):
            problems.append(f"bound: missing; a {self.kind} fact adds one")
        if self.severity != "error" and self.meaning not in BINDING_KINDS:
            problems.append(
                f"severity: a {self.kind} fact forbids nothing, so it cannot be a {self.severity}"
            )
        return problems

    def _cuda_problems(self) -> list[str]:
        """A cuda fact is about CUDA majors, and about files, whatever else is there."""
        problems = []
        if self.on not in (None, CUDA):
            problems.append(f"on: a cuda fact is about `{CUDA}`, the CUDA of the whole set; leave it out")
        if self.severity != "error":
            problems.append("severity: a cuda fact is never soft: there is one CUDA for the whole set")
        if self.when.present or self.when.extra:
            problems.append("when: a cuda fact holds whatever else is there")
        for bound in filter(None, [self.bound, *(row.bound for row in self.bounds or ())]):
            try:
                majors_within(bound)
            except ValueError as error:
                problems.append(f"bound: {error}")
        return problems

    def to_fact(self, origin: str) -> Fact:
        """The fact as a value; `origin` is the file it stands in."""
        if self.bounds is not None:
            rows = [FactBound(versions, row.bound) for row in self.bounds for versions in row.versions]
        else:
            rows = [FactBound(versions, self.bound or "") for versions in self.versions or ()]
        return Fact(
            id=self.id,
            package=self.package,
            kind=self.meaning,
            bounds=tuple(rows),
            on=CUDA if self.meaning == "cuda" else self.on or "",
            present=tuple(sorted(set(self.when.present))),
            extra=self.when.extra or "",
            feature=self.when.feature or "",
            severity=self.severity,
            summary=self.summary,
            source=self.source,
            origin=origin,
            evidence=tuple(sorted({item.type for item in self.evidence})),
        )


class FactsFile(Strict):
    """A facts file: `[[fact]]` entries. Nothing in it can name an index or a file to install."""

    fact: list[FactEntry] = Field(default_factory=list)


class WaiverEntry(Strict):
    """One of `waivers`: an edge that the profile allows to waive, why, and who says so."""

    edge: EdgeText
    reason: Line
    source: Line


class TargetTable(Strict):
    """The target that a profile is meant for."""

    python: PythonVersion | None = None
    platform: PlatformName | None = None
    cuda: CudaVersion | None = None
    driver: DriverVersion | None = None


class ProfileTable(Strict):
    """A profile of the user's own, in a table that its name heads. It need not describe itself to others."""

    description: Line = ""
    roots: Annotated[list[Root], Field(min_length=1)]
    source: Text = ""
    waivers: list[WaiverEntry] = Field(default_factory=list)
    features: list[DottedName] = Field(default_factory=list)
    imports: list[DottedName] = Field(default_factory=list)
    target: TargetTable = Field(default_factory=TargetTable)

    def to_profile(self, name: str, origin: str) -> Profile:
        """The profile as a value; `origin` is the file it stands in."""
        return Profile(
            name=name,
            description=self.description,
            roots=tuple(requirement_of(parse_root(root), f"profile {name}") for root in self.roots),
            waivers=tuple(_waiver(entry, name) for entry in self.waivers),
            features=tuple(self.features),
            imports=tuple(self.imports),
            python=self.target.python or "",
            platform=self.target.platform or "",
            cuda=self.target.cuda or "",
            driver=self.target.driver or "",
            source=self.source,
            origin=origin,
        )


class _Named(Strict):
    name: Identifier


class ProfileFile(ProfileTable, _Named):
    """A profile file, for others to read as well: it says what it is for and where it comes from."""

    description: Line
    source: Text


def _waiver(entry: WaiverEntry, profile: str) -> Waiver:
    package, extra, on = edge_parts(entry.edge)
    return Waiver(package, on, extra, entry.reason, f"profile {profile} ({entry.source})")
