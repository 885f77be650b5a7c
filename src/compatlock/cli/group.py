"""The whole command line as click knows it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from compatlock import __version__
from compatlock.cli.messages import report_as_json
from compatlock.errors import InputError

# Command name: module of `compatlock.cli` with a click command of the same name.
COMMANDS = {
    "audit": "audit",
    "check": "check",
    "config": "config",
    "conflicts": "conflicts",
    "diff": "diff",
    "explain": "explain",
    "lock": "lock",
    "matrix": "matrix",
    "profiles": "profiles",
    "snapshot": "snapshot",
    "sync": "sync",
}


class _ReaderGoneError(Exception):
    """Standard output is a pipe that nobody reads any longer. Click would make an exit code of 1 of it."""


class _Commands(click.Group):
    """Loads a command's module only when the command is called."""

    def make_context(self, *arguments: Any, **extra: Any) -> click.Context:
        try:
            return super().make_context(*arguments, **extra)
        except BrokenPipeError as error:
            raise _ReaderGoneError from error

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise _ReaderGoneError from error

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


def run_group(arguments: list[str]) -> int:
    """Run a command; its exit code. What click finds wrong is printed. Raises BrokenPipeError when the reader
    of standard output has gone."""
    try:
        code = compatlock.main(arguments, prog_name="compatlock", standalone_mode=False)
    except click.exceptions.Exit as exit_:
        code = exit_.exit_code
    except click.ClickException as error:
        _show(error)
        if "--json" in arguments:
            report_as_json(InputError(error.format_message()))
        code = InputError.exit_code
    except _ReaderGoneError as error:
        raise BrokenPipeError from error
    except click.Abort as error:
        raise KeyboardInterrupt from error
    return code or 0


def _show(error: click.ClickException) -> None:
    """Print an error in click's words, with the command's usage, if it can be printed."""
    try:
        error.show()
    except OSError:
        pass
