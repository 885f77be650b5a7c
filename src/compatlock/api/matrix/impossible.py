"""Cells without an answer: why, and whether waivers with evidence help."""

from __future__ import annotations

from compatlock.api.drive import drive
from compatlock.api.matrix.words import may_be_waived, reason_of
from compatlock.api.why.obstacles import obstacles
from compatlock.errors import SearchGivenUp
from compatlock.model.matrix import IMPOSSIBLE, UNKNOWN, WAIVER, WORKS, Cell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from compatlock.index.supply import Supply
    from compatlock.index.view import Hidden
    from compatlock.model.core import Core
    from compatlock.model.request import Request
    from compatlock.solver.matrix import CellAnswer, Step
    from compatlock.solver.matrix_reasons import CellReasons
    from compatlock.solver.matrix_waivers import WaivedCells
    from compatlock.solver.universe import Universe

_UNEXPLAINED = "why was not found out with a reasonable effort"
_NO_WAIVERS_LOOKED_FOR = "whether waivers help was not found out with a reasonable effort"


class Impossible:
    """Tells of cells that have no answer, of one part of a matrix: what one says does not depend on what was
    done before it in another part.

    axes:  all steps of both axes
    waive: whether waivers are looked for
    """

    def __init__(
        self, request: Request, universe: Universe, supply: Supply, axes: Sequence[Step], *, waive: bool
    ) -> None:
        self.universe = universe
        self.supply = supply
        self._request = request
        self._axes = axes
        self._waive = waive
        # With the user's waivers in force, and without any.
        self._reasons: dict[bool, CellReasons] = {}
        self._waived: WaivedCells | None = None
        self._words: dict[Core, str] = {}

    def close(self) -> None:
        """Free the solvers."""
        for run in self._reasons.values():
            run.close()
        if self._waived is not None:
            self._waived.close()

    def cell(self, row: Step, column: Step) -> Cell:
        """The cell of two steps, which no answer without waivers goes with."""
        core = self._core(row, column)
        reason = self._reason(core)
        if not self._waive or (core is not None and not may_be_waived(core)):
            return Cell(IMPOSSIBLE, reason=reason)
        try:
            answer = self._with_waivers(row, column)
        except SearchGivenUp:
            return Cell(UNKNOWN, reason=f"{reason}; {_NO_WAIVERS_LOOKED_FOR}")
        if answer is None:
            return Cell(IMPOSSIBLE, reason=reason)
        return _told(answer, self.universe)._replace(reason=reason)

    def answered(self, row: Step, column: Step, answer: CellAnswer) -> Cell:
        """The cell of an answer; if that spends waivers of the user's, with the reason why."""
        cell = _told(answer, self.universe)
        if cell.status == WAIVER:
            core = self._core(row, column, waivers=False)
            cell = cell._replace(reason=self._reason(core))
        return cell

    def _core(self, row: Step, column: Step, *, waivers: bool = True) -> Core | None:
        run = self._reasons.get(waivers)
        if run is None:
            from compatlock.solver.matrix_reasons import reasons

            request = self._request if waivers else self._request._replace(waivers=())
            begun = reasons(self.universe, request, self._axes)
            run = self._reasons[waivers] = drive(begun, self.universe, self.supply)
        return drive(run.reason(row, column), self.universe, self.supply)

    def _reason(self, core: Core | None) -> str:
        if core is None:
            return _UNEXPLAINED
        text = self._words.get(core)
        if text is None:
            text = self._words[core] = reason_of(core, self._request.target, self._hidden)
        return text

    def _hidden(self, name: str) -> Sequence[Hidden]:
        """What the index has of a package and nobody can use. Of an axis that is in the way of no cell: cells
        are of releases that can be used."""
        return () if any(step.package == name for step in self._axes) else obstacles(self.supply, name)

    def _with_waivers(self, row: Step, column: Step) -> CellAnswer | None:
        if self._waived is None:
            from compatlock.solver.matrix_waivers import waived_cells

            run = waived_cells(self.universe, self._request)
            self._waived = drive(run, self.universe, self.supply)
        return drive(self._waived.solve(row, column), self.universe, self.supply)


def _told(answer: CellAnswer, universe: Universe) -> Cell:
    pins = tuple((name, universe.packages[name].versions[index]) for name, index in answer.pins.items())
    edges = tuple(dict.fromkeys(str(waiver._replace(bound="")) for waiver in answer.waivers))
    return Cell(WAIVER if edges else WORKS, pins, answer.lag, edges)
