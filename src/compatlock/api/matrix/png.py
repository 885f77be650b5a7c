"""Matrices as one picture: a heat map for each, the same colours and symbols as the page's."""

from __future__ import annotations

from compatlock.api.matrix.marks import LAG_BANDS, SYMBOLS, WORDS, band, counts, has_lag, title
from compatlock.errors import InputError
from compatlock.model.matrix import IMPOSSIBLE, UNKNOWN, WAIVER, WORKS
from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.path import Path

    from compatlock.model.matrix import Matrix

# By band of lag, the newest first.
_COLOURS = {
    WORKS: ("#0b4f8a", "#2a73b0", "#8cbce0", "#b9d7ee", "#dcebf7"),
    WAIVER: ("#b35300", "#e2913a", "#f3b877", "#f9d3a6", "#fde9d2"),
    IMPOSSIBLE: ("#eceef1",) * (len(LAG_BANDS) + 1),
    UNKNOWN: ("#ffffff",) * (len(LAG_BANDS) + 1),
}
_TEXT, _MUTED, _EDGE = "#1b1f24", "#57606a", "#d5d9df"
# So many bands are so dark that ink on them is white.
_DARK_BANDS = {WORKS: 2, WAIVER: 1}

# Inches: a cell, what a letter of a label takes, and the room for title and legend.
_CELL_WIDTH, _CELL_HEIGHT = 0.3, 0.24
_LETTER = 0.075
_HEAD, _FOOT = 0.68, 0.75
_LEAST_WIDTH = 7.2
_DPI = 120

# Square points that a symbol takes.
_SYMBOL = 42


class _Mark(NamedTuple):
    """A cell to draw, its upper left corner in cells."""

    row: float
    column: float
    status: str
    band: int = 0
    symbol: str = ""


def render_png(matrices: Sequence[Matrix]) -> bytes:
    """A PNG with the matrices below each other. Raises InputError when matplotlib is not installed (it comes
    with the extra `plots`), and ValueError for no matrix."""
    if not matrices:
        raise ValueError("a picture needs a matrix")
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError(
            "a picture needs matplotlib, which is not installed",
            hints=["install `compatlock[plots]`, or choose another format"],
        ) from error
    sizes = [_size(matrix) for matrix in matrices]
    whole = (max(width for width, _ in sizes), sum(height for _, height in sizes))
    figure = Figure(figsize=whole, dpi=_DPI, facecolor="white")
    top = whole[1]
    for matrix, (_, height) in zip(matrices, sizes, strict=True):
        _draw(figure, matrix, top, whole)
        top -= height
        _draw_legend(figure, matrix, top, whole)
    return _png(figure)


def _png(figure: Figure) -> bytes:
    """The picture's bytes; nothing of the day or of the library's version is in them."""
    import io

    target = io.BytesIO()
    figure.savefig(target, format="png", metadata={"Software": None})
    return target.getvalue()


def _margins(matrix: Matrix) -> tuple[float, float]:
    """Inches left of the cells and above them, for the labels."""
    side = max(len(matrix.rows.package) * 1.25, *map(len, matrix.rows.labels))
    return side * _LETTER + 0.35, max(map(len, matrix.columns.labels)) * _LETTER + 0.28


def _size(matrix: Matrix) -> tuple[float, float]:
    left, above = _margins(matrix)
    width = left + len(matrix.columns.labels) * _CELL_WIDTH + 0.2
    return max(width, _LEAST_WIDTH), _HEAD + above + len(matrix.rows.labels) * _CELL_HEIGHT + _FOOT


def _draw(figure: Figure, matrix: Matrix, top: float, whole: tuple[float, float]) -> None:
    """Draw title, labels and cells of a matrix whose upper edge is at `top` inches."""
    left, above = _margins(matrix)
    columns, rows = len(matrix.columns.labels), len(matrix.rows.labels)
    across, up = columns * _CELL_WIDTH, rows * _CELL_HEIGHT
    bottom = top - _HEAD - above - up
    axes = figure.add_axes((left / whole[0], bottom / whole[1], across / whole[0], up / whole[1]))
    axes.set(xlim=(0, columns), ylim=(rows, 0), frame_on=False)
    axes.xaxis.tick_top()
    axes.tick_params(length=0, labelsize=8, labelcolor=_MUTED, pad=3)
    axes.set_xticks([j + 0.5 for j in range(columns)], map(_plain, matrix.columns.labels), rotation=90)
    axes.set_yticks([i + 0.5 for i in range(rows)], map(_plain, matrix.rows.labels))
    _draw_cells(
        axes,
        [
            _Mark(i, j, cell.status, band(cell.lag), SYMBOLS[cell.status])
            for i, row in enumerate(matrix.cells)
            for j, cell in enumerate(row)
        ],
    )

    def write(x: float, y: float, text: str, **style: Any) -> None:
        """Write at inches from the left and from the upper edge."""
        figure.text(x / whole[0], (top - y) / whole[1], text, parse_math=False, **{"color": _TEXT, **style})

    write(0.15, 0.3, title(matrix), fontsize=13, fontweight="bold")
    write(0.15, 0.52, " · ".join(filter(None, (matrix.target, matrix.index_state))), fontsize=8, color=_MUTED)
    write(left, _HEAD + 0.16, matrix.columns.package, fontsize=9, fontweight="bold")
    write(left - 0.05, _HEAD + above - 0.07, matrix.rows.package, fontsize=9, fontweight="bold", ha="right")


def _plain(label: str) -> str:
    """A label without the sign that begins a formula."""
    return label.replace("$", r"\$")


def _draw_cells(axes: Axes, marks: Sequence[_Mark]) -> None:
    """Draw cells and their symbols, all of a kind at once: thousands of single texts take seconds."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    boxes = [Rectangle((mark.column + 0.04, mark.row + 0.05), 0.92, 0.9) for mark in marks]
    faces = [_COLOURS[mark.status][mark.band] for mark in marks]
    edges = [_EDGE if mark.status == UNKNOWN else "none" for mark in marks]
    axes.add_collection(PatchCollection(boxes, facecolors=faces, edgecolors=edges, linewidths=0.6))
    alike: dict[tuple[str, str], list[_Mark]] = {}
    for mark in marks:
        if mark.symbol:
            alike.setdefault((mark.symbol, _ink(mark)), []).append(mark)
    for (symbol, ink), same in alike.items():
        across, down = [mark.column + 0.5 for mark in same], [mark.row + 0.5 for mark in same]
        axes.scatter(across, down, s=_SYMBOL, marker=_outline(symbol), color=ink, linewidths=0)


def _ink(mark: _Mark) -> str:
    if mark.status in (IMPOSSIBLE, UNKNOWN):
        return _MUTED
    return "white" if mark.band < _DARK_BANDS[mark.status] else _TEXT


def _outline(symbol: str) -> Path:
    """A symbol as a marker: its outline around the origin, in the font that comes with matplotlib."""
    from matplotlib.path import Path
    from matplotlib.textpath import TextPath

    text = TextPath((0, 0), symbol, size=10)
    (left, low), (right, high) = text.get_extents().get_points()
    return Path(text.vertices - ((left + right) / 2, (low + high) / 2), text.codes)


def _draw_legend(figure: Figure, matrix: Matrix, bottom: float, whole: tuple[float, float]) -> None:
    """What symbols and shades mean, with the numbers of cells, above a matrix's lower edge."""
    span = whole[0] - 0.3
    place = (0.15 / whole[0], (bottom + 0.14) / whole[1], span / whole[0], 2 * _CELL_HEIGHT / whole[1])
    axes = figure.add_axes(place)
    axes.set(xlim=(0, span / _CELL_WIDTH), ylim=(2, 0))
    axes.set_axis_off()
    marks: list[_Mark] = []

    def write(x: float, line: int, text: str) -> None:
        axes.text(x, line + 0.53, text, va="center", fontsize=8, color=_TEXT)

    x = 0.0
    for status, number in counts(matrix):
        marks.append(_Mark(0, x, status, 0, SYMBOLS[status]))
        text = f"{WORDS[status]} {number:,}"
        write(x + 1.2, 0, text)
        x += 2 + len(text) * 0.22
    if has_lag(matrix):
        write(0, 1, "lag in days")
        x = 3.0
        for number, word in enumerate([*(f"≤ {limit}" for limit in LAG_BANDS), f"> {LAG_BANDS[-1]}"]):
            marks += [_Mark(1, x, WORKS, number), _Mark(1, x + 1, WAIVER, number)]
            write(x + 2.15, 1, word)
            x += 4.1
    _draw_cells(axes, marks)
