"""`compatlock check`: what does not fit among what somebody has."""

from __future__ import annotations

import os
from typing import Any

import click

from compatlock.cli.messages import out, out_json, say
from compatlock.cli.parameters import parameters, refuse_empty
from compatlock.cli.progress import ProgressDisplay
from compatlock.cli.settled import options_of, settled
from compatlock.errors import InputError
from compatlock.inputs.file_bytes import kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from compatlock.api.check.installed import ImportChecks
    from compatlock.api.options import LockOptions
    from compatlock.model.report import Report

# The options of `lock` that a check has too.
_TAKEN = {
    "profiles", "requirements", "extras", "groups", "python", "platform", "targets", "universal",
    "cuda", "driver", "default_index", "indexes", "index_for", "cert", "facts", "no_shipped_facts",
    "no_soft_facts", "waive", "exclude_dependencies", "prerelease", "allow_yanked", "no_yanked", "offline",
    "cache_dir", "no_cache", "as_json", "quiet",
}  # fmt: skip
_HELP = {
    "profiles": "What a profile asks for has to be there; its waivers and imports count (repeatable).",
    "requirements": "A requirement that has to be fulfilled, with extras that count (repeatable).",
    "python": "Python to check for.",
    "platform": "Platform to check for.",
    "targets": "Check for several targets: PYTHON@PLATFORM, PYTHON or PLATFORM (repeatable).",
    "universal": "Check for Linux (x86_64, aarch64), macOS (arm64) and Windows, over the project's Pythons.",
    "cuda": "The highest CUDA of the target (`auto`: that of the running machine's driver).",
    "waive": "Accept that A's bound on B is broken (repeatable).",
    "as_json": "Print the report as JSON on standard output.",
}
# Stands for the running environment, where `--env` has no value.
_RUNNING = "\0"


def _run(
    *,
    paths: tuple[str, ...],
    env: str | None,
    exact: bool,
    modules: tuple[str, ...],
    no_imports: bool,
    **values: Any,
) -> None:
    given, remarks = settled({**values, "exclude_newer": ""})
    as_json, quiet = given.pop("as_json"), given.pop("quiet")
    locks, asked, env = _sorted_out(paths, env)
    if env is None and (exact or modules or no_imports):
        word = "--exact" if exact else "--import" if modules else "--no-imports"
        raise InputError(f"`{word}` is about an environment", hints=["name it: `--env PATH`"])
    if env is not None and (given["targets"] or given["universal"]):
        word = "--target" if given["targets"] else "--universal"
        raise InputError(
            f"`{word}` is about a lock: an environment is for one target", hints=["leave it out"]
        )
    options = options_of(given, files=tuple(asked))
    if env is not None:
        from compatlock.api.check.installed import ImportChecks

        on_import = None if quiet else _say_import
        imports = ImportChecks(modules, not no_imports, on_import=on_import)
        reports = _environment_reports(options, env, locks, exact=exact, imports=imports)
    else:
        reports = _lock_reports(options, locks, quiet=quiet)
    if not quiet:
        # An environment is checked without asking an index.
        notes = [note for report in reports for note in report.notes]
        for note in dict.fromkeys((*(() if env is not None else remarks), *notes)):
            say(f"note: {note}")
    _print(reports, as_json=as_json, quiet=quiet)
    if not all(report.is_clean for report in reports):
        raise click.exceptions.Exit(1)


def _sorted_out(paths: Sequence[str], env: str | None) -> tuple[list[str], list[str], str | None]:
    """The lock files, the files that say what was asked for, and the environment, `""` for the running one;
    None when none is meant."""
    # Projects, scripts and requirements.in say what was asked for, not what was pinned.
    asked = [path for path in paths if kind_of(path) or path.endswith(".in")]
    others = [path for path in paths if path not in asked]
    env = "" if env == _RUNNING else env
    folders = [path for path in others if os.path.isdir(path)]
    if folders and env != "":
        raise InputError(f"{folders[0]} is a folder", hints=[f"`--env {folders[0]}` checks an environment"])
    if folders:
        # `check .venv --env`
        env = folders[0]
        others.remove(env)
    if not others and env is None:
        if asked:
            hints = [f"name the lock of it too: `compatlock check {asked[0]} requirements.lock`"]
            raise InputError(f"{asked[0]} pins nothing that could be checked", hints=hints)
        raise InputError(
            "nothing to check: no file was given",
            hints=["name a lock or the output of `pip freeze`; `--env` checks the running environment"],
        )
    return others, asked, env


def _lock_reports(options: LockOptions, locks: Sequence[str], *, quiet: bool) -> list[Report]:
    from compatlock.api.check.lock import check_lock_file

    with ProgressDisplay(enabled=not quiet) as on_progress:
        return [check_lock_file(options, path, on_progress=on_progress) for path in locks]


def _environment_reports(
    options: LockOptions, env: str, locks: Sequence[str], *, exact: bool, imports: ImportChecks
) -> list[Report]:
    from compatlock.api.check.installed import check_environment

    if len(locks) > 1:
        raise InputError("an environment is of one lock", hints=[f"name one of {', '.join(locks)}"])
    if exact and not locks:
        raise InputError("`--exact` compares an environment with a lock", hints=["name the lock"])
    lock = locks[0] if locks else ""
    return [check_environment(options, env, lock=lock, exact=exact, imports=imports)]


def _say_import(module: str) -> None:
    say(f"importing {module}")


def _print(reports: Sequence[Report], *, as_json: bool, quiet: bool) -> None:
    from compatlock.api.check.words import describe_report, report_to_json, reports_to_json

    if as_json:
        value = report_to_json(reports[0]) if len(reports) == 1 else reports_to_json(reports)
        out_json(value)
    else:
        out("".join(describe_report(report, errors_only=quiet) for report in reports))


check = click.Command(
    "check",
    callback=_run,
    params=[
        click.Argument(["paths"], nargs=-1, metavar="[FILE]...", callback=refuse_empty),
        click.Option(
            ["--env"],
            is_flag=False,
            flag_value=_RUNNING,
            metavar="[PATH]",
            callback=refuse_empty,
            help="Check an environment, against FILE if there is one: its root, its Python or a "
            "site-packages folder; the running one without PATH.",
        ),
        click.Option(
            ["--exact"], is_flag=True, help="With --env: what is installed beside the lock is an error."
        ),
        click.Option(
            ["--import", "modules"],
            multiple=True,
            metavar="MODULE",
            callback=refuse_empty,
            help="With --env: this module has to be importable (repeatable).",
        ),
        click.Option(["--no-imports"], is_flag=True, help="With --env: do not import what profiles say."),
        *parameters(_TAKEN, _HELP),
    ],
    help="""Check what somebody has against what packages declare and what is known of them.

    FILE is a lock (requirements.lock, pylock.toml, uv.lock, JSON) or the output of `pip freeze`, `-` standard
    input. A pyproject.toml or requirements.in beside it says what it has to fulfil. With --env, what is
    installed is checked instead: against FILE, its own metadata and the record of its files, and by importing
    what the lock's profile (or --profile) names.
    Exit code 0: everything fits (soft facts warn), 1: something does not, 2: bad usage or input.
    """,
    short_help="Check an environment, pip freeze output or a lock.",
)
