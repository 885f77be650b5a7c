"""Which facts hold for which packages. Pure: no I/O, no heavy imports."""

from __future__ import annotations

from compatlock.model.fact import BINDING_KINDS, Fact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


# Features that begin with this name hardware (`gpu.below_compute_capability_8_0`).
_HARDWARE = "gpu."


def is_hardware(feature: str) -> bool:
    """Whether a feature names hardware, which no lock can know of: unless a profile names it, facts about
    it are only told."""
    return feature.startswith(_HARDWARE)


class FactIndex:
    """The facts in force, found by package.

    `features` are those that the profile names: a fact about another feature is left out.
    """

    def __init__(self, facts: Sequence[Fact], features: Collection[str] = ()) -> None:
        self._of: dict[str, list[Fact]] = {}
        self._naming: dict[str, list[Fact]] = {}
        self._hard: dict[tuple[str, str], Fact] = {}
        for fact in facts:
            if fact.feature and fact.feature not in features:
                continue
            if fact.kind in BINDING_KINDS:
                self._of.setdefault(fact.package, []).append(fact)
                if fact.on:
                    self._naming.setdefault(fact.on, []).append(fact)
            elif fact.kind == "hard":
                edge = (fact.package, fact.on)
                known = self._hard.get(edge)
                self._hard[edge] = known._replace(bounds=known.bounds + fact.bounds) if known else fact

    def of(self, package: str) -> tuple[Fact, ...]:
        """Return the facts that bind releases of `package`, in the order of their files."""
        return tuple(self._of.get(package, ()))

    def naming(self, package: str) -> tuple[Fact, ...]:
        """Return the facts of other packages that bind what `package` may be (`on`)."""
        return tuple(self._naming.get(package, ()))

    def hard(self, package: str, on: str) -> Fact | None:
        """Return the fact that forbids to waive `package -> on`, or None. It holds for the releases of
        `package` that its bounds list."""
        return self._hard.get((package, on))
