"""One HTTP/2 connection (RFC 9113, RFC 7541) for many requests without bodies at once.

A run with an empty cache reads some 100 MB. Through httpx, httpcore and h2 each frame of 16 kB is many calls
and each request a millisecond; here frames are large, their content goes straight to where it is gathered,
and windows are so wide that nothing has to be acknowledged.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import struct
from collections.abc import Callable, Iterable
from typing import cast

import hpack

from compatlock.index.exchange import LATE, Asked, ExchangeError
from compatlock.index.http2_frames import (
    ACK,
    CANCEL,
    CONTINUATION,
    ENABLE_PUSH,
    END_HEADERS,
    END_STREAM,
    FRAME,
    GOAWAY,
    HEADER_LIST,
    HEADER_TABLE_SIZE,
    HEADERS,
    MAX_CONCURRENT,
    MAX_FRAME,
    PING,
    PROTOCOL_ERROR,
    PUSH_PROMISE,
    REFUSED,
    RST_STREAM,
    SETTINGS,
    WINDOW,
    WINDOW_UPDATE,
    FrameReader,
    WrongError,
    frame,
)
from compatlock.index.reply import Reply

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
# In bytes.
_SENT_FRAME = 16384
_MAX_HEADERS = 64 * 1024
_MAX_WINDOW = 2**31 - 1
_FIRST_WINDOW = 65535
_NO_BODY = frozenset({204, 304})


class UnprocessedError(Exception):
    """The server says that it did not look at the request: it can be sent again at once, elsewhere."""


class _Stream:
    """One request, and what has arrived of the answer."""

    __slots__ = ("asked", "began", "body", "done", "headers", "is_cut", "size", "status")

    def __init__(self, asked: Asked, loop: asyncio.AbstractEventLoop) -> None:
        self.asked = asked
        self.began = loop.time()
        self.done: asyncio.Future[None] = loop.create_future()
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = bytearray()
        # Of what the server sent, whether it was wanted or not.
        self.size = 0
        self.is_cut = False

    def is_short(self) -> bool:
        """Whether the server announced another length than it sent."""
        announced = self.headers.get("content-length", "")
        if self.asked.method == "HEAD" or self.status in _NO_BODY or self.is_cut:
            return False
        return announced.isdecimal() and int(announced) != self.size


class Connection(asyncio.Protocol):
    """A connection; `timeout` is in seconds, for every wait for the server, `count` is told of the bytes of
    bodies that came in. It is of use when `is_http2` and not `is_closed`."""

    def __init__(self, timeout: float, count: Callable[[int], None]) -> None:
        self.is_http2 = False
        self.is_closed = False
        self._loop = asyncio.get_running_loop()
        self._timeout = timeout
        self._count = count
        self._transport: asyncio.Transport
        self._streams: dict[int, _Stream] = {}
        self._next = 1
        self._most = 100
        self._room = asyncio.Event()
        self._heard = 0.0
        self._encoder = hpack.Encoder()
        self._decoder = hpack.Decoder(max_header_list_size=_MAX_HEADERS)
        _quiet_logs()
        self._frames = FrameReader(self)
        # Of the DATA frame that is arriving: its stream, how much is missing, and whether it is the last.
        self._current: _Stream | None = None
        self._current_number = 0
        self._left = 0
        self._is_last = False
        self._unacknowledged = 0

    async def ask(self, asked: Asked, headers: Iterable[tuple[str, str]]) -> Reply:
        """Send a request, `headers` with pseudo-headers and names in lower case; return the answer, its body
        as it was sent. Raises ExchangeError, UnprocessedError."""
        while len(self._streams) >= self._most and not self.is_closed:
            self._room.clear()
            try:
                await asyncio.wait_for(self._room.wait(), self._timeout)
            except asyncio.TimeoutError:
                raise ExchangeError(LATE) from None
        if self.is_closed:
            raise UnprocessedError
        number, stream = self._next, _Stream(asked, self._loop)
        self._next += 2
        self._streams[number] = stream
        try:
            self._send_headers(number, headers)
            await self._finish(stream)
        finally:
            if self._streams.pop(number, None) is not None:
                self._send(RST_STREAM, 0, number, CANCEL.to_bytes(4, "big"))
            self._room.set()
            self._count(stream.size)
            if stream.done.done():
                stream.done.exception()  # It is known now, even if nobody waits for it any more.
        return Reply(stream.status, stream.headers, bytes(stream.body), asked.url, not stream.is_cut)

    async def _finish(self, stream: _Stream) -> None:
        while not stream.done.done():
            left = max(self._heard, stream.began) + self._timeout - self._loop.time()
            if left <= 0:
                raise ExchangeError(LATE)
            await asyncio.wait([stream.done], timeout=left)
        stream.done.result()

    def close(self) -> None:
        """Close the connection; nobody may wait for an answer."""
        self.is_closed = True
        self._transport.abort()

    # What the loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        secured: ssl.SSLObject | None = transport.get_extra_info("ssl_object")
        self.is_http2 = secured is not None and secured.selected_alpn_protocol() == "h2"
        if not self.is_http2:
            return
        settings = (
            (ENABLE_PUSH, 0),
            (WINDOW, _MAX_WINDOW),
            (FRAME, MAX_FRAME),
            (HEADER_LIST, _MAX_HEADERS),
        )
        self._transport.write(_PREFACE)
        self._send(SETTINGS, 0, 0, b"".join(struct.pack(">HL", *setting) for setting in settings))
        self._send(WINDOW_UPDATE, 0, 0, (_MAX_WINDOW - _FIRST_WINDOW).to_bytes(4, "big"))

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(str(exc or "") or "the server closed the connection")

    def eof_received(self) -> None:
        self._fail("the server closed the connection")

    def data_received(self, data: bytes) -> None:
        if self.is_closed and not self._streams:
            return
        self._heard = self._loop.time()
        try:
            self._frames.feed(data)
        except (WrongError, hpack.HPACKError, UnicodeDecodeError) as error:
            self._send(GOAWAY, 0, 0, struct.pack(">LL", 0, PROTOCOL_ERROR))
            self._fail(f"the server does not keep to HTTP/2: {error or type(error).__name__}")

    # What the frames say

    def begin_data(self, number: int, length: int, size: int, *, is_last: bool) -> None:
        """See `Receiver`."""
        stream = self._streams.get(number)
        if number == 0 or (stream is not None and not stream.status):
            raise WrongError("data before headers")
        self._current, self._current_number, self._left, self._is_last = stream, number, length, is_last
        self._unacknowledged += size
        if self._unacknowledged > _MAX_WINDOW // 2:
            self._send(WINDOW_UPDATE, 0, 0, self._unacknowledged.to_bytes(4, "big"))
            self._unacknowledged = 0
        if not length and is_last and stream is not None:
            self._end(number, stream)

    def take_data(self, data: bytes) -> None:
        """See `Receiver`."""
        self._left -= len(data)
        stream = self._current
        if stream is None or stream.done.done():
            return
        stream.size += len(data)
        stream.body += data
        if len(stream.body) > stream.asked.limit:
            # Nobody wants more: the request is given up when its answer is taken.
            stream.is_cut = True
            stream.done.set_result(None)
        elif not self._left and self._is_last:
            self._end(self._current_number, stream)

    def take_headers(self, number: int, block: bytes, *, is_last: bool) -> None:
        """See `Receiver`. All blocks are decoded: each one tells how to decode those after it."""
        fields = self._decoder.decode(block, raw=True)
        stream = self._streams.get(number)
        if stream is None or stream.done.done():
            return
        if not stream.status:  # Else these are trailers.
            headers: dict[str, str] = {}
            for name, value in fields:
                key, text = bytes(name).decode("ascii"), _text(bytes(value))
                headers[key] = f"{headers[key]}, {text}" if key in headers else text
            status = headers.pop(":status", "")
            if not (len(status) == 3 and status.isdecimal()):
                raise WrongError("an answer without a status")
            # Those below 200 announce another one.
            if status >= "200":
                stream.status, stream.headers = int(status), headers
        if is_last:
            self._end(number, stream)

    def take_frame(self, kind: int, flags: int, number: int, payload: bytes) -> None:
        """See `Receiver`."""
        if kind == RST_STREAM:
            self._take_reset(number, payload)
        elif kind == SETTINGS:
            self._take_settings(flags, payload)
        elif kind == PING and not flags & ACK:
            if len(payload) != 8:
                raise WrongError("a ping of a wrong length")
            self._send(PING, ACK, 0, payload)
        elif kind == GOAWAY:
            self._take_goodbye(payload)
        elif kind == PUSH_PROMISE:
            raise WrongError("a push, which was not allowed")

    def _take_reset(self, number: int, payload: bytes) -> None:
        stream = self._streams.pop(number, None)
        code = int.from_bytes(payload[:4], "big")
        if stream is not None and not stream.done.done():
            refused = code == REFUSED and not stream.status
            error = ExchangeError(f"the server broke off its answer (HTTP/2 error {code})")
            stream.done.set_exception(UnprocessedError() if refused else error)

    def _take_settings(self, flags: int, payload: bytes) -> None:
        if flags & ACK:
            return
        if len(payload) % 6:
            raise WrongError("settings of a wrong length")
        for name, value in struct.iter_unpack(">HL", payload):
            if name == MAX_CONCURRENT:
                self._most = value
                self._room.set()
            elif name == HEADER_TABLE_SIZE:
                self._encoder.header_table_size = min(value, 4096)
        self._send(SETTINGS, ACK, 0, b"")

    def _take_goodbye(self, payload: bytes) -> None:
        """The server takes no more requests, and did not look at those after one that it names."""
        self.is_closed = True
        last = int.from_bytes(payload[:4], "big") & 0x7FFFFFFF
        for number in [number for number in self._streams if number > last]:
            stream = self._streams.pop(number)
            if not stream.done.done():
                stream.done.set_exception(UnprocessedError())
        self._room.set()

    def _end(self, number: int, stream: _Stream) -> None:
        """The answer is there to its end."""
        self._streams.pop(number, None)
        if stream.done.done():
            return
        if not stream.status:
            stream.done.set_exception(ExchangeError("the server ended an answer before it began"))
        elif stream.is_short():
            stream.done.set_exception(ExchangeError("the answer was cut off"))
        else:
            stream.done.set_result(None)
        if self.is_closed and not self._streams:
            self._transport.abort()

    def _fail(self, why: str) -> None:
        """Tell everybody who waits that there will be no answer."""
        self.is_closed = True
        for stream in self._streams.values():
            if not stream.done.done():
                stream.done.set_exception(ExchangeError(why))
        self._streams.clear()
        self._room.set()
        self._transport.abort()

    # Sending

    def _send_headers(self, number: int, headers: Iterable[tuple[str, str]]) -> None:
        fields = [
            (hpack.NeverIndexedHeaderTuple if name == "authorization" else hpack.HeaderTuple)(name, value)
            for name, value in headers
        ]
        block = self._encoder.encode(fields)
        parts = [block[at : at + _SENT_FRAME] for at in range(0, len(block), _SENT_FRAME)]
        for position, part in enumerate(parts):
            kind = CONTINUATION if position else HEADERS
            flags = (0 if position else END_STREAM) | (END_HEADERS if part is parts[-1] else 0)
            self._send(kind, flags, number, part)

    def _send(self, kind: int, flags: int, number: int, payload: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(frame(kind, flags, number, payload))


def _text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _quiet_logs() -> None:
    """Keep headers with credentials out of the logs of programs that log everything; who wants to see them
    sets the level of this logger."""
    logger = logging.getLogger("hpack")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.WARNING)
