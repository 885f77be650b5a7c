"""What the command line says on standard error, readable without colour, hints on lines of their own; and
data on standard output. A message that cannot be printed is dropped, data that cannot is an error; where the
encoding of a stream lacks a character, there is a plain one instead."""

from __future__ import annotations

import sys

from compatlock.errors import CompatlockError, InputError, reason_of

# What stands for characters of our own texts; for any other there is a question mark.
_PLAIN = {"×": "x", "✓": "+", "◐": "~", "·": "-", "–": "-", "—": "-", "…": "...", "→": "->", "≤": "<="}


def report(error: CompatlockError, *, verbose: bool = False) -> None:
    """Print an error with its details and hints; the words `error` and `hint` in colour on a terminal. A
    verbose report tells too what of the index nobody can use."""
    _hide_credentials(error)
    _say_with("error", "red", error.message)
    for violation in getattr(error, "violations", ()):
        say(f"  {violation}")
    if len(getattr(error, "cores", ())) > 1:
        from compatlock.api.why.more_cores import describe_more_cores

        say(describe_more_cores(error, full=verbose))  # type: ignore[arg-type]
    unusable = getattr(error, "unusable", ())
    if verbose and unusable:
        from compatlock.api.why.unusable import describe

        for line in describe(unusable):
            say(line)
    ways_out = getattr(error, "ways_out", ())
    if ways_out:
        from compatlock.api.why.way_words import describe_ways_out

        say(describe_ways_out(ways_out))
    for hint in error.hints:
        _say_with("hint", "cyan", hint)


def report_as_json(error: CompatlockError) -> None:
    """Print the error as data, where data was asked for."""
    from compatlock.api.why.explain_json import error_to_json

    _hide_credentials(error)
    try:
        out_json(error_to_json(error))
    except (InputError, BrokenPipeError):
        pass  # Standard output may be what the error is about.


def _hide_credentials(error: CompatlockError) -> None:
    """Take credentials out of a message that quotes what was given, such as a URL for a file."""
    if "://" in f"{error.message}{error.hints}":
        from compatlock.model.display import without_credentials

        error.message = without_credentials(error.message)
        error.hints = tuple(without_credentials(hint) for hint in error.hints)


def say(text: str) -> None:
    """Print to standard error."""
    # `print` would take standard output for None, which is what a closed stream is.
    if sys.stderr is not None:
        try:
            print(text, file=sys.stderr)
        except (OSError, ValueError):
            pass


def _say_with(word: str, colour: str, text: str) -> None:
    """Print to standard error after a word in colour."""
    import click

    try:
        click.echo(f"{click.style(word, fg=colour, bold=True)}: {text}", err=True)
    except (OSError, ValueError):
        pass


def out(text: str, *, is_json: bool = False) -> None:
    """Print data to standard output, as it is; for a character that its encoding lacks, a plain one or in
    JSON its escape. Raises InputError when it cannot be written, BrokenPipeError when its reader has gone."""
    if sys.stdout is None:
        raise InputError("standard output cannot be written: it is closed")
    try:
        try:
            sys.stdout.write(text)
        except UnicodeEncodeError as error:  # Nothing of the text was written.
            sys.stdout.write(_encodable(text, error.encoding, is_json=is_json))
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"standard output cannot be written: {reason_of(error)}") from None


def _encodable(text: str, encoding: str, *, is_json: bool) -> str:
    """The text with other characters for those that the encoding lacks."""
    others: dict[int, str] = {}
    for character in set(text):
        try:
            character.encode(encoding)
        except UnicodeEncodeError:
            others[ord(character)] = _escape(character) if is_json else _PLAIN.get(character, "?")
    return text.translate(others)


def _escape(character: str) -> str:
    """A character as an escape within a string of JSON (RFC 8259)."""
    import json

    return json.dumps(character)[1:-1]


def out_json(value: object) -> None:
    """Print plain JSON values, as `out` does."""
    import json

    out(json.dumps(value, indent=2) + "\n")
