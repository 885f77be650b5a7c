"""What evidence of a fact claims of files, as an audit can check it again."""

from __future__ import annotations

from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# What can be looked for in a member of a wheel.
IMPORTS = "imports"  # it imports `module:name,name`
SYMBOL = "symbol"  # it defines a name
REGEX = "regex"  # a regular expression is found in it
NEEDS = "needs"  # the ELF object needs a library
LEAVES = "leaves"  # the ELF object leaves a symbol undefined
LEAVES_LIKE = "leaves-like"  # it leaves at least `least` symbols undefined that match a regular expression
REQUIRES = "requires"  # the metadata have a Requires-Dist line; the member is METADATA

# What became of a piece of evidence, or of a fact, when it was checked again.
CONFIRMED = "confirmed"
REFUTED = "refuted"  # it is not so
STALE = "stale"  # it is so, but no longer in newer releases that it speaks of
UNCHECKED = "unchecked"  # it cannot be checked here

FAILING = frozenset({REFUTED, STALE})
_WORST_FIRST = (REFUTED, STALE, CONFIRMED, UNCHECKED)


class Look(NamedTuple):
    """A question that one member of a wheel answers."""

    kind: str
    member: str
    text: str
    least: int = 1


class Claim(NamedTuple):
    """That a look finds what it is for: in one `wheel` (file name), in one `version` of `package`, or in the
    releases `present` and not in the releases `absent` (specifiers, None: nothing is said)."""

    look: Look
    wheel: str = ""
    package: str = ""
    version: str = ""
    present: str | None = None
    absent: str | None = None


class OverlapClaim(NamedTuple):
    """That the wheels `a` and `b` (file names) install `files` paths in common, `differ` of them with
    different content."""

    a: str
    b: str
    files: int
    differ: int


class Checked(NamedTuple):
    """What became of a claim: a verdict, the reason, and the range for which it holds where that is another
    one than it says."""

    verdict: str
    reason: str = ""
    correction: str = ""


class CheckedFact(NamedTuple):
    """What became of a fact: `pieces` belong to its evidence in order, `beyond` tells of newer releases, and
    of what its kind says by itself."""

    id: str
    pieces: tuple[Checked, ...]
    beyond: tuple[Checked, ...] = ()

    @property
    def verdict(self) -> str:
        """The worst verdict; one that could be checked goes before one that could not."""
        return worst(piece.verdict for piece in (*self.pieces, *self.beyond))


class VerifyReport(NamedTuple):
    """The facts that were checked, in the order of their files, and what it cost on the network."""

    target: str
    facts: tuple[CheckedFact, ...]
    notes: tuple[str, ...] = ()
    requests: int = 0
    bytes_received: int = 0

    @property
    def holds(self) -> bool:
        """Whether nothing was refuted or stale."""
        return not any(fact.verdict in FAILING for fact in self.facts)


def worst(verdicts: Iterable[str]) -> str:
    """The worst of some verdicts; UNCHECKED when there is none."""
    return min(verdicts, key=_WORST_FIRST.index, default=UNCHECKED)
