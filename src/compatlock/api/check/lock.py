"""A lock file as it is checked: what it pins, what is wrong with its text, and for which Pythons it is."""

from __future__ import annotations

import sys

from compatlock.api.check.pins import Given, given_of_text, read_text
from compatlock.api.targets import targets_of
from compatlock.errors import InputError
from compatlock.inputs.file_bytes import kind_of
from compatlock.inputs.sources import read_sources
from compatlock.lockfile.formats import JSON, PYLOCK, REQUIREMENTS, UV
from compatlock.model import report as kinds
from compatlock.model.index import Indexes
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.report import Discrepancy
from compatlock.model.target import Target, target_in_words, targets_in_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from compatlock.api.options import LockOptions
    from compatlock.index.progress import Progress
    from compatlock.inputs.freeze import FrozenPin
    from compatlock.model.report import Report

# Pythons that are tried to compare two ranges: minors and patch releases beyond those that exist.
_PYTHONS = tuple(f"3.{minor}.{patch}" for minor in range(6, 30) for patch in range(40))


def check_lock_file(
    options: LockOptions, path: str, *, on_progress: Callable[[Progress], None] | None = None
) -> Report:
    """Check the lock file at `path` (or the output of `pip freeze`; `-` is standard input): the defects of
    its text, whether it is for the Pythons of the projects among the options' files, whether it has what the
    files and options ask for, and the pins as `checking.check_pins` does; for the options' `targets`, or
    `universal`, if there are any, instead of its own. Raises as that does."""
    from compatlock.api.check.checking import check_pins

    lock = read_lock_text(path)
    subject = "standard input" if path == "-" else path
    stale = tuple(stale_findings(lock, _demands(options.files)))
    notes: list[str] = []
    if stale:
        # What a project for other Pythons asks for cannot be asked of these.
        options = options._replace(files=tuple(file for file in options.files if not kind_of(file)))
    given = lock.given
    targets = targets_of(options)
    if targets:
        given = given._replace(target=targets[0], targets=targets)
        options = options._replace(target=Target())
    elif lock.python and not given.targets and not options.target.python:
        running = "{}.{}.{}".format(*sys.version_info[:3])
        python = first_python(lock.python, running)
        if python and python != running:
            notes.append(f"checked for Python {python}, as {path} requires Python {lock.python}")
            options = options._replace(target=options.target._replace(python=python))
    options = options._replace(indexes=indexes_for(options.indexes, given))
    known = (*lock.defects, *stale)
    return check_pins(options, given, subject, known=known, notes=notes, on_progress=on_progress)


def indexes_for(indexes: Indexes, given: Given) -> Indexes:
    """The indexes to ask about a lock: where the settings say nothing, those that it was made with."""
    own = given.indexes
    if own is None:
        return indexes
    return Indexes(
        indexes.default if indexes.default.url else own.default,
        indexes.extra or own.extra,
        indexes.assigned or own.assigned,
    )


def _demands(files: Sequence[str]) -> Sequence[tuple[str, str]]:
    projects = [file for file in files if kind_of(file)]
    return read_sources(projects).requires_python if projects else ()


class LockText(NamedTuple):
    """A lock file that was read.

    given:    what it pins, as far as that can be told; defects: what is wrong with its text
    python:   the specifier of the Pythons that it says it is for, `""` when it does not say
    """

    path: str
    format: str
    text: str
    given: Given
    defects: tuple[Discrepancy, ...] = ()
    python: str = ""


def read_lock_text(path: str) -> LockText:
    """Read a lock file of any format, or the output of `pip freeze` (`-` is standard input), whatever is
    wrong with it. Raises InputError when nothing can be made of it at all."""
    fmt, text = read_text(path)
    shown = "<stdin>" if path == "-" else path
    defects = _defects(fmt, text, shown)
    try:
        given = given_of_text(fmt, text, path)
    except InputError as error:
        given = _tolerantly(fmt, text, shown)
        if not given.pins and not defects:
            raise
        if not defects:
            # A lock can hold more than what is read whole: packages from URLs, for one.
            given = given._replace(notes=(error.message,))
    if fmt == REQUIREMENTS:
        given = given._replace(pins=tuple(map(_judged, given.pins)))
    if fmt in (JSON, UV):
        defects += _unhashed(given, shown)
    return LockText(path, fmt, text, given, defects, _python_of(fmt, text, shown))


def stale_findings(lock: LockText, demands: Sequence[tuple[str, str]]) -> Iterator[Discrepancy]:
    """Findings when a lock is for other Pythons than the projects whose requires-python `demands` are:
    pairs of a specifier and where it stands."""
    for specifier, origin in demands:
        for target in lock.given.targets:
            if not _admits(specifier, target.python):
                text = (
                    f"{lock.path} is stale: it is for Python {target.python}, and {origin} has "
                    f"requires-python {specifier}"
                )
                yield _stale(lock, text)
        if lock.python and not lock.given.targets and not covers(lock.python, specifier):
            text = (
                f"{lock.path} is stale: it has requires-python {lock.python}, and {origin} has "
                f"requires-python {specifier}"
            )
            yield _stale(lock, text)


def covers(outer: str, inner: str) -> bool:
    """Whether all Pythons (3.X) that the specifier `inner` allows are allowed by `outer` too, and there are
    any. A specifier that is none allows all."""
    wanted = _admitted(inner, _PYTHONS)
    return bool(wanted) and len(_admitted(outer, wanted)) == len(wanted)


def first_python(specifier: str, running: str) -> str:
    """The running Python if a specifier admits it, else the first `3.X.Y` that it admits, `""` for none."""
    if not specifier or _admits(specifier, running):
        return running
    return next(iter(_admitted(specifier, _PYTHONS)), "")


def _admits(specifier: str, python: str) -> bool:
    return bool(_admitted(specifier, [python]))


def _admitted(specifier: str, pythons: Sequence[str]) -> list[str]:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        return list(SpecifierSet(specifier).filter(pythons, prereleases=True))
    except InvalidSpecifier:
        return list(pythons)


def _stale(lock: LockText, text: str) -> Discrepancy:
    again = "`uv lock`" if lock.format == UV else "`compatlock lock`"
    hint = f"lock again: {again}; or change requires-python back"
    return Discrepancy(kinds.STALE, kinds.ERROR, "", "", text, hints=(hint,), origin=lock.path)


def _defects(fmt: str, text: str, path: str) -> tuple[Discrepancy, ...]:
    if fmt == PYLOCK:
        from compatlock.api.check.pylock import pylock_defects

        return pylock_defects(text, path)
    if fmt == REQUIREMENTS:
        from compatlock.api.check.requirements import requirements_defects

        return requirements_defects(text, path)
    return ()


def _tolerantly(fmt: str, text: str, path: str) -> Given:
    if fmt != PYLOCK:
        return Given(())
    from compatlock.api.check.pylock import pylock_pins, pylock_target

    target = pylock_target(text, path)
    return Given(pylock_pins(text, path), target=target_in_words(target), targets=targets_in_words(target))


def _judged(pin: FrozenPin) -> FrozenPin:
    """The pin without a marker that is none, of which the defects tell."""
    if not pin.marker:
        return pin
    from packaging.markers import InvalidMarker, Marker

    try:
        Marker(pin.marker)
    except InvalidMarker:
        return pin._replace(marker="")
    return pin


def _unhashed(given: Given, path: str) -> tuple[Discrepancy, ...]:
    texts = (f"{path}: {pin.name} {pin.version} has no hash" for pin in given.pins if not pin.hashes)
    return tuple(Discrepancy(kinds.HASH, kinds.WARNING, "", "", text, origin=path) for text in texts)


def _python_of(fmt: str, text: str, path: str) -> str:
    if fmt == UV:
        from compatlock.lockfile.uv_lock_read import requires_python_of

        return requires_python_of(text, path)
    if fmt == PYLOCK:
        from compatlock.model.toml import parse_toml

        found = parse_toml(text, path).get("requires-python")
        return found if isinstance(found, str) else ""
    return ""
