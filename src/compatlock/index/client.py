"""Asking a package index: the files of a project, and the core metadata of a file.

What reads answers is imported when there is one: before that, every import is time until the first question.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

from compatlock.errors import IndexUnavailable
from compatlock.index.compression import MAX_LISTING, PackedError
from compatlock.index.credentials import Credentials, Netrc, origin
from compatlock.index.parsing import ListingParser
from compatlock.index.progress import Progress, Tally
from compatlock.index.refusals import DENIED, GONE, check_hash, missing_file, refused
from compatlock.index.reply import Reply, is_whole_listing
from compatlock.index.transport import Transport
from compatlock.model.index import PackageIndex, parse_index
from compatlock.model.listing import ABSENT, File, Listing
from compatlock.model.metadata import Metadata
from compatlock.model.names import normalise

MAX_SDIST = 64 * 1024 * 1024
MAX_METADATA = 16 * 1024 * 1024
MAX_DOWNLOAD = 1024 * 1024 * 1024

# PEP 691: the JSON form is preferred, the HTML form will do.
_ACCEPT = (
    "application/vnd.pypi.simple.v1+json",
    "application/vnd.pypi.simple.v1+html;q=0.2",
    "text/html;q=0.01",
)
_SIMPLE = {"Accept": ", ".join(_ACCEPT)}
# Ranges and hashes are about the file as it is, not about a compressed transfer of it.
_IDENTITY = {"Accept-Encoding": "identity"}
# Storage services answer 403 for what does not exist when listing is not allowed.
_NOT_THERE = frozenset({403, 404, 405, 410})
_ENOUGH_MISSES = 8
# Marks a validator that is the time of the last change; the others are entity tags.
_MODIFIED = "modified "


class IndexClient:
    """A client for one Simple index (PEP 503 paths; JSON or HTML answers), for one event loop.

    `index` is the index or its URL; credentials for it are sent to the origin that they are for only and
    appear in no message. `transport` is shared with other clients; without it, one is made that bounds
    requests at once to `concurrency` and every wait for the server to `timeout` seconds. `parser` may have
    listings parsed elsewhere; without it, that is done here. `tally` or `on_progress` is told of each
    finished listing or metadata.
    """

    def __init__(
        self,
        index: str | PackageIndex,
        *,
        transport: Transport | None = None,
        parser: ListingParser | None = None,
        netrc: Netrc | None = None,
        concurrency: int = 32,
        timeout: float = 30.0,
        max_sdist: int = MAX_SDIST,
        tally: Tally | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self._index = parse_index(index) if isinstance(index, str) else index
        self._transport = transport or Transport(concurrency=concurrency, timeout=timeout)
        self._parser = parser or ListingParser([])
        self._credentials = Credentials(self._index, netrc)
        self._max_sdist = max_sdist
        self._tally = tally or Tally(on_progress)
        self._projects: asyncio.Task[set[str]] | None = None
        self._side_files: dict[tuple[str, str, int | None], _SideFiles] = {}
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
        """Return the project's listing and the validator of this answer (its ETag, or the time of the last
        change), `""` if there is none.

        With the `etag` of an earlier answer, the listing is None when nothing has changed since. A project
        that the index does not know has `found` False. Raises IndexUnavailable.
        """
        self._tally.wanted += 1
        try:
            found = await self._listing(project, etag, keep_packed=True)
        except PackedError:
            # Broken on its way, or too long: what to do about it is known of answers that are unpacked.
            found = await self._listing(project, etag, keep_packed=False)
        self._finished(project)
        return found

    async def _listing(self, project: str, etag: str, *, keep_packed: bool) -> tuple[Listing | None, str]:
        url = f"{self._index.url}{normalise(project)}/"
        reply = await self._transport.fetch(
            url,
            headers={**_SIMPLE, **_condition(etag)},
            limit=MAX_LISTING,
            credentials=self._credentials,
            keep_packed=keep_packed,
            is_whole=is_whole_listing,
        )
        result: Listing | None = None
        if reply.status in GONE or (reply.status == 403 and await self._lacks(project)):
            result, etag = Listing(normalise(project), found=False, digest=ABSENT), ""
        elif reply.status == 200 and reply.complete:
            kind = reply.headers.get("content-type", "")
            result = await self._parser.parse(project, reply.body, reply.url, kind, reply.is_packed)
            etag = _validator(reply)
        elif reply.status != 304 or not etag:
            raise self._refused(url, reply, f"the files of `{project}`")
        return result, etag

    async def metadata(self, project: str, file: File) -> Metadata:
        """Return the core metadata of one file of `project`.

        Of a wheel: its metadata file (PEP 658), asked for even if the listing does not mention it, else
        what the wheel itself says, read by ranges. Of an sdist: its PKG-INFO; nothing is built. Unusable
        content is a `problem`, as is a file that is not there (source MISSING).

        Raises IndexUnavailable: a failing server never leads to a lesser source.
        """
        self._tally.wanted += 1
        if not file.is_wheel:
            metadata = await self._side_file(file, "sdist") or await self._sdist(file)
        elif file.metadata or not self._known(file).is_doubtful:
            metadata = await self._side_file(file, "side-file") or await self._wheel(project, file)
        else:
            metadata = await self._side_file_or_wheel(project, file)
        self._finished(file.filename)
        return metadata

    async def _side_file_or_wheel(self, project: str, file: File) -> Metadata:
        """Ask for both at once: what there is of the first counts, but waiting for a refusal takes as long as
        waiting for an answer."""
        reading = asyncio.ensure_future(self._wheel(project, file))
        try:
            metadata = await self._side_file(file, "side-file")
            return metadata if metadata is not None else await reading
        finally:
            reading.cancel()
            await asyncio.wait([reading])
            if not reading.cancelled():
                reading.exception()  # of no interest

    async def download(self, file: File) -> bytes:
        """Return a whole file, checked against its hash; one without a hash is none that could be trusted.
        Raises IndexUnavailable."""
        if not file.sha256:
            raise IndexUnavailable(f"the index gives no SHA-256 hash of `{file.filename}`")
        reply = await self._file(file.url, limit=MAX_DOWNLOAD)
        if reply.status != 200 or not reply.complete:
            raise self._refused(file.url, reply, f"`{file.filename}`")
        check_hash(file.url, reply.body, file.sha256)
        return reply.body

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.aclose()

    async def _file(
        self, url: str, *, method: str = "GET", byte_range: str = "", limit: int = 0, challenge: bool = True
    ) -> Reply:
        return await self._transport.fetch(
            url,
            method=method,
            byte_range=byte_range,
            headers=_IDENTITY,
            limit=limit,
            credentials=self._credentials,
            challenge=challenge,
        )

    async def _range(self, url: str, *, method: str = "GET", byte_range: str = "", limit: int = 0) -> Reply:
        reply = await self._file(url, method=method, byte_range=byte_range, limit=limit)
        if reply.status in DENIED and method == "GET":
            raise self._refused(url, reply, "a part of the file")
        return reply

    async def _wheel(self, project: str, file: File) -> Metadata:
        from compatlock.index.remote_wheel import TAIL, wheel_metadata

        name = normalise(project)
        tail = self._tails.get(name, TAIL)
        metadata, self._tails[name] = await wheel_metadata(
            self._range, file.url, size=file.size, tail=tail, sha256=file.sha256
        )
        return metadata

    def _known(self, file: File) -> _SideFiles:
        return self._side_files.setdefault(origin(file.url), _SideFiles())

    async def _side_file(self, file: File, source: str) -> Metadata | None:
        """The file's PEP 658 metadata file; None when there is none, as far as is known."""
        from compatlock.index.metadata import parse_metadata

        known = self._known(file)
        if not file.metadata and not (file.is_wheel and known.worth_asking):
            return None
        path, question, query = file.url.partition("?")
        url = f"{path}.metadata{question}{query}"
        reply = await self._file(url, limit=MAX_METADATA, challenge=bool(file.metadata))
        if not file.metadata:
            known.note(reply.status == 200)
        # Nobody promised a file that is not advertised, so any refusal of it is as good as another.
        if reply.status in _NOT_THERE or (not file.metadata and 400 <= reply.status < 500):
            return None
        if reply.status != 200:
            raise self._refused(url, reply, f"the metadata of `{file.filename}`")
        if not reply.complete:
            return Metadata(source=source, problem=f"its metadata file has more than {MAX_METADATA} bytes")
        if len(file.metadata) > 1:
            check_hash(url, reply.body, file.metadata)
        return parse_metadata(reply.body, source)

    async def _sdist(self, file: File) -> Metadata:
        from compatlock.index.remote_sdist import large_sdist_metadata
        from compatlock.index.sdist import sdist_metadata

        if file.size > self._max_sdist:
            return await large_sdist_metadata(self._range, file, self._max_sdist)
        reply = await self._file(file.url, limit=self._max_sdist)
        if reply.status in GONE:
            return missing_file(reply)
        if reply.status != 200:
            raise self._refused(file.url, reply, f"`{file.filename}`")
        if not reply.complete:
            return await large_sdist_metadata(self._range, file, self._max_sdist)
        if file.sha256:
            check_hash(file.url, reply.body, file.sha256)
        return sdist_metadata(reply.body, file.filename)

    async def _lacks(self, project: str) -> bool:
        """Whether a 403 means that the index does not have the project, as with storage services: anybody may
        read its root page, and that does not name the project. Who has credentials may be forbidden more than
        anybody: there a refusal stays one."""
        if self._credentials.header(self._index.url) is not None:
            return False
        if self._projects is None:
            self._projects = asyncio.ensure_future(self._ask_projects())
        names = await asyncio.shield(self._projects)
        return bool(names) and normalise(project) not in names

    async def _ask_projects(self) -> set[str]:
        """The projects that the root page names; none when it cannot be read."""
        from compatlock.index.html_page import project_names

        reply = await self._transport.fetch(self._index.url, headers=_SIMPLE, limit=MAX_LISTING)
        if reply.status != 200 or not reply.complete:
            return set()
        text = reply.body.decode("utf-8", "replace")
        if text.lstrip()[:1] != "{":
            return {normalise(name) for name in project_names(text)}
        try:
            return {normalise(str(entry["name"])) for entry in json.loads(text)["projects"]}
        except (ValueError, KeyError, TypeError):
            return set()

    def _refused(self, url: str, reply: Reply, what: str) -> Exception:
        return refused(url, reply, what, self._credentials.advice(reply.url))

    def _finished(self, what: str) -> None:
        self._tally.finish(what, self.requests, self.bytes_received)


class _SideFiles:
    """What a host taught about metadata files that its listings do not mention."""

    def __init__(self) -> None:
        self._hits = 0
        self._misses = 0

    @property
    def worth_asking(self) -> bool:
        # A miss costs as much as reading the wheel's end, which nearly always suffices.
        return self._misses < _ENOUGH_MISSES or self._hits > 3 * self._misses

    @property
    def is_doubtful(self) -> bool:
        """Whether a file that is not advertised is more likely not there, as far as is known."""
        return self.worth_asking and self._misses >= self._hits

    def note(self, found: bool) -> None:
        self._hits += found
        self._misses += not found


def _condition(validator: str) -> dict[str, str]:
    """The header that makes a request conditional on a validator."""
    if validator.startswith(_MODIFIED):
        return {"If-Modified-Since": validator[len(_MODIFIED) :]}
    return {"If-None-Match": validator} if validator else {}


def _validator(reply: Reply) -> str:
    """An answer's entity tag, else the time of the last change (RFC 9110, 8.8)."""
    modified = reply.headers.get("last-modified", "")
    return reply.headers.get("etag", "") or (_MODIFIED + modified if modified else "")
