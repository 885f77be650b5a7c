"""Compatibility matrices: every pair of releases of two packages, solved beside what else is asked for."""

from __future__ import annotations

import os
import shlex

from compatlock.api.matrix.axes import axis_of, parse_axes, parse_by
from compatlock.api.matrix.resume import Finished, key_of
from compatlock.api.matrix.work import Chunk, Job
from compatlock.api.matrix.workers import solved
from compatlock.api.session import with_supply
from compatlock.api.times import format_time
from compatlock.errors import InputError
from compatlock.model.matrix import Cell, Matrix
from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor

    from compatlock.api.options import LockOptions
    from compatlock.api.request import Prepared
    from compatlock.index.supply import Supply
    from compatlock.model.package import Package
    from compatlock.model.request import Request

# About so many cells make a part: what one process solves at once, and what is written down as finished.
_CELLS = 480


class MatrixOptions(NamedTuple):
    """What is asked of a matrix beside `LockOptions`.

    axes:    the packages of rows and columns, each maybe with a bound and extras (`vllm>=0.6`)
    pythons: one matrix for each (`3.11`); the target's unless given
    by:      `minor`, `release` or `auto`, for one axis `PKG=minor`; auto goes by minors where there are more
             than 100 releases
    jobs:    how many processes; 0 is one for each processor
    resume:  a file that finished parts are taken from and written to; `""` for none
    """

    axes: tuple[str, str]
    pythons: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    jobs: int = 0
    resume: str = ""


class MatrixProgress(NamedTuple):
    """How many cells of all matrices are done."""

    done: int
    wanted: int


class _Plan(NamedTuple):
    job: Job
    head: Matrix
    parts: tuple[tuple[str, Chunk], ...]


def make_matrices(
    options: LockOptions,
    wanted: MatrixOptions,
    *,
    executor: Executor | None = None,
    on_progress: Callable[[MatrixProgress], None] | None = None,
    on_read: Callable[[Supply], None] | None = None,
) -> tuple[Matrix, ...]:
    """One matrix for every Python. The cells are solved by `executor`, by processes of this machine, or where
    one process is enough by this one. `on_read` is called after each part with what answered its needs (which
    tells what was read); the work is then done by this process.

    Raises InputError for what cannot be used, IndexUnavailable when the index cannot be asked, WorkerLost
    when what solves a part fails.
    """
    _refuse(options, wanted, executor)
    finished = Finished(wanted.resume)
    plans = [_plan(_for_python(options, python), wanted, on_read) for python in wanted.pythons or ("",)]
    parts = [part for plan in plans for part in plan.parts]
    rows: dict[str, tuple[tuple[Cell, ...], ...]] = {}
    todo = []
    for key, chunk in parts:
        known = finished.get(key)
        if known is None:
            todo.append((key, chunk))
        else:
            rows[key] = known
    total = sum(_size(chunk) for _, chunk in parts)
    done = total - sum(_size(chunk) for _, chunk in todo)
    sizes = {key: _size(chunk) for key, chunk in todo}
    jobs = 1 if on_read is not None else _jobs(options, wanted, len(todo))
    for key, found in solved(todo, executor, jobs, on_read):
        finished.add(key, found)
        rows[key] = found
        done += sizes[key]
        if on_progress is not None:
            on_progress(MatrixProgress(done, total))
    return tuple(
        plan.head._replace(cells=tuple(row for key, _ in plan.parts for row in rows[key])) for plan in plans
    )


def _refuse(options: LockOptions, wanted: MatrixOptions, executor: Executor | None) -> None:
    for word, given in (
        ("--strategy greedy", options.strategy != "optimal"),
        (f"--resolution {options.resolution}", options.resolution != "highest"),
        ("--audit", options.audit),
        ("--auto-waive", options.auto_waive),
        ("--target", options.targets),
        ("--universal", options.universal),
    ):
        if given:
            raise InputError(f"`{word}` is not for a matrix", hints=["leave it out"])
    if executor is not None and options.snapshot:
        raise InputError(
            "a snapshot holds what one process reads, part by part", hints=["leave out `--executor`"]
        )
    if executor is not None and wanted.jobs:
        raise InputError(
            "an executor has its own number of processes", hints=["leave out `--jobs` or `--executor`"]
        )
    if wanted.jobs > 1 and _is_one_process(options):
        what = "what a snapshot holds" if options.snapshot else "a cache in memory"
        raise InputError(f"{what} is read by one process", hints=["leave out `--jobs`"])
    if executor is not None and _has_login(options):
        raise InputError(
            "the URL of an index holds credentials, which are not sent to other processes",
            hints=["put them into a netrc file or a keyring where the work is done"],
        )


def _has_login(options: LockOptions) -> bool:
    indexes = options.indexes
    named = (indexes.default, *indexes.extra, *(index for _, index in indexes.assigned))
    return any(index.login is not None for index in named)


def _for_python(options: LockOptions, python: str) -> LockOptions:
    return options._replace(target=options.target._replace(python=python)) if python else options


# The plan


def _plan(options: LockOptions, wanted: MatrixOptions, on_read: Callable[[Supply], None] | None) -> _Plan:
    """The axes of one target, and the parts that its matrix is solved in."""

    def work(prepared: Prepared, supply: Supply) -> _Plan:
        request = prepared.request
        asked = parse_axes(wanted.axes)
        by = parse_by(wanted.by, asked)
        supply.packages([*(axis.name for axis in asked), *(root.name for root in request.roots)])
        _refuse_unknown(request, supply)
        rows, columns = (axis_of(axis, request, supply, by) for axis in asked)
        job = Job(options, wanted.axes, rows, columns)
        both = [supply.package(axis.name) for axis in asked]
        packages = [*both, *(supply.package(root.name) for root in request.roots)]
        height = max(1, _CELLS // len(columns.labels))
        chunks = [Chunk(job, k, height) for k in range(0, len(rows.labels), height)]
        supply.save()
        if on_read is not None:
            on_read(supply)
        head = Matrix(
            rows,
            columns,
            str(request.target),
            (),
            command=_command(options, wanted),
            index_state=_index_state(request, both),
            asked=_asked(options, request),
            # A snapshot holds what the matrix read, not what a lock of a single cell would.
            lock=tuple(shlex.split(options._replace(snapshot="").command())[2:]),
        )
        full = job.request(prepared)
        return _Plan(job, head, tuple((key_of(chunk, full, packages), chunk) for chunk in chunks))

    return with_supply(options, work, needs_roots=False)


def _refuse_unknown(request: Request, supply: Supply) -> None:
    """Raise InputError for a requirement that would make every cell impossible."""
    for root in request.roots:
        if not supply.package(root.name).found:
            where = f" ({root.origin})" if root.origin else ""
            raise InputError(f"the index has no project `{root.name}`{where}", hints=["is it spelt right?"])


def _command(options: LockOptions, wanted: MatrixOptions) -> str:
    """The command line that makes the matrix again."""
    words = [*wanted.axes, *(word for text in wanted.by for word in ("--by", text))]
    again = options.command().replace("compatlock lock", f"compatlock matrix {shlex.join(words)}", 1)
    return again.replace(" --python-version ", " --python ")


def _index_state(request: Request, packages: Sequence[Package]) -> str:
    cut = request.policy.exclude_newer
    if cut is not None:
        return f"as of {format_time(cut)}"
    times = [time for package in packages for time in package.times if time is not None]
    return f"newest release of these packages {format_time(max(times))}" if times else ""


def _asked(options: LockOptions, request: Request) -> tuple[str, ...]:
    profiles = tuple(f"profile {name}" for name in options.profiles)
    lines = {str(root) for root in request.roots if not root.origin.startswith("profile ")}
    return (*profiles, *sorted(lines))


# The work


def _size(chunk: Chunk) -> int:
    rows = len(chunk.job.rows.labels) - chunk.first
    return min(rows, chunk.height) * len(chunk.job.columns.labels)


def _is_one_process(options: LockOptions) -> bool:
    return not options.cache or bool(options.snapshot)


def _jobs(options: LockOptions, wanted: MatrixOptions, parts: int) -> int:
    """How many processes are worth their while. A cache in memory is of one process only; so is a snapshot,
    which holds what one process reads for all parts in turn."""
    if _is_one_process(options) or _has_login(options):
        return 1
    return min(wanted.jobs or _processors(), parts)


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
