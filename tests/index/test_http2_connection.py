"""One HTTP/2 connection, against h2 as the server: what arrives, what ends it, what is sent."""

from __future__ import annotations

import asyncio
import random
import struct
from collections.abc import Awaitable, Callable

import pytest
from h2.events import ConnectionTerminated, PingAckReceived
from h2.settings import SettingCodes

from compatlock.index.exchange import Asked, ExchangeError
from compatlock.index.http2_connection import UnprocessedError
from compatlock.index.http2_frames import (
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    HEADERS,
    MAX_FRAME,
    PADDED,
    PRIORITY,
    PUSH_PROMISE,
    SETTINGS,
    frame,
)
from compatlock.index.reply import Reply
from tests.support.http2_peer import Peer

MIB = 1024 * 1024
OK = b"\x88"  # `:status: 200` in HPACK's static table


def silent(_peer: Peer, _stream: int, _headers: dict[str, str]) -> None:
    """A server that does not answer."""


async def ask(
    peer: Peer, path: str = "/", *, limit: int = 100 * MIB, method: str = "GET", **more: str
) -> Reply:
    headers = [(":method", method), (":authority", "a.example"), (":scheme", "https"), (":path", path)]
    asked = Asked(method, f"https://a.example{path}", {}, limit)
    return await peer.client.ask(asked, [*headers, *more.items()])


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(work(), 20)

    asyncio.run(bounded())


def test_many_answers_at_once_arrive_each_whole() -> None:
    bodies = {f"/{n}": random.Random(n).randbytes(n * 70_001) for n in range(30)}

    def answer(peer: Peer, stream: int, headers: dict[str, str]) -> None:
        body = bodies[headers[":path"]]
        peer.answer(stream, body, [("content-length", str(len(body))), ("x", "1"), ("x", "2")])

    async def work() -> None:
        peer = Peer(answer)
        replies = await asyncio.gather(*(ask(peer, path) for path in bodies))
        assert [(r.status, r.body, r.complete, r.framed) for r in replies] == [
            (200, body, True, True) for body in bodies.values()
        ]
        assert replies[1].headers == {"content-length": "70001", "x": "1, 2"}
        assert replies[1].url == "https://a.example/1"
        assert peer.counted == sum(map(len, bodies.values()))
        assert peer.state.max_outbound_frame_size == MAX_FRAME

    run(work)


def test_what_is_asked_is_what_the_server_reads() -> None:
    seen: dict[str, str] = {}

    def answer(peer: Peer, stream: int, headers: dict[str, str]) -> None:
        seen.update(headers)
        peer.answer(stream)

    async def work() -> None:
        reply = await ask(Peer(answer), "/x?y=1", authorization="Basic abc", long="v" * 40_000)
        assert (reply.status, reply.body) == (200, b"")

    run(work)
    assert seen == {
        ":method": "GET", ":authority": "a.example", ":scheme": "https", ":path": "/x?y=1",
        "authorization": "Basic abc", "long": "v" * 40_000,
    }  # fmt: skip


def test_more_than_is_wanted_is_given_up_and_the_connection_serves_on() -> None:
    def answer(peer: Peer, stream: int, headers: dict[str, str]) -> None:
        is_large = headers[":path"] == "/large"
        peer.answer(stream, bytes(3 * MIB) if is_large else b"small", ends=not is_large)

    async def work() -> None:
        peer = Peer(answer)
        reply = await ask(peer, "/large", limit=MIB)
        assert not reply.complete
        assert MIB < len(reply.body) <= MIB + MAX_FRAME
        assert (await ask(peer, "/")).body == b"small"
        assert peer.resets == [1]

    run(work)


def test_who_gives_up_waiting_gives_up_the_request() -> None:
    def answer(peer: Peer, stream: int, headers: dict[str, str]) -> None:
        if headers[":path"] != "/never":
            peer.answer(stream, b"x")

    async def work() -> None:
        peer = Peer(answer)
        waiting = asyncio.ensure_future(ask(peer, "/never"))
        await asyncio.sleep(0.01)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert (await ask(peer)).body == b"x"
        assert peer.resets == [1]

    run(work)


def test_no_more_at_once_than_the_server_takes() -> None:
    at_once: list[int] = []

    def answer(peer: Peer, stream: int, _headers: dict[str, str]) -> None:
        at_once.append(peer.state.open_inbound_streams)
        asyncio.get_running_loop().call_later(0.002, peer.answer, stream, b"x")

    async def work() -> None:
        peer = Peer(answer)
        peer.state.update_settings({SettingCodes.MAX_CONCURRENT_STREAMS: 2})
        peer.flush()
        await asyncio.sleep(0.01)
        replies = await asyncio.gather(*(ask(peer) for _ in range(9)))
        assert [r.body for r in replies] == [b"x"] * 9

    run(work)
    assert max(at_once) == 2


def test_answers_without_content() -> None:
    def answer(peer: Peer, stream: int, headers: dict[str, str]) -> None:
        status = int(headers[":path"][1:])
        peer.state.send_headers(stream, [(":status", "103"), ("link", "x")])
        peer.answer(stream, headers=[("content-length", "70")], status=status)

    async def work() -> None:
        peer = Peer(answer)
        assert (await ask(peer, "/200", method="HEAD")).headers["content-length"] == "70"
        assert (await ask(peer, "/304")).status == 304

    run(work)


def test_an_answer_shorter_than_announced_is_none() -> None:
    def answer(peer: Peer, stream: int, _headers: dict[str, str]) -> None:
        peer.answer(stream, b"123", [("content-length", "4")])

    async def work() -> None:
        with pytest.raises(ExchangeError, match="cut off"):
            await ask(Peer(answer))

    run(work)


@pytest.mark.parametrize(("code", "what"), [(7, "UnprocessedError"), (2, "HTTP/2 error 2")])
def test_a_reset_request(code: int, what: str) -> None:
    def answer(peer: Peer, stream: int, _headers: dict[str, str]) -> None:
        peer.state.reset_stream(stream, code)
        peer.flush()

    async def work() -> None:
        peer = Peer(answer)
        with pytest.raises((ExchangeError, UnprocessedError)) as caught:
            await ask(peer)
        assert what in repr(caught.value)
        assert not peer.client.is_closed

    run(work)


def test_a_goodbye_lets_what_was_begun_end() -> None:
    def answer(peer: Peer, stream: int, _headers: dict[str, str]) -> None:
        if stream == 1:
            # h2 would not answer after its own goodbye.
            peer.feed(frame(7, 0, 0, struct.pack(">LL", 1, 0)))
            asyncio.get_running_loop().call_later(0.01, peer.answer, stream, b"begun")

    async def work() -> None:
        peer = Peer(answer)
        first, second = await asyncio.gather(ask(peer), ask(peer), return_exceptions=True)
        assert isinstance(first, Reply)
        assert first.body == b"begun"
        assert isinstance(second, UnprocessedError)
        assert peer.client.is_closed
        assert peer.is_aborted
        with pytest.raises(UnprocessedError):
            await ask(peer)

    run(work)


def test_a_lost_connection_is_told_to_all() -> None:
    async def work() -> None:
        peer = Peer(silent)
        asyncio.get_running_loop().call_later(0.01, peer.client.connection_lost, OSError("gone"))
        found = await asyncio.gather(ask(peer), ask(peer), return_exceptions=True)
        assert list(map(str, found)) == ["gone", "gone"]
        assert peer.client.is_closed

    run(work)


def test_a_silent_server_is_waited_for_so_long() -> None:
    async def work() -> None:
        with pytest.raises(ExchangeError, match="did not answer in time"):
            await ask(Peer(silent, timeout=0.02))

    run(work)


def test_a_server_that_is_busy_with_other_answers_is_waited_for() -> None:
    def answer(peer: Peer, stream: int, _headers: dict[str, str]) -> None:
        peer.state.send_headers(stream, [(":status", "200")])
        for n in range(6):
            asyncio.get_running_loop().call_later(n * 0.03, send, peer, stream, n == 5)

    def send(peer: Peer, stream: int, is_last: bool) -> None:
        peer.state.send_data(stream, b"x", end_stream=is_last)
        peer.flush()

    async def work() -> None:
        assert (await ask(Peer(answer, timeout=0.1))).body == b"xxxxxx"

    run(work)


def test_a_ping_is_answered() -> None:
    async def work() -> None:
        peer = Peer(silent)
        peer.state.ping(b"12345678")
        peer.flush()
        await asyncio.sleep(0.01)
        assert [e.ping_data for e in peer.events if isinstance(e, PingAckReceived)] == [b"12345678"]

    run(work)


@pytest.mark.parametrize("step", [1, 2, 7, 10_000])
def test_frames_of_every_form_in_pieces_of_every_size(step: int) -> None:
    made = b"".join(
        (
            frame(HEADERS, PADDED | PRIORITY, 1, b"\x03" + bytes(5) + b"" + bytes(3)),
            frame(CONTINUATION, 0, 1, OK),
            frame(CONTINUATION, END_HEADERS, 1, b""),
            frame(0xBE, 0xFF, 1, b"of a kind that nobody knows"),
            frame(DATA, PADDED, 1, b"\x05one" + bytes(5)),
            frame(DATA, 0, 1, b""),
            frame(DATA, PADDED, 1, b"\x00"),
            frame(DATA, 0, 1, b"two"),
            frame(DATA, 0, 77, b"of a stream that nobody asked for"),
            frame(HEADERS, END_HEADERS | END_STREAM, 1, OK),
        )
    )

    async def work() -> None:
        peer = Peer(silent)
        asyncio.get_running_loop().call_later(0.01, peer.feed, made, step)
        reply = await ask(peer)
        assert (reply.status, reply.body) == (200, b"onetwo")
        assert not peer.client.is_closed

    run(work)


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "larger than is allowed"),
        (frame(DATA, 0, 1, b"x"), "data before headers"),
        (frame(DATA, 0, 0, b"x"), "data before headers"),
        (frame(HEADERS, 0, 1, OK) + frame(DATA, 0, 1, b""), "torn"),
        (frame(CONTINUATION, 0, 1, OK), "torn"),
        (frame(HEADERS, 0, 1, OK) + frame(CONTINUATION, 0, 3, OK), "torn"),
        (frame(HEADERS, 0, 1, OK) + 2 * frame(CONTINUATION, 0, 1, OK * 200_000), "too long"),
        (frame(HEADERS, PADDED, 1, b"\x09" + OK), "padding"),
        (frame(HEADERS, END_HEADERS, 1, b""), "without a status"),
        (frame(HEADERS, END_HEADERS, 1, b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), "HTTP/2"),
        (frame(HEADERS, END_HEADERS, 1, b"\x00\x01\xff\x01x"), "HTTP/2"),
        (frame(SETTINGS, 0, 0, b"12345"), "settings"),
        (frame(PUSH_PROMISE, END_HEADERS, 1, b"\0\0\0\2" + OK), "push"),
    ],
)
def test_a_server_that_does_not_keep_to_the_protocol(sent: bytes, why: str) -> None:
    async def work() -> None:
        peer = Peer(silent)
        asyncio.get_running_loop().call_later(0.01, peer.feed, sent)
        with pytest.raises(ExchangeError, match=why):
            await ask(peer)
        assert peer.client.is_closed
        assert peer.is_aborted
        assert any(isinstance(event, ConnectionTerminated) for event in peer.events)
        peer.client.data_received(sent)  # what was under way

    run(work)


def test_noise_never_does_more_than_end_the_connection() -> None:
    async def work() -> None:
        for seed in range(200):
            noise = random.Random(seed)
            peer = Peer(silent, timeout=0.05)
            asked = asyncio.ensure_future(ask(peer))
            await asyncio.sleep(0)
            for _ in range(20):
                kind, flags = noise.randrange(11), noise.choice((0, 1, 4, 5, 8, 0x20, 0x2D))
                payload = noise.randbytes(noise.randrange(12))
                peer.client.data_received(frame(kind, flags, noise.randrange(4), payload))
            peer.client.connection_lost(None)
            try:
                await asked
            except (ExchangeError, UnprocessedError):
                pass

    run(work)
