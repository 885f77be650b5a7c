"""What the command line says on standard error: readable without colour, hints on lines of their own."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compatlock.errors import CompatlockError


def report(error: CompatlockError) -> None:
    """Print an error with its details and hints; the words `error` and `hint` in colour on a terminal."""
    import click

    click.echo(f"{click.style('error', fg='red', bold=True)}: {error.message}", err=True)
    for violation in getattr(error, "violations", ()):
        say(f"  {violation}")
    ways_out = getattr(error, "ways_out", ())
    if ways_out:
        from compatlock.api.way_words import describe_ways_out

        say(describe_ways_out(ways_out))
    for hint in error.hints:
        click.echo(f"{click.style('hint', fg='cyan', bold=True)}: {hint}", err=True)


def say(text: str) -> None:
    """Print to standard error."""
    print(text, file=sys.stderr)


def out(text: str) -> None:
    """Print data to standard output, as it is."""
    sys.stdout.write(text)
    sys.stdout.flush()
