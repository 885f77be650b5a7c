"""Text that is safe to show: on one line, of bounded length, without credentials."""

from __future__ import annotations

import re

_USER_INFO = re.compile(r"(://)[^/\s]*@")
_SCANNED = 4000
_QUERY = re.compile(r"(://[^\s?#]*\?)[^\s]+")


def without_credentials(text: str) -> str:
    """Return `text` with the user part and the query of every URL in it as ``***``."""
    if "://" not in text:
        return text
    return _QUERY.sub(r"\1***", _USER_INFO.sub(r"\1***@", text))


def one_line(text: str) -> str:
    """Return `text` with every run of white space, all sorts of line ends included, as one space."""
    return " ".join(text.split())


def printable(text: str) -> str:
    """Return `text` with every character that is not printable (terminal controls too) as its escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def excerpt(text: str, limit: int = 120) -> str:
    """Return `text` to be quoted in a message: one line, printable, no credentials, `limit` characters."""
    line = without_credentials(one_line(text[:_SCANNED]))
    line = printable(line)
    return line if len(line) <= limit else line[: limit - 3] + "..."
