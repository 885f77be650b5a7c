"""The other side of an HTTP/2 connection, in memory: the protocol by h2, which the package does not use."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, cast

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import Event, RequestReceived, StreamReset

from compatlock.index.http2_connection import Connection


class Peer(asyncio.Transport):
    """Plays the server for one `Connection`: `on_request(peer, stream, headers)` answers."""

    def __init__(self, on_request: Callable[[Peer, int, dict[str, str]], None], timeout: float = 5.0) -> None:
        super().__init__()
        self.state = H2Connection(H2Configuration(client_side=False))
        self.events: list[Event] = []
        self.counted = 0
        self.is_aborted = False
        self._on_request = on_request
        self._loop = asyncio.get_running_loop()
        self.state.initiate_connection()
        self.client = Connection(timeout, self._count)
        self.client.connection_made(self)
        self.flush()

    def _count(self, size: int) -> None:
        self.counted += size

    @property
    def resets(self) -> list[int]:
        """The streams that the client gave up."""
        return [event.stream_id for event in self.events if isinstance(event, StreamReset)]

    def answer(
        self,
        stream: int,
        body: bytes = b"",
        headers: Iterable[tuple[str, str]] = (),
        status: int = 200,
        *,
        ends: bool = True,
    ) -> None:
        """Send an answer, to its end if it `ends`."""
        self.state.send_headers(stream, [(":status", str(status)), *headers], end_stream=not body)
        step = self.state.max_outbound_frame_size
        for at in range(0, len(body), step):
            self.state.send_data(stream, body[at : at + step], end_stream=ends and at + step >= len(body))
        self.flush()

    def flush(self) -> None:
        """Let the client have what h2 made, in pieces that do not fit its frames."""
        self.feed(self.state.data_to_send())

    def feed(self, data: bytes, step: int = 10_007) -> None:
        """Let the client have bytes."""
        for at in range(0, len(data), step):
            self._loop.call_soon(self.client.data_received, data[at : at + step])

    # What the client calls

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self if name == "ssl_object" else default

    def selected_alpn_protocol(self) -> str:
        return "h2"

    def write(self, data: Any) -> None:
        for event in self.state.receive_data(bytes(data)):
            self.events.append(event)
            if isinstance(event, RequestReceived):
                pairs = cast("list[tuple[Any, Any]]", event.headers)
                headers = {_text(name): _text(value) for name, value in pairs}
                self._loop.call_soon(self._on_request, self, event.stream_id, headers)
        self.flush()

    def is_closing(self) -> bool:
        return self.is_aborted

    def abort(self) -> None:
        self.is_aborted = True


def _text(value: bytes | str) -> str:
    return value if isinstance(value, str) else value.decode()
