"""Points in time as users write them."""

from __future__ import annotations

import re
import time
from datetime import date

from compatlock.errors import InputError

_STAMP = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[Tt ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d|60)(?:\.\d+)?)?"
    r"(?:[Zz]|([+-])([01]\d|2[0-3]):?([0-5]\d))?)?\Z"
)
_DAY = 86_400


def parse_time(text: str) -> int:
    """Seconds since the epoch of an RFC 3339 timestamp (UTC when it names no offset) or of a date, which
    stands for its end (UTC). Raises InputError for anything else."""
    match = _STAMP.match(text)
    try:
        day = date.fromisoformat(match[1]) if match else None
    except ValueError:
        day = None
    if match is None or day is None:
        raise InputError(
            f"`{text}` is no point in time",
            hints=["write a date such as 2026-05-30 or a timestamp such as 2026-05-30T14:00:00Z"],
        )
    midnight = (day.toordinal() - date(1970, 1, 1).toordinal()) * _DAY
    if match[2] is None:
        return midnight + _DAY - 1
    clock = int(match[2]) * 3600 + int(match[3]) * 60 + int(match[4] or 0)
    offset = int(match[6] or 0) * 3600 + int(match[7] or 0) * 60
    return midnight + clock + (offset if match[5] == "-" else -offset)


def format_time(seconds: int) -> str:
    """The timestamp (RFC 3339, UTC) of seconds since the epoch."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
