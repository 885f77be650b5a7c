"""Matrices as tables: CSV and JSON for machines, Markdown for a page on a forge, text for a terminal."""

from __future__ import annotations

import json
import shutil

from compatlock.api.matrix.marks import (
    SYMBOLS,
    WORDS,
    area_words,
    band,
    counts,
    findings,
    has_lag,
    summary,
    title,
)
from compatlock.errors import InputError
from compatlock.model.matrix import IMPOSSIBLE, STATUSES, UNKNOWN, WAIVER, WORKS, Axis, Cell, Matrix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

JSON_VERSION = 1
CSV_COLUMNS = (
    "target",
    "row_package",
    "row",
    "column_package",
    "column",
    "status",
    "lag_days",
    "pins",
    "waivers",
    "reason",
)

# So many different things in the way are told in a terminal, those of the most cells.
_TOLD = 12
_RESET = "\x1b[0m"
_COLOURS = {WORKS: "36", WAIVER: "33", IMPOSSIBLE: "2", UNKNOWN: "35"}


def render_csv(matrices: Sequence[Matrix]) -> str:
    """A line for every cell, with a heading. Pins are `name==version`, waivers `a -> b`, both separated by
    `; `; the lag is in days and empty where nothing is pinned."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for matrix in matrices:
        for row, cells in zip(matrix.rows.labels, matrix.cells, strict=True):
            for column, cell in zip(matrix.columns.labels, cells, strict=True):
                writer.writerow(
                    (
                        matrix.target,
                        matrix.rows.package,
                        row,
                        matrix.columns.package,
                        column,
                        cell.status,
                        cell.lag if cell.pins else "",
                        "; ".join(f"{name}=={version}" for name, version in cell.pins),
                        "; ".join(cell.waivers),
                        cell.reason,
                    )
                )
    return text.getvalue()


def render_json(matrices: Sequence[Matrix]) -> str:
    """`{"version": 1, "matrices": [...]}`, a line for every cell; `from_json` reads it again. Values are
    those of `compatlock.model.matrix`, a cell's pins an object from name to version and its lag null where
    nothing is pinned."""
    bodies = ",\n".join(_matrix_json(matrix) for matrix in matrices)
    return f'{{"version": {JSON_VERSION}, "matrices": [\n{bodies}\n]}}\n'


def from_json(text: str | bytes) -> tuple[Matrix, ...]:
    """The matrices that `render_json` wrote. Raises InputError for anything else, and for newer versions."""
    try:
        document = json.loads(text)
        version = document["version"]
        if version == JSON_VERSION:
            return tuple(_matrix_of(body) for body in document["matrices"])
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(f"this is no matrix that `compatlock matrix` wrote as JSON: {error}") from error
    raise InputError(
        f"this matrix has version {version!r}, and this compatlock reads version {JSON_VERSION}",
        hints=["use the compatlock that wrote it, or a newer one"],
    )


def render_markdown(matrices: Sequence[Matrix]) -> str:
    """A section for every matrix: a table with a symbol and the lag in days, a legend, then what is in the
    way, for GitHub's Markdown."""
    return "\n".join(line for matrix in matrices for line in _markdown(matrix))


def render_text(matrices: Sequence[Matrix], *, colour: bool, width: int | None = None) -> str:
    """Tables for a terminal of `width` columns (the running one's unless given): symbols with the lag where
    they fit, else symbols under upright labels, cut into blocks where these are too wide as well."""
    if width is None:
        width = shutil.get_terminal_size((100, 24)).columns
    return "\n".join(line for matrix in matrices for line in _text(matrix, colour, width))


def _matrix_json(matrix: Matrix) -> str:
    head = {
        "target": matrix.target,
        "asked": matrix.asked,
        "command": matrix.command,
        "index_state": matrix.index_state,
        "lock": matrix.lock,
        "rows": matrix.rows._asdict(),
        "columns": matrix.columns._asdict(),
    }
    fields = "".join(f" {_json(key)}: {_json(value)},\n" for key, value in head.items())
    rows = ",\n".join(
        "  [\n" + ",\n".join(f"   {_json(_cell_json(cell))}" for cell in row) + "\n  ]"
        for row in matrix.cells
    )
    return f'{{\n{fields} "cells": [\n{rows}\n ]\n}}'


def _cell_json(cell: Cell) -> dict[str, Any]:
    return {**cell._asdict(), "pins": dict(cell.pins), "lag": cell.lag if cell.pins else None}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _matrix_of(body: Any) -> Matrix:
    rows, columns = _axis_of(body["rows"]), _axis_of(body["columns"])
    cells = tuple(tuple(_cell_of(cell) for cell in row) for row in body["cells"])
    if len(cells) != len(rows.labels) or any(len(row) != len(columns.labels) for row in cells):
        raise ValueError("there are not as many cells as labels")
    return Matrix(
        rows,
        columns,
        str(body["target"]),
        cells,
        str(body["command"]),
        str(body["index_state"]),
        tuple(map(str, body["asked"])),
        tuple(map(str, body.get("lock", ()))),
    )


def _axis_of(body: Any) -> Axis:
    versions = tuple(tuple(map(str, group)) for group in body["versions"])
    axis = Axis(str(body["package"]), tuple(map(str, body["labels"])), versions)
    if len(axis.labels) != len(versions) or not all(versions):
        raise ValueError(f"the labels of {axis.package} do not fit its versions")
    return axis


def _cell_of(body: Any) -> Cell:
    if body["status"] not in STATUSES:
        raise ValueError(f"no cell is {body['status']!r}")
    pins = tuple((str(name), str(version)) for name, version in body["pins"].items())
    waivers = tuple(map(str, body["waivers"]))
    lag = 0 if body["lag"] is None and not pins else int(body["lag"])
    return Cell(body["status"], pins, lag, waivers, str(body["reason"]))


def _markdown(matrix: Matrix) -> Iterator[str]:
    yield f"## {_inert(title(matrix))}"
    yield ""
    yield f"{_inert(matrix.target)}: {summary(matrix)}."
    yield ""
    corner = f"{matrix.rows.package} \\ {matrix.columns.package}"
    yield "| " + " | ".join([corner, *map(_inert, matrix.columns.labels)]) + " |"
    yield "|---|" + ":-:|" * len(matrix.columns.labels)
    for label, row in zip(matrix.rows.labels, matrix.cells, strict=True):
        yield "| " + " | ".join([f"**{_inert(label)}**", *map(_mark, row)]) + " |"
    yield ""
    yield _legend(matrix) + "."
    found = findings(matrix)
    if found:
        yield ""
        yield "<details><summary>What is in the way</summary>"
        yield ""
        for finding in found:
            places = "; ".join(area_words(matrix, area) for area in finding.areas)
            waivers = ", ".join(f"`--waive '{waiver}'`" for waiver in finding.waivers)
            told = ": ".join(filter(None, (waivers, _inert(finding.reason))))
            yield f"- {SYMBOLS[finding.status]} {_inert(places)}: {told}"
        yield ""
        yield "</details>"
    made = [f"`{matrix.command}`"] if matrix.command else []
    made += [_inert(matrix.index_state)] if matrix.index_state else []
    if made:
        yield ""
        yield f"Made by {', '.join(made)}."
    yield ""


def _inert(text: str) -> str:
    """Text in one line that Markdown and a table's cell leave as it is, but for code in backticks."""
    parts = " ".join(text.split()).replace("|", "\\|").split("`")
    if len(parts) % 2 == 0:
        parts = ["\\`".join(parts)]
    for k in range(0, len(parts), 2):
        parts[k] = "".join(f"\\{c}" if c in "*_<>[]#~" else c for c in parts[k])
    return "`".join(parts)


def _mark(cell: Cell) -> str:
    """`✓ 32`: a symbol, and the lag where there is one."""
    return f"{SYMBOLS[cell.status]} {cell.lag}" if cell.pins and cell.lag else SYMBOLS[cell.status]


def _legend(matrix: Matrix, *, numbers: bool = True) -> str:
    marks = ", ".join(f"{SYMBOLS[status]} {WORDS[status]}" for status, _ in counts(matrix))
    if not (numbers and has_lag(matrix)):
        return marks
    return f"{marks}; a number is the lag, the days that the root furthest behind is behind"


def _text(matrix: Matrix, colour: bool, width: int) -> Iterator[str]:
    yield title(matrix)
    yield f"{matrix.target}: {summary(matrix)}"
    side = max(len(matrix.rows.package), *map(len, matrix.rows.labels)) + 2
    marks = [[_mark(cell) for cell in row] for row in matrix.cells]
    wide = max([len(label) for label in matrix.columns.labels] + [len(m) for row in marks for m in row]) + 2
    count = len(matrix.columns.labels)
    upright = side + wide * count > width
    if upright:
        marks = [[SYMBOLS[cell.status] for cell in row] for row in matrix.cells]
        wide = 2
    room = max(1, (width - side) // wide)
    for first in range(0, count, room):
        yield ""
        labels = matrix.columns.labels[first : first + room]
        yield from _heading(matrix, labels, side, wide, upright)
        for label, cells, texts in zip(matrix.rows.labels, matrix.cells, marks, strict=True):
            pairs = zip(cells[first : first + room], texts[first : first + room], strict=True)
            body = "".join(_painted(text.ljust(wide), cell, colour) for cell, text in pairs)
            yield (label.ljust(side) + body).rstrip()
    yield ""
    yield _legend(matrix, numbers=not upright)
    yield from _obstacles(matrix)
    yield ""


def _heading(matrix: Matrix, labels: Sequence[str], side: int, wide: int, upright: bool) -> Iterator[str]:
    yield " " * side + matrix.columns.package
    corner = matrix.rows.package.ljust(side)
    if not upright:
        yield (corner + "".join(label.ljust(wide) for label in labels)).rstrip()
        return
    height = max(map(len, labels))
    for line in range(height):
        letters = "".join(label.rjust(height)[line].ljust(wide) for label in labels)
        yield ((corner if line == height - 1 else " " * side) + letters).rstrip()


def _painted(text: str, cell: Cell, colour: bool) -> str:
    """A text in the colour of its status, bold where nothing is far behind."""
    if not colour:
        return text
    weight = "1;" if cell.pins and band(cell.lag) == 0 else ""
    return f"\x1b[{weight}{_COLOURS[cell.status]}m{text}{_RESET}"


def _obstacles(matrix: Matrix) -> Iterator[str]:
    """The things in the way of most cells, and how many others there are."""
    found = sorted(findings(matrix), key=lambda finding: -finding.size)
    if found:
        yield ""
    for finding in found[:_TOLD]:
        places = area_words(matrix, finding.areas[0])
        more = sum(area.size for area in finding.areas[1:])
        waivers = " ".join(f"--waive '{waiver}'" for waiver in finding.waivers)
        told = "; ".join(filter(None, (waivers, " ".join(finding.reason.split()))))
        others = f" and {more:,} more" if more else ""
        yield f"{SYMBOLS[finding.status]} {places}{others}: {told}"
    if len(found) > _TOLD:
        yield f"... and {len(found) - _TOLD:,} other reasons: --format html or json has them all"
