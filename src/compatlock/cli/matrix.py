"""`compatlock matrix`: which releases of two packages work together."""

from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import click

from compatlock.api.options import LockOptions
from compatlock.cli.lock_options import FILES
from compatlock.cli.messages import out, say
from compatlock.cli.parameters import parameters, refuse_empty
from compatlock.cli.settled import options_of, settled
from compatlock.cli.snapshot import refuse_standard_output, write_snapshot
from compatlock.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager

    from compatlock.api.matrix.matrix import MatrixOptions, MatrixProgress
    from compatlock.index.snapshot import Snapshot
    from compatlock.model.matrix import Matrix

# Options of `lock` that mean nothing for a matrix, and those kept that are no fields of `LockOptions`.
_LEFT_OUT = {"files", "strategy", "audit", "targets", "universal", "resolution", "auto_waive", "max_lag"}
_BESIDE = {
    "platform", "cuda", "driver", "no_shipped_facts", "no_soft_facts", "no_cache", "default_index", "indexes",
    "index_for", "as_json", "quiet",
}  # fmt: skip
_FIELDS = {*LockOptions._fields, *_BESIDE} - _LEFT_OUT
_ENDINGS = (".html", ".csv", ".json", ".md", ".png", ".txt")


def _run(
    *,
    rows: str,
    columns: str,
    files: tuple[str, ...],
    outputs: tuple[str, ...],
    pythons: tuple[str, ...],
    by: tuple[str, ...],
    jobs: int | None,
    resume: str | None,
    executor: str | None,
    record: str | None,
    **values: Any,
) -> None:
    from compatlock.api.matrix.matrix import MatrixOptions

    for path in outputs:
        _ending(path)
    refuse_standard_output(record or "")
    given, _ = settled(values)
    as_json, quiet = given.pop("as_json"), given.pop("quiet")
    options = options_of(given, files=files)
    wanted = MatrixOptions(
        (rows, columns),
        tuple(word for text in pythons for word in _versions(text)),
        by,
        jobs or 0,
        resume or "",
    )
    matrices, snapshot = _made(options, wanted, executor or "", record=bool(record), quiet=quiet)
    if record and snapshot is not None:
        write_snapshot(record, snapshot, quiet=quiet)
    for path in dict.fromkeys(outputs):
        _write(path, matrices, quiet=quiet)
    if as_json:
        out(str(_rendered(".json", matrices)), is_json=True)
    elif not outputs:
        from compatlock.api.matrix.tables import render_text

        out(render_text(matrices, colour=_is_terminal(sys.stdout)))
    if not quiet and (outputs or as_json):
        for matrix in matrices:
            _summarise(matrix)


def _versions(text: str) -> list[str]:
    """The Pythons of one `--python`. Raises InputError when there is none."""
    versions = [word.strip() for word in text.split(",") if word.strip()]
    if not versions:
        raise InputError(f"`--python {text}` names no Python", hints=["write `--python 3.12` or `3.11,3.12`"])
    return versions


def _made(
    options: LockOptions, wanted: MatrixOptions, executor: str, *, record: bool, quiet: bool
) -> tuple[Sequence[Matrix], Snapshot | None]:
    """The matrices, and what was read for them if that is to be recorded."""
    if record and executor:
        raise InputError(
            "what other processes read cannot be recorded", hints=["leave out `--executor` or `--record`"]
        )
    with _executor(executor) as engine, _progress(enabled=not quiet) as on_progress:
        if record:
            from compatlock.api.record import record_matrices

            return record_matrices(options, wanted, on_progress=on_progress)
        from compatlock.api.matrix.matrix import make_matrices

        return make_matrices(options, wanted, executor=engine, on_progress=on_progress), None


def _summarise(matrix: Matrix) -> None:
    from compatlock.api.matrix.marks import summary

    say(f"{matrix.target}: {summary(matrix)}")


# Files


def _ending(path: str) -> str:
    found = next((ending for ending in _ENDINGS if path.lower().endswith(ending)), None)
    if found is None:
        raise InputError(
            f"`{path}`: the name of a matrix file says its format", hints=[f"end it in {', '.join(_ENDINGS)}"]
        )
    return found


def _write(path: str, matrices: Sequence[Matrix], *, quiet: bool) -> None:
    from compatlock.lockfile.write import write_atomically, write_bytes_atomically

    content = _rendered(_ending(path), matrices)
    if isinstance(content, bytes):
        write_bytes_atomically(path, content)
    else:
        write_atomically(path, content)
    if not quiet:
        say(f"wrote {path}")


def _rendered(ending: str, matrices: Sequence[Matrix]) -> str | bytes:
    from compatlock.api.matrix import tables as matrix_tables

    if ending == ".html":
        from compatlock.api.matrix.page import render_html

        return render_html(matrices)
    if ending == ".png":
        from compatlock.api.matrix.png import render_png

        return render_png(matrices)
    if ending == ".txt":
        return matrix_tables.render_text(matrices, colour=False)
    write = {
        ".csv": matrix_tables.render_csv,
        ".json": matrix_tables.render_json,
        ".md": matrix_tables.render_markdown,
    }[ending]
    return write(matrices)


# Engines and progress


def _executor(name: str) -> AbstractContextManager[Executor | None]:
    """The executor that `MODULE:FACTORY` makes, which is shut down at the end. Raises InputError."""
    if not name:
        return nullcontext()
    from importlib import import_module

    hints = ["write MODULE:FACTORY, where FACTORY() gives a concurrent.futures executor"]
    module, _, factory = name.partition(":")
    try:
        made = getattr(import_module(module), factory)()
    except Exception as error:
        raise InputError(f"`--executor {name}`: {type(error).__name__}: {error}", hints=hints) from error
    if not callable(getattr(made, "submit", None)):
        raise InputError(f"`--executor {name}` gives a {type(made).__name__}, no executor", hints=hints)
    return _shutting_down(made)


@contextmanager
def _shutting_down(executor: Executor) -> Iterator[Executor]:
    try:
        yield executor
    except BaseException:
        # It may be what failed; what it says of that is not the first word.
        with suppress(Exception):
            executor.shutdown(wait=False)
        raise
    executor.shutdown(wait=True)


@contextmanager
def _progress(*, enabled: bool) -> Iterator[Callable[[MatrixProgress], None] | None]:
    """What shows how many cells are done, on a terminal only."""
    if not enabled or not _is_terminal(sys.stderr):
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status("cells: reading the index") as status:
        yield lambda progress: status.update(f"cells: {progress.done} of {progress.wanted}")


def _is_terminal(stream: Any) -> bool:
    return stream is not None and bool(stream.isatty())


matrix = click.Command(
    "matrix",
    callback=_run,
    params=[
        click.Argument(["rows"], metavar="ROWS", callback=refuse_empty),
        click.Argument(["columns"], metavar="COLUMNS", callback=refuse_empty),
        click.Argument([FILES], nargs=-1, metavar="[FILE]...", callback=refuse_empty),
        click.Option(
            ["-o", "--output-file", "outputs"],
            multiple=True,
            metavar="OUT",
            callback=refuse_empty,
            help="Where to write (repeatable): .html, .csv, .json, .md, .png or .txt; a table is "
            "printed unless given.",
        ),
        click.Option(
            ["--python", "--python-version", "pythons"],
            multiple=True,
            metavar="X.Y[,X.Y]",
            callback=refuse_empty,
            help="Pythons to look at, a matrix for each (repeatable).",
        ),
        click.Option(
            ["--by"],
            multiple=True,
            metavar="[PKG=]release|minor|auto",
            callback=refuse_empty,
            help="Steps of the axes, or of one (repeatable); auto goes by minors where there are more than "
            "100 releases.",
        ),
        click.Option(["-j", "--jobs"], type=click.IntRange(min=1), default=None, help="How many processes."),
        click.Option(
            ["--resume"],
            metavar="PARTS",
            callback=refuse_empty,
            help="Write finished parts to this file as they come, and take over those that it holds.",
        ),
        click.Option(
            ["--executor"],
            metavar="MODULE:FACTORY",
            callback=refuse_empty,
            help="Solve with the concurrent.futures executor that FACTORY() gives.",
        ),
        click.Option(
            ["--record"],
            metavar="SNAPSHOT",
            callback=refuse_empty,
            help="Record what is read of the index (in one process), to be replayed with --snapshot.",
        ),
        *parameters(_FIELDS, {"as_json": "Print the matrices as JSON on standard output."}),
    ],
    help="""Say of every pair of releases of two packages whether they work together, beside what else is
    asked for, and what is then pinned, or why they do not.

    ROWS and COLUMNS are packages, each maybe with a bound: `vllm>=0.6`. FILEs, --requirement lines and
    profiles are what `compatlock lock` takes; what they say of the two packages bounds the axes. Pre-releases
    are left out.
    """,
    short_help="Say which releases of two packages work together.",
)
