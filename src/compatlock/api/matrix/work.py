"""A part of a matrix, solved in whichever process or machine it is sent to."""

from __future__ import annotations

import threading

from compatlock.api.drive import drive
from compatlock.api.matrix.axes import parse_axes
from compatlock.api.matrix.impossible import Impossible
from compatlock.api.session import store_of_snapshot, with_supply
from compatlock.errors import IndexUnavailable
from compatlock.index.store import Store
from compatlock.model.cuda import CUDA
from compatlock.model.named_tuple import NamedTuple
from compatlock.solver.matrix import Step, cells, with_axes
from compatlock.solver.universe import Universe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from compatlock.api.options import LockOptions
    from compatlock.api.request import Prepared
    from compatlock.index.supply import Supply
    from compatlock.model.matrix import Axis, Cell
    from compatlock.model.request import Request
    from compatlock.solver.matrix import CellAnswer, Cells


class Job(NamedTuple):
    """A matrix for one target: what is asked beside, the two packages as they were named, and the axes."""

    options: LockOptions
    asked: tuple[str, str]
    rows: Axis
    columns: Axis

    def request(self, prepared: Prepared) -> Request:
        """The request of all cells together."""
        request = prepared.request
        for axis in parse_axes(self.asked):
            if axis.extras:
                line = axis._replace(specifier="", origin=AXIS)
                request = request._replace(roots=(*request.roots, line))
        return with_axes(request, (self.rows.package, self.columns.package), AXIS)


class Chunk(NamedTuple):
    """Some rows of a matrix, from `first` on."""

    job: Job
    first: int
    height: int


# Where the lines of a request come from that stand for an axis.
AXIS = "the axis"

# What a process keeps from chunk to chunk of the same matrix. (Threads have their own.)
_kept = threading.local()


def solve_chunk(
    chunk: Chunk, on_read: Callable[[Supply], None] | None = None
) -> tuple[tuple[Cell, ...], ...]:
    """The cells of some rows. Chunks and result can be pickled; the index is read through the cache.
    `on_read` is called with what answered, at the end.

    Raises what `compatlock.lock` raises, but NoSolution.
    """
    worker: _Worker | None = getattr(_kept, "worker", None)
    if worker is None or worker.job != chunk.job:
        if worker is not None:
            worker.close()
        worker = _kept.worker = _Worker(chunk.job)
    return worker.solve(chunk, on_read)


def forget() -> None:
    """Free what this thread keeps."""
    worker: _Worker | None = getattr(_kept, "worker", None)
    if worker is not None:
        worker.close()
        _kept.worker = None


class _Worker:
    def __init__(self, job: Job) -> None:
        self.job = job
        options = job.options
        self._store = store_of_snapshot(options) if options.snapshot else Store(options.cache_directory())
        self._universe: Universe | None = None
        self._cells: Cells | None = None

    def close(self) -> None:
        """Free the solver and the store."""
        self._forget_cells()
        self._store.close()

    def _forget_cells(self) -> None:
        if self._cells is not None:
            self._cells.close()
        self._cells = None

    def solve(self, chunk: Chunk, on_read: Callable[[Supply], None] | None) -> tuple[tuple[Cell, ...], ...]:
        """The cells of the chunk."""

        def work(prepared: Prepared, supply: Supply) -> tuple[tuple[Cell, ...], ...]:
            found = self._solve(chunk, prepared, supply)
            supply.save()
            if on_read is not None:
                on_read(supply)
            return found

        options = self.job.options
        if self._cells is not None:
            # The first part has asked the index again.
            options = options._replace(refresh=False)
        return with_supply(options, work, store=self._store, needs_roots=False)

    def _solve(self, chunk: Chunk, prepared: Prepared, supply: Supply) -> tuple[tuple[Cell, ...], ...]:
        universe, run = self._ready(prepared, supply)
        rows, columns = (_steps(axis, universe) for axis in (self.job.rows, self.job.columns))
        impossible = Impossible(
            self.job.request(prepared),
            universe,
            supply,
            (*rows, *columns),
            waive=not self.job.options.no_waivers,
        )
        places = [(row, column) for row in rows[chunk.first :][: chunk.height] for column in columns]
        try:
            # One solver after the other: in turns they would drive each other out of the processor cache.
            answers = [drive(run.solve(*place), universe, supply) for place in places]
            found = [_cell(impossible, place, answer) for place, answer in zip(places, answers, strict=True)]
        finally:
            impossible.close()
        width = len(columns)
        return tuple(tuple(found[k : k + width]) for k in range(0, len(found), width))

    def _ready(self, prepared: Prepared, supply: Supply) -> tuple[Universe, Cells]:
        """The universe and the search as earlier chunks left them, or new ones."""
        if self._universe is not None and self._cells is not None and _is_same(self._universe, supply):
            self._universe.compiled, self._universe.is_elsewhere = supply.is_compiled, supply.is_elsewhere
            return self._universe, self._cells
        self._forget_cells()
        request = self.job.request(prepared)
        universe = self._universe = Universe(request.amendments, supply.is_compiled, supply.is_elsewhere)
        names = (self.job.rows.package, self.job.columns.package)
        universe.add(supply.packages(names), {})
        self._cells = drive(cells(universe, request), universe, supply)
        return universe, self._cells


def _cell(impossible: Impossible, place: tuple[Step, Step], answer: CellAnswer | None) -> Cell:
    return impossible.cell(*place) if answer is None else impossible.answered(*place, answer)


def _is_same(universe: Universe, supply: Supply) -> bool:
    """Whether the index still has the candidates that a universe was read from."""
    now = supply.packages(name for name in universe.packages if name != CUDA)
    before = universe.packages
    return all(
        list(before[name].versions) == list(package.versions) and before[name].gates == package.gates
        for name, package in now.items()
    )


def _steps(axis: Axis, universe: Universe) -> list[Step]:
    package = universe.packages[axis.package]
    places = {version: index for index, version in enumerate(package.versions)}
    missing = [version for versions in axis.versions for version in versions if version not in places]
    if missing:
        raise IndexUnavailable(
            f"the index does not offer {axis.package} {missing[0]} any more", hints=["run again"]
        )
    return [Step(axis.package, tuple(places[version] for version in versions)) for versions in axis.versions]
