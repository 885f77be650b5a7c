"""What an audit of a lock's artefacts found."""

from __future__ import annotations

from compatlock.model.fact import Fact
from compatlock.model.named_tuple import NamedTuple

# How sure a finding is. The first two make a lock fail its audit, the others are only reported.
CERTAIN = "certain"  # it follows from the bytes that were read
LIKELY = "likely"  # it follows but for something that could not be seen (a lazy import, a guarded path)
POSSIBLE = "possible"  # a sign of trouble that is often harmless
UNREAD = "unread"  # an artefact could not be read, so nothing is known of it

FAILING = frozenset({CERTAIN, LIKELY})


class Place(NamedTuple):
    """Where a finding was made: a member of a file of a release. `line` counts from 1, 0 is none."""

    package: str
    version: str
    file: str
    member: str = ""
    line: int = 0


class Finding(NamedTuple):
    """One finding of a check.

    check:    overlap, cuda, symbols, imports, builds or bounds
    package:  the package whose release is at fault, as far as one is
    on:       the other package that it does not work with, `""` when there is none
    certainty: certain, likely, possible or unread
    summary:  one sentence for people: what, and what it does at run time
    places:   where it can be seen, the most telling first
    fact:     what it implies for the solver, None when nothing can be said for other releases
    details:  further lines: paths, symbols, names (all of them; who prints them may cut)
    """

    check: str
    package: str
    on: str
    certainty: str
    summary: str
    places: tuple[Place, ...] = ()
    fact: Fact | None = None
    details: tuple[str, ...] = ()

    @property
    def fails(self) -> bool:
        """Whether a lock with this finding is not clean."""
        return self.certainty in FAILING
