"""`compatlock conflicts suggest`: what an audit found, as entries for a facts file."""

from __future__ import annotations

from typing import Any

import click

from compatlock.cli.messages import out, say
from compatlock.cli.parameters import parameters, refuse_empty
from compatlock.cli.progress import ProgressDisplay
from compatlock.cli.settled import options_of, settled

# The options of `lock` that are for this command too.
_TAKEN = {
    "profiles", "python", "platform", "cuda", "driver", "default_index", "indexes", "index_for", "cert",
    "offline", "cache_dir", "no_cache", "quiet",
}  # fmt: skip
_HELP = {
    "profiles": "A profile whose import checks count, and whose target if SRC names none (repeatable).",
    "python": "Python to audit for.",
    "platform": "Platform to audit for.",
}


def _run(*, path: str, possible: bool, **values: Any) -> None:
    from compatlock.api.audit.suggest import facts_text, suggest
    from compatlock.api.check.pins import read_given

    given, remarks = settled({**values, "exclude_newer": ""})
    quiet = given.pop("quiet")
    options = options_of(given)
    with ProgressDisplay(enabled=not quiet) as on_progress:
        subject = "standard input" if path == "-" else path
        found = suggest(options, read_given(path), subject, possible=possible, on_progress=on_progress)
    if not quiet:
        for note in (*remarks, *found.report.notes):
            say(f"note: {note}")
        for finding in found.left_out:
            say(f"not for a facts file: {finding.summary}")
        for line in found.report.unread:
            say(f"not audited: {line}")
        if not found.entries:
            say(f"{subject}: nothing found that breaks")
    out(facts_text(found))


suggest = click.Command(
    "suggest",
    callback=_run,
    params=[
        click.Argument(["path"], metavar="SRC", callback=refuse_empty),
        click.Option(["--possible"], is_flag=True, help="Take findings that are only possible, too."),
        *parameters(_TAKEN, _HELP),
    ],
    help="""Audit SRC and write what breaks as entries of a facts file, on standard output.

    SRC is a requirements.lock, a pylock.toml, a JSON lock or the output of `pip freeze`, `-` standard input.
    Each entry is about as many releases as it was found to hold for, and has evidence that `conflicts
    verify` can check again. `lock --facts FILE` then keeps apart what does not work together.
    """,
    short_help="Write an audit's findings as facts.",
)
