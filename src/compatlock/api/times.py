"""Points in time as users write them."""

from __future__ import annotations

import time
from datetime import date

from compatlock.errors import InputError

_DAY = 86_400


def parse_time(text: str) -> int:
    """Seconds since the epoch of an RFC 3339 timestamp (UTC when it names no offset) or of a date, which
    stands for its end (UTC). Raises InputError for anything else."""
    try:
        return _midnight(text[:10]) + (_clock(text[10:]) if text[10:] else _DAY - 1)
    except ValueError:
        raise InputError(
            f"`{text}` is no point in time",
            hints=["write a date such as 2026-05-30 or a timestamp such as 2026-05-30T14:00:00Z"],
        ) from None


def format_time(seconds: int) -> str:
    """The timestamp (RFC 3339, UTC) of seconds since the epoch."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


# Without regular expressions: the module for them is not imported in most runs.


def _midnight(text: str) -> int:
    """The beginning of the day `YYYY-MM-DD`. Raises ValueError."""
    year, month, day = text.split("-")
    midnight = date(_number(year, 9999, 4), _number(month, 12), _number(day, 31))
    return (midnight.toordinal() - date(1970, 1, 1).toordinal()) * _DAY


def _clock(text: str) -> int:
    """Seconds from the beginning of the day to `THH:MM`, with seconds, their fraction (which does not count)
    and an offset or `Z` where they are given. Raises ValueError."""
    sign = "+" if "+" in text else "-" if "-" in text else ""
    clock, offset = text.split(sign) if sign else (text[:-1] if text[-1] in "Zz" else text, "0000")
    whole, point, part = clock.partition(".")
    hours, minutes, *seconds = whole[1:].split(":")
    if whole[0] not in "Tt " or len(seconds) > 1 or (point and not (seconds and part.isdecimal())):
        raise ValueError(text)
    east = _of_day(offset[:2], offset[2:].removeprefix(":"))
    return (
        _of_day(hours, minutes)
        + _number(seconds[0] if seconds else "00", 60)
        + (east if sign == "-" else -east)
    )


def _of_day(hours: str, minutes: str) -> int:
    return _number(hours, 23) * 3600 + _number(minutes, 59) * 60


def _number(text: str, most: int, digits: int = 2) -> int:
    """The number that so many digits stand for. Raises ValueError."""
    if len(text) != digits or not text.isdecimal() or int(text) > most:
        raise ValueError(text)
    return int(text)
