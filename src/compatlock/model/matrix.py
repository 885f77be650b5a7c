"""A compatibility matrix: which releases of two packages work together, and what is then pinned beside."""

from __future__ import annotations

from compatlock.model.named_tuple import NamedTuple

# What became of a cell.
WORKS = "works"  # there is an answer without waivers
WAIVER = "waiver"  # only with waivers
IMPOSSIBLE = "impossible"  # no answer, not even with waivers that may be offered
UNKNOWN = "unknown"  # not solved (yet), or given up
STATUSES = (WORKS, WAIVER, IMPOSSIBLE, UNKNOWN)


class Axis(NamedTuple):
    """One package along a side: its releases, or groups of them (minors), newest first.

    labels: a label for each step: a version, or a minor such as `5.20`
    versions: the versions that each label stands for, newest first
    """

    package: str
    labels: tuple[str, ...]
    versions: tuple[tuple[str, ...], ...]


class Cell(NamedTuple):
    """What was found for one pair of labels.

    pins:    `(name, version)` of the packages on the axes and of the roots in the best answer, by name
    lag:     the worst root lag of that answer, in days
    waivers: the edges that have to be waived, `a -> b`
    reason:  why there is no answer without them, in a sentence
    """

    status: str
    pins: tuple[tuple[str, str], ...] = ()
    lag: int = 0
    waivers: tuple[str, ...] = ()
    reason: str = ""


class Matrix(NamedTuple):
    """A matrix for one target: `cells[i][j]` is for row `i` and column `j`.

    command:     how to make it again; index_state: what the index looked like
    asked:       what was asked for beside the two packages: roots and profiles, in words
    lock:        the arguments of `compatlock lock` that ask for the same, beside the two packages: roots as
                 `--requirement`, profiles, target and policy; empty when no such command is known
    """

    rows: Axis
    columns: Axis
    target: str
    cells: tuple[tuple[Cell, ...], ...]
    command: str = ""
    index_state: str = ""
    asked: tuple[str, ...] = ()
    lock: tuple[str, ...] = ()

    def count(self, status: str) -> int:
        """How many cells have a status."""
        return sum(cell.status == status for row in self.cells for cell in row)
