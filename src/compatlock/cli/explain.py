"""`compatlock explain`: why there is no answer, why a package has its version, why not another."""

from __future__ import annotations

import os
from typing import Any

import click

from compatlock.cli.messages import out, out_json, say
from compatlock.cli.parameters import parameters, refuse_empty
from compatlock.cli.progress import ProgressDisplay
from compatlock.cli.request_options import request_options
from compatlock.cli.settled import options_of, settled

_LEFT_OUT = ("strategy", "audit", "targets", "universal", "resolution")
_FILE_ENDINGS = (".in", ".txt", ".toml", ".lock", ".py")


def _is_source(argument: str) -> bool:
    """Whether an argument names a file; else it is a question."""
    path_like = os.sep in argument or argument.endswith(_FILE_ENDINGS)
    return argument == "-" or path_like or os.path.isfile(argument)


def _run(*, arguments: tuple[str, ...], why: tuple[str, ...], **values: Any) -> None:
    from compatlock.api.why.explain import explain_options

    given, _ = settled(values)
    as_json, quiet = given.pop("as_json"), given.pop("quiet")
    options = options_of(given, files=tuple(argument for argument in arguments if _is_source(argument)))
    questions = [*(argument for argument in arguments if not _is_source(argument)), *why]
    with ProgressDisplay(enabled=not quiet) as on_progress:
        explanation = explain_options(options, questions, on_progress=on_progress)
    if as_json:
        from compatlock.api.why.explain_json import explanation_to_json

        out_json(explanation_to_json(explanation))
    else:
        from compatlock.api.why.explain_words import describe

        out(describe(explanation))
    if explanation.error is not None:
        if questions and not quiet:
            say("note: the question is about a lock, and there is none")
        raise click.exceptions.Exit(explanation.error.exit_code)


explain = click.Command(
    "explain",
    callback=_run,
    params=[
        click.Argument(["arguments"], nargs=-1, metavar="[FILE | PKG | PKG==V]...", callback=refuse_empty),
        click.Option(
            ["--why", "why"],
            multiple=True,
            metavar="PKG|PKG==V",
            callback=refuse_empty,
            help="A question, for a package whose name is also a file's (repeatable).",
        ),
        *parameters(
            {option.field for option in request_options(*_LEFT_OUT)},
            {"as_json": "Print the explanation as JSON on standard output."},
        ),
    ],
    help="""Say why requirements cannot be satisfied and what would help, without locking anything.

    FILEs, --requirement lines and profiles are what `compatlock lock` takes. An argument that is no file is a
    question about the best answer: PKG asks why it has its version and what newer ones would cost, PKG==V why
    it has not that one.
    """,
    short_help="Say why: no answer, an old version, not another.",
)
