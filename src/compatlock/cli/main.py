"""`compatlock`: finds the command, and turns errors into messages and exit codes."""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module

import click

from compatlock import __version__
from compatlock.cli.messages import report
from compatlock.errors import CompatlockError

# Command name: module of `compatlock.cli` with a click command of the same name.
COMMANDS = {"conflicts": "conflicts", "lock": "lock", "profiles": "profiles"}


class _Commands(click.Group):
    """Loads a command's module only when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's interface
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        module = COMMANDS.get(cmd_name)
        if module is None:
            return None
        command: click.Command = getattr(import_module(f"compatlock.cli.{module}"), cmd_name)
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="compatlock")
def compatlock() -> None:
    """Find sets of package versions that really work together, and lock them."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 no solution or a failed check, 2 bad usage or input, 3 index
    or network."""
    try:
        code = compatlock.main(arguments, prog_name="compatlock", standalone_mode=False)
    except click.exceptions.Exit as exit_:
        code = exit_.exit_code
    except click.ClickException as error:
        error.show()
        code = 2
    except click.Abort:
        click.echo("interrupted", err=True)
        code = 130
    except CompatlockError as error:
        report(error)
        code = error.exit_code
    except BrokenPipeError:
        code = 0
    sys.exit(code or 0)


def run() -> None:
    """The console script: `main` in a process of its own, which ends as soon as the work is done."""
    # A run makes many values and drops them all at once, at its end: the collector's default threshold
    # costs 5 % of it, taking every value apart before the exit another 7 %.
    gc.set_threshold(100_000, 20, 20)
    code: object = 0
    try:
        main()
    except SystemExit as finished:
        code = finished.code
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            pass
    os._exit(code if isinstance(code, int) else 1)
