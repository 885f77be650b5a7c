"""The frames of HTTP/2 (RFC 9113, 4 and 6), as they arrive in pieces of any size."""

from __future__ import annotations

from typing import Protocol

DATA, HEADERS, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = (
    0, 1, 3, 4, 5, 6, 7, 8, 9
)  # fmt: skip
ACK = END_STREAM = 0x1
END_HEADERS, PADDED, PRIORITY = 0x4, 0x8, 0x20
# Settings.
HEADER_TABLE_SIZE, ENABLE_PUSH, MAX_CONCURRENT, WINDOW, FRAME, HEADER_LIST = 1, 2, 3, 4, 5, 6
PROTOCOL_ERROR, REFUSED, CANCEL = 1, 7, 8

# In bytes. Servers that may send larger frames send fewer.
MAX_FRAME = 256 * 1024
_MAX_BLOCK = 256 * 1024


class WrongError(Exception):
    """The server does not keep to the protocol."""


class Receiver(Protocol):
    """What frames are for."""

    def begin_data(self, number: int, length: int, size: int, *, is_last: bool) -> None:
        """`length` bytes of data of the stream follow; its frame, with padding, has `size`."""

    def take_data(self, data: bytes) -> None:
        """Some of them."""

    def take_headers(self, number: int, block: bytes, *, is_last: bool) -> None:
        """A whole header block."""

    def take_frame(self, kind: int, flags: int, number: int, payload: bytes) -> None:
        """A frame of another kind."""


class FrameReader:
    """Takes what arrives apart: content is handed on as it comes, other frames when they are whole."""

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        # What has arrived of a frame that is not whole yet.
        self._rest = b""
        # How much is missing of the DATA frame that is arriving.
        self._left = 0
        # Of a header block that is not whole: its stream, whether the answer ends with it, and the bytes.
        self._block: tuple[int, bool, bytearray] | None = None

    def feed(self, data: bytes) -> None:
        """Take what has arrived. Raises WrongError, and what the receiver raises."""
        if self._rest:
            data = self._rest + data
        at, size = 0, len(data)
        while at < size:
            if self._left:
                length = min(self._left, size - at)
                self._left -= length
                self._receiver.take_data(data[at : at + length])
                at += length
                continue
            if size - at < 9:
                break
            length = int.from_bytes(data[at : at + 3], "big")
            kind, flags = data[at + 3], data[at + 4]
            number = int.from_bytes(data[at + 5 : at + 9], "big") & 0x7FFFFFFF
            if length > MAX_FRAME:
                raise WrongError("a frame is larger than is allowed")
            if (self._block is not None) != (kind == CONTINUATION):
                raise WrongError("a header block is torn")
            if kind == DATA and not flags & PADDED:
                at += 9
                self._left = length
                self._receiver.begin_data(number, length, length, is_last=bool(flags & END_STREAM))
                continue
            if size - at - 9 < length:
                break
            at += 9 + length
            self._whole(kind, flags, number, data[at - length : at])
        self._rest = data[at:]

    def _whole(self, kind: int, flags: int, number: int, payload: bytes) -> None:
        if kind == DATA:
            content = _unpadded(payload)
            is_last = bool(flags & END_STREAM)
            self._receiver.begin_data(number, len(content), len(payload), is_last=is_last)
            if content:
                self._receiver.take_data(content)
        elif kind == HEADERS:
            if flags & PADDED:
                payload = _unpadded(payload)
            block = bytearray(payload[5:] if flags & PRIORITY else payload)
            self._block = (number, bool(flags & END_STREAM), block)
            self._take_block(flags)
        elif kind == CONTINUATION:
            assert self._block is not None
            if self._block[0] != number or len(self._block[2]) + len(payload) > _MAX_BLOCK:
                raise WrongError("a header block is torn, or too long")
            self._block[2].extend(payload)
            self._take_block(flags)
        else:
            self._receiver.take_frame(kind, flags, number, payload)

    def _take_block(self, flags: int) -> None:
        if flags & END_HEADERS:
            assert self._block is not None
            number, is_last, block = self._block
            self._block = None
            self._receiver.take_headers(number, bytes(block), is_last=is_last)


def frame(kind: int, flags: int, number: int, payload: bytes) -> bytes:
    """The bytes of a frame."""
    return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + number.to_bytes(4, "big") + payload


def _unpadded(payload: bytes) -> bytes:
    if not payload or payload[0] >= len(payload):
        raise WrongError("more padding than there is of a frame")
    return payload[1 : len(payload) - payload[0]]
