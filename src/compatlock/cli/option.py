"""Options of a command as data: the plain parser and click read the same table."""

from __future__ import annotations

from compatlock.model.named_tuple import NamedTuple

FLAG, TEXT, MANY = "flag", "text", "many"


class Option(NamedTuple):
    """One option.

    names:   as they are written, such as `-o` and `--output-file`
    field:   name of the value
    kind:    FLAG (a boolean), TEXT (the last one given counts) or MANY (repeatable, a tuple)
    help, metavar: for the help text
    choices: the words that are allowed, any text when empty
    default: of a TEXT option
    bare:    of a MANY option, the value that it stands for when none follows; `""` if one has to
    variable: the environment variable that stands for a TEXT option, `""` for none
    """

    names: tuple[str, ...]
    field: str
    kind: str = FLAG
    metavar: str = ""
    help: str = ""
    choices: tuple[str, ...] = ()
    default: str = ""
    variable: str = ""
    bare: str = ""
