"""How fast is `compatlock matrix`, and does uv agree with it?

    python -m benchmarks.matrix_speed [--cells 100] [--seed 7] [--rounds 3] [--folder DIR] [--no-uv]

Makes the matrix of vllm (all since 0.6) x minors of transformers with trl, for Python 3.12, in one process
and offline, after one run that fills the cache. Then asks `uv pip compile` about a sample of the cells, one
call for each, offline after one online run in a cache of its own. Prints Markdown: cells a second, uv's
seconds a cell, and whether both say of the same cells that they have an answer.

Facts and waivers are nothing that uv has: the matrix that is compared with it is made without
(`--no-shipped-facts --no-waivers`). See README.md here.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple

from benchmarks.matrix_cells import (
    COLUMNS,
    EXCLUDE_NEWER,
    OTHERS,
    PLATFORM,
    PYTHON_VERSION,
    ROWS,
    Answer,
    Asked,
    Uv,
    dispute,
)
from benchmarks.measure import Run, run
from benchmarks.record import cache_folder
from uv import find_uv_bin

# What is compared with uv goes without these.
DECLARED_ONLY = ("--no-shipped-facts", "--no-waivers")


class Made(NamedTuple):
    """A matrix as its JSON has it, and the runs that made it: whole processes."""

    name: str
    matrix: dict[str, Any]
    runs: Sequence[Run]

    @property
    def size(self) -> int:
        """How many cells there are."""
        return sum(len(row) for row in self.matrix["cells"])

    def count(self, status: str) -> int:
        """How many cells have a status."""
        return sum(cell["status"] == status for row in self.matrix["cells"] for cell in row)

    @property
    def cpu_rate(self) -> float:
        """Cells per second of the processor, in the best run."""
        return self.size / min(each.cpu_seconds for each in self.runs)

    @property
    def rate(self) -> float:
        """Cells per second by the clock, in the best run."""
        return self.size / min(each.seconds for each in self.runs)

    def line(self) -> str:
        """Its line of the table."""
        counts = [f"{self.count(status):,}" for status in ("works", "waiver", "impossible", "unknown")]
        peak = max(each.peak_bytes for each in self.runs) / 1e6
        figures = [f"{self.cpu_rate:,.0f}", f"{self.rate:,.0f}", f"{peak:,.0f}"]
        return f"| {' | '.join([self.name, f'{self.size:,}', *counts, *figures])} |"


HEAD = """\
| matrix | cells | work | need a waiver | impossible | not known | cells/s of the processor | by the clock | peak MB |
|---|---|---|---|---|---|---|---|---|"""  # noqa: E501 - a line of a table


def make(name: str, folder: Path, rounds: int, *more: str) -> Made:
    """Make the matrix `rounds` times, each in a fresh process; the cache is filled first."""
    with tempfile.TemporaryDirectory() as temporary:
        output = Path(temporary) / "matrix.json"
        command = [
            sys.executable, "-m", "compatlock", "matrix", ROWS, COLUMNS, "--by", "transformers=minor",
            *(word for line in OTHERS for word in ("-r", line)), "--python", PYTHON_VERSION,
            "--python-platform", PLATFORM, "--exclude-newer", EXCLUDE_NEWER, "--cache-dir",
            str(folder / "compatlock"), "--jobs", "1", "-q", "-o", str(output), *more,
        ]  # fmt: skip
        run(command)
        runs = [run([*command, "--offline"]) for _ in range(rounds)]
        (matrix,) = json.loads(output.read_text())["matrices"]
    return Made(name, matrix, runs)


class Compared(NamedTuple):
    """What both say of a cell."""

    asked: Asked
    cell: dict[str, Any]
    answer: Answer

    @property
    def works(self) -> bool:
        """Whether compatlock says that it has an answer."""
        return bool(self.cell["status"] == "works")


def sample(matrix: dict[str, Any], count: int, seed: int) -> list[tuple[Asked, dict[str, Any]]]:
    """Some cells, the same for the same seed, and what each asks for."""
    rows, columns = matrix["rows"]["labels"], matrix["columns"]["labels"]
    places = [(i, j) for i in range(len(rows)) for j in range(len(columns))]
    chosen = random.Random(seed).sample(places, min(count, len(places)))
    return [(Asked(rows[i], columns[j]), matrix["cells"][i][j]) for i, j in chosen]


def compare(cells: Sequence[tuple[Asked, dict[str, Any]]], uv: Uv) -> list[Compared]:
    """Ask uv about cells."""
    found = []
    for number, (asked, cell) in enumerate(cells, 1):
        found.append(Compared(asked, cell, uv.ask(asked)))
        print(f"\r{number} of {len(cells)} cells asked of uv", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return found


def agreement(made: Sequence[Made], found: Sequence[Compared], disputes: Sequence[str]) -> list[str]:
    """The report's lines about uv: how long it takes, and of how many cells both say the same."""
    seconds = [each.answer.run.seconds for each in found]
    cpu = [each.answer.run.cpu_seconds for each in found]
    works = sum(each.works for each in found)
    return [
        f"uv, {len(found)} cells, one call each: {mean(seconds) * 1000:,.0f} ms a cell by the clock (median "
        f"{median(seconds) * 1000:,.0f}), {mean(cpu) * 1000:,.0f} ms of the processor.",
        *(
            f"{one.name}: {one.rate * mean(seconds):,.0f} times as many cells in the same time, "
            f"{one.cpu_rate * mean(cpu):,.0f} times in the same time of the processor."
            for one in made
        ),
        f"Of these cells {works} work and {len(found) - works} do not; both say the same of "
        f"{len(found) - len(disputes)} of {len(found)}.",
        *(f"\n{text}" for text in disputes),
    ]


def main() -> None:
    """Make the matrices, ask uv, print the report."""
    parser = argparse.ArgumentParser(description="compatlock matrix, beside uv called once a cell.")
    parser.add_argument("--cells", type=int, default=100, metavar="N", help="how many cells to ask uv about")
    parser.add_argument("--seed", type=int, default=7, help="of the sample")
    parser.add_argument("--rounds", type=int, default=3, help="how often a matrix is made; the best counts")
    parser.add_argument("--folder", type=Path, default=cache_folder() / "matrix", help="for the caches")
    parser.add_argument("--no-uv", action="store_true", help="only make the matrices")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    everything = make("with facts, waivers and reasons", asked.folder, asked.rounds)
    declared = make("as declared, with reasons", asked.folder, asked.rounds, *DECLARED_ONLY)
    machine = f"{platform.machine()}, {platform.system()}, CPython {platform.python_version()}"
    print(f"{ROWS} x {COLUMNS} by minors, with {', '.join(OTHERS)}, Python {PYTHON_VERSION}, {PLATFORM},")
    print(f"index as of {EXCLUDE_NEWER}; {machine}; {time.strftime('%Y-%m-%d')}\n")
    print("\n".join([HEAD, everything.line(), declared.line()]), flush=True)
    if asked.no_uv:
        return
    with tempfile.TemporaryDirectory() as temporary:
        uv = Uv(find_uv_bin(), asked.folder / "uv", Path(temporary))
        found = compare(sample(declared.matrix, asked.cells, asked.seed), uv)
        apart = [each for each in found if each.works != each.answer.solved]
        disputes = [dispute(uv, *each, asked.folder / "compatlock") for each in apart]
    print("\n" + "\n".join(agreement((everything, declared), found, disputes)))


if __name__ == "__main__":
    main()
