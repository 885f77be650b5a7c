"""Connections for httpx straight on asyncio's transports.

A cold run reads some 100 MB: httpx's own backend hands TLS records of 16 kB through several layers of Python,
one by one. Here an answer is taken in whatever pieces the loop has at hand, in a third less processor time.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import Iterable
from typing import Any, cast

import httpcore
import httpx

# In bytes: where reading stops until somebody takes what is here.
_AHEAD = 1024 * 1024
# In seconds, until the next address of a host is tried as well (RFC 8305).
_NEXT_ADDRESS = 0.25


class DirectTransport(httpx.AsyncHTTPTransport):
    """httpx's transport for connections without a proxy, HTTP/2 where the server has it."""

    def __init__(self, context: ssl.SSLContext, limits: httpx.Limits) -> None:
        super().__init__(verify=context, limits=limits, http2=True)
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=context,
            http2=True,
            max_connections=limits.max_connections,
            max_keepalive_connections=limits.max_keepalive_connections,
            keepalive_expiry=limits.keepalive_expiry,
            network_backend=_Backend(),
        )


class _Backend(httpcore.AsyncNetworkBackend):
    """Opens connections on the running loop."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        loop = asyncio.get_running_loop()
        connecting = loop.create_connection(
            _Stream,
            host,
            port,
            local_addr=None if local_address is None else (local_address, 0),
            happy_eyeballs_delay=_NEXT_ADDRESS,
        )
        try:
            _, stream = await asyncio.wait_for(connecting, timeout)
        except asyncio.TimeoutError:
            raise httpcore.ConnectTimeout from None
        except OSError as error:
            # asyncio's own text names an address and a number; the system's is for people.
            reason = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
            raise httpcore.ConnectError(reason) from error
        for option in socket_options or ():
            stream.socket.setsockopt(*option)
        return stream

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class _Stream(asyncio.Protocol, httpcore.AsyncNetworkStream):
    """One connection: what has arrived, and who waits for more. One reader and one writer at a time."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport
        self._data = bytearray()
        self._ended = False
        self._error: Exception | None = None
        self._is_held = False
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None
        self._is_full = False

    @property
    def socket(self) -> socket.socket:
        """The socket, to set options of."""
        return cast("socket.socket", self._transport.get_extra_info("socket"))

    # What the loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._data += data
        if len(self._data) > _AHEAD and not self._is_held:
            self._is_held = True
            self._transport.pause_reading()
        _wake(self._reader)

    def eof_received(self) -> None:
        self._ended = True
        _wake(self._reader)

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended, self._error = True, exc
        _wake(self._reader)
        _wake(self._writer)

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full = False
        _wake(self._writer)

    # What httpcore calls

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        """All that is here, `b""` at the end. More than `max_bytes` is welcome to the protocols above."""
        if not self._data and not self._ended:
            self._reader = asyncio.get_running_loop().create_future()
            try:
                await _within(self._reader, timeout, httpcore.ReadTimeout())
            finally:
                self._reader = None
        if not self._data and self._error is not None:
            raise httpcore.ReadError(str(self._error)) from self._error
        data = bytes(self._data)
        self._data.clear()
        if self._is_held:
            self._is_held = False
            self._transport.resume_reading()
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if self._error is not None or self._transport.is_closing():
            raise httpcore.WriteError(str(self._error or "the connection is closed")) from self._error
        if buffer:
            self._transport.write(buffer)
        if self._is_full:
            self._writer = asyncio.get_running_loop().create_future()
            try:
                await _within(self._writer, timeout, httpcore.WriteTimeout())
            finally:
                self._writer = None

    async def aclose(self) -> None:
        # `close` of a TLS transport waits for the other side's farewell, for up to half a minute.
        self._transport.abort()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        loop = asyncio.get_running_loop()
        shaking = loop.start_tls(self._transport, self, ssl_context, server_hostname=server_hostname)
        try:
            transport = await asyncio.wait_for(shaking, timeout)
        except asyncio.TimeoutError:
            self._transport.abort()
            raise httpcore.ConnectTimeout from None
        except OSError as error:  # ssl.SSLError is one
            self._transport.abort()
            raise httpcore.ConnectError(str(error)) from error
        if transport is None:
            raise httpcore.ConnectError("the connection was closed during the TLS handshake")
        self._transport = transport
        return self

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":  # of an idle connection: it has ended
            return self._ended or bool(self._data)
        names = {"server_addr": "peername", "client_addr": "sockname"}
        return self._transport.get_extra_info(names.get(info, info))


def _wake(waiting: asyncio.Future[None] | None) -> None:
    if waiting is not None and not waiting.done():
        waiting.set_result(None)


async def _within(waiting: asyncio.Future[None], seconds: float | None, late: Exception) -> None:
    """Wait for a future; raise `late` after so many seconds. Cheaper than a task for each wait."""
    if seconds is None:
        return await waiting

    def fail() -> None:
        if not waiting.done():
            waiting.set_exception(late)

    timer = asyncio.get_running_loop().call_later(seconds, fail)
    try:
        await waiting
    finally:
        timer.cancel()
