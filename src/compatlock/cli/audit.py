"""`compatlock audit`: what is in the files of a lock, beside what their metadata says."""

from __future__ import annotations

import json
from typing import Any

import click

from compatlock.cli.lock import parameter
from compatlock.cli.lock_options import OPTIONS
from compatlock.cli.messages import out, say
from compatlock.cli.progress import progress_display
from compatlock.cli.settled import settled

# The options of `lock` that an audit has too.
_TAKEN = {
    "profiles", "python", "platform", "cuda", "driver", "default_index", "indexes", "index_for", "cert",
    "offline", "cache_dir", "no_cache", "as_json", "quiet", "verbose",
}  # fmt: skip
_HELP = {
    "profiles": "A profile whose import checks count, and whose target if the lock names none (repeatable).",
    "python": "Python to audit for.",
    "platform": "Platform to audit for.",
    "as_json": "Print the report as JSON on standard output.",
    "verbose": "Show findings that are only possible, and everything of each.",
}


def _run(*, path: str, **values: Any) -> None:
    from compatlock.api.audit_words import audit_to_json, describe_audit
    from compatlock.api.auditing import audit_pins
    from compatlock.api.check_pins import read_given
    from compatlock.api.options import LockOptions
    from compatlock.model.target import Target

    given: dict[str, Any] = {name: "" if value is None else value for name, value in values.items()}
    given, remarks = settled({**given, "exclude_newer": ""})
    as_json, quiet, verbose = given.pop("as_json"), given.pop("quiet"), given.pop("verbose")
    target = Target(given.pop("python"), given.pop("platform"), given.pop("cuda"), given.pop("driver"))
    options = LockOptions(target=target, cache=not given.pop("no_cache"), **given)
    with progress_display(enabled=not quiet) as on_progress:
        subject = "standard input" if path == "-" else path
        report = audit_pins(options, read_given(path), subject, on_progress=on_progress)
    if not quiet:
        for note in (*remarks, *report.notes):
            say(f"note: {note}")
    if as_json:
        out(json.dumps(audit_to_json(report), indent=2) + "\n")
    else:
        out(describe_audit(report, verbose=verbose, failures_only=quiet))
    if not report.is_clean:
        raise click.exceptions.Exit(1)


def _parameters() -> list[click.Parameter]:
    taken = [option for option in OPTIONS if option.field in _TAKEN]
    return [parameter(option._replace(help=_HELP.get(option.field, option.help))) for option in taken]


audit = click.Command(
    "audit",
    callback=_run,
    params=[click.Argument(["path"], metavar="LOCK"), *_parameters()],
    help="""Look into the wheels of LOCK for what breaks when they are installed together: files that two of
    them install over each other, libraries of different CUDAs, symbols and names that are not there.

    LOCK is a requirements.lock, a pylock.toml, a JSON lock or the output of `pip freeze`, `-` standard input.
    Nothing is downloaded whole: the parts that matter are read by range requests, and remembered. Exit code
    0: nothing that breaks was found, 1: something was, 2: bad usage or input, 3: no index.
    """,
    short_help="Look into the wheels of a lock.",
)
