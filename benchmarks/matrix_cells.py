"""Single cells of the matrix that is measured: what uv says of them, and why where it says otherwise."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measure import Failed, Run, attempt, environment

ROWS, COLUMNS, OTHERS = "vllm>=0.6", "transformers>=4.40", ("trl",)
PYTHON_VERSION = "3.12"
PLATFORM = "x86_64-manylinux_2_34"
EXCLUDE_NEWER = "2026-11-30T14:00:00Z"
_TARGET = ["--python-version", PYTHON_VERSION, "--python-platform", PLATFORM]
_TARGET += ["--exclude-newer", EXCLUDE_NEWER]
# What uv says when it found out that there is no answer, and when it could not find out.
_NO_ANSWER, _NOT_ASKED = "No solution found", ("network was disabled", "Failed to fetch")


class Asked(NamedTuple):
    """A cell: the release of a row, and the minor of a column."""

    row: str
    column: str

    def lines(self) -> list[str]:
        """The requirements of a cell."""
        row, column = (name.partition(">=")[0] for name in (ROWS, COLUMNS))
        return [f"{row}=={self.row}", f"{column}=={self.column}.*", *OTHERS]


class Answer(NamedTuple):
    """What uv said of a cell: its pins, none where it says that there is no answer; and the run."""

    pins: tuple[str, ...]
    said: str
    run: Run

    @property
    def solved(self) -> bool:
        """Whether there is an answer."""
        return bool(self.pins)


class Uv:
    """Asks uv, in a cache of its own; files go into `place`."""

    def __init__(self, program: str, cache: Path, place: Path) -> None:
        self._output = place / "answer.txt"
        self._input = place / "requirements.in"
        # A vllm without a fitting wheel is no candidate for compatlock; uv would build it.
        self._command = [
            program, "pip", "compile", str(self._input), "-o", str(self._output), "-q", "--no-header",
            "--no-annotate", "--no-config", "--no-python-downloads", "--python", sys.executable,
            "--cache-dir", str(cache), *_TARGET, "--only-binary", ROWS.partition(">=")[0],
        ]  # fmt: skip

    def ask(self, asked: Asked) -> Answer:
        """Ask online, so that the cache has all that is read, then offline, which counts. Raises Failed."""
        self.answer(asked.lines())
        return self.answer(asked.lines(), offline=True)

    def answer(self, lines: Sequence[str], *, offline: bool = False) -> Answer:
        """What uv says of some requirements. Raises Failed when it did not find out."""
        self._input.write_text("\n".join(lines) + "\n")
        # An older answer would be preferred.
        self._output.unlink(missing_ok=True)
        done = attempt([*self._command, *(["--offline"] if offline else [])], environment())
        if done.code == 0:
            return Answer(tuple(self._output.read_text().split()), "", done.run)
        if _NO_ANSWER not in done.said or any(words in done.said for words in _NOT_ASKED):
            raise Failed(f"uv was asked for {', '.join(lines)}:\n{done.said}")
        return Answer((), done.said, done.run)


def dispute(uv: Uv, asked: Asked, cell: dict[str, Any], answer: Answer, cache: Path) -> str:
    """Of a cell that one says works and the other that it does not: what the latter has against the answer.
    `cache` is compatlock's."""
    title = f"`{' '.join(asked.lines())}`"
    if answer.solved:
        objection = _compatlock(["check", "-"], cache, "\n".join(answer.pins))
        return f"{title} works for uv; compatlock: {cell['reason']}. Its check of uv's pins:\n{objection}"
    lines = [word for line in asked.lines() for word in ("-r", line)]
    lock = json.loads(_compatlock(["lock", *lines, "--max-lag", "none", "--json"], cache))
    pins = [f"{pin['name']}=={pin['version']}" for pin in lock["pins"]]
    said = uv.answer([*asked.lines(), *pins]).said
    return f"{title} works for compatlock; uv, with its pins: {said or 'it works'}"


def _compatlock(words: list[str], cache: Path, given: str = "") -> str:
    command = [sys.executable, "-m", "compatlock", *words, "--no-shipped-facts", "--cache-dir", str(cache)]
    done = subprocess.run(
        [*command, *_TARGET], input=given, capture_output=True, text=True, env=environment(), check=False
    )
    return done.stdout if done.stdout else done.stderr
