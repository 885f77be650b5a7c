"""An answer of a server, as far as it was read."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping

from compatlock.model.named_tuple import NamedTuple

_CONTENT_RANGE = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15})\Z", re.ASCII)
_CLOSING = (b"</html", b"</body")


class ContentRange(NamedTuple):
    """Which bytes of a file an answer holds: from `start` to `end` (exclusive) of `size`."""

    start: int
    end: int
    size: int


class Reply(NamedTuple):
    """An HTTP answer: `headers` with lower-case names, `url` after redirects. `complete` is False when
    the body was longer than the limit asked for, and cut off there. `framed` is False when nothing told where
    the body ends, so that a broken connection could not be told from its end. `is_packed`: the body is as it
    was compressed by gzip, whatever the limit."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str
    complete: bool = True
    framed: bool = True
    is_packed: bool = False

    @property
    def content_range(self) -> ContentRange | None:
        """What part of the file this is; None unless it is one, and consistent with the body."""
        match = _CONTENT_RANGE.match(self.headers.get("content-range", ""))
        if self.status != 206 or match is None:
            return None
        part = ContentRange(int(match[1]), int(match[2]) + 1, int(match[3]))
        return part if part.end - part.start == len(self.body) and part.end <= part.size else None

    @property
    def retry_after(self) -> float:
        """For how many seconds, from now, the server asks to be left alone (a number or an HTTP date)."""
        text = self.headers.get("retry-after", "").strip()
        if not text:
            return 0.0
        if text.isdecimal() and text.isascii():
            return float(min(int(text[:9]), 10**8))
        from email.utils import parsedate_to_datetime

        try:
            return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
        except (ValueError, TypeError, OverflowError):
            return 0.0


def is_whole_listing(reply: Reply) -> bool:
    """Whether a listing is there to its end, as far as its text tells where HTTP does not."""
    if reply.framed or reply.status != 200 or not reply.complete:
        return True
    body = reply.body.strip()
    if body[:1] == b"{":
        return body[-1:] == b"}"
    end = body[-200:].lower()
    is_closed = any(tag in end for tag in _CLOSING) or b"<html" not in body[:1000].lower()
    return is_closed if body[:1] == b"<" else bool(body)
