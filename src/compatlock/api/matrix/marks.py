"""What all outputs of a matrix share: symbols and words of a status, bands of lag, areas, commands."""

from __future__ import annotations

import shlex

from compatlock.model.matrix import IMPOSSIBLE, STATUSES, UNKNOWN, WAIVER, WORKS
from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from compatlock.model.matrix import Axis, Cell, Matrix

SYMBOLS = {WORKS: "✓", WAIVER: "◐", IMPOSSIBLE: "×", UNKNOWN: "?"}
WORDS = {WORKS: "works", WAIVER: "needs a waiver", IMPOSSIBLE: "impossible", UNKNOWN: "not known"}

# Of one cell, and of several.
_VERBS = {
    WORKS: ("works", "work"),
    WAIVER: ("needs a waiver", "need a waiver"),
    IMPOSSIBLE: ("is impossible", "are impossible"),
    UNKNOWN: ("is not known", "are not known"),
}

# Days: a lag belongs to the first band that it is not above; what is above the last is in one more.
LAG_BANDS = (30, 90, 180, 365)


class Area(NamedTuple):
    """A rectangle of cells; the last row and column belong to it."""

    row: int
    last_row: int
    column: int
    last_column: int

    @property
    def size(self) -> int:
        """How many cells it has."""
        return (self.last_row - self.row + 1) * (self.last_column - self.column + 1)


class Finding(NamedTuple):
    """Cells of which the same is true: the waivers that they need, if any, and why."""

    status: str
    waivers: tuple[str, ...]
    reason: str
    areas: tuple[Area, ...]

    @property
    def size(self) -> int:
        """How many cells it is about."""
        return sum(area.size for area in self.areas)


def band(lag: int) -> int:
    """The number of a lag's band, from 0."""
    return sum(lag > limit for limit in LAG_BANDS)


def title(matrix: Matrix) -> str:
    """`vllm × transformers`, or with what was asked beside: `vllm × transformers with trl`."""
    beside = f" with {', '.join(matrix.asked)}" if matrix.asked else ""
    return f"{matrix.rows.package} × {matrix.columns.package}{beside}"


def counts(matrix: Matrix) -> list[tuple[str, int]]:
    """Each status that occurs, with its number of cells."""
    return [(status, number) for status in STATUSES if (number := matrix.count(status))]


def has_lag(matrix: Matrix) -> bool:
    """Whether anything is behind in any cell; where nothing ever is, no one needs to hear of it."""
    return any(cell.lag for row in matrix.cells for cell in row)


def summary(matrix: Matrix) -> str:
    """`500 cells: 273 work, 1 needs a waiver, 226 are impossible`."""
    total = len(matrix.rows.labels) * len(matrix.columns.labels)
    numbers = (f"{number:,} {_VERBS[status][number != 1]}" for status, number in counts(matrix))
    return f"{total:,} cells: {', '.join(numbers)}"


def findings(matrix: Matrix) -> list[Finding]:
    """What stands in the way, each thing once with all its cells, in the order of the first."""
    found: dict[tuple[str, tuple[str, ...], str], list[tuple[int, int]]] = {}
    for i, row in enumerate(matrix.cells):
        for j, cell in enumerate(row):
            if cell.reason or cell.waivers:
                found.setdefault((cell.status, cell.waivers, cell.reason), []).append((i, j))
    return [Finding(*key, tuple(_areas(places))) for key, places in found.items()]


def area_words(matrix: Matrix, area: Area) -> str:
    """`vllm 0.21.0 to 0.24.0, transformers 5.20`."""
    rows = _span(matrix.rows, area.row, area.last_row)
    return f"{rows}, {_span(matrix.columns, area.column, area.last_column)}"


def lock_command(matrix: Matrix, row: int, column: int) -> str:
    """The `compatlock lock` that gives what a cell says: its pins and waivers, or why there are none. Empty
    when the matrix does not know the arguments of its request."""
    if not matrix.lock:
        return ""
    cell = matrix.cells[row][column]
    words = ["compatlock", "lock", *matrix.lock]
    for requirement in _requirements(matrix, cell, row, column):
        words += ["--requirement", requirement]
    for waiver in cell.waivers:
        words += ["--waive", waiver]
    return shlex.join(words)


def requirement_of(axis: Axis, step: int) -> str:
    """The requirement that allows exactly what a label stands for, as far as releases lie between."""
    versions = axis.versions[step]
    if len(versions) == 1:
        return f"{axis.package}=={versions[0]}"
    return f"{axis.package}>={versions[-1]},<={versions[0]}"


def _requirements(matrix: Matrix, cell: Cell, row: int, column: int) -> Iterator[str]:
    pins = dict(cell.pins)
    for axis, step in ((matrix.rows, row), (matrix.columns, column)):
        version = pins.get(axis.package)
        yield f"{axis.package}=={version}" if version else requirement_of(axis, step)


def _span(axis: Axis, first: int, last: int) -> str:
    newest, oldest = axis.labels[first], axis.labels[last]
    return f"{axis.package} {newest}" if first == last else f"{axis.package} {oldest} to {newest}"


def _areas(places: Iterable[tuple[int, int]]) -> Iterator[Area]:
    """Cells, in order, as rectangles: runs of columns, joined with the same run of the row above."""
    runs: dict[int, list[tuple[int, int]]] = {}
    for row, column in places:
        of_row = runs.setdefault(row, [])
        if of_row and of_row[-1][1] == column - 1:
            of_row[-1] = (of_row[-1][0], column)
        else:
            of_row.append((column, column))
    areas: list[Area] = []
    for row, of_row in runs.items():
        for first, last in of_row:
            above = next(
                (k for k, a in enumerate(areas) if a.last_row == row - 1 and a[2:] == (first, last)), None
            )
            if above is None:
                areas.append(Area(row, row, first, last))
            else:
                areas[above] = areas[above]._replace(last_row=row)
    yield from areas
