"""What the outputs of a matrix share."""

from __future__ import annotations

import shlex

import pytest

from compatlock.api.matrix.marks import (
    LAG_BANDS,
    Area,
    area_words,
    band,
    findings,
    lock_command,
    requirement_of,
    summary,
    title,
)
from compatlock.model.matrix import IMPOSSIBLE, WORKS, Axis, Cell, Matrix
from tests.support.matrices import sample, tiny


def _matrix(rows: list[str]) -> Matrix:
    """A cell for each letter: `.` works, others are impossible for that reason."""
    cells = tuple(
        tuple(Cell(WORKS) if letter == "." else Cell(IMPOSSIBLE, reason=letter) for letter in row)
        for row in rows
    )
    down = tuple(str(9 - k) for k in range(len(rows)))
    across = tuple(str(9 - k) for k in range(len(rows[0])))
    return Matrix(
        Axis("a", down, tuple((each,) for each in down)),
        Axis("b", across, tuple((each,) for each in across)),
        "t",
        cells,
    )


def test_bands_end_with_their_limit() -> None:
    assert [band(lag) for lag in (0, 30, 31, 90, 91, 180, 181, 365, 366, 9999)] == [
        0,
        0,
        1,
        1,
        2,
        2,
        3,
        3,
        4,
        4,
    ]
    assert list(LAG_BANDS) == sorted(LAG_BANDS)


@pytest.mark.parametrize(
    ("rows", "areas"),
    [
        (["xx", "xx"], [Area(0, 1, 0, 1)]),
        (["x.x", "x.x"], [Area(0, 1, 0, 0), Area(0, 1, 2, 2)]),
        (["xx.", ".xx"], [Area(0, 0, 0, 1), Area(1, 1, 1, 2)]),
        (["xx", "..", "xx"], [Area(0, 0, 0, 1), Area(2, 2, 0, 1)]),
    ],
)
def test_cells_with_one_reason_are_told_as_areas(rows: list[str], areas: list[Area]) -> None:
    (finding,) = findings(_matrix(rows))
    assert list(finding.areas) == areas
    assert finding.size == sum(row.count("x") for row in rows)


def test_findings_cover_each_cell_in_the_way_once() -> None:
    matrix = sample()
    covered = [
        (row, column, finding)
        for finding in findings(matrix)
        for area in finding.areas
        for row in range(area.row, area.last_row + 1)
        for column in range(area.column, area.last_column + 1)
    ]
    assert len({(row, column) for row, column, _ in covered}) == len(covered)
    for row, column, finding in covered:
        cell = matrix.cells[row][column]
        assert (cell.status, cell.waivers, cell.reason) == finding[:3]
    assert len(covered) == sum(bool(cell.reason) for cells in matrix.cells for cell in cells) > 100


def test_areas_in_words() -> None:
    matrix = _matrix(["xx", "xx"])
    assert area_words(matrix, Area(0, 1, 0, 0)) == "a 8 to 9, b 9"


def test_titles_and_summaries() -> None:
    assert title(tiny()) == "left × right"
    assert title(sample()) == "vllm × transformers with trl, profile async-grpo"
    assert summary(tiny()) == "6 cells: 2 work, 1 needs a waiver, 2 are impossible, 1 is not known"


def test_the_command_of_a_cell() -> None:
    matrix = tiny()
    assert lock_command(matrix, 0, 1) == (
        "compatlock lock --python-version 3.12 --requirement left==2.0 --requirement right==1.1.0 "
        "--waive 'left -> right'"
    )
    assert lock_command(matrix, 1, 1).endswith("--requirement left==1.0 --requirement right==1.1.0")
    assert shlex.split(lock_command(matrix, 0, 2))[-1] == "right==1.0.0"
    assert lock_command(matrix._replace(lock=()), 0, 0) == ""


def test_a_label_of_several_releases_is_a_range() -> None:
    axis = tiny().columns
    assert requirement_of(axis, 0) == "right>=1.2.0,<=1.2.1"
    assert requirement_of(axis, 1) == "right==1.1.0"
