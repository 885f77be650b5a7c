"""Hashes in the user's lines: a pin has only the files that they allow."""

from __future__ import annotations

from compatlock.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from compatlock.model.lock import Lock, Pin
    from compatlock.model.request import AllowedFiles


def restricted(lock: Lock, allowed: Sequence[AllowedFiles]) -> Lock:
    """Return the lock with only those files that the lines allow of their packages.

    Raises InputError for packages of which no file is left, all of them at once.
    """
    by_name: dict[str, list[AllowedFiles]] = {}
    for each in allowed:
        by_name.setdefault(each.package, []).append(each)
    problems: list[str] = []
    pins = tuple(_pin(pin, by_name.get(pin.name, ()), problems) for pin in lock.pins)
    if problems:
        hint = "a line with hashes names one version, `NAME==VERSION`; take its hashes from the index again"
        raise InputError("\n".join(problems), hints=[hint])
    return lock._replace(pins=pins)


def _pin(pin: Pin, allowed: Sequence[AllowedFiles], problems: list[str]) -> Pin:
    files = pin.files
    for each in allowed:
        left = tuple(file for file in files if file.sha256 in each.digests)
        if not left:
            file = f"a file of {pin.name} {pin.version} on the index"
            problems.append(f"{each.origin}: none of its hashes is that of {file}")
        files = left
    return pin._replace(files=files)
