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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compatlock.index.snapshot import Snapshot

# Options of a request that nothing is recorded for, and the one that replays.
_LEFT_OUT = ("audit", "as_json", "snapshot")
_DEFAULT_OUTPUT = "snapshot.json.xz"


def _run(*, files: tuple[str, ...], output: str, **values: Any) -> None:
    from compatlock.api.record import record

    given, _ = settled(values)
    quiet = given.pop("quiet")
    options = options_of(given, files=files)
    with ProgressDisplay(enabled=not quiet) as on_progress:
        snapshot = record(options, on_progress=on_progress)
    write_snapshot(output, snapshot, quiet=quiet)


def write_snapshot(output: str, snapshot: Snapshot, *, quiet: bool) -> None:
    """Write a snapshot, and unless `quiet` say what is in it."""
    from compatlock.lockfile.write import write_bytes_atomically

    document = snapshot.dump()
    write_bytes_atomically(output, document)
    if not quiet:
        say(f"{len(snapshot.listings)} projects, {len(snapshot.metadata)} files' metadata")
        say(f"wrote {output} ({len(document)} bytes)")


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
            help="Where to write the snapshot.",
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
