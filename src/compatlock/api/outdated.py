"""How a lock file that is not up to date would change."""

from __future__ import annotations

from compatlock.api.check.pins import given_of_text
from compatlock.api.diff import diff_given
from compatlock.errors import InputError
from compatlock.lockfile.diff_words import diff_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compatlock.model.lock import Lock


def change_in_words(fmt: str, before: str, path: str, new: Lock) -> str:
    """Return what changes from `before`, the text of the lock file at `path` in a format, to `new`, as
    `compatlock diff` tells it; `""` when the two pin, waive and are for the same, or when the text is no lock
    that could be compared."""
    try:
        diff = diff_given(given_of_text(fmt, before, path), path, new)
    except InputError:
        return ""
    return "" if diff.is_empty else diff_text(diff).rstrip("\n")
