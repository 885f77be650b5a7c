"""`compatlock`: finds the command, and turns errors into messages and exit codes."""

from __future__ import annotations

import gc
import os
import sys

from compatlock.cli.messages import report, report_as_json, say
from compatlock.errors import CompatlockError, InputError


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 no solution or a failed check, 2 bad usage or input, 3 index
    or network."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if sys.stderr is None:  # It was closed: nobody wants to hear.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - open until the end
    try:
        code = _run(arguments)
    except KeyboardInterrupt:
        say("interrupted")
        code = 130
    except CompatlockError as error:
        report(error, verbose="-v" in arguments or "--verbose" in arguments)
        if "--json" in arguments:
            report_as_json(error)
        code = error.exit_code
    except BrokenPipeError:
        code = 0
    except OSError as error:  # A full disk under a stream that click writes to, for one.
        where = f"{error.filename}: " if error.filename else ""
        report(InputError(f"{where}{error.strerror or error}"))
        code = InputError.exit_code
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    if arguments[:1] == ["lock"]:
        from compatlock.cli.lock_options import FILES, OPTIONS
        from compatlock.cli.plain import parse_plainly

        values = parse_plainly(arguments[1:], OPTIONS, FILES)
        if values is not None:
            from compatlock.cli.run_lock import run_lock

            run_lock(**values)
            return 0
    from compatlock.cli.group import run_group

    return run_group(arguments)


def run() -> None:
    """The console script: `main` in a process of its own, which ends as soon as the work is done."""
    # A run makes many values and drops them all at once, at its end: the collector's default threshold
    # costs 5 % of it, taking every value apart before the exit another 7 %.
    gc.set_threshold(100_000, 20, 20)
    # Importing httpx imports its own command line where rich and click are there, for 40 ms, unless it is
    # marked as missing, which httpx allows for.
    sys.modules["httpx._main"] = None  # type: ignore[assignment]
    code: object = 0
    try:
        main()
    except SystemExit as finished:
        code = finished.code
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            pass
    os._exit(code if isinstance(code, int) else 1)
