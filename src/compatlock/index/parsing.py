"""Large listings are parsed in a second process, while this one asks the index and judges what is parsed.

Python computes on one processor at a time, and parsing the megabytes that some projects list is a third of
what a cold run computes. Where there can be no second process, or when it fails, this one parses by itself.
"""

from __future__ import annotations

import asyncio
from itertools import count
from queue import PriorityQueue, SimpleQueue
from subprocess import Popen
from threading import Thread
from typing import IO, Any, NamedTuple, cast

from compatlock.errors import IndexUnavailable
from compatlock.index.parse_server import receive, send
from compatlock.index.second_process import own_command, start
from compatlock.index.sent_listing import Scope, SentReleases, SentView, scope_of
from compatlock.index.simple import parse_listing
from compatlock.model.listing import Listing, Release, Skipped
from compatlock.model.policy import Policy
from compatlock.model.target import Target

# In bytes: smaller answers are parsed sooner than they are handed over.
WORTH_IT = 60_000
# How much shorter listings are in gzip's form, about.
_PACKED = 6
# In seconds, for one answer.
_PATIENCE = 60.0


class _Job(NamedTuple):
    """An answer to parse, and who waits for the listing. Small ones go first: what they need in turn is asked
    for while the large ones are parsed."""

    size: float
    number: int
    arguments: tuple[Any, ...]
    result: asyncio.Future[Any] | None


_LAST = _Job(float("inf"), 0, (), None)


class ListingParser:
    """Parses the answers of an index. `command` starts the second process, None: there is one where that is
    possible; it is started with the first large answer, unless `child` is it already."""

    def __init__(self, command: list[str] | None = None, child: Popen[bytes] | None = None) -> None:
        self._command = own_command() if command is None else command
        self._process = _Process(child) if child is not None else None
        self._scope: Scope | None = None

    def judge_for(self, target: Target, policy: Policy) -> None:
        """Have views made of large listings from now on, for this target and policy."""
        self._scope = scope_of(target, policy)

    async def parse(
        self, project: str, body: bytes, page_url: str, content_type: str = "", is_packed: bool = False
    ) -> Listing:
        """See `simple.parse_listing`; the releases of the result may be `SentReleases`."""
        arguments = (project, body, page_url, content_type, is_packed)
        if len(body) * (_PACKED if is_packed else 1) < WORTH_IT or not self._is_there():
            return parse_listing(*arguments)
        assert self._process is not None
        scope = self._scope
        answer = await self._process.ask((*arguments, scope))
        if answer is None:  # It ended, or found what it cannot tell.
            return parse_listing(*arguments)
        return _listing(answer, scope, body)

    def close(self) -> None:
        """End the second process."""
        if self._process is not None:
            self._process.close()
            self._process = None
        self._command = []

    def _is_there(self) -> bool:
        if self._process is None and self._command:
            child = start(self._command)
            self._process = _Process(child) if child is not None else None
            self._command = []
        return self._process is not None and self._process.is_alive


class _Process:
    """The second process, one thread that writes to it and one that reads: neither side waits for the other
    while there is something to do. Every job is settled, whatever becomes of the process."""

    def __init__(self, child: Popen[bytes]) -> None:
        self.is_alive = True
        self._child = child
        self._numbers = count()
        self._unsent: PriorityQueue[_Job] = PriorityQueue()
        self._sent: SimpleQueue[_Job | None] = SimpleQueue()
        self._threads = [Thread(target=task, daemon=True) for task in (self._write, self._read)]
        for thread in self._threads:
            thread.start()

    async def ask(self, arguments: tuple[Any, ...]) -> Any:
        """What the process answers; None when it does not."""
        _, body, *_, is_packed, _ = arguments
        size, result = len(body) * (_PACKED if is_packed else 1), asyncio.get_running_loop().create_future()
        job = _Job(size, next(self._numbers), arguments, result)
        self._unsent.put(job)
        try:
            return await asyncio.wait_for(result, _PATIENCE)
        except asyncio.TimeoutError:
            self._end()
            return None

    def close(self) -> None:
        """End the process."""
        self._end()
        self._unsent.put(_LAST)
        for thread in self._threads:
            thread.join()
        self._child.wait()

    def _end(self) -> None:
        self.is_alive = False
        self._child.terminate()

    def _write(self) -> None:
        pipe = cast("IO[bytes]", self._child.stdin)
        while (job := self._unsent.get()).result is not None:
            # Before it is written: its answer may come at once. After an end, all are told so.
            self._sent.put(job)
            if self.is_alive:
                try:
                    send(pipe, job.arguments)
                except OSError:
                    self.is_alive = False
        self._sent.put(None)
        try:
            pipe.close()
        except OSError:
            pass

    def _read(self) -> None:
        pipe = cast("IO[bytes]", self._child.stdout)
        while (job := self._sent.get()) is not None:
            answer = receive(pipe) if self.is_alive else None
            if answer is None:
                self.is_alive = False
            self._settle(job, None if answer is None else answer[0])
        pipe.close()

    def _settle(self, job: _Job, answer: Any) -> None:
        result = job.result
        assert result is not None

        def settle() -> None:
            if not result.done():
                result.set_result(answer)

        try:
            result.get_loop().call_soon_threadsafe(settle)
        except RuntimeError:  # The loop is closed: nobody waits.
            pass


def _listing(answer: Any, scope: Scope | None, body: bytes) -> Listing:
    """The listing of an answer of the second process about `body`, which may be what is kept of it.
    Raises the IndexUnavailable that it tells of."""
    if len(answer) == 2:
        raise IndexUnavailable(answer[0], hints=answer[1])
    project, versions, skipped, found, digest, status, reason, kept, view = answer
    kept = kept or body
    seen = SentView(scope, *view) if scope is not None and view is not None else None
    releases = cast("tuple[Release, ...]", SentReleases(project, versions, kept, seen))
    unusable = tuple(Skipped(*one) for one in skipped)
    return Listing(project, releases, unusable, found, digest, status, reason, kept)
