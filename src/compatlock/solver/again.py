"""The search over a universe that was searched before: what is known of a package is taken in at once."""

from __future__ import annotations

from compatlock.solver.depth import frame
from compatlock.solver.search import _Search

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence

    from compatlock.model.request import Request
    from compatlock.solver.search import Solution
    from compatlock.solver.universe import Need, Universe


def search_again(universe: Universe, request: Request) -> Generator[Need, None, Solution | None]:
    """The answer that `search` gives, in fewer rounds where much has been read already."""
    framed = yield from frame(universe, request.roots, request.constraints)
    run = Again(universe, request, framed.newest, framed.depths, thorough=False)
    try:
        return (yield from run.run())
    finally:
        run.sat.close()


class Again(_Search):
    """Beside what is missing it loads all releases of the same packages that were read before."""

    _read: dict[str, list[int]] | None = None

    def _ahead(self, missing: Sequence[tuple[str, int]]) -> Iterable[tuple[str, int]]:
        if self._read is None:
            self._read = {}
            for name, index in self.universe.dependencies:
                self._read.setdefault(name, []).append(index)
        yield from super()._ahead(missing)
        for name in dict.fromkeys(name for name, _ in missing):
            gates = self.universe.packages[name].gates
            for index in self._read.pop(name, ()):
                if index not in gates:
                    yield name, index
