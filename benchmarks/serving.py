"""Serving a replay on the loopback interface: HTTP/1.1, or HTTP/2 and HTTP/1.1 over TLS as indexes do.

With TLS, the tool chooses the protocol (ALPN). `latency` seconds pass before each answer: over the network
an answer takes so long, however fast both ends are.
"""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
from collections.abc import Awaitable, Callable
from functools import cache
from typing import NamedTuple

from benchmarks.serving_http2 import Http2Server

JSON = "application/vnd.pypi.simple.v1+json"
BINARY = "application/octet-stream"


class Answer(NamedTuple):
    """What is sent back: `age` is for how many seconds it may be believed, `tag` names this state of it."""

    status: int
    body: bytes = b""
    kind: str = BINARY
    age: int = 0
    tag: str = ""


Answerer = Callable[[str], Awaitable[Answer]]
Counter = Callable[[str, int], None]


@cache
def packed(body: bytes) -> bytes:
    """A listing as it is sent, the same each time. Indexes have their listings compressed beforehand."""
    return gzip.compress(body, 4, mtime=0)


def reply(answer: Answer, asked: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of an answer to a request with these headers (names in lower case)."""
    headers = {"content-type": answer.kind, "cache-control": f"max-age={answer.age}"}
    if answer.tag:
        headers["etag"] = f'"{answer.tag}"'
    status, body = answer.status, answer.body
    if answer.tag and f'"{answer.tag}"' in asked.get("if-none-match", ""):
        status, body = 304, b""
    elif answer.kind == JSON and "gzip" in asked.get("accept-encoding", ""):
        headers["content-encoding"], body = "gzip", packed(body)
    headers["content-length"] = str(len(body))
    return status, headers, body


async def serve(
    place: socket.socket,
    answer: Answerer,
    count: Counter,
    certificate: tuple[str, str] | None = None,
    latency: float = 0.0,
) -> None:
    """Serve for ever. `certificate` are the files of one and of its key; without it, there is no TLS and no
    HTTP/2. `count(path, size)` is told of each answer."""

    async def respond(method: str, path: str, asked: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        path = path.partition("?")[0]
        if latency and "/-/" not in path:
            await asyncio.sleep(latency)
        status, headers, body = reply(await answer(path), asked)
        body = b"" if method == "HEAD" else body
        count(path, len(body))
        return status, headers, body

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        secured: ssl.SSLObject | None = writer.get_extra_info("ssl_object")
        try:
            if secured is not None and secured.selected_alpn_protocol() == "h2":
                await Http2Server(reader, writer, respond).run()
            else:
                await _http1(reader, writer, respond)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    context = None
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        context.set_alpn_protocols(["h2", "http/1.1"])
    # asyncio sets it for sockets that it makes itself. Without it an answer of two writes waits for the other
    # side to acknowledge the first one, for 40 ms.
    place.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    server = await asyncio.start_server(talk, sock=place, limit=2**20, ssl=context)
    async with server:
        await server.serve_forever()


async def _http1(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    respond: Callable[[str, str, dict[str, str]], Awaitable[tuple[int, dict[str, str], bytes]]],
) -> None:
    while True:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.strip().split("\r\n")
        method, path = first.split(" ", 2)[:2]
        fields = (line.partition(":") for line in lines)
        asked = {name.lower(): value.strip() for name, _, value in fields}
        status, headers, body = await respond(method, path, asked)
        words = [f"HTTP/1.1 {status} {'OK' if status == 200 else 'Other'}"]
        words += (f"{name}: {value}" for name, value in headers.items())
        writer.write(("\r\n".join(words) + "\r\n\r\n").encode() + body)
        await writer.drain()
