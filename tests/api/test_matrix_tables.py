"""Matrices as CSV, JSON, Markdown and text."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest

from compatlock.api.matrix.tables import from_json, render_csv, render_json, render_markdown, render_text
from compatlock.errors import InputError
from compatlock.model.matrix import Cell, Matrix
from tests.support.matrices import sample, tiny


def test_csv_has_a_line_for_every_cell() -> None:
    lines = list(csv.DictReader(io.StringIO(render_csv([tiny(), sample()]))))
    assert len(lines) == 6 + 500
    assert lines[1] == {
        "target": "CPython 3.12.0 on linux",
        "row_package": "left",
        "row": "2.0",
        "column_package": "right",
        "column": "1.1",
        "status": "waiver",
        "lag_days": "41",
        "pins": "left==2.0; right==1.1.0",
        "waivers": "left -> right",
        "reason": "left 2.0 needs right>=1.2",
    }
    assert lines[4]["lag_days"] == lines[4]["pins"] == ""
    assert lines[0]["lag_days"] == "0"


def test_json_keeps_everything() -> None:
    matrices = (sample("3.10"), tiny())
    text = render_json(matrices)
    assert from_json(text) == matrices
    assert from_json(text.encode()) == matrices
    document = json.loads(text)
    assert document["version"] == 1
    assert document["matrices"][1]["cells"][0][1] == {
        "status": "waiver",
        "pins": {"left": "2.0", "right": "1.1.0"},
        "lag": 41,
        "waivers": ["left -> right"],
        "reason": "left 2.0 needs right>=1.2",
    }
    (impossible,) = (cell for cell in document["matrices"][1]["cells"][1] if "shared" in cell["reason"])
    assert (impossible["pins"], impossible["lag"]) == ({}, None)
    assert document["matrices"][1]["cells"][0][0]["lag"] == 0


def test_json_has_a_line_for_every_cell() -> None:
    assert len(re.findall(r'^ *\{"status"', render_json([sample()]), re.MULTILINE)) == 500


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no matrix"),
        ("[]", "no matrix"),
        ("{}", "no matrix"),
        ('{"version": 2, "matrices": []}', "version 2"),
        ('{"version": 1, "matrices": [{}]}', "no matrix"),
        ('{"version": 1, "matrices": 3}', "no matrix"),
    ],
)
def test_other_json_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        from_json(text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"status": "works"', '"status": "fine"'),
        ('"labels": ["2.0", "1.0"]', '"labels": ["2.0"]'),
        ('[["2.0"], ["1.0"]]', '[["2.0"], []]'),
        ('"lag": 41', '"lag": "old"'),
        ('"lag": 41', '"lag": null'),
        ('"pins": {"left": "2.0", "right": "1.1.0"}', '"pins": []'),
    ],
)
def test_damaged_json_is_refused_in_words(old: str, new: str) -> None:
    text = render_json([tiny()])
    assert old in text
    with pytest.raises(InputError, match="no matrix"):
        from_json(text.replace(old, new))


def test_json_with_too_few_cells_is_refused() -> None:
    document = json.loads(render_json([tiny()]))
    document["matrices"][0]["cells"][1].pop()
    with pytest.raises(InputError, match="as many cells"):
        from_json(json.dumps(document))


def test_markdown_word_by_word() -> None:
    assert render_markdown([tiny()]) == (
        "## left × right\n"
        "\n"
        "CPython 3.12.0 on linux: 6 cells: 2 work, 1 needs a waiver, 2 are impossible, 1 is not known.\n"
        "\n"
        "| left \\ right | 1.2 | 1.1 | 1.0 |\n"
        "|---|:-:|:-:|:-:|\n"
        "| **2.0** | ✓ | ◐ 41 | ? |\n"
        "| **1.0** | ✓ 200 | × | × |\n"
        "\n"
        "✓ works, ◐ needs a waiver, × impossible, ? not known; a number is the lag, the days that the root "
        "furthest behind is behind.\n"
        "\n"
        "<details><summary>What is in the way</summary>\n"
        "\n"
        "- ◐ left 2.0, right 1.1: `--waive 'left -> right'`: left 2.0 needs right\\>=1.2\n"
        "- × left 1.0, right 1.1: left 1.0 needs `shared<2`, right 1.1.0 needs `shared>=2`\n"
        "- × left 1.0, right 1.0: left 1.0 needs `right>=1.1`\n"
        "\n"
        "</details>\n"
        "\n"
        "Made by `compatlock matrix left right`.\n"
    )


def test_markdown_leaves_texts_as_they_are() -> None:
    cell = Cell("impossible", reason="a|b *c* <d>\n# e _f_ `g<h`")
    text = render_markdown([_with(cell)])
    assert "a\\|b \\*c\\* \\<d\\> \\# e \\_f\\_ `g<h`" in text
    odd = render_markdown([_with(Cell("impossible", reason="one ` and <b>"))])
    assert "one \\` and \\<b\\>" in odd


def test_text_word_by_word() -> None:
    assert render_text([tiny()], colour=False, width=80) == (
        "left × right\n"
        "CPython 3.12.0 on linux: 6 cells: 2 work, 1 needs a waiver, 2 are impossible, 1 is not known\n"
        "\n"
        "      right\n"
        "left  1.2    1.1    1.0\n"
        "2.0   ✓      ◐ 41   ?\n"
        "1.0   ✓ 200  ×      ×\n"
        "\n"
        "✓ works, ◐ needs a waiver, × impossible, ? not known; a number is the lag, the days that the root "
        "furthest behind is behind\n"
        "\n"
        "◐ left 2.0, right 1.1: --waive 'left -> right'; left 2.0 needs right>=1.2\n"
        "× left 1.0, right 1.1: left 1.0 needs `shared<2`, right 1.1.0 needs `shared>=2`\n"
        "× left 1.0, right 1.0: left 1.0 needs `right>=1.1`\n"
    )


def test_narrow_text_has_symbols_below_upright_labels() -> None:
    text = render_text([tiny()], colour=False, width=20)
    assert "      1 1 1\n      . . .\nleft  2 1 0\n2.0   ✓ ◐ ?\n1.0   ✓ × ×\n" in text


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_tables_are_as_wide_as_the_terminal_at_most(width: int) -> None:
    """Cut into blocks where need be, and no cell is lost."""
    matrix = sample()
    lines = render_text([matrix], colour=False, width=width).splitlines()
    labels = set(matrix.rows.labels)
    table = [line for line in lines if line.split(" ")[0] in labels]
    assert max(map(len, table)) <= width
    symbols = "".join(re.sub(r"\d", "", line[len(line.split(" ")[0]) :]) for line in table).replace(" ", "")
    assert len(symbols.replace(".", "")) == 500
    assert symbols.count("◐") == matrix.count("waiver")


def test_colour_comes_only_when_asked() -> None:
    plain = render_text([sample()], colour=False, width=100)
    coloured = render_text([sample()], colour=True, width=100)
    assert "\x1b" not in plain
    assert "\x1b[1;36m✓ \x1b[0m" in coloured
    assert "\x1b[33m◐ \x1b[0m" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured).replace(" \n", "\n") == plain


def test_text_says_how_much_it_leaves_out() -> None:
    text = render_text([sample()], colour=False, width=100)
    assert re.search(r"^\.\.\. and \d+ other reasons", text, re.MULTILINE)


def _with(cell: Cell) -> Matrix:
    matrix = tiny()
    return matrix._replace(cells=((cell, *matrix.cells[0][1:]), matrix.cells[1]))


def test_without_any_lag_no_legend_speaks_of_it() -> None:
    matrix = tiny()
    fresh = matrix._replace(cells=tuple(tuple(c._replace(lag=0) for c in row) for row in matrix.cells))
    for text in (render_markdown([fresh]), render_text([fresh], colour=False, width=100)):
        assert "lag" not in text
        assert "impossible, ? not known" in text
