"""`compatlock snapshot`: record what a run reads of an index."""

from __future__ import annotations

from typing import Any

import click

from compatlock.cli.lock_options import FILES
from compatlock.cli.messages import say
from compatlock.cli.parameters import parameter, refuse_empty
from compatlock.cli.progress import ProgressDisplay
from compatlock.cli.request_options import request_options
from compatlock.cli.settled import options_of, settled
from compatlock.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compatlock.index.snapshot import Snapshot

# Options of a request that nothing is recorded for, and the one that replays.
_LEFT_OUT = ("audit", "as_json", "snapshot")
_DEFAULT_OUTPUT = "snapshot.json.xz"


def _run(*, files: tuple[str, ...], output: str, **values: Any) -> None:
    from compatlock.api.record import record

    refuse_standard_output(output)
    given, _ = settled(values)
    quiet = given.pop("quiet")
    options = options_of(given, files=files)
    with ProgressDisplay(enabled=not quiet) as on_progress:
        snapshot, failure = record(options, on_progress=on_progress)
    write_snapshot(output, snapshot, quiet=quiet)
    if failure is not None and not quiet:
        say(f"the run that it records found no answer: {failure.message}")


def refuse_standard_output(output: str) -> None:
    """Raise InputError when a snapshot is to be written to `-`: it is a file to be kept."""
    if output == "-":
        raise InputError(
            "a snapshot cannot be written to standard output",
            hints=[f"name a file, such as {_DEFAULT_OUTPUT}"],
        )


def write_snapshot(output: str, snapshot: Snapshot, *, quiet: bool) -> None:
    """Write a snapshot, compressed unless its name ends in `.json`, and unless `quiet` say what is in it."""
    from compatlock.lockfile.write import write_bytes_atomically
    from compatlock.model.display import counted

    document = snapshot.dump(plain=output.lower().endswith(".json"))
    write_bytes_atomically(output, document)
    if not quiet:
        say(
            f"{counted(len(snapshot.listings), 'project')}, "
            f"metadata of {counted(len(snapshot.metadata), 'file')}"
        )
        say(f"wrote {output} ({counted(len(document), 'byte')})")


snapshot = click.Command(
    "snapshot",
    callback=_run,
    params=[
        click.Argument([FILES], nargs=-1, metavar="[FILE]...", callback=refuse_empty),
        click.Option(
            ["-o", "--output-file", "output"],
            default=_DEFAULT_OUTPUT,
            show_default=True,
            metavar="OUT",
            help="Where to write the snapshot: compressed by xz, or as plain JSON to a name ending in .json.",
            callback=refuse_empty,
        ),
        *(parameter(option) for option in request_options(*_LEFT_OUT)),
    ],
    help="""Record what locking FILEs, requirements and profiles reads of the index: small, without addresses,
    for a bug report or a test. `compatlock lock --snapshot OUT` and `explain --snapshot OUT` replay it,
    without a network, and give the same answer for ever. (A question to
    `explain` may need more; a matrix does, see `compatlock matrix --record`.)
    """,
    short_help="Record what a run reads of the index.",
)
