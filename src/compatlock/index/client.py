"""Asking a package index: the files of a project, and the core metadata of a file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from urllib.parse import urlsplit

from compatlock.errors import IndexUnavailable
from compatlock.index.metadata import parse_metadata
from compatlock.index.progress import Progress
from compatlock.index.remote_wheel import MAX_METADATA, TAIL, wheel_metadata
from compatlock.index.sdist import sdist_metadata
from compatlock.index.simple import parse_listing
from compatlock.index.transport import Reply, Transport
from compatlock.model.display import redact
from compatlock.model.listing import File, Listing
from compatlock.model.metadata import Metadata
from compatlock.model.names import normalise

MAX_SDIST = 64 * 1024 * 1024

_SIMPLE_JSON = {"Accept": "application/vnd.pypi.simple.v1+json"}
# Ranges and hashes are about the file as it is, not about a compressed transfer of it.
_IDENTITY = {"Accept-Encoding": "identity"}
# Storage services answer 403 for what does not exist when listing is not allowed.
_NOT_THERE = frozenset({403, 404, 405, 410})
_ENOUGH_MISSES = 8


class IndexClient:
    """A client for one Simple index (PEP 503 paths, JSON answers). All methods are for one event loop.

    `index_url` is the index's root; a user and password in it are sent to that origin only and appear in
    no message. `concurrency` bounds requests at once, `timeout` is in seconds for each connection, read
    and write. `on_progress` is called after each finished listing or metadata.
    """

    def __init__(
        self,
        index_url: str,
        *,
        concurrency: int = 32,
        timeout: float = 30.0,
        max_sdist: int = MAX_SDIST,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self._transport = Transport(index_url, concurrency=concurrency, timeout=timeout)
        self._max_sdist = max_sdist
        self._on_progress = on_progress
        self._wanted = self._done = 0
        self._side_files: dict[str, _SideFiles] = {}
        self._tails: dict[str, int] = {}

    @property
    def requests(self) -> int:
        """HTTP requests sent so far, retries included."""
        return self._transport.requests

    @property
    def bytes_received(self) -> int:
        """Bytes of bodies received so far, as they came over the wire."""
        return self._transport.bytes_received

    async def listing(self, project: str, etag: str = "") -> tuple[Listing | None, str]:
        """Return the project's listing and the validator (ETag) of this answer, `""` if there is none.

        With the `etag` of an earlier answer, the listing is None when nothing has changed since. A project
        that the index does not know has `found` False. Raises IndexUnavailable.
        """
        self._wanted += 1
        url = f"{self._transport.index_url}{normalise(project)}/"
        headers = {**_SIMPLE_JSON, "If-None-Match": etag} if etag else _SIMPLE_JSON
        reply = await self._transport.fetch(url, headers=headers)
        result: Listing | None = None
        if reply.status == 404:
            result, etag = Listing(normalise(project), found=False, digest="absent"), ""
        elif reply.status == 200 and reply.complete:
            result, etag = parse_listing(project, reply.body, reply.url), reply.headers.get("etag", "")
        elif reply.status != 304 or not etag:
            raise _refused(url, reply, f"the files of `{project}`")
        self._finished(project)
        return result, etag

    async def metadata(self, project: str, file: File) -> Metadata:
        """Return the core metadata of one file of `project`.

        Of a wheel: its metadata file (PEP 658), asked for even if the listing does not mention it, else
        what the wheel itself says, read by ranges. Of an sdist: its PKG-INFO; nothing is built. Unusable
        content is a `problem`. Raises IndexUnavailable: a failing server never leads to a lesser source.
        """
        self._wanted += 1
        kind = "side-file" if file.is_wheel else "sdist"
        metadata = await self._side_file(file, kind)
        if metadata is None and file.is_wheel:
            name = normalise(project)
            tail = self._tails.get(name, TAIL)
            metadata, self._tails[name] = await wheel_metadata(
                self._range, file.url, size=file.size, tail=tail
            )
        elif metadata is None:
            metadata = await self._sdist(file)
        self._finished(file.filename)
        return metadata

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.aclose()

    async def _range(self, url: str, *, method: str = "GET", byte_range: str = "", limit: int = 0) -> Reply:
        return await self._transport.fetch(
            url, method=method, byte_range=byte_range, headers=_IDENTITY, limit=limit
        )

    async def _side_file(self, file: File, source: str) -> Metadata | None:
        """The file's PEP 658 metadata file; None when there is none, as far as is known."""
        known = self._side_files.setdefault(urlsplit(file.url).netloc, _SideFiles())
        if not file.metadata and not (file.is_wheel and known.worth_asking):
            return None
        url = f"{file.url}.metadata"
        reply = await self._transport.fetch(url, headers=_IDENTITY, limit=MAX_METADATA)
        if not file.metadata:
            known.note(reply.status == 200)
        if reply.status in _NOT_THERE:
            return None
        if reply.status != 200:
            raise _refused(url, reply, f"the metadata of `{file.filename}`")
        if not reply.complete:
            return Metadata(source=source, problem=f"its metadata file has more than {MAX_METADATA} bytes")
        if len(file.metadata) > 1:
            _check_hash(url, reply.body, file.metadata)
        return parse_metadata(reply.body, source)

    async def _sdist(self, file: File) -> Metadata:
        too_large = Metadata(
            source="sdist",
            problem=f"the sdist is larger than {self._max_sdist // 2**20} MB and was not read",
        )
        if file.size > self._max_sdist:
            return too_large
        reply = await self._transport.fetch(file.url, headers=_IDENTITY, limit=self._max_sdist)
        if reply.status != 200:
            raise _refused(file.url, reply, f"`{file.filename}`")
        if not reply.complete:
            return too_large
        if file.sha256:
            _check_hash(file.url, reply.body, file.sha256)
        return sdist_metadata(reply.body, file.filename)

    def _finished(self, what: str) -> None:
        self._done += 1
        if self._on_progress is not None:
            self._on_progress(Progress(what, self._done, self._wanted, self.requests, self.bytes_received))


class _SideFiles:
    """What a host taught about metadata files that its listings do not mention."""

    def __init__(self) -> None:
        self._hits = 0
        self._misses = 0

    @property
    def worth_asking(self) -> bool:
        # A miss costs as much as reading the wheel's end, which nearly always suffices.
        return self._misses < _ENOUGH_MISSES or self._hits > 3 * self._misses

    def note(self, found: bool) -> None:
        self._hits += found
        self._misses += not found


def _check_hash(url: str, body: bytes, sha256: str) -> None:
    found = hashlib.sha256(body).hexdigest()
    if found != sha256:
        raise IndexUnavailable(
            f"`{redact(url)}` does not have the hash that the index promises: sha256 {found}, not {sha256}",
            hints=["a proxy or mirror may serve wrong or stale bytes: try again, or use another index"],
        )


def _refused(url: str, reply: Reply, what: str) -> IndexUnavailable:
    """The error for an answer that is neither content nor "there is none"."""
    if not reply.complete and reply.status == 200:
        return IndexUnavailable(
            f"`{redact(url)}` answered with more than {len(reply.body)} bytes for {what}",
            hints=["check the index URL (--default-index)"],
        )
    hint = "check the index URL (--default-index), or try again later"
    if reply.status in (401, 403, 407):
        hint = "give credentials in the index URL (https://user:password@host/simple/), or check them"
    elif reply.status == 404:
        hint = "the index lists a file that is not there: exclude that version, or use another index"
    elif reply.status == 406:
        hint = "the index must offer the JSON form of the Simple API (PEP 691)"
    return IndexUnavailable(
        f"`{redact(url)}`: asked for {what}, the server answered {reply.status}", hints=[hint]
    )
