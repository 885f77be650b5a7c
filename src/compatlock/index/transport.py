"""HTTP requests to an index: bounded in size, time and number, redirected with care, retried, counted."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin

from compatlock.errors import IndexUnavailable
from compatlock.index import tls
from compatlock.index.credentials import Credentials, origin
from compatlock.index.exchange import Asked, ExchangeError
from compatlock.index.http2 import Http2
from compatlock.index.reply import ContentRange, Reply
from compatlock.model.display import excerpt, redact
from compatlock.model.secret import Secret

if TYPE_CHECKING:
    import ssl
    from typing import Any

    from compatlock.index.plain_http import PlainHttp

__all__ = ["ContentRange", "Reply", "Transport"]

TRIES = 3
MAX_BODY = 64 * 1024 * 1024
MAX_REDIRECTS = 10

# 501 is missing: it is the final word of a server that does not know a kind of request.
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_BACK_OFF = 0.4
# In seconds: what is waited for connections, at the wish of servers, and for one answer to its end.
_CONNECTING = 10.0
_PATIENCE = 60.0
_TOTAL = 600.0
_sleep = asyncio.sleep


class _Request(NamedTuple):
    """What is asked, wherever redirects lead. `challenge` says whether a refusal is worth a look into the
    keyring."""

    method: str
    headers: Mapping[str, str]
    limit: int
    credentials: Credentials | None
    challenge: bool
    keep_packed: bool


class _Failure(NamedTuple):
    """Why there is no answer; `wait` is for how many seconds the server at `url` asks to be left alone."""

    text: str
    is_final: bool = False
    status: int = 0
    wait: float = 0.0
    url: str = ""


class Transport:
    """An HTTP client for indexes and the hosts of their files.

    `timeout` is in seconds for every wait for the server, `cert` names further certificate authorities.
    `requests` and `bytes_received` count what was sent, retries included, and what came over the wire.
    Must be used within one event loop.

    Raises InputError when proxies or authorities, as they are set up, cannot be used.
    """

    def __init__(self, *, concurrency: int = 32, timeout: float = 30.0, cert: str = "") -> None:
        self.requests = 0
        self.bytes_received = 0
        self._slots = asyncio.Semaphore(concurrency)
        self._pauses: dict[tuple[str, str, int | None], float] = {}
        context = tls.trust(cert)
        waits = {"timeout": timeout, "connecting": min(timeout, _CONNECTING)}
        has_proxies = _has_proxies()
        # httpx takes longer to import than all that a connection needs before it can be used.
        self._make_plain = partial(
            _plain_http, context, has_proxies, concurrency=concurrency, count=self._count, **waits
        )
        self._plain: PlainHttp | None = self._make_plain() if has_proxies else None
        self._http2 = None if has_proxies else Http2(context, count=self._count, **waits)

    async def fetch(
        self,
        url: str,
        *,
        method: str = "GET",
        byte_range: str = "",
        headers: Mapping[str, str] | None = None,
        limit: int = MAX_BODY,
        credentials: Credentials | None = None,
        challenge: bool = True,
        keep_packed: bool = False,
        is_whole: Callable[[Reply], bool] = lambda _: True,
    ) -> Reply:
        """Send one request, again after transient failures; read at most `limit` bytes of the answer.

        Redirects are followed, but never from https to http. An answer that `is_whole` finds cut off counts
        as a transient failure. With `keep_packed`, the body may still be in gzip's form. Any other final
        status is an answer. Raises IndexUnavailable when there is
        none or the server keeps failing.
        """
        sent = {**(headers or {}), **({"Range": byte_range} if byte_range else {})}
        request = _Request(method, sent, limit, credentials, challenge, keep_packed)
        tries, waited = 0, 0.0
        while True:
            outcome = await self._attempt(url, request, is_whole)
            if isinstance(outcome, Reply):
                return outcome
            # A busy server that says when to come again is no failing one.
            tries += not (outcome.status == 429 and outcome.wait)
            waited += outcome.wait
            if outcome.is_final or tries >= TRIES or waited > _PATIENCE:
                break
            if outcome.wait:
                self._pause(outcome.url, outcome.wait)
            else:
                await _sleep(_BACK_OFF * 3 ** (tries - 1))
        failure = outcome.text
        if waited > _PATIENCE:
            failure += f" and asks to wait for {outcome.wait:.0f} seconds"
        raise IndexUnavailable(f"`{redact(url)}` could not be read: {failure}", hints=[_advice(failure)])

    async def _attempt(
        self, url: str, request: _Request, is_whole: Callable[[Reply], bool]
    ) -> Reply | _Failure:
        try:
            reply = await self._follow(url, request)
        except asyncio.TimeoutError:
            return _Failure(f"the answer had not ended after {_TOTAL:.0f} seconds", is_final=True)
        except ExchangeError as error:
            return _Failure(str(error), error.is_final)
        except ValueError as error:
            return _Failure(excerpt(str(error), 300) or type(error).__name__, is_final=True)
        if reply.status in _TRANSIENT:
            wait = reply.retry_after
            return _Failure(f"the server answered {reply.status}", False, reply.status, wait, reply.url)
        return reply if is_whole(reply) else _Failure("the answer was cut off")

    async def _follow(self, url: str, request: _Request) -> Reply:
        """Follow redirects to an answer."""
        places = [url]
        while True:
            reply = await self._answer(places[-1], request)
            place = reply.headers.get("location", "")
            if reply.status not in _REDIRECTS or not place:
                return reply
            try:
                place = urljoin(places[-1], place)
            except ValueError:
                pass  # It is refused for what it is.
            _check_redirect(places, place)
            places.append(place)

    async def _answer(self, url: str, request: _Request) -> Reply:
        """Ask, with the credentials that there are for this place; after a refusal perhaps with others."""
        credentials = request.credentials
        if credentials is None:
            return await self._once(url, request, None)
        header = credentials.header(url)
        reply = await self._once(url, request, header)
        if reply.status in (401, 403) and request.challenge and await credentials.challenged(url, header):
            reply = await self._once(url, request, credentials.header(url))
        return reply

    def _pause(self, url: str, seconds: float) -> None:
        """Send nothing more to a server for so long, whoever asks."""
        end = asyncio.get_running_loop().time() + seconds
        self._pauses[origin(url)] = max(end, self._pauses.get(origin(url), 0.0))

    async def _once(self, url: str, request: _Request, header: Secret | None) -> Reply:
        if self._pauses:
            left = self._pauses.get(origin(url), 0.0) - asyncio.get_running_loop().time()
            if left > 0:
                await _sleep(left)
        async with self._slots:
            self.requests += 1
            return await asyncio.wait_for(self._read(url, request, header), _TOTAL)

    async def _read(self, url: str, request: _Request, header: Secret | None) -> Reply:
        headers = dict(request.headers)
        if header is not None:
            headers["Authorization"] = header.reveal()
        asked = Asked(request.method, url, headers, request.limit, request.keep_packed)
        reply = await self._http2.ask(asked) if self._http2 is not None else None
        if reply is not None:
            return reply
        if self._plain is None:
            self._plain = self._make_plain()
        return await self._plain.ask(asked)

    def _count(self, size: int) -> None:
        self.bytes_received += size

    async def renew(self) -> None:
        """Let go of the connections that httpx holds, after requests were cancelled: it may take those of
        a cancelled request for occupied for ever."""
        plain, self._plain = self._plain, self._make_plain() if self._http2 is None else None
        if plain is not None:
            await plain.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        for connections in (self._http2, self._plain):
            if connections is not None:
                await connections.aclose()


def _check_redirect(places: list[str], place: str) -> None:
    """Raise IndexUnavailable unless it is safe and sensible to go on to `place`."""
    why = hint = ""
    if origin(place)[0] not in ("http", "https"):
        why, hint = "which is no address of the web", "check the index URL (--default-index, --index)"
    elif origin(places[-1])[0] == "https" and origin(place)[0] == "http":
        why = "which is not secured (http instead of https)"
        hint = "use the index's final URL, or one that begins with http:// if you trust the network"
    elif len(places) > MAX_REDIRECTS:
        why = "in a circle" if place in places else f"after {MAX_REDIRECTS} other redirects"
        hint = "check the index URL (--default-index, --index)"
    if why:
        raise IndexUnavailable(
            f"`{redact(places[0])}` could not be read: `{redact(places[-1])}` redirects to "
            f"`{excerpt(redact(place), 300)}`, {why}",
            hints=[hint],
        )


def _has_proxies() -> bool:
    """Whether the environment, or the system, names proxies."""
    if sys.platform not in ("darwin", "win32") and not any(n.lower().endswith("_proxy") for n in os.environ):
        return False  # Without an import that takes long.
    from urllib.request import getproxies

    return bool(getproxies())


def _plain_http(context: ssl.SSLContext, has_proxies: bool, **settings: Any) -> PlainHttp:
    from compatlock.index.plain_http import PlainHttp

    return PlainHttp(context, has_proxies=has_proxies, **settings)


def _advice(failure: str) -> str:
    if "asks to wait" in failure:
        return "try again after that time"
    return tls.advice(failure) or (
        "check the network and the index URL (--default-index), or try again later"
    )
