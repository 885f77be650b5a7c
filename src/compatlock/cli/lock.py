"""`compatlock lock` as click knows it: for help, for wrong usage, and for what is not plain."""

from __future__ import annotations

from typing import Any

import click

from compatlock.cli.lock_options import FILES, OPTIONS
from compatlock.cli.option import FLAG, MANY, TEXT, Option
from compatlock.cli.run_lock import run_lock
from compatlock.errors import InputError


def refuse_empty(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """Return the value of a parameter, as its callback. Raises InputError when it was given as an empty word:
    what a shell makes of an unset variable must not turn an index or a time limit off."""
    if context.get_parameter_source(parameter.name or "") is not click.core.ParameterSource.COMMANDLINE:
        return value
    if all(word.strip() for word in (value if isinstance(value, tuple) else (value,))):
        return value
    if isinstance(parameter, click.Argument):
        message, hint = "a FILE or name is an empty word", "is a variable of the shell not set?"
    else:
        message = f"the value of `{max(parameter.opts, key=len)}` is empty"
        hint = "is a variable of the shell not set? Leave the option out if the default is meant"
    raise InputError(message, hints=[hint])


def parameter(option: Option) -> click.Option:
    """An option of the table as click knows it."""
    names = [*option.names, option.field]
    if option.kind == FLAG:
        return click.Option(names, is_flag=True, help=option.help)
    bare: dict[str, Any] = {"is_flag": False, "flag_value": option.bare} if option.bare else {}
    return click.Option(
        names,
        **bare,
        multiple=option.kind == MANY,
        type=click.Choice(option.choices) if option.choices else str,
        default=option.default if option.kind == TEXT and option.default in option.choices else None,
        show_default=bool(option.default),
        metavar=option.metavar or None,
        help=option.help,
        envvar=option.variable or None,
        callback=refuse_empty,
    )


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
