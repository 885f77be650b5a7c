"""The index client for plain, synchronous code: an event loop in a thread of its own.

The thread keeps connections alive between fetches, lets answers arrive while the caller computes, and
makes a fetch possible from code that itself runs inside an event loop (a notebook).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Sequence
from functools import partial
from queue import SimpleQueue
from subprocess import Popen
from typing import Any, NamedTuple, TypeAlias

from compatlock.index.client import IndexClient
from compatlock.index.credentials import Netrc
from compatlock.index.indexes import split_key
from compatlock.index.loop_thread import Jobs, LoopThread
from compatlock.index.parsing import ListingParser
from compatlock.index.progress import Progress, Tally
from compatlock.index.transport import Transport
from compatlock.model.index import PackageIndex, parse_index
from compatlock.model.listing import File, Listing
from compatlock.model.metadata import Metadata
from compatlock.model.policy import Policy
from compatlock.model.target import Target

# What to fetch: (project, etag or "") of listings, (project, file) of metadata. With several indexes a
# project is named as `indexes.request_key` says: `torch@1` is torch at the second one.
Batch: TypeAlias = "tuple[Iterable[tuple[str, str]], Iterable[tuple[str, File]]]"
OnListing: TypeAlias = "Callable[[str, Listing | None, str], Batch | None]"
OnMetadata: TypeAlias = "Callable[[str, File, Metadata], Batch | None]"


class Network:
    """One or several indexes, asked synchronously. Use it as a context manager, or call `close`.

    `concurrency` bounds the requests at once to all of them, `timeout` is in seconds for every wait for a
    server, `cert` names further certificate authorities (PEM). `on_progress` is called, like all callbacks,
    in the thread that called `fetch`. `child` is the second process that parses, if it was started before.
    """

    def __init__(
        self,
        indexes: str | Sequence[PackageIndex],
        *,
        concurrency: int = 32,
        timeout: float = 30.0,
        cert: str = "",
        on_progress: Callable[[Progress], None] | None = None,
        child: Popen[bytes] | None = None,
    ) -> None:
        self._on_progress = on_progress
        self._progress: Progress | None = None
        given = [parse_index(indexes)] if isinstance(indexes, str) else indexes
        self._transport = transport = Transport(concurrency=concurrency, timeout=timeout, cert=cert)
        self._parser = parser = ListingParser(child=child)
        tally, netrc = Tally(self._note_progress), Netrc()
        self._clients = [
            IndexClient(index, transport=transport, parser=parser, netrc=netrc, tally=tally)
            for index in given
        ]
        self._thread = LoopThread("compatlock-network")
        self._call = _Call(self._clients, self._thread)

    @property
    def requests(self) -> int:
        """HTTP requests sent so far."""
        return self._transport.requests

    @property
    def bytes_received(self) -> int:
        """Bytes received so far, as they came over the wire."""
        return self._transport.bytes_received

    def judge_for(self, target: Target, policy: Policy) -> None:
        """Large listings come with their views for this target and policy from now on, when the second
        process made them."""
        self._parser.judge_for(target, policy)

    def fetch(
        self,
        listings: Iterable[tuple[str, str]],
        metadata: Iterable[tuple[str, File]],
        *,
        on_listing: OnListing,
        on_metadata: OnMetadata,
        until: Callable[[], bool] = lambda: False,
    ) -> None:
        """Fetch everything at once; return when all that is under way has been handed to the callbacks, or as
        soon as `until` says that it is enough. What is under way then goes on, and is handed over in the next
        fetch.

        `on_listing(project, listing, etag)` and `on_metadata(project, file, metadata)` are called as answers
        arrive, in any order; a listing is None when the given etag is still valid. They may return a further
        batch, which joins the running fetch.

        Raises the first IndexUnavailable, or what a callback raises; the rest is then cancelled.
        """
        call = self._call
        try:
            call.start((listings, metadata), _Takers(on_listing, on_metadata))
            while call.pending and not until():
                answer = call.answers.get()
                call.pending -= 1
                if isinstance(answer, BaseException):
                    raise answer
                self._show_progress()
                takers, take = answer
                batch = take()
                if batch is not None:
                    call.start(batch, takers)
        except BaseException:
            self.abandon()
            raise

    def abandon(self) -> None:
        """Ask no further for what is under way: nobody wants it any more."""
        call, self._call = self._call, _Call(self._clients, self._thread)
        if call.pending:
            call.cancel()
            self._thread.run(self._transport.renew())

    def download(self, project: str, file: File) -> bytes:
        """The bytes of a file of `project` (named as in `fetch`), which are what its hash says. Raises
        IndexUnavailable."""
        _, position = split_key(project)
        return self._thread.run(self._clients[position].download(file))

    def close(self) -> None:
        """Close the connections and end the thread. No fetch may be running."""
        if self._thread.is_closed:
            return
        self._call.cancel()
        self._thread.run(self._transport.aclose())
        self._thread.close()
        self._parser.close()

    def __enter__(self) -> Network:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def _note_progress(self, progress: Progress) -> None:
        # In the loop's thread; shown by the caller's, the latest state is enough.
        self._progress = progress

    def _show_progress(self) -> None:
        if self._on_progress is not None and self._progress is not None:
            self._on_progress(self._progress)


class _Takers(NamedTuple):
    """Who is handed the answers to a batch, and to those that follow from it."""

    on_listing: OnListing
    on_metadata: OnMetadata


_Answer: TypeAlias = "tuple[_Takers, Callable[[], Batch | None]]"
_Work: TypeAlias = "Callable[[], Coroutine[Any, Any, None]]"


class _Call:
    """What is under way: its tasks live in the loop's thread, `pending` and `answers` are the caller's."""

    def __init__(self, clients: Sequence[IndexClient], thread: LoopThread) -> None:
        self.pending = 0
        self.answers: SimpleQueue[_Answer | BaseException] = SimpleQueue()
        self._clients = clients
        self._jobs = Jobs(thread, self.answers.put)

    def start(self, batch: Batch, takers: _Takers) -> None:
        listings, metadata = batch
        work: list[_Work] = [partial(self._listing, takers, *wanted) for wanted in listings]
        work += [partial(self._metadata, takers, *wanted) for wanted in metadata]
        if work:
            self.pending += len(work)
            self._jobs.start(work)

    def cancel(self) -> None:
        """Cancel what is still running, and wait until it has let go of its connections."""
        self._jobs.cancel()

    async def _listing(self, takers: _Takers, project: str, etag: str) -> None:
        name, position = split_key(project)
        found = await self._clients[position].listing(name, etag)
        self.answers.put((takers, partial(takers.on_listing, project, *found)))

    async def _metadata(self, takers: _Takers, project: str, file: File) -> None:
        name, position = split_key(project)
        found = await self._clients[position].metadata(name, file)
        self.answers.put((takers, partial(takers.on_metadata, project, file, found)))
