"""`compatlock diff`: what changed between two locks."""

from __future__ import annotations

import click

from compatlock.cli.messages import out, out_json

_FORMATS = ("text", "markdown", "json")


@click.command(short_help="Say what changed between two locks.")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option(
    "--format",
    "form",
    type=click.Choice(_FORMATS),
    default="text",
    show_default=True,
    help="How to print it; markdown is for a pull request.",
)
@click.option("--json", "as_json", is_flag=True, help="Short for --format json.")
@click.option("--exit-code", is_flag=True, help="Exit with 1 when something changed.")
def diff(*, old: str, new: str, form: str, as_json: bool, exit_code: bool) -> None:
    """Say what changed from the lock OLD to the lock NEW, what matters most first: CUDA, the target, waivers
    gained and lost, downgrades, major steps, then the rest.

    Both are a requirements.lock, a pylock.toml, a JSON lock, or the output of `pip freeze`; `-` is standard
    input (git show main:requirements.lock | compatlock diff - requirements.lock).
    """
    from compatlock.api.diff import diff_files
    from compatlock.lockfile.diff_words import diff_json, diff_markdown, diff_text

    found = diff_files(old, new)
    form = "json" if as_json else form
    if form == "json":
        out_json(diff_json(found))
    else:
        out(diff_markdown(found) if form == "markdown" else diff_text(found))
    if exit_code and not found.is_empty:
        raise click.exceptions.Exit(1)
