"""Labelled lines: how one thing with its properties is printed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def sheet(rows: Iterable[tuple[str, str | Sequence[str]]]) -> str:
    """Return a line for every row, values aligned behind their labels; a sequence has a line for every item.
    Rows without a value are left out."""
    kept = [(label, [value] if isinstance(value, str) else list(value)) for label, value in rows if value]
    width = max((len(label) for label, _ in kept), default=0) + 3
    lines = []
    for label, values in kept:
        heads = [f"{label}:".ljust(width), *[" " * width] * (len(values) - 1)]
        lines += [f"{head}{value}" for head, value in zip(heads, values, strict=True)]
    return "\n".join(lines)


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Return a line for every row, all cells but the last aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)]
        lines.append("  ".join([*cells, row[-1]]))
    return "\n".join(lines)
