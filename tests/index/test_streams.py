"""Connections on asyncio's transports: what arrives, in which order, and what ends them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import httpcore
import pytest

from compatlock.index import streams

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
User = Callable[[httpcore.AsyncNetworkStream], Awaitable[None]]


def talk(handler: Handler, user: User) -> None:
    """Let `user` have a connection to a server whose side `handler` plays."""

    async def main() -> None:
        server = await asyncio.start_server(handler, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        stream = await streams._Backend().connect_tcp("127.0.0.1", port, 5.0)
        try:
            await user(stream)
        finally:
            await stream.aclose()
            server.close()

    asyncio.run(main())


async def everything(stream: httpcore.AsyncNetworkStream) -> bytes:
    found = b""
    while piece := await stream.read(65536, 5.0):
        found += piece
    return found


def test_what_is_sent_arrives_whole_though_the_reader_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "_AHEAD", 10_000)
    sent = bytes(range(256)) * 8192
    longest = 0

    async def handler(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(sent)
        await writer.drain()
        writer.close()

    async def user(stream: httpcore.AsyncNetworkStream) -> None:
        nonlocal longest
        found = b""
        while True:
            await asyncio.sleep(0.001)
            piece = await stream.read(65536, 5.0)
            longest = max(longest, len(piece))
            found += piece
            if not piece:
                break
        assert found == sent

    talk(handler, user)
    # What is held beyond the bound is at most what the loop reads at once (256 kB).
    assert longest <= 10_000 + 256 * 1024


def test_what_is_written_arrives_whole_though_the_server_is_slow() -> None:
    sent = bytes(range(256)) * 16384
    received = asyncio.Event()

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found = b""
        while len(found) < len(sent):
            await asyncio.sleep(0.001)
            found += await reader.read(500_000)
        assert found == sent
        received.set()
        writer.close()

    async def user(stream: httpcore.AsyncNetworkStream) -> None:
        await stream.write(sent, 5.0)
        await asyncio.wait_for(received.wait(), 5.0)
        assert await everything(stream) == b""

    talk(handler, user)


def test_a_silent_server_is_waited_for_so_long_and_the_connection_serves_on() -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"late")
        writer.close()

    async def user(stream: httpcore.AsyncNetworkStream) -> None:
        with pytest.raises(httpcore.ReadTimeout):
            await stream.read(65536, 0.01)
        await stream.write(b"?", 5.0)
        assert await everything(stream) == b"late"

    talk(handler, user)


def test_a_connection_that_the_server_ended_shows_as_readable_and_takes_nothing_more() -> None:
    async def handler(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.02)
        writer.close()

    async def user(stream: httpcore.AsyncNetworkStream) -> None:
        assert stream.get_extra_info("is_readable") is False
        assert await stream.read(65536, 5.0) == b""
        assert stream.get_extra_info("is_readable") is True
        await asyncio.sleep(0.01)
        with pytest.raises(httpcore.WriteError):
            await stream.write(b"?", 5.0)

    talk(handler, user)


def test_a_reset_connection_is_an_error_not_an_end() -> None:
    async def handler(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        import socket
        import struct

        # Linger for no time: closing then resets.
        linger = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.transport.abort()

    async def user(stream: httpcore.AsyncNetworkStream) -> None:
        with pytest.raises(httpcore.ReadError):
            await stream.read(65536, 5.0)

    talk(handler, user)


def test_nobody_listening_is_a_failed_connection() -> None:
    async def main() -> None:
        server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        server.close()
        await server.wait_closed()
        with pytest.raises(httpcore.ConnectError):
            await streams._Backend().connect_tcp("127.0.0.1", port, 5.0)

    asyncio.run(main())


def test_a_server_without_tls_is_told_apart() -> None:
    import ssl

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def user(stream: httpcore.AsyncNetworkStream) -> None:
        with pytest.raises(httpcore.ConnectError, match="SSL"):
            await stream.start_tls(ssl.create_default_context(), "localhost", 5.0)

    talk(handler, user)
