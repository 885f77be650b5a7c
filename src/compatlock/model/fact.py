"""Facts: what is really true of an edge, beside what metadata declares."""

from __future__ import annotations

from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# Kinds whose bound or exclusion the solver applies; the others inform (waivers on offer, explanations).
BINDING_KINDS = frozenset({"too-loose", "undeclared", "overlap", "known-bad", "cuda"})

# Days that a broken soft fact counts as in the objective (design: one more root).
SOFT_DAYS = {"warning": 60, "degraded": 120}


# The facts file that comes with compatlock, which its facts name as their origin.
SHIPPED_FACTS = "known_conflicts.toml"


class FactBound(NamedTuple):
    """For releases of the fact's package in `versions`, what `on` has to be: `bound`, a specifier.

    `versions` `""` is every release. `bound` `""` restricts nothing (or, for kind overlap, is any
    release of `on`).
    """

    versions: str
    bound: str = ""


class Fact(NamedTuple):
    """One entry of a facts file, checked and normalised.

    kind:
      too-loose   with `package` in a range, `on`, if present, must satisfy the range's bound
      undeclared  the same, and `on` is pulled in
      overlap     `package` in a range and `on` within the bound must not be installed together
      known-bad   `package` in a range is no candidate (when the `present` packages are there)
      hard        the declared edge `package -> on` must never be waived
      too-strict  the declared edge may be waived; the bound is the replacement on offer
      cuda        `package` in a range was built for the CUDA majors within the bound; `on` is `__cuda`. It
                  holds for files as model/cuda.py says, whatever else is there, and is never soft
      declared-unsat, policy  recorded for explanations and audits

    `present` lists packages that must be present for the fact to hold, `extra` an extra of `package`
    that must be requested, `feature` a feature that a profile must name. A `severity` of `warning` or
    `degraded` makes the fact soft: it counts in the objective instead of forbidding. (A release older
    than all `versions` counts as breaking a soft bound; not so for known-bad and overlap, which say all
    they know. A row whose bound is `""` says that its releases are known to be fine.)

    `evidence` are the types of the entry's evidence, sorted: the price of a waiver depends on them.
    """

    id: str
    package: str
    kind: str
    bounds: tuple[FactBound, ...]
    on: str = ""
    present: tuple[str, ...] = ()
    extra: str = ""
    feature: str = ""
    severity: str = "error"
    summary: str = ""
    source: str = ""
    origin: str = ""
    evidence: tuple[str, ...] = ()

    @property
    def is_soft(self) -> bool:
        """Whether breaking the fact is allowed at a price."""
        return self.severity in SOFT_DAYS

    @property
    def is_shipped(self) -> bool:
        """Whether the fact comes with compatlock: then it knows nothing of indexes that a user adds."""
        return self.origin == SHIPPED_FACTS

    @property
    def broken_days(self) -> int:
        """What breaking a soft fact costs, in days of lag of one more root."""
        return SOFT_DAYS.get(self.severity, 0)


def by_package(facts: Iterable[Fact]) -> dict[str, list[Fact]]:
    """Facts by the package whose releases they are about."""
    found: dict[str, list[Fact]] = {}
    for fact in facts:
        found.setdefault(fact.package, []).append(fact)
    return found
