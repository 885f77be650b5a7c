"""`compatlock lock` as click knows it: for help, for wrong usage, and for what is not plain."""

from __future__ import annotations

from typing import Any

import click

from compatlock.cli.lock_options import FILES, OPTIONS
from compatlock.cli.parameters import parameter, refuse_empty
from compatlock.cli.run_lock import run_lock


def _run(**values: Any) -> None:
    given: dict[str, Any] = {name: "" if value is None else value for name, value in values.items()}
    run_lock(**given)


lock = click.Command(
    "lock",
    callback=_run,
    params=[
        click.Argument([FILES], nargs=-1, metavar="[FILE]...", callback=refuse_empty),
        *(parameter(option) for option in OPTIONS),
    ],
    help=run_lock.__doc__,
    short_help="Lock requirements or a profile.",
)
