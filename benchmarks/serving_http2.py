"""The server's side of one HTTP/2 connection (RFC 9113), for requests without bodies.

As light as it can be, since it shares the machine with the tools that are measured: with h2, the server would
be what they wait for. Frames have the size that every peer takes, as those of most servers.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Awaitable, Callable

import hpack

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
ACK = END_STREAM = 0x1
END_HEADERS, PADDED, PRIORITY = 0x4, 0x8, 0x20
MAX_CONCURRENT, INITIAL_WINDOW = 3, 4

_PREFACE = 24
_FRAME = 16_384
_WINDOW = 65_535
# Streams at once, as large servers of files allow.
_STREAMS = 100

Respond = Callable[[str, str, dict[str, str]], Awaitable[tuple[int, dict[str, str], bytes]]]


class Http2Server:
    """Talks to one client: `respond(method, path, headers)` answers, many requests at once."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, respond: Respond) -> None:
        self._reader = reader
        self._writer = writer
        self._respond = respond
        self._decoder = hpack.Decoder()
        self._encoder = hpack.Encoder()
        self._first_window = self._window = _WINDOW
        self._windows: dict[int, int] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._widened = asyncio.Event()

    async def run(self) -> None:
        """Until the client ends the connection. Raises IncompleteReadError, ConnectionError."""
        await self._reader.readexactly(_PREFACE)
        self._send(SETTINGS, 0, 0, struct.pack(">HL", MAX_CONCURRENT, _STREAMS))
        try:
            while True:
                head = await self._reader.readexactly(9)
                length, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
                number = int.from_bytes(head[5:], "big") & 0x7FFFFFFF
                payload = await self._reader.readexactly(length)
                if kind == GOAWAY:
                    return
                if kind == HEADERS:
                    await self._take_headers(number, flags, payload)
                else:
                    self._take(kind, flags, number, payload)
        finally:
            for task in self._tasks:
                task.cancel()

    def _send(self, kind: int, flags: int, number: int, payload: bytes) -> None:
        head = len(payload).to_bytes(3, "big") + bytes((kind, flags)) + number.to_bytes(4, "big")
        self._writer.write(head + payload)

    def _take(self, kind: int, flags: int, number: int, payload: bytes) -> None:
        if kind == SETTINGS and not flags & ACK:
            for name, value in struct.iter_unpack(">HL", payload):
                if name == INITIAL_WINDOW:
                    more, self._first_window = value - self._first_window, value
                    self._windows = {stream: size + more for stream, size in self._windows.items()}
                    self._widened.set()
            self._send(SETTINGS, ACK, 0, b"")
        elif kind == WINDOW_UPDATE:
            more = int.from_bytes(payload, "big")
            if number == 0:
                self._window += more
            elif number in self._windows:
                self._windows[number] += more
            self._widened.set()
        elif kind == PING and not flags & ACK:
            self._send(PING, ACK, 0, payload)
        elif kind == RST_STREAM:
            self._windows.pop(number, None)
            self._widened.set()

    async def _take_headers(self, number: int, flags: int, payload: bytes) -> None:
        start, end = 0, len(payload)
        if flags & PADDED:
            start, end = 1, end - payload[0]
        if flags & PRIORITY:
            start += 5
        block = payload[start:end]
        while not flags & END_HEADERS:
            head = await self._reader.readexactly(9)
            flags = head[4]
            block += await self._reader.readexactly(int.from_bytes(head[:3], "big"))
        asked = {_text(name): _text(value) for name, value in self._decoder.decode(block, raw=True)}
        self._windows[number] = self._first_window
        task = asyncio.get_running_loop().create_task(self._answer(number, asked))
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) and not isinstance(error, ConnectionError):
            self._writer.transport.abort()
            raise error

    async def _answer(self, number: int, asked: dict[str, str]) -> None:
        status, headers, body = await self._respond(asked[":method"], asked[":path"], asked)
        if number not in self._windows:
            return
        block = self._encoder.encode([(":status", str(status)), *headers.items()])
        self._send(HEADERS, END_HEADERS | (0 if body else END_STREAM), number, block)
        at = 0
        while at < len(body):
            while (room := min(self._window, self._windows.get(number, 0))) <= 0:
                if number not in self._windows:
                    return  # The client wants no more of it.
                self._widened.clear()
                await self._widened.wait()
            part = body[at : at + min(room, _FRAME)]
            at += len(part)
            self._window -= len(part)
            self._windows[number] -= len(part)
            self._send(DATA, END_STREAM if at >= len(body) else 0, number, part)
            await self._writer.drain()
        self._windows.pop(number, None)


def _text(value: object) -> str:
    return bytes(value).decode("latin-1") if isinstance(value, (bytes, bytearray, memoryview)) else str(value)
