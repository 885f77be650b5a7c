"""HTTP requests to an index: bounded in size and number at once, retried, counted."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import unquote, urlsplit, urlunsplit

import httpx

from compatlock.errors import IndexUnavailable, InputError
from compatlock.model.display import redact

TRIES = 3
MAX_BODY = 64 * 1024 * 1024

# 501 is missing: it is the final word of a server that does not know a kind of request.
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
_CONTENT_RANGE = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15})\Z", re.ASCII)
_BACK_OFF = 0.25
_LONGEST_WAIT = 10.0
_sleep = asyncio.sleep


class ContentRange(NamedTuple):
    """Which bytes of a file an answer holds: from `start` to `end` (exclusive) of `size`."""

    start: int
    end: int
    size: int


class Reply(NamedTuple):
    """An HTTP answer: `headers` with lower-case names, `url` after redirects. `complete` is False when
    the body was longer than the limit asked for, and cut off there."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str
    complete: bool = True

    @property
    def content_range(self) -> ContentRange | None:
        """What part of the file this is; None unless it is one, and consistent with the body."""
        match = _CONTENT_RANGE.match(self.headers.get("content-range", ""))
        if self.status != 206 or match is None:
            return None
        part = ContentRange(int(match[1]), int(match[2]) + 1, int(match[3]))
        return part if part.end - part.start == len(self.body) and part.end <= part.size else None


class Transport:
    """An HTTP client for one index. Credentials in `index_url` go to the index's own origin only.

    `requests` and `bytes_received` count what was sent, retries included, and what came over the wire.
    Must be used within one event loop.
    """

    def __init__(self, index_url: str, *, concurrency: int, timeout: float) -> None:
        self.requests = 0
        self.bytes_received = 0
        self.index_url, self._auth = _without_credentials(index_url)
        self._origin = _origin(self.index_url)
        self._slots = asyncio.Semaphore(concurrency)
        self._http = httpx.AsyncClient(
            http2=True,
            verify=ssl.create_default_context(),
            follow_redirects=True,
            timeout=timeout,
            limits=httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency),
            headers={"User-Agent": "compatlock"},
        )

    async def fetch(
        self,
        url: str,
        *,
        method: str = "GET",
        byte_range: str = "",
        headers: Mapping[str, str] | None = None,
        limit: int = MAX_BODY,
    ) -> Reply:
        """Send one request, again after transient failures; read at most `limit` bytes of the answer.

        Any final status is an answer. Raises IndexUnavailable when there is none or the server keeps failing.
        """
        sent = dict(headers or {})
        if byte_range:
            sent["Range"] = byte_range
        failure = ""
        for attempt in range(TRIES):
            wait = _BACK_OFF * 2**attempt
            try:
                async with self._slots:
                    reply = await self._once(method, url, sent, limit)
            except httpx.TransportError as error:
                failure = _in_words(error)
                if "CERTIFICATE_VERIFY_FAILED" in failure:
                    break
            except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
                failure = _in_words(error)
                break
            else:
                if reply.status not in _TRANSIENT:
                    return reply
                failure = f"the server answered {reply.status}"
                wait = max(wait, _retry_after(reply))
            if attempt + 1 < TRIES:
                await _sleep(min(wait, _LONGEST_WAIT))
        raise IndexUnavailable(f"`{redact(url)}` could not be read: {failure}", hints=[_hint(failure)])

    async def _once(self, method: str, url: str, headers: Mapping[str, str], limit: int) -> Reply:
        self.requests += 1
        auth = self._auth if self._auth is not None and _origin(url) == self._origin else None
        request = self._http.build_request(method, url, headers=headers)
        response = await self._http.send(request, auth=auth, stream=True)
        body = bytearray()
        try:
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > limit:
                    break
        finally:
            await response.aclose()
            self.bytes_received += response.num_bytes_downloaded
        complete = len(body) <= limit
        received = {name.lower(): value for name, value in response.headers.items()}
        return Reply(response.status_code, received, bytes(body), str(response.url), complete)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._http.aclose()


def _without_credentials(index_url: str) -> tuple[str, httpx.BasicAuth | None]:
    """Return the index URL ending in "/" and without user and password, and these apart."""
    try:
        parts = urlsplit(index_url)
        _ = parts.port
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(
            f"`{redact(index_url)}` is not the URL of an index: it must begin with https:// or http://",
            hints=["give the root of a Simple index, such as https://index.example/simple/"],
        )
    auth = None
    if "@" in parts.netloc:
        auth = httpx.BasicAuth(unquote(parts.username or ""), unquote(parts.password or ""))
    netloc = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, netloc, parts.path.rstrip("/") + "/", "", "")), auth


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    default = {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname or "", parts.port or default


def _retry_after(reply: Reply) -> float:
    """The seconds that a Retry-After header asks for; 0.0 for none, or for one that gives a date."""
    text = reply.headers.get("retry-after", "")
    return float(text) if text.isdecimal() and len(text) < 6 else 0.0


def _in_words(error: Exception) -> str:
    if isinstance(error, httpx.TimeoutException):
        return "the server did not answer in time"
    return str(error) or type(error).__name__


def _hint(failure: str) -> str:
    if "CERTIFICATE_VERIFY_FAILED" in failure:
        return "set SSL_CERT_FILE to a file with the certificate authorities that this network uses"
    return "check the network and the index URL (--default-index), or try again later"
