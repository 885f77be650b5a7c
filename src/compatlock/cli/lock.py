"""`compatlock lock`: from requirements and profiles to requirements.lock."""

from __future__ import annotations

import json
from typing import Any

import click

from compatlock.api.files import DEFAULT_OUTPUT, Written, lock_to_files
from compatlock.api.options import LockOptions
from compatlock.cli.messages import say
from compatlock.cli.progress import progress_display
from compatlock.lockfile.compare import describe
from compatlock.lockfile.formats import FORMATS, STDOUT
from compatlock.model.policy import PRERELEASE_MODES
from compatlock.model.target import Target


@click.command(short_help="Lock requirements or a profile.")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option(
    "--profile", "profiles", multiple=True, metavar="NAME|FILE", help="Lock a profile (repeatable)."
)
@click.option(
    "-r", "--requirement", "requirements", multiple=True, metavar="SPEC", help="A requirement (repeatable)."
)
@click.option(
    "-c",
    "--constraint",
    "constraints",
    multiple=True,
    metavar="FILE",
    help="A constraints file (repeatable).",
)
@click.option(
    "-o",
    "--output-file",
    "outputs",
    multiple=True,
    metavar="FILE",
    help="Where to write (repeatable): requirements.lock unless given, `-` is standard output. "
    "pylock.toml and .json files get their own format.",
)
@click.option(
    "--format",
    "asked_format",
    type=click.Choice(FORMATS),
    help="Write this format, whatever the file's name.",
)
@click.option("--extra", "extras", multiple=True, metavar="NAME", help="With an extra of pyproject.toml.")
@click.option("--all-extras", is_flag=True, help="With all extras of pyproject.toml.")
@click.option(
    "--group", "groups", multiple=True, metavar="NAME", help="With a dependency group of pyproject.toml."
)
@click.option("--all-groups", is_flag=True, help="With all dependency groups of pyproject.toml.")
@click.option("--only-groups", is_flag=True, help="Lock the named groups without the project itself.")
@click.option("-U", "--upgrade", is_flag=True, help="Let go of all pins of an existing output file.")
@click.option(
    "-P",
    "--upgrade-package",
    "upgrade_packages",
    multiple=True,
    metavar="PKG",
    help="Let go of this package's pin (repeatable).",
)
@click.option("--locked", is_flag=True, help="Write nothing; exit 1 if the output file would change.")
@click.option("--python-version", "python", default="", metavar="X.Y", help="Python to lock for.")
@click.option(
    "--python-platform",
    "platform",
    default="",
    metavar="NAME",
    help="Platform to lock for, as uv names them (x86_64-manylinux_2_34, linux, macos, ...).",
)
@click.option(
    "--default-index",
    "-i",
    "index_url",
    default="",
    envvar="COMPATLOCK_DEFAULT_INDEX",
    metavar="URL",
    help="Root of the package index (Simple API).",
)
@click.option(
    "--exclude-newer",
    default="",
    metavar="TIME",
    help="Leave out files uploaded after this timestamp or date (UTC).",
)
@click.option(
    "--prerelease",
    type=click.Choice(PRERELEASE_MODES),
    default=PRERELEASE_MODES[0],
    show_default=True,
    help="When pre-releases may be chosen.",
)
@click.option(
    "--no-binary", multiple=True, metavar="PKG", help="Do not use wheels of PKG (`:all:` for every package)."
)
@click.option(
    "--only-binary",
    multiple=True,
    metavar="PKG",
    help="Do not use source distributions of PKG (`:all:` for every package).",
)
@click.option(
    "--prefer", multiple=True, metavar="PKG", help="Put this package's lag before the others (repeatable)."
)
@click.option("--facts", multiple=True, metavar="FILE", help="Apply a further facts file (repeatable).")
@click.option("--no-shipped-facts", is_flag=True, help="Leave out the facts that come with compatlock.")
@click.option("--no-soft-facts", is_flag=True, help="Ignore facts that only warn.")
@click.option(
    "--strategy",
    type=click.Choice(["optimal", "greedy"]),
    default="optimal",
    show_default=True,
    help="optimal proves that nothing is better; greedy is what pip would choose.",
)
@click.option("--offline", is_flag=True, help="Use only what the cache holds.")
@click.option("--cache-dir", default="", metavar="DIR", help="Where the cache lives.")
@click.option("--no-cache", is_flag=True, help="Keep the cache in memory for this run.")
@click.option("--json", "as_json", is_flag=True, help="Print the lock as JSON on standard output.")
@click.option("-q", "--quiet", is_flag=True, help="Print errors only.")
@click.option("-v", "--verbose", is_flag=True, help="Say more about how the lock was found.")
def lock(
    *,
    files: tuple[str, ...],
    outputs: tuple[str, ...],
    asked_format: str | None,
    upgrade: bool,
    upgrade_packages: tuple[str, ...],
    locked: bool,
    python: str,
    platform: str,
    no_shipped_facts: bool,
    no_soft_facts: bool,
    no_cache: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    **same_names: Any,
) -> None:
    """Find the best set of versions for requirements FILEs (`-` is standard input, pyproject.toml too),
    --requirement lines and profiles together, and write it as a hash-pinned lock.

    An existing output file is the older lock: pins that still hold are kept.
    """
    options = LockOptions(
        files=files,
        target=Target(python, platform),
        shipped_facts=not no_shipped_facts,
        soft_facts=not no_soft_facts,
        cache=not no_cache,
        **same_names,
    )
    with progress_display(enabled=not quiet) as on_progress:
        written = lock_to_files(
            options,
            outputs or (DEFAULT_OUTPUT,),
            asked_format=asked_format or "",
            upgrade=upgrade,
            upgrade_packages=upgrade_packages,
            locked=locked,
            on_progress=on_progress,
        )
    if as_json:
        from compatlock.lockfile.lock_json import to_json

        click.echo(json.dumps(to_json(written.outcome.lock), indent=2))
    else:
        for file in written.files:
            if file.path == STDOUT:
                click.echo(file.text, nl=False)
    if not quiet:
        _summarise(written, locked=locked)
        if verbose:
            _details(written)


def _summarise(written: Written, *, locked: bool) -> None:
    result = written.outcome.lock
    count = f"{len(result.pins)} package{'' if len(result.pins) == 1 else 's'}"
    index = f", index {result.index_state}" if result.index_state else ""
    say(f"{count} for {result.target}{index}")
    for pin in result.pins:
        if pin.is_root:
            say(f"  {pin.name} {pin.version}{_behind(pin)}")
    for fact in result.broken_soft_facts:
        say(f"warning: {fact.summary} (soft fact {fact.id})")
    for waiver in result.waivers:
        say(f"warning: waiver spent: {waiver}")
    for note in result.notes:
        say(f"note: {note}")
    for pin in result.pins:
        for note in pin.notes:
            say(f"note: {pin.name} {pin.version}: {note}")
    if written.existed and written.changes:
        say(describe(written.changes))
    for file in written.files:
        if file.path != STDOUT:
            say(f"{'unchanged:' if locked or file.is_current else 'wrote'} {file.path}")


def _behind(pin: Any) -> str:
    if not pin.lag_releases:
        return ""
    days = f"{pin.lag_days} day{'' if pin.lag_days == 1 else 's'}"
    held = f", held back: {pin.held_by[0]}" if pin.held_by else ""
    return f" ({days} behind {pin.newest}{held})"


def _details(written: Written) -> None:
    from compatlock.lockfile.header import tier_text

    for tier in written.outcome.lock.objective:
        say(f"  {tier_text(tier)}")
    counters = written.outcome.counters
    if counters:
        say("search: " + ", ".join(f"{name} {count}" for name, count in counters.items()))
