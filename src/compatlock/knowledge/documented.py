"""Facts with everything that their files say about them, for people to read.

Imports pydantic through the schema: not for the warm path.
"""

from __future__ import annotations

from compatlock.knowledge.evidence import Evidence
from compatlock.knowledge.load import fact_files, load_facts, read_file
from compatlock.knowledge.parse import read_facts_file
from compatlock.model.fact import BINDING_KINDS, Fact
from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class DocumentedFact(NamedTuple):
    """A fact, its kind as written (`abi` and `api` are applied as `too-loose`), and its evidence."""

    fact: Fact
    kind: str
    evidence: tuple[Evidence, ...]

    @property
    def severity(self) -> str:
        """`error`, `warning` or `degraded`; `""` for a kind that forbids nothing."""
        return self.fact.severity if self.fact.kind in BINDING_KINDS else ""

    @property
    def packages(self) -> frozenset[str]:
        """Every package that the fact speaks of."""
        return frozenset(filter(None, (self.fact.package, self.fact.on, *self.fact.present)))


def documented_facts(paths: Sequence[str | Path] = (), *, shipped: bool = True) -> tuple[DocumentedFact, ...]:
    """Return the facts of the shipped file (unless `shipped` is false) and of the files `paths`, in order.

    Raises FactError as `load_facts` does.
    """
    facts = {fact.id: fact for fact in load_facts(paths, shipped=shipped)}
    return tuple(
        DocumentedFact(facts[entry.id], entry.kind, tuple(entry.evidence))
        for path, origin in fact_files(paths, shipped=shipped).items()
        for entry in read_facts_file(read_file(path, origin), origin).fact
    )
