"""Lines that compatlock wrote into a file of the user's, told by the comment that each of them ends with.

They are results, not demands: whoever reads such a file leaves them out, whoever renews them removes them.
"""

from __future__ import annotations

import re

from compatlock.errors import InputError

MARK = "# by compatlock"

_OWN = re.compile(rf"[^\n]*{MARK}[ \t]*\r?$", re.MULTILINE)
# With the empty line above a table.
_OWN_LINE = re.compile(rf"(?:^[ \t]*\r?\n(?=[ \t]*\[\[))?^[^\n]*{MARK}[ \t]*\r?(?:\n|\Z)", re.MULTILINE)


def has_own_lines(text: str) -> bool:
    """Whether there is a line of compatlock's."""
    return MARK in text and _OWN.search(text) is not None


def blanked(text: str, path: str) -> str:
    """Return the text of the file at `path` with empty lines in the place of compatlock's, so that all others
    keep their numbers. Raises InputError when somebody wrote into a table of compatlock's."""
    _refuse_intruders(text, path)
    return _OWN.sub("", text)


def removed(text: str, path: str) -> str:
    """Return the text without the lines that are compatlock's, and the empty ones above its tables. Raises
    InputError as `blanked`."""
    _refuse_intruders(text, path)
    return _OWN_LINE.sub("", text)


def _refuse_intruders(text: str, path: str) -> None:
    """Raise InputError for a line of somebody else's in a table that compatlock began."""
    if MARK not in text:
        return
    in_own_table = False
    for number, line in enumerate(text.split("\n"), 1):
        shown = line.strip()
        if shown.endswith(MARK):
            in_own_table = in_own_table or shown.startswith("[[")
        elif shown.startswith("["):
            in_own_table = False
        elif in_own_table and shown and not shown.startswith("#"):
            raise InputError(
                f"{path}:{number}: this line is in a table that compatlock wrote and replaces",
                hints=[f"take `{MARK}` off the lines of that table to keep it as yours"],
            )
