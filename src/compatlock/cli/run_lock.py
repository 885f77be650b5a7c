"""`compatlock lock`: from requirements and profiles to requirements.lock."""

from __future__ import annotations

from compatlock.api.files import lock_to_files
from compatlock.cli.messages import out, out_json, say
from compatlock.cli.progress import ProgressDisplay
from compatlock.cli.settled import options_of, settled
from compatlock.lockfile.formats import STDOUT, standard_name
from compatlock.model.display import counted
from compatlock.model.target import TARGET_SEPARATOR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from compatlock.api.files import Written
    from compatlock.model.lock import Lock, Pin

# The name of uv's own lock, which it writes itself.
_UV_LOCK = "uv.lock"


def run_lock(
    *,
    files: tuple[str, ...],
    outputs: tuple[str, ...],
    asked_format: str,
    upgrade: bool,
    upgrade_packages: tuple[str, ...],
    older_file: str,
    write_pyproject: bool,
    show_tool_uv: bool,
    locked: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    **values: Any,
) -> None:
    """Find the best set of versions for requirements FILEs (`-` is standard input, pyproject.toml too),
    --requirement lines and profiles together, and write it as a hash-pinned lock.

    An existing output file is the older lock: pins that still hold are kept.
    """
    given, left_out = settled(values)
    if verbose and not quiet:  # before anything fails for want of it
        for note in left_out:
            say(f"note: {note}")
    options = options_of(given, files=files)
    how: dict[str, Any] = {
        "asked_format": asked_format,
        "upgrade": upgrade,
        "upgrade_packages": upgrade_packages,
        "older_file": older_file,
        "tell_unusable": as_json or verbose,
    }
    for_uv = write_pyproject or show_tool_uv or any(path.endswith(_UV_LOCK) for path in outputs)
    with ProgressDisplay(enabled=not quiet) as on_progress:
        if for_uv:
            from compatlock.api.uv.project import UvFiles, lock_uv_project

            wanted = UvFiles(write_pyproject, show_tool_uv)
            written = lock_uv_project(options, outputs, wanted, locked=locked, on_progress=on_progress, **how)
        else:
            paths = outputs or (standard_name(asked_format),)
            written = lock_to_files(options, paths, locked=locked, on_progress=on_progress, **how)
    _print(written, as_json=as_json)
    if not quiet:
        _summarise(written, locked=locked)
        if verbose:
            _details(written)


def _print(written: Written, *, as_json: bool) -> None:
    """What belongs on standard output: the lock's data, or outputs that are meant to go there."""
    if as_json:
        from compatlock.lockfile.lock_json import to_json

        unusable = [each._asdict() for each in written.unusable]
        out_json({**to_json(written.outcome.lock), "unusable": unusable})
        return
    for file in written.files:
        if file.path == STDOUT:
            out(file.text)


def _summarise(written: Written, *, locked: bool) -> None:
    result = written.outcome.lock
    packages = counted(len({pin.name for pin in result.pins}), "package")
    index = f", index {result.index_state}" if result.index_state else ""
    say(f"{packages} for {_target(result)}{index}")
    for pin in result.pins:
        if pin.is_root:
            say(f"  {pin.name} {pin.version}{f' ({pin.marker})' if pin.marker else ''}{_behind(pin)}")
    for fact in result.broken_soft_facts:
        say(f"warning: {fact.summary} (soft fact {fact.id})")
    for waiver in result.waivers:
        say(f"warning: waiver spent: {waiver}")
    for note in (*written.notes, *written.outcome.news, *result.notes):
        say(note if note.startswith("warning: ") else f"note: {note}")
    for pin in result.pins:
        for note in pin.notes:
            say(f"note: {pin.name} {pin.version}: {note}")
    if written.existed and written.changes:
        from compatlock.lockfile.compare import describe

        say(describe(written.changes))
    for file in written.files:
        if file.path != STDOUT:
            say(f"{'unchanged:' if locked or file.is_current else 'wrote'} {file.path}")


def _target(lock: Lock) -> str:
    targets = lock.target.split(TARGET_SEPARATOR)
    return lock.target if len(targets) == 1 else f"{len(targets)} targets together"


def _behind(pin: Pin) -> str:
    if not pin.lag_releases:
        return ""
    held = f", held back: {pin.held_by[0]}" if pin.held_by else ""
    return f" ({counted(pin.lag_days, 'day')} behind {pin.newest}{held})"


def _details(written: Written) -> None:
    from compatlock.api.why.unusable import describe
    from compatlock.lockfile.header import tier_text

    for line in describe(written.unusable):
        say(line)
    if written.outcome.builds:
        from compatlock.api.build_words import build_details

        for line in build_details(written.outcome.builds):
            say(line)
    for tier in written.outcome.lock.objective:
        say(f"  {tier_text(tier)}")
    counters = written.outcome.counters
    if counters:
        say("search: " + ", ".join(f"{name} {count}" for name, count in counters.items()))
