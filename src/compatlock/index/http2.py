"""HTTP/2 without httpx: a connection for each server, and what is asked over it."""

from __future__ import annotations

import asyncio
import re
import ssl
import zlib
from collections.abc import Callable, Iterator
from functools import partial

from compatlock.index import tls
from compatlock.index.compression import GZIP, GZIP_MAGIC, inflated
from compatlock.index.exchange import NO_CONNECTION, Asked, ExchangeError
from compatlock.index.http2_connection import Connection, UnprocessedError
from compatlock.index.reply import Reply
from compatlock.model.display import excerpt

# URLs that need not be put right in any way; all others are left to httpx.
_URL = re.compile(
    r"https://([a-z0-9-]+(?:\.[a-z0-9-]+)*)(?::(\d{1,5}))?"
    r"(/(?:[A-Za-z0-9_~:/@!$&'()*+,;=.-]|%[0-9A-F]{2})*(?:\?(?:[A-Za-z0-9_~:/?@!$&()*+,;=.-]|%[0-9A-F]{2})*)?)\Z"
)
_PORT = 443
# In seconds, until the next address of a host is tried as well (RFC 8305).
_NEXT_ADDRESS = 0.25
# How often a request that a server did not look at is sent.
_TURNS = 3
_CODINGS = {"gzip": GZIP, "x-gzip": GZIP, "deflate": 15}


class Http2:
    """Connections for one event loop. Times are in seconds, for every wait for a server and for a connection;
    `count` is told of bytes that came in."""

    def __init__(
        self, context: ssl.SSLContext, *, timeout: float, connecting: float, count: Callable[[int], None]
    ) -> None:
        self._context = context
        self._context.set_alpn_protocols(["h2", "http/1.1"])
        self._make = partial(Connection, timeout, count)
        self._connecting = connecting
        self._opened: dict[tuple[str, int], asyncio.Task[Connection | None]] = {}
        self._all: list[Connection] = []

    async def ask(self, asked: Asked) -> Reply | None:
        """Send a request and read the answer; None when this is not possible: the server does not speak
        HTTP/2, or the URL is not in its plainest form. Raises ExchangeError."""
        found = _URL.match(asked.url)
        if found is None or "/." in found[3]:
            return None
        host, port, path = found[1], int(found[2] or _PORT), found[3]
        authority = host if port == _PORT else f"{host}:{port}"
        headers = [*_headers(asked, authority, path)]
        for _ in range(_TURNS):
            connection = await self._connection(host, port)
            if connection is None:
                return None
            try:
                return _decoded(await connection.ask(asked, headers), asked)
            except UnprocessedError:
                pass
        raise ExchangeError("the server refuses the request each time")

    async def aclose(self) -> None:
        """Close all connections."""
        for opening in self._opened.values():
            opening.cancel()
        await asyncio.gather(*self._opened.values(), return_exceptions=True)
        for connection in self._all:
            connection.close()
        self._opened.clear()
        self._all.clear()

    async def _connection(self, host: str, port: int) -> Connection | None:
        """The connection to a server, which all who ask at once wait for; None: it does not speak HTTP/2."""
        opening = self._opened.get((host, port))
        if opening is None or _is_over(opening):
            opening = self._opened[host, port] = asyncio.ensure_future(self._open(host, port))
            opening.add_done_callback(_result)
        # Who gives up must not take the connection from the others.
        return await asyncio.shield(opening)

    async def _open(self, host: str, port: int) -> Connection | None:
        loop = asyncio.get_running_loop()
        opening = loop.create_connection(
            self._make, host, port, ssl=self._context, happy_eyeballs_delay=_NEXT_ADDRESS
        )
        try:
            _, connection = await asyncio.wait_for(opening, self._connecting)
        except asyncio.TimeoutError:
            raise ExchangeError(NO_CONNECTION) from None
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            text = excerpt(str(error), 300) or type(error).__name__
            raise ExchangeError(text, is_final=tls.is_final(text)) from error
        if connection.is_http2:
            self._all.append(connection)
            return connection
        connection.close()
        return None


def _result(opening: asyncio.Task[Connection | None]) -> Connection | None:
    """The connection, if it came about."""
    if not opening.done() or opening.cancelled() or opening.exception() is not None:
        return None
    return opening.result()


def _is_over(opening: asyncio.Task[Connection | None]) -> bool:
    """Whether a connection failed or was closed. That a server does not speak HTTP/2 is known for good."""
    if not opening.done():
        return False
    connection = _result(opening)
    if connection is None:
        return opening.cancelled() or opening.exception() is not None
    return connection.is_closed


def _headers(asked: Asked, authority: str, path: str) -> Iterator[tuple[str, str]]:
    yield from ((":method", asked.method), (":authority", authority), (":scheme", "https"), (":path", path))
    given = {name.lower(): value for name, value in asked.headers.items()}
    defaults = {"accept": "*/*", "accept-encoding": "gzip, deflate", "user-agent": "compatlock"}
    yield from {**defaults, **given}.items()


def _decoded(reply: Reply, asked: Asked) -> Reply:
    """The answer with its body as it was before it was compressed for the way. Raises ExchangeError."""
    codings = [coding.strip().lower() for coding in reply.headers.get("content-encoding", "").split(",")]
    body, is_complete = reply.body, reply.complete
    if asked.keep_packed and codings == ["gzip"] and reply.status == 200 and body[:2] == GZIP_MAGIC:
        return reply._replace(is_packed=True)
    for coding in reversed(codings):
        if coding in _CODINGS and body:
            try:
                body, is_whole = _inflated(body, _CODINGS[coding], asked.limit)
            except zlib.error as error:
                raise ExchangeError(str(error)) from None
            if is_complete and len(body) <= asked.limit and not is_whole:
                raise ExchangeError("the answer was cut off")
            is_complete = is_complete and len(body) <= asked.limit
    return reply if body is reply.body else reply._replace(body=body, complete=is_complete)


def _inflated(body: bytes, bits: int, limit: int) -> tuple[bytes, bool]:
    """See `compression.inflated`."""
    # Some servers send "deflate" without the head that belongs to it.
    if bits == 15 and (body[0] & 15 != 8 or int.from_bytes(body[:2], "big") % 31):
        bits = -15
    return inflated(body, bits, limit)
