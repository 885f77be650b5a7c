"""Options of the table as click knows them."""

from __future__ import annotations

from typing import Any

import click

from compatlock.cli.lock_options import OPTIONS
from compatlock.cli.option import FLAG, MANY, TEXT, Option
from compatlock.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


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


def parameters(fields: Collection[str], helps: Mapping[str, str]) -> list[click.Parameter]:
    """Those options of `lock` that another command has too, by field; `helps` are its own words for them."""
    taken = [option for option in OPTIONS if option.field in fields]
    return [parameter(option._replace(help=helps.get(option.field, option.help))) for option in taken]
