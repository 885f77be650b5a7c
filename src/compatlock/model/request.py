"""What the user asks for, complete and checked."""

from __future__ import annotations

from compatlock.model.amendments import Amendments
from compatlock.model.fact import Fact
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.policy import Policy
from compatlock.model.requirement import Requirement
from compatlock.model.target import Target
from compatlock.model.waiver import EdgeOverride, Exclusion, Waiver


class AllowedFiles(NamedTuple):
    """The files of `package` that the line at `origin` allows, by their SHA-256 digests (lower-case hex)."""

    package: str
    digests: tuple[str, ...]
    origin: str


class Request(NamedTuple):
    """One problem to solve.

    roots:       the user's requirements; markers are already evaluated for the target
    constraints: bounds that hold if the package is present, but pull nothing in
    older:       `{package: version}` of an older lock that should change as little as possible
    prefer:      packages whose own lag goes before that of the roots, most important first
    facts:       facts in force, feature facts already selected
    asides:      releases known to be bad on some hardware, which no lock can know: told, not enforced
    resolution:  one of `model.policy.RESOLUTIONS`
    overrides:   bounds that replace every declared bound on a package (those of `roots` are replaced already)
    edge_overrides: bounds that replace the declared one of one edge
    exclusions:  edges that are taken away
    hashes:      which files lines of the user's allow of a package, if it is pinned
    joint_targets: the targets, in order, of a request that stands for several (see `solver.joint`)
    """

    roots: tuple[Requirement, ...]
    target: Target
    constraints: tuple[Requirement, ...] = ()
    policy: Policy = Policy()
    waivers: tuple[Waiver, ...] = ()
    facts: tuple[Fact, ...] = ()
    older: dict[str, str] = {}  # noqa: RUF012 - a default that nobody mutates
    prefer: tuple[str, ...] = ()
    soft_facts: bool = True
    strategy: str = "optimal"
    resolution: str = "highest"
    overrides: tuple[Requirement, ...] = ()
    exclusions: tuple[Exclusion, ...] = ()
    asides: tuple[Fact, ...] = ()
    joint_targets: tuple[Target, ...] = ()
    edge_overrides: tuple[EdgeOverride, ...] = ()
    hashes: tuple[AllowedFiles, ...] = ()

    @property
    def amendments(self) -> Amendments:
        """What the user decrees over declared metadata."""
        return Amendments(self.overrides, self.exclusions, self.edge_overrides)
