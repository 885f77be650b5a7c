"""The checks of an audit."""

from __future__ import annotations

from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeAlias

    from compatlock.audit.binaries import Binaries
    from compatlock.model.artefact import Artefact, Observations, WheelReader
    from compatlock.model.finding import Finding
    from compatlock.model.target import Target

    Check: TypeAlias = Callable[[Sequence[Artefact]], list[Finding]]


class Asked(NamedTuple):
    """What somebody will use of a set: the packages asked for, of which all modules are looked at, and the
    modules that will be imported besides those of the distributions' top level."""

    roots: frozenset[str] = frozenset()
    imports: tuple[str, ...] = ()


NOTHING = Asked()


class Checks:
    """All checks over wheels, for one target."""

    def __init__(
        self, reader: WheelReader, observations: Observations, target: Target, asked: Asked = NOTHING
    ) -> None:
        self._seen = reader, observations
        self._majors = frozenset(map(int, target.cuda_majors)) if target.cuda_origin else None
        self._asked = asked

    def run(self, artefacts: Sequence[Artefact]) -> Iterator[Finding]:
        """What all checks find. Machine code is read once for the two that look at it."""
        from compatlock.audit.binaries import read_binaries

        for check in self._all(read_binaries(artefacts, *self._seen)).values():
            yield from check(artefacts)

    def again(self, name: str, artefacts: Sequence[Artefact]) -> list[Finding]:
        """What one check finds, by the name that its findings bear."""
        return self._all()[name](artefacts)

    def cuda_majors(self, artefact: Artefact) -> frozenset[int]:
        """The CUDA majors that a wheel is for; none when it does not care, or cannot be read."""
        from compatlock.audit.cuda_use import cuda_majors_of

        return cuda_majors_of(artefact, *self._seen)

    def _all(self, binaries: Binaries | None = None) -> dict[str, Check]:
        from compatlock.audit.cuda import check_cuda
        from compatlock.audit.imports import check_imports
        from compatlock.audit.overlap import check_overlap
        from compatlock.audit.symbols import check_symbols

        return {
            "overlap": lambda found: check_overlap(found, *self._seen),
            "cuda": lambda found: check_cuda(found, *self._seen, allowed=self._majors, binaries=binaries),
            "symbols": lambda found: check_symbols(found, *self._seen, binaries=binaries),
            "imports": lambda found: check_imports(
                found, *self._seen, entries=self._asked.imports, deep=self._asked.roots
            ),
        }
