"""The search over a universe that was searched before: what is known of a package is taken in at once."""

from __future__ import annotations

from compatlock.errors import SearchGivenUp
from compatlock.solver.depth import frame
from compatlock.solver.search import Search

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from compatlock.model.request import Request
    from compatlock.solver.search import Solution
    from compatlock.solver.universe import Need, Universe

# So many clauses take about as long to make as a call of the SAT solver takes, and with every so many
# variables a call takes as long once more.
_CLAUSES_PER_CALL = 200
_VARIABLES_PER_CALL = 5000
_GIVEN_UP = "no best answer was found with a reasonable effort"


class Effort:
    """What searches may take together, and each of them at most. Counted in calls of a small SAT solver,
    never in time, so that the same question always has the same answer.

    `left` falls by what a search took when it ends.
    """

    def __init__(self, together: int, each: int) -> None:
        self.left = together
        self.each = each


def search_again(
    universe: Universe, request: Request, effort: Effort | None = None
) -> Generator[Need, None, Solution | None]:
    """The answer that `search` gives, in fewer rounds where much has been read already. Raises SearchGivenUp
    when that takes more than what is left of `effort` (None: as much as it takes)."""
    return (yield from run_again(Again, universe, request, effort))


def run_again(
    kind: Callable[..., Again], universe: Universe, request: Request, effort: Effort | None
) -> Generator[Need, None, Solution | None]:
    """The answer of one kind of search (a class, or what makes one), within an effort."""
    if effort is not None and effort.left <= 0:
        raise SearchGivenUp(_GIVEN_UP)
    framed = yield from frame(universe, request)
    run = kind(universe, request, framed.newest, framed.depths, thorough=False)
    if effort is not None:
        run.most = min(effort.left, effort.each * run.share)
    try:
        return (yield from run.run())
    finally:
        if effort is not None:
            effort.left -= run.effort
        run.sat.close()


class Again(Search):
    """Beside what is missing it loads all releases of the same packages that were read before."""

    _read: dict[str, list[int]] | None = None
    most: int | None = None
    # How many times the effort of one search it may take.
    share = 1

    @property
    def effort(self) -> int:
        """What it took so far (see `Effort`)."""
        sat = self.sat
        return sat.calls * (1 + sat.variables // _VARIABLES_PER_CALL) + sat.clauses // _CLAUSES_PER_CALL

    def _check(self) -> None:
        if self.most is not None and self.effort > self.most:
            raise SearchGivenUp(_GIVEN_UP)

    def _raise(self, level: int, core: list[int]) -> Generator[Need, None, bool | None]:
        self._check()
        return (yield from super()._raise(level, core))

    def _close(self, assumptions: Iterable[int]) -> Generator[Need, None, bool | None]:
        self._check()
        return (yield from super()._close(assumptions))

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
