"""Requests by httpx: through proxies, to servers without HTTP/2, and of URLs that have to be put right."""

from __future__ import annotations

import logging
import ssl
from collections.abc import Callable

import httpx

from compatlock.errors import InputError
from compatlock.index import tls
from compatlock.index.exchange import LATE, NO_CONNECTION, Asked, ExchangeError
from compatlock.index.reply import Reply
from compatlock.index.streams import DirectTransport
from compatlock.model.display import excerpt


class PlainHttp:
    """An httpx client for one event loop. Times are in seconds; `count` is told of bytes that came in.

    Raises InputError when the environment names a proxy that cannot be used.
    """

    def __init__(
        self,
        context: ssl.SSLContext,
        *,
        has_proxies: bool,
        concurrency: int,
        timeout: float,
        connecting: float,
        count: Callable[[int], None],
    ) -> None:
        _quiet_logs()
        self._count = count
        limits = httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
        try:
            self._http = httpx.AsyncClient(
                http2=True,
                verify=context,
                timeout=httpx.Timeout(timeout, connect=connecting, pool=None),
                limits=limits,
                headers={"User-Agent": "compatlock"},
                transport=None if has_proxies else DirectTransport(context, limits),
            )
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, ImportError) as error:
            raise InputError(
                f"the proxy that the environment names cannot be used: {excerpt(str(error))}",
                hints=["check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY; NO_PROXY names hosts to ask directly"],
            ) from None

    async def ask(self, asked: Asked) -> Reply:
        """Send a request and read the answer. Raises ExchangeError."""
        try:
            return await self._ask(asked)
        except (httpx.TransportError, httpx.DecodingError) as error:
            text = _in_words(error)
            is_final = tls.is_final(text) or isinstance(error, httpx.UnsupportedProtocol)
            raise ExchangeError(text, is_final=is_final) from error
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise ExchangeError(_in_words(error), is_final=True) from error

    async def _ask(self, asked: Asked) -> Reply:
        # Credentials within a URL come from a server: `auth` None would send them.
        made = self._http.build_request(asked.method, asked.url, headers=asked.headers)
        response = await self._http.send(made, auth=httpx.Auth(), stream=True)
        body = bytearray()
        try:
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > asked.limit:
                    break
        finally:
            await response.aclose()
            self._count(response.num_bytes_downloaded)
        received = {name.lower(): value for name, value in response.headers.items()}
        framed = (
            not response.http_version.startswith("HTTP/1")
            or "content-length" in received
            or "transfer-encoding" in received
        )
        is_complete = len(body) <= asked.limit
        return Reply(response.status_code, received, bytes(body), asked.url, is_complete, framed)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._http.aclose()


def _quiet_logs() -> None:
    """Keep URLs with signatures (httpx) out of the logs of programs that log everything; who wants to see
    them sets the level of these loggers."""
    for name in ("httpx", "httpcore", "hpack"):
        logger = logging.getLogger(name)
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.WARNING)


def _in_words(error: Exception) -> str:
    if isinstance(error, httpx.ConnectTimeout):
        return NO_CONNECTION
    if isinstance(error, httpx.TimeoutException):
        return LATE
    return excerpt(str(error), 300) or type(error).__name__
