"""Points in time as users write them."""

from __future__ import annotations

import re

from compatlock.errors import InputError

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}\Z")
_STAMP = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)?(?:[Zz]|([+-])(\d{2}):?(\d{2}))?\Z"
)


def parse_time(text: str) -> int:
    """Seconds since the epoch of an RFC 3339 timestamp (UTC when it names no offset) or of a date, which
    stands for its end. Raises InputError for anything else."""
    from datetime import datetime, timedelta

    try:
        if _DATE.match(text):
            day = datetime.strptime(text + " +0000", "%Y-%m-%d %z")
            return int((day + timedelta(days=1)).timestamp()) - 1
        if match := _STAMP.match(text):
            clock = match[2] if len(match[2]) > 5 else match[2] + ":00"
            moment = datetime.strptime(f"{match[1]} {clock}", "%Y-%m-%d %H:%M:%S").replace(
                tzinfo=timezone.utc
            )
            offset = timedelta(hours=int(match[4] or 0), minutes=int(match[5] or 0))
            return int((moment + offset if match[3] == "-" else moment - offset).timestamp())
    except ValueError:
        pass
    raise InputError(
        f"`{text}` is no point in time",
        hints=["write a date such as 2026-05-30 or a timestamp such as 2026-05-30T14:00:00Z"],
    )


def format_time(seconds: int) -> str:
    """The timestamp (RFC 3339, UTC) of seconds since the epoch."""
    import time

    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
