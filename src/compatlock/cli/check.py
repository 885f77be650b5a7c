"""`compatlock check`: what does not fit among what somebody has."""

from __future__ import annotations

import json
import os
from typing import Any

import click

from compatlock.cli.lock import parameter, refuse_empty
from compatlock.cli.lock_options import OPTIONS
from compatlock.cli.messages import out, say
from compatlock.cli.progress import progress_display
from compatlock.cli.settled import settled
from compatlock.errors import InputError

# The options of `lock` that a check has too.
_TAKEN = {
    "profiles", "requirements", "python", "platform", "cuda", "driver", "default_index", "indexes",
    "index_for", "cert", "facts", "no_shipped_facts", "no_soft_facts", "waive", "exclude_dependencies",
    "offline", "cache_dir", "no_cache", "as_json", "quiet",
}  # fmt: skip
_HELP = {
    "profiles": "What a profile asks for has to be there, its waivers and features count (repeatable).",
    "requirements": "A requirement that has to be fulfilled, with extras that count (repeatable).",
    "python": "Python to check for.",
    "platform": "Platform to check for.",
    "cuda": "The highest CUDA of the target (`auto`: that of the running machine's driver).",
    "waive": "Accept that A's bound on B is broken (repeatable).",
    "as_json": "Print the report as JSON on standard output.",
}


def _run(*, path: str | None, env: bool, **values: Any) -> None:
    from compatlock.api.check_words import describe_report, report_to_json
    from compatlock.api.options import LockOptions
    from compatlock.model.target import Target

    if path is None and not env:
        raise InputError(
            "nothing to check: no file was given",
            hints=["name a lock or the output of `pip freeze`; `--env` checks the running environment"],
        )
    if path is not None and not env and os.path.isdir(path):
        raise InputError(f"{path} is a folder", hints=[f"`--env {path}` checks an environment"])
    given: dict[str, Any] = {name: "" if value is None else value for name, value in values.items()}
    given, remarks = settled({**given, "exclude_newer": ""})
    as_json, quiet = given.pop("as_json"), given.pop("quiet")
    options = LockOptions(
        target=Target(*(given.pop(field) for field in Target._fields)),
        shipped_facts=not given.pop("no_shipped_facts"),
        soft_facts=not given.pop("no_soft_facts"),
        cache=not given.pop("no_cache"),
        **given,
    )
    with progress_display(enabled=not quiet) as on_progress:
        if env:
            from compatlock.api.checking import check_environment

            report = check_environment(options, path or "")
        else:
            from compatlock.api.check_pins import read_given
            from compatlock.api.checking import check_pins

            pins = path or ""
            subject = "standard input" if pins == "-" else pins
            report = check_pins(options, read_given(pins), subject, on_progress=on_progress)
    if not quiet:
        # An environment is checked without asking an index.
        for note in (*(() if env else remarks), *report.notes):
            say(f"note: {note}")
    out(
        json.dumps(report_to_json(report), indent=2) + "\n"
        if as_json
        else describe_report(report, errors_only=quiet)
    )
    if not report.is_clean:
        raise click.exceptions.Exit(1)


def _parameters() -> list[click.Parameter]:
    taken = [option for option in OPTIONS if option.field in _TAKEN]
    return [parameter(option._replace(help=_HELP.get(option.field, option.help))) for option in taken]


check = click.Command(
    "check",
    callback=_run,
    params=[
        click.Argument(["path"], required=False, metavar="[FILE | PATH]", callback=refuse_empty),
        click.Option(
            ["--env"],
            is_flag=True,
            help="PATH is an environment: its root, its Python or a site-packages folder; the running one "
            "unless given.",
        ),
        *_parameters(),
    ],
    help="""Check what somebody has against what packages declare and what is known of them.

    FILE is the output of `pip freeze`, or a lock (requirements.lock, pylock.toml, JSON), `-` standard input.
    Exit code 0: everything fits (soft facts warn), 1: something does not, 2: bad usage or input.
    """,
    short_help="Check an environment, pip freeze output or a lock.",
)
