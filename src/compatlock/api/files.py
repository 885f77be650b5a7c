"""Locks as files: existing ones are the older lock, and are replaced whole or not at all."""

from __future__ import annotations

import os

from compatlock import __version__
from compatlock.api.make import make_lock
from compatlock.errors import InputError, LockOutdated
from compatlock.lockfile.formats import STDOUT, format_of, read_pins_of, render_as, says_the_same
from compatlock.model.display import printable, redact
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.names import normalise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from compatlock.api.locking import Outcome
    from compatlock.api.options import LockOptions
    from compatlock.index.progress import Progress
    from compatlock.index.supply import Supply
    from compatlock.lockfile.compare import Change
    from compatlock.model.lock import Lock, OlderPin
    from compatlock.model.unusable import Unusable


class LockFile(NamedTuple):
    """One output: its path (`-` is standard output), format, what was there before (None: nothing), and the
    text of the new lock."""

    path: str
    format: str
    before: str | None
    text: str = ""

    @property
    def is_current(self) -> bool:
        """Whether the file already has the new text."""
        return self.before == self.text


class Written(NamedTuple):
    """A lock that was made for files, what changed against the older lock, and remarks on what was asked.
    Files that are current were left alone. `unusable` is what the index has of the lock's packages and nobody
    can use, if that was asked for."""

    outcome: Outcome
    files: tuple[LockFile, ...]
    changes: tuple[Change, ...]
    existed: bool
    notes: tuple[str, ...] = ()
    unusable: tuple[Unusable, ...] = ()


def lock_to_files(
    options: LockOptions,
    outputs: Sequence[str],
    *,
    asked_format: str = "",
    upgrade: bool = False,
    upgrade_packages: Sequence[str] = (),
    older_file: str = "",
    locked: bool = False,
    tell_unusable: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> Written:
    """Lock into files, each in the format of its name (or all in `asked_format`); `-` writes no file.

    The pins of `older_file` (any lock, `pip freeze` output too), or else of the first output that exists,
    are kept where they still hold, but for all (`upgrade`) or some (`upgrade_packages`). With `locked`,
    nothing is written, and LockOutdated is raised if something would be. `tell_unusable` looks up what nobody
    can use. Raises what `make_lock` raises, and InputError for a file that cannot be read or written.
    """
    if locked:
        _require_files(outputs)
    let_go = {_project(text): text for text in upgrade_packages}
    planned = [LockFile(path, format_of(path, asked_format), None) for path in dict.fromkeys(outputs)]
    for file in planned:
        _refuse_inputs(options, file.path)
    planned = [file._replace(before=_read(file.path)) for file in planned]
    pins = _pins_of(older_file) if older_file else _older_pins(planned, asked_format)
    older = () if upgrade else tuple(pin for pin in pins if pin.name not in let_go)
    # As in uv, asking for upgrades is asking for what is new.
    refresh = options.refresh or bool(upgrade or upgrade_packages)
    asked = options._replace(older_pins=(*options.older_pins, *older), refresh=refresh)
    unusable: list[Unusable] = []

    def look_up(supply: Supply, pins: Mapping[str, str]) -> None:
        from compatlock.api.why.unusable import unusable_files

        unusable[:] = unusable_files(supply, pins)

    outcome = make_lock(asked, on_progress=on_progress, on_read=look_up if tell_unusable else None)
    # All texts are made before the first is written: a format may refuse what another takes.
    files = tuple(f._replace(text=render_as(f.format, outcome.lock, __version__, f.path)) for f in planned)
    existed = bool(older_file) or any(file.before is not None for file in files)
    known, found = _compared(pins, outcome.lock) if existed or let_go else (set(), ())
    if locked:
        _require_current(files, outcome.lock, found)
    else:
        _write(files)
    where = next((file.path for file in files if file.path != STDOUT), "the lock")
    notes = tuple(f"{text} is not in {where}" for name, text in let_go.items() if name not in known)
    return Written(outcome, files, found, existed, notes, (*outcome.unusable, *unusable))


def _compared(pins: Iterable[OlderPin], lock: Lock) -> tuple[set[str], tuple[Change, ...]]:
    """The packages of the older lock and of the new one, and what differs."""
    from compatlock.lockfile.compare import changes, together

    before, after = together(pins), together(lock.older_pins)
    return {*before, *after}, changes(before, after)


def _project(text: str) -> str:
    """Return the normalised name of a package whose pin is to be let go. Raises InputError for other text."""
    import re

    name = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
    if re.fullmatch(name, text):
        return normalise(text)
    words = re.split(r"[\s,]+", text.strip())
    bound = re.match(rf"\s*({name})\s*(?:\[[^\]]*\]\s*)?(===|[=!<>~]=|[<>])", text)
    if bound:
        hints = [f"use `--requirement '{printable(text)}'` with `-P {bound[1]}`"]
    elif len(words) > 1 and all(re.fullmatch(name, word) for word in words):
        hints = ["name one with each option: " + " ".join(f"-P {word}" for word in words)]
    else:
        hints = []
    raise InputError(f"`{printable(redact(text))}` is no package name", hints=hints)


def _require_files(outputs: Iterable[str]) -> None:
    """Raise InputError for an output that holds no older lock to compare with."""
    for path in outputs:
        if path == STDOUT or _is_stream(path):
            shown = "standard output" if path == STDOUT else path
            raise InputError(
                f"`--locked` compares with a file, and {shown} is none",
                hints=["name the lock with `--output-file`"],
            )


def _is_stream(path: str) -> bool:
    """Whether a path is that of a pipe, a terminal or another device: reading it might never end."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _refuse_inputs(options: LockOptions, output: str) -> None:
    """Raise InputError when the output would replace a file that was written by hand."""
    target = os.path.realpath(output)
    for path in (*options.files, *options.constraints, *options.profiles, *options.facts):
        if output != STDOUT and os.path.isfile(path) and os.path.realpath(path) == target:
            hint = "name another file with `--output-file`"
            raise InputError(f"{output} is read and would be overwritten", hints=[hint])


def _read(path: str) -> str | None:
    if path == STDOUT or _is_stream(path):
        return None
    try:
        with open(path, "rb") as file:
            content = file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    from compatlock.inputs.requirements_text import decode

    return decode(content, path)


def _pins_of(path: str) -> tuple[OlderPin, ...]:
    """What an older lock that was named pins. Raises InputError when it cannot be read, or pins nothing."""
    text = _read(path)
    if text is None:
        raise InputError(f"there is no older lock {path}")
    pins = read_pins_of(path, text)
    if not pins:
        raise InputError(f"{path} pins nothing", hints=["name a lock, or the output of `pip freeze`"])
    return pins


def _older_pins(files: Iterable[LockFile], asked_format: str) -> tuple[OlderPin, ...]:
    for file in files:
        if file.before is not None:
            return read_pins_of(file.path, file.before, asked_format)
    return ()


def _write(files: Iterable[LockFile]) -> None:
    for file in files:
        if file.path != STDOUT and not file.is_current:
            from compatlock.lockfile.write import write_atomically

            write_atomically(file.path, file.text)


def _require_current(files: Iterable[LockFile], lock: Lock, found: tuple[Change, ...]) -> None:
    """Raise LockOutdated when a file is missing or would change by more than what it tells of the index and
    of lag, which changes with every upload."""
    again = "run the same command without `--locked` to"
    for file in files:
        if file.before is None:
            raise LockOutdated(f"{file.path} does not exist", hints=[f"{again} make it"])
        if says_the_same(file.format, file.before, file.text, file.path):
            continue
        hints = [f"{again} update {os.path.basename(file.path)}"]
        from compatlock.api.outdated import change_in_words

        words = change_in_words(file.format, file.before, file.path, lock)
        if not words and found:
            from compatlock.lockfile.compare import describe

            words = describe(found)
        if not words:
            raise LockOutdated(f"{file.path} would change, though no pin does", hints=hints)
        raise LockOutdated(f"{file.path} would change:\n{words}", hints=hints)
