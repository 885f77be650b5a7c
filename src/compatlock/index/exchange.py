"""One HTTP request and what can become of it, whichever way it is sent."""

from __future__ import annotations

from collections.abc import Mapping

from compatlock.model.named_tuple import NamedTuple

NO_CONNECTION = "no connection to the server could be made in time"
LATE = "the server did not answer in time"


class Asked(NamedTuple):
    """A request without a body; of the answer's, at most `limit` bytes are wanted. With `keep_packed`, one in
    gzip's form may be left so (`Reply.is_packed`)."""

    method: str
    url: str
    headers: Mapping[str, str]
    limit: int
    keep_packed: bool = False


class ExchangeError(Exception):
    """There is no answer; the text says why. `is_final`: asking again is of no use."""

    def __init__(self, text: str, *, is_final: bool = False) -> None:
        super().__init__(text)
        self.is_final = is_final
