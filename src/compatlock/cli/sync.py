"""`compatlock sync`: from a lock to an environment that has it."""

from __future__ import annotations

import sys
from typing import Any

import click

from compatlock.cli.messages import out, out_json, say
from compatlock.cli.parameters import parameters, refuse_empty
from compatlock.cli.settled import options_of, settled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compatlock.api.sync import Synced

# The options of `lock` that `sync` has too.
_TAKEN = {
    "profiles", "default_index", "indexes", "cert", "facts", "no_shipped_facts", "no_soft_facts", "waive",
    "offline", "cache_dir", "no_cache", "as_json", "quiet",
}  # fmt: skip
_HELP = {
    "profiles": "A profile whose imports and waivers count, instead of the lock's (repeatable).",
    "default_index": "Root of the package index, instead of the one that the lock was made with.",
    "indexes": "A further index (repeatable); those that requirements.lock names are asked anyway.",
    "waive": "Accept that A's bound on B is broken (repeatable); what the lock waived is accepted anyway.",
    "offline": "Install only what uv's cache holds.",
    "cache_dir": "Where uv's cache lives.",
    "no_cache": "Let uv keep no cache.",
    "as_json": "Print what was done and the report of the check as JSON on standard output.",
}


def _run(
    *,
    path: str,
    env: str | None,
    python: str | None,
    create: bool,
    exact: bool,
    dry_run: bool,
    modules: tuple[str, ...],
    no_imports: bool,
    **values: Any,
) -> None:
    from compatlock.api.check.installed import ImportChecks
    from compatlock.api.sync import SyncOptions, sync_environment

    unasked = {"exclude_newer": "", "index_for": (), "cuda": "", "driver": ""}
    given, remarks = settled({**values, **unasked})
    as_json, quiet, cache_dir = given.pop("as_json"), given.pop("quiet"), values["cache_dir"] or ""
    options = options_of(given)
    tell = (lambda _: None) if quiet else say
    wanted = SyncOptions(
        path,
        env or "",
        python or "",
        create,
        exact,
        dry_run,
        cache_dir,
        ImportChecks(modules, not no_imports, on_import=lambda module: tell(f"importing {module}")),
    )
    # On a terminal uv shows its progress itself.
    shown = not quiet and sys.stderr is not None and sys.stderr.isatty()
    done = sync_environment(options, wanted, say=tell, shown=shown)
    if not quiet:
        notes = (*remarks, *done.notes, *(done.report.notes if done.report is not None else ()))
        for note in dict.fromkeys(notes):
            say(f"note: {note}")
        # uv has listed them already where it is shown.
        _say_changes(done, dry_run=dry_run, listed=not shown or dry_run)
    _print(done, as_json=as_json, quiet=quiet)
    if done.report is not None and not done.report.is_clean:
        raise click.exceptions.Exit(1)


def _say_changes(done: Synced, *, dry_run: bool, listed: bool) -> None:
    from compatlock.lockfile.compare import describe

    words = describe(done.changes) if listed else describe(done.changes).partition("\n")[0]
    say(f"{'would change' if dry_run else 'changed'} in {done.environment}: {words}")


def _print(done: Synced, *, as_json: bool, quiet: bool) -> None:
    from compatlock.api.check.words import describe_report, report_to_json

    if as_json:
        value = {
            "version": 1,
            "environment": done.environment,
            "created": done.created,
            "changes": [change._asdict() for change in done.changes],
            "check": report_to_json(done.report) if done.report is not None else None,
            "notes": list(done.notes),
        }
        out_json(value)
    elif done.report is not None:
        out(describe_report(done.report, errors_only=quiet))


sync = click.Command(
    "sync",
    callback=_run,
    params=[
        click.Argument(["path"], metavar="LOCK", callback=refuse_empty),
        click.Option(
            ["--env"],
            metavar="PATH",
            callback=refuse_empty,
            help="The environment: its root, which is made if it does not exist. Without it, that of "
            "--python, the active one, or .venv.",
        ),
        click.Option(
            ["--python"],
            metavar="PATH|X.Y",
            callback=refuse_empty,
            help="The Python of the environment; or, when it is to be made, the one to make it with.",
        ),
        click.Option(["--create"], is_flag=True, help="Make the environment if it does not exist."),
        click.Option(["--exact"], is_flag=True, help="Remove what the lock does not have (named before)."),
        click.Option(["--dry-run"], is_flag=True, help="Change nothing; say what would be done."),
        click.Option(
            ["--import", "modules"],
            multiple=True,
            metavar="MODULE",
            callback=refuse_empty,
            help="This module has to be importable afterwards (repeatable).",
        ),
        click.Option(["--no-imports"], is_flag=True, help="Do not import what the lock's profile says."),
        *parameters(_TAKEN, _HELP),
    ],
    help="""Install exactly what LOCK pins into an environment, through uv, and check it then.

    LOCK is a requirements.lock, a pylock.toml or a JSON lock. Nothing is resolved: no dependencies are added,
    and files must have the hashes of the lock. What else is installed stays, unless --exact is given. The
    environment that compatlock itself runs in is never changed.
    Exit code 0: it is as the lock says, 1: it is not, or could not be installed, 2: bad usage or input,
    3: index or network.
    """,
    short_help="Install exactly a lock into an environment, and check it.",
)
