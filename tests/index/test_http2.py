"""HTTP/2 over TLS, for whole transports: which server gets it, one connection for all, content codings."""

from __future__ import annotations

import asyncio
import gzip
import shutil
import ssl
import zlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import RequestReceived

from compatlock.errors import IndexUnavailable
from compatlock.index import transport
from compatlock.index.exchange import Asked, ExchangeError
from compatlock.index.http2 import _URL, Http2, _decoded
from compatlock.index.reply import Reply
from compatlock.index.transport import Transport
from tests.index.test_tls import make_certificate

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="makes certificates with openssl")

TEXT = b"a text that is worth compressing. " * 5000


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    return make_certificate(tmp_path_factory.mktemp("http2"), "DNS:localhost")


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_BACK_OFF", 0.001)


class Server:
    """A server that speaks HTTP/2 by h2; it says goodbye after `most` requests of a connection."""

    def __init__(self, most: int = 1000) -> None:
        self.most = most
        self.connections = 0
        self.headers: list[dict[str, str]] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        state = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        state.initiate_connection()
        answered = 0
        while True:
            writer.write(state.data_to_send())
            data = await reader.read(65536)
            if not data:
                break
            for event in state.receive_data(data):
                if isinstance(event, RequestReceived):
                    answered += 1
                    if answered <= self.most:
                        self._answer(state, event.stream_id, dict(event.headers))  # type: ignore[arg-type]
            if answered >= self.most:
                state.close_connection(last_stream_id=2 * self.most - 1)
                writer.write(state.data_to_send())
                break
        await writer.drain()
        writer.close()

    def _answer(self, state: H2Connection, stream: int, headers: dict[str, str]) -> None:
        self.headers.append(headers)
        path = headers[":path"]
        if path == "/moved":
            state.send_headers(stream, [(":status", "302"), ("location", "/there")], end_stream=True)
            return
        body, coding = (
            (gzip.compress(TEXT), [("content-encoding", "gzip")]) if path == "/gzip" else (b"x", [])
        )
        state.send_headers(stream, [(":status", "200"), ("path", path), *coding])
        state.send_data(stream, body, end_stream=True)


def talk(
    certificate: tuple[str, str], server: Server, user: Callable[[Transport, str], Awaitable[Any]]
) -> Transport:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    context.set_alpn_protocols(["h2"])

    async def main() -> Transport:
        listening = await asyncio.start_server(server.serve, "localhost", 0, ssl=context)
        port = listening.sockets[0].getsockname()[1]
        used = Transport(cert=certificate[0])
        try:
            await user(used, f"https://localhost:{port}")
        finally:
            await used.aclose()
            listening.close()
        return used

    return asyncio.run(main())


@needs_openssl
def test_all_requests_share_one_connection(certificate: tuple[str, str]) -> None:
    server = Server()

    async def user(used: Transport, root: str) -> None:
        replies = await asyncio.gather(*(used.fetch(f"{root}/{n}") for n in range(40)))
        assert [reply.headers["path"] for reply in replies] == [f"/{n}" for n in range(40)]
        moved = await used.fetch(f"{root}/moved", headers={"Accept": "text/x"}, byte_range="bytes=0-9")
        assert (moved.url, moved.body) == (f"{root}/there", b"x")
        assert server.headers[-1] == {
            ":method": "GET", ":authority": root[8:], ":scheme": "https", ":path": "/there",
            "accept": "text/x", "accept-encoding": "gzip, deflate", "user-agent": "compatlock",
            "range": "bytes=0-9",
        }  # fmt: skip

    used = talk(certificate, server, user)
    assert server.connections == 1
    assert (used.requests, used.bytes_received) == (42, 41)


@needs_openssl
def test_compressed_answers_count_as_they_came(certificate: tuple[str, str]) -> None:
    async def user(used: Transport, root: str) -> None:
        assert (await used.fetch(f"{root}/gzip")).body == TEXT
        cut = await used.fetch(f"{root}/gzip", limit=1000)
        assert not cut.complete

    assert talk(certificate, Server(), user).bytes_received == 2 * len(gzip.compress(TEXT))


@needs_openssl
def test_requests_after_a_goodbye_go_over_a_new_connection(certificate: tuple[str, str]) -> None:
    server = Server(most=3)

    async def user(used: Transport, root: str) -> None:
        for at_once in (1, 3, 5):
            replies = await asyncio.gather(*(used.fetch(f"{root}/{n}") for n in range(at_once)))
            assert [reply.headers["path"] for reply in replies] == [f"/{n}" for n in range(at_once)]

    talk(certificate, server, user)
    assert server.connections >= 3


@needs_openssl
def test_an_untrusted_server_is_refused(certificate: tuple[str, str]) -> None:
    async def user(_used: Transport, root: str) -> None:
        used = Transport()
        try:
            with pytest.raises(IndexUnavailable, match="CERTIFICATE_VERIFY_FAILED"):
                await used.fetch(f"{root}/x")
            assert used.requests == 1
        finally:
            await used.aclose()

    talk(certificate, Server(), user)


@pytest.mark.parametrize(
    "url",
    ["http://a.example/x", "https://a.example", "https://u:p@a.example/x", "https://A.example/x", "https://[::1]/x",
     "https://a.example/x y", "https://a.example/\u00e4", "https://a.example/x#y", "https://a.example/x%2", "ftp://x/",
     "https://a.example/x|y", "https://a.example/\n"],
)  # fmt: skip
def test_urls_that_are_left_to_httpx(url: str) -> None:
    assert _URL.match(url) is None


@pytest.mark.parametrize(
    "path", ["/simple/x/", "/ab/x-1.0+cu128-py3-none-any.whl", "/x%20y?a=b&c=%3D/?", "/~x/:@"]
)
def test_plain_urls_are_sent_as_httpx_sends_them(path: str) -> None:
    import httpx

    found = _URL.match(f"https://a.example:8443{path}")
    assert found is not None
    assert found.groups() == ("a.example", "8443", path)
    assert httpx.URL(found[0]).raw_path.decode() == path


def test_paths_with_dots_are_left_to_httpx() -> None:
    async def main() -> None:
        asking = Http2(ssl.create_default_context(), timeout=1, connecting=1, count=lambda _: None)
        assert await asking.ask(Asked("GET", "https://a.example/x/../y", {}, 10)) is None

    asyncio.run(main())


def decoded(
    body: bytes, coding: str, limit: int = 10**6, *, status: int = 200, keep_packed: bool = False
) -> Reply:
    reply = Reply(status, {"content-encoding": coding}, body, "https://a.example/", len(body) <= limit)
    return _decoded(reply, Asked("GET", "https://a.example/", {}, limit, keep_packed))


def test_content_codings() -> None:
    raw = zlib.compressobj(wbits=-15)
    bare = raw.compress(TEXT) + raw.flush()
    for body, coding in (
        (TEXT, ""),
        (TEXT, "identity"),
        (TEXT, "unknown"),
        (gzip.compress(TEXT), "gzip"),
        (gzip.compress(TEXT), "X-GZip"),
        (zlib.compress(TEXT), "deflate"),
        (bare, "deflate"),
        (gzip.compress(zlib.compress(TEXT)), "deflate, gzip"),
    ):
        assert decoded(body, coding)[2:5] == (TEXT, "https://a.example/", True)
    assert decoded(b"", "gzip").body == b""


def test_only_what_is_in_the_form_of_gzip_is_left_packed() -> None:
    packed = gzip.compress(TEXT)
    reply = decoded(packed, "gzip", keep_packed=True)
    assert (reply.body, reply.is_packed) == (packed, True)
    for body, coding in ((TEXT, ""), (zlib.compress(TEXT), "deflate"), (gzip.compress(packed), "gzip, gzip")):
        reply = decoded(body, coding, keep_packed=True)
        assert (reply.body, reply.is_packed) == (TEXT, False)
    # The text of an error is for people.
    reply = decoded(packed, "gzip", status=404, keep_packed=True)
    assert (reply.body, reply.is_packed) == (TEXT, False)


def test_what_is_larger_when_unpacked_is_unpacked_to_the_limit_only() -> None:
    bomb = gzip.compress(bytes(10**8))
    reply = decoded(bomb, "gzip")
    assert (len(reply.body), reply.complete) == (10**6 + 1, False)
    assert decoded(gzip.compress(TEXT), "gzip", len(TEXT)).complete
    assert not decoded(gzip.compress(TEXT), "gzip", len(TEXT) - 1).complete


@pytest.mark.parametrize(
    ("body", "why"),
    [(b"no gzip", "header"), (gzip.compress(TEXT)[:-9], "cut off"), (b"\x1f\x8b\x08", "cut off")],
)
def test_damaged_content(body: bytes, why: str) -> None:
    with pytest.raises(ExchangeError, match=why):
        decoded(body, "gzip")
