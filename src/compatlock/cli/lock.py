"""`compatlock lock` as click knows it: for help, for wrong usage, and for what is not plain."""

from __future__ import annotations

from typing import Any

import click

from compatlock.cli.lock_options import FILES, OPTIONS
from compatlock.cli.option import FLAG, MANY, TEXT, Option
from compatlock.cli.run_lock import run_lock


def parameter(option: Option) -> click.Option:
    """An option of the table as click knows it."""
    names = [*option.names, option.field]
    if option.kind == FLAG:
        return click.Option(names, is_flag=True, help=option.help)
    return click.Option(
        names,
        multiple=option.kind == MANY,
        type=click.Choice(option.choices) if option.choices else str,
        default=option.default if option.kind == TEXT and option.default in option.choices else None,
        show_default=bool(option.default),
        metavar=option.metavar or None,
        help=option.help,
        envvar=option.variable or None,
    )


def _run(**values: Any) -> None:
    given: dict[str, Any] = {name: "" if value is None else value for name, value in values.items()}
    run_lock(**given)


lock = click.Command(
    "lock",
    callback=_run,
    params=[
        click.Argument([FILES], nargs=-1, metavar="[FILE]..."),
        *(parameter(option) for option in OPTIONS),
    ],
    help=run_lock.__doc__,
    short_help="Lock requirements or a profile.",
)
