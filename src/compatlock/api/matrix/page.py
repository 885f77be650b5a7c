"""Matrices as one HTML page that carries all it needs: a heat map to explore with pointer, touch or keys.

The page asks for nothing from anywhere. What is data (names, reasons, commands) stands in it as JSON in a
script block that no browser runs, and its own code only ever makes texts of it; the Content Security Policy
names the page's one script and style by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
import shlex
from string import Template

import compatlock
from compatlock import __version__
from compatlock.api.matrix.marks import LAG_BANDS, SYMBOLS, WORDS, requirement_of, summary
from compatlock.model.matrix import STATUSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from compatlock.model.matrix import Axis, Cell, Matrix

# Beside the code: `compatlock/data`.
_DATA = os.path.join(os.path.dirname(compatlock.__file__), "data")
# Of the script, in the order in which they use each other.
_PARTS = ("values", "grid", "details", "frame", "events")

_PYTHON = re.compile(r"\d+\.\d+(\.\d+)?\Z")

# Within a script block these would end it, or begin a comment; as escapes JSON reads them as before.
_UNSAFE = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}


def render_html(matrices: Sequence[Matrix], *, made: str = "") -> str:
    """The page, a tab for each matrix. `made` is the date to show in its footer. Raises ValueError for no
    matrix, or one without cells."""
    if not matrices or not all(matrix.rows.labels and matrix.columns.labels for matrix in matrices):
        raise ValueError("a page needs a matrix with cells")
    style, script = _read("css"), _script()
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    data = page_data(matrices, made=made)
    first = data["matrices"][0]
    return Template(_read("html")).substitute(
        policy=policy,
        version=html.escape(__version__),
        title=html.escape(first["title"]),
        subtitle=html.escape(" · ".join(filter(None, (first["asked"], first["target"])))),
        summaries="\n".join(
            f"    <li>{html.escape(f'{matrix.target}: {summary(matrix)}')}</li>" for matrix in matrices
        ),
        style=style,
        script=script,
        data=json.dumps(data, ensure_ascii=False, separators=(",", ":")).translate(_UNSAFE),
    )


def page_data(matrices: Sequence[Matrix], *, made: str = "") -> dict[str, Any]:
    """What the page's script reads. Everything that repeats is said once, in tables for all matrices: `cells`
    are `[status, lag, pins, waivers, reason]`, all but the lag as indices."""
    tables = _Tables()
    tabs = tab_names([matrix.target for matrix in matrices])
    return {
        "compatlock": __version__,
        "made": made,
        "statuses": [{"id": each, "symbol": SYMBOLS[each], "word": WORDS[each]} for each in STATUSES],
        "bands": LAG_BANDS,
        "matrices": [_matrix(matrix, tab, tables) for matrix, tab in zip(matrices, tabs, strict=True)],
        "names": list(tables.names),
        "pins": list(tables.pins),
        "waivers": list(tables.waivers),
        "reasons": list(tables.reasons),
        "cells": list(tables.cells),
    }


def tab_names(targets: Sequence[str]) -> list[str]:
    """What tells targets apart: the words that they do not share, `Python 3.12` for a bare version."""
    words = [target.replace(",", " ").split() for target in targets]
    if len(set(map(len, words))) != 1:
        return list(targets)
    differing = [k for k, column in enumerate(zip(*words, strict=True)) if len(set(column)) > 1]
    names = [" ".join(each[k] for k in differing) for each in words]
    if not differing or len(set(names)) < len(targets):
        return list(targets)
    return [f"Python {name.removesuffix('.0')}" if _PYTHON.match(name) else name for name in names]


class _Tables:
    """Values by their index, in the order in which they were first met."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.pins: dict[tuple[int, str], int] = {}
        self.waivers: dict[str, int] = {}
        self.reasons: dict[str, int] = {}
        self.cells: dict[tuple[Any, ...], int] = {}

    def cell(self, cell: Cell) -> int:
        pins = tuple(_index(self.pins, (_index(self.names, name), version)) for name, version in cell.pins)
        waivers = tuple(_index(self.waivers, waiver) for waiver in cell.waivers)
        reason = _index(self.reasons, cell.reason)
        return _index(self.cells, (STATUSES.index(cell.status), cell.lag, pins, waivers, reason))


def _index(table: dict[Any, int], key: Any) -> int:
    return table.setdefault(key, len(table))


def _matrix(matrix: Matrix, tab: str, tables: _Tables) -> dict[str, Any]:
    return {
        "title": f"{matrix.rows.package} × {matrix.columns.package}",
        "tab": tab,
        "target": matrix.target,
        "asked": f"with {', '.join(matrix.asked)}" if matrix.asked else "",
        "command": matrix.command,
        "index": matrix.index_state,
        "lock": shlex.join(["compatlock", "lock", *matrix.lock]) if matrix.lock else "",
        "counts": [matrix.count(status) for status in STATUSES],
        "rows": _axis(matrix.rows),
        "columns": _axis(matrix.columns),
        "cells": [[tables.cell(cell) for cell in row] for row in matrix.cells],
    }


def _axis(axis: Axis) -> dict[str, Any]:
    requirements = [requirement_of(axis, step) for step in range(len(axis.labels))]
    return {**axis._asdict(), "requirements": requirements}


def _script() -> str:
    """The parts of the script in a block of their own, so that no name of theirs is a global one."""
    parts = "\n".join(_read(f"{part}.js") for part in _PARTS)
    return f'"use strict";\n{{\n{parts}}}\n'


def _read(kind: str) -> str:
    with open(os.path.join(_DATA, f"matrix_page.{kind}"), encoding="utf-8") as file:
        return file.read()


def _hash(text: str) -> str:
    """The source expression of the Content Security Policy that allows exactly this inline text."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
