"""The benchmark of matrices: which cells uv is asked about, what its answers mean, and what is reported."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from benchmarks.matrix_cells import Answer, Asked, Uv
from benchmarks.matrix_speed import Compared, Made, agreement, sample
from benchmarks.measure import Failed, Run

RUN = Run(0.5, 0.25, 1_000_000)
WORKS, IMPOSSIBLE = {"status": "works"}, {"status": "impossible", "reason": "a 1.0 needs b<2"}
MATRIX: dict[str, Any] = {
    "rows": {"labels": ["2.0", "1.0"]},
    "columns": {"labels": ["4.1", "4.0", "3.9"]},
    "cells": [[WORKS, IMPOSSIBLE, WORKS], [WORKS, WORKS, WORKS]],
}


def test_a_sample_is_the_same_for_the_same_seed() -> None:
    assert sample(MATRIX, 4, 1) == sample(MATRIX, 4, 1) != sample(MATRIX, 4, 2)
    everything = sample(MATRIX, 100, 1)
    assert len(everything) == 6
    assert (Asked("2.0", "4.0"), IMPOSSIBLE) in everything


def uv_that(tmp_path: Path, body: str) -> Uv:
    """A program in the place of uv: `output` is where it is told to write, `offline` whether it has to be."""
    program = tmp_path / "uv"
    head = "import sys\noutput = sys.argv[sys.argv.index('-o') + 1]\noffline = '--offline' in sys.argv\n"
    program.write_text(f"#!{sys.executable}\n{head}{body}\n")
    program.chmod(0o755)
    return Uv(str(program), tmp_path / "cache", tmp_path)


def test_an_answer_is_that_of_the_offline_run(tmp_path: Path) -> None:
    uv = uv_that(tmp_path, "open(output, 'w').write('a==1\\nb==2\\n' if offline else 'a==2\\n')")
    answer = uv.ask(Asked("0.9.1", "4.40"))
    assert (answer.solved, answer.pins) == (True, ("a==1", "b==2"))
    assert (tmp_path / "requirements.in").read_text() == "vllm==0.9.1\ntransformers==4.40.*\ntrl\n"


def test_no_answer_is_told_from_a_failure(tmp_path: Path) -> None:
    refusing = uv_that(tmp_path, "sys.exit('No solution found when resolving dependencies')")
    assert not refusing.ask(Asked("1", "2")).solved
    for words in ("No solution found: the network was disabled", "error: broken"):
        with pytest.raises(Failed, match="uv was asked for vllm==1"):
            uv_that(tmp_path, f"sys.exit({words!r})").ask(Asked("1", "2"))


def test_the_report_says_how_much_faster_and_who_differs() -> None:
    made = Made("all", MATRIX, [RUN, Run(1.0, 0.5, 2_000_000)])
    assert made.line() == "| all | 6 | 5 | 0 | 1 | 0 | 24 | 12 | 2 |"
    found = [
        Compared(Asked("2.0", "4.0"), IMPOSSIBLE, Answer((), "no", RUN)),
        Compared(Asked("2.0", "4.1"), WORKS, Answer((), "no", RUN)),
    ]
    lines = agreement([made], found, ["`vllm==2.0` differs"])
    assert lines[0].startswith("uv, 2 cells, one call each: 500 ms a cell by the clock (median 500), 250 ms")
    assert "6 times as many cells in the same time, 6 times in the same time of the processor" in lines[1]
    assert lines[2].endswith("both say the same of 1 of 2.")
    assert lines[3] == "\n`vllm==2.0` differs"
