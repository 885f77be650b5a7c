"""What the command line says on standard error: readable without colour, hints on lines of their own."""

from __future__ import annotations

import click

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compatlock.errors import CompatlockError


def report(error: CompatlockError) -> None:
    """Print an error with its details and hints."""
    say(f"{click.style('error', fg='red', bold=True)}: {error.message}")
    for violation in getattr(error, "violations", ()):
        say(f"  {violation}")
    for hint in error.hints:
        say(f"{click.style('hint', fg='cyan', bold=True)}: {hint}")


def say(text: str) -> None:
    """Print to standard error; colours only where it is a terminal."""
    click.echo(text, err=True)
