"""Locks as files: an existing one is the older lock, and is replaced whole or not at all."""

from __future__ import annotations

import os
from typing import NamedTuple

from compatlock import __version__
from compatlock.api.locking import Outcome, make_lock
from compatlock.errors import InputError, LockOutdated
from compatlock.lockfile.compare import Change, changes, describe
from compatlock.lockfile.requirements_lock import read_pins, render
from compatlock.model.names import normalise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from compatlock.api.options import LockOptions
    from compatlock.index.progress import Progress

DEFAULT_OUTPUT = "requirements.lock"
STDOUT = "-"


class Written(NamedTuple):
    """A lock that was made for a file: its text, what changed against the file before, whether it was
    written (an unchanged file is left alone)."""

    outcome: Outcome
    text: str
    changes: tuple[Change, ...]
    existed: bool
    written: bool


def lock_to_file(
    options: LockOptions,
    output: str,
    *,
    upgrade: bool = False,
    upgrade_packages: Iterable[str] = (),
    locked: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> Written:
    """Lock into a requirements.lock file; `-` writes no file.

    The pins of an existing file are kept where they still hold, but for all (`upgrade`) or some
    (`upgrade_packages`). With `locked`, nothing is written, and LockOutdated is raised if something would
    be. Raises what `make_lock` raises, and InputError for a file that cannot be read or written.
    """
    _refuse_inputs(options, output)
    before = _read(output) if output != STDOUT else None
    pins = read_pins(before) if before is not None else {}
    older = (
        {} if upgrade else {n: v for n, v in pins.items() if n not in set(map(normalise, upgrade_packages))}
    )
    outcome = make_lock(options._replace(older={**older, **options.older}), on_progress=on_progress)
    text = render(
        outcome.lock, tool_version=__version__, path="requirements.lock" if output == STDOUT else output
    )
    found = changes(pins, outcome.lock.versions)
    same = before == text
    if locked and not same:
        raise _outdated(output, before, found)
    if output != STDOUT and not same and not locked:
        from compatlock.lockfile.write import write_atomically

        write_atomically(output, text)
    return Written(outcome, text, found, before is not None, not same and not locked)


def _refuse_inputs(options: LockOptions, output: str) -> None:
    """Raise InputError when the output would replace a file that was written by hand."""
    target = os.path.realpath(output)
    for path in (*options.files, *options.constraints, *options.profiles, *options.facts):
        if output != STDOUT and os.path.isfile(path) and os.path.realpath(path) == target:
            hint = "name another file with `--output-file`"
            raise InputError(f"{output} is read and would be overwritten", hints=[hint])


def _read(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            content = file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    from compatlock.inputs.requirements_text import decode

    return decode(content, path)


def _outdated(path: str, before: str | None, found: tuple[Change, ...]) -> LockOutdated:
    again = "run the same command without `--locked` to"
    if before is None:
        return LockOutdated(f"{path} does not exist", hints=[f"{again} make it"])
    update = f"{again} update {os.path.basename(path)}"
    if not found:
        return LockOutdated(f"{path} would change, though no pin does", hints=[update])
    return LockOutdated(f"{path} would change:\n{describe(found)}", hints=[update])
