"""`compatlock audit`: what is in the files of a lock, beside what their metadata says."""

from __future__ import annotations

from typing import Any

import click

from compatlock.cli.messages import out, out_json, say
from compatlock.cli.parameters import parameters
from compatlock.cli.progress import ProgressDisplay
from compatlock.cli.settled import options_of, settled
from compatlock.errors import InputError
from compatlock.lockfile.formats import STDOUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from compatlock.api.check.pins import Given
    from compatlock.api.options import LockOptions
    from compatlock.index.progress import Progress
    from compatlock.model.audit_report import AuditReport

# The options of `lock` that an audit has too.
_TAKEN = {
    "profiles", "requirements", "python", "platform", "cuda", "driver", "default_index", "indexes",
    "index_for", "cert", "facts", "no_shipped_facts", "no_soft_facts", "exclude_newer", "offline",
    "cache_dir", "no_cache", "as_json", "quiet", "verbose",
}  # fmt: skip
_HELP = {
    "requirements": "With --fix: what was asked for, else what LOCK says or implies (repeatable).",
    "facts": "With --fix: a further facts file (repeatable).",
    "no_shipped_facts": "With --fix: leave out the facts that come with compatlock.",
    "no_soft_facts": "With --fix: leave out the facts that only warn.",
    "exclude_newer": "With --fix: files uploaded after this time do not exist.",
    "profiles": "A profile whose import checks count, and whose target if the lock names none (repeatable).",
    "python": "Python to audit for.",
    "platform": "Platform to audit for.",
    "as_json": "Print the report as JSON on standard output.",
    "verbose": "Show findings that are only possible, and everything of each.",
}


def _run(*, path: str, fix: bool, outputs: tuple[str, ...], **values: Any) -> None:
    from compatlock.api.audit.auditing import audit_pins
    from compatlock.api.check.pins import read_given

    if outputs and not fix:
        raise InputError("`--output-file` is where `--fix` writes", hints=["add `--fix`, or leave it out"])
    given, remarks = settled(values)
    as_json, quiet, verbose = given.pop("as_json"), given.pop("quiet"), given.pop("verbose")
    options = options_of(given)
    with ProgressDisplay(enabled=not quiet) as on_progress:
        subject = "standard input" if path == "-" else path
        pins = read_given(path)
        report = audit_pins(options._replace(requirements=()), pins, subject, on_progress=on_progress)
    if not quiet:
        for note in (*remarks, *report.notes):
            say(f"note: {note}")
    _print(report, as_json=as_json, quiet=quiet, verbose=verbose)
    if fix and not report.is_clean:
        with ProgressDisplay(enabled=not quiet) as on_progress:
            _fix(options, pins, path, outputs, quiet=quiet, on_progress=on_progress)
    elif not report.is_clean:
        raise click.exceptions.Exit(1)


def _print(report: AuditReport, *, as_json: bool, quiet: bool, verbose: bool) -> None:
    from compatlock.api.audit.words import audit_to_json, describe_audit

    if as_json:
        out_json(audit_to_json(report))
    else:
        out(describe_audit(report, verbose=verbose, failures_only=quiet))


def _fix(
    options: LockOptions,
    pins: Given,
    path: str,
    outputs: tuple[str, ...],
    *,
    quiet: bool,
    on_progress: Callable[[Progress], None] | None,
) -> None:
    """Lock again with as few changes as possible, and say what changed."""
    from compatlock.api.audit.fix import fix_pins
    from compatlock.lockfile.diff_words import diff_text

    fixed = fix_pins(options, pins, path, outputs or (path,), on_progress=on_progress)
    for file in fixed.written.files:
        if file.path == STDOUT:
            out(file.text)
    if quiet:
        return
    if fixed.asked:
        say(f"note: taken as asked for (say it with -r to be exact): {', '.join(fixed.asked)}")
    for note in fixed.written.outcome.lock.notes:
        say(f"note: {note}")
    say(diff_text(fixed.diff).rstrip())
    for file in fixed.written.files:
        if file.path != STDOUT:
            say(f"wrote {file.path}")


audit = click.Command(
    "audit",
    callback=_run,
    params=[
        click.Argument(["path"], metavar="LOCK"),
        click.Option(
            ["--fix"],
            is_flag=True,
            help="If something breaks, lock again with as few changes as possible, until nothing does.",
        ),
        click.Option(
            ["-o", "--output-file", "outputs"],
            multiple=True,
            metavar="FILE",
            help="With --fix: where to write, instead of to LOCK itself (repeatable).",
        ),
        *parameters(_TAKEN, _HELP),
    ],
    help="""Look into the wheels of LOCK for what breaks when they are installed together: files that two of
    them install over each other, libraries of different CUDAs, symbols and names that are not there.

    LOCK is a requirements.lock, a pylock.toml, a JSON lock or the output of `pip freeze`, `-` standard input.
    Nothing is downloaded whole: the parts that matter are read by range requests, and remembered. Exit code
    0: nothing that breaks was found, 1: something was, 2: bad usage or input, 3: no index.
    """,
    short_help="Look into the wheels of a lock.",
)
