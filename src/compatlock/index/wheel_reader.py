"""Looking into the wheels of an index from plain, synchronous code: a `model.artefact.WheelReader`.

Nothing is connected, and no HTTP client imported, before something has to be read.
"""

from __future__ import annotations

from compatlock.index.wheel_member import unpack
from compatlock.model.artefact import MEMBER_LIMIT, Content, Directory, WheelReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
    from queue import SimpleQueue

    from compatlock.index.loop_thread import Jobs, LoopThread
    from compatlock.index.progress import Progress
    from compatlock.index.transport import Transport
    from compatlock.index.wheel_archive import Packed
    from compatlock.index.wheel_session import WheelSession
    from compatlock.model.artefact import Member
    from compatlock.model.index import PackageIndex
    from compatlock.model.lock import LockedFile

# Bytes of packed members that are held at once, under way or waiting for the caller.
MAX_HELD = 40 * 1024 * 1024
# Members of all wheels whose directories are asked for together; large real locks have 200,000.
MAX_MEMBERS = 1_500_000


class RemoteWheels(WheelReader):
    """Wheels at their URLs, read in part. Use it as a context manager, or call `close`; from one thread.

    `indexes` are those whose credentials count; `concurrency` bounds the requests at once; `timeout` is in
    seconds for every wait for a server, `patience` for an answer to begin, retries included; `cert` names
    further certificate authorities (PEM). `on_progress` is called, in the caller's thread, for each wheel's
    directory or member that is there.
    """

    def __init__(
        self,
        indexes: Sequence[PackageIndex] = (),
        *,
        concurrency: int = 32,
        timeout: float = 30.0,
        patience: float = 60.0,
        cert: str = "",
        on_progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self._indexes = tuple(indexes)
        self._concurrency = concurrency
        self._timeout = timeout
        self._patience = patience
        self._cert = cert
        self._on_progress = on_progress
        self._done = self._wanted = 0
        self._running: set[Jobs] = set()
        self._thread: LoopThread | None = None
        self._transport: Transport | None = None
        self._session: WheelSession | None = None

    @property
    def requests(self) -> int:
        """HTTP requests sent so far, retries included."""
        return self._transport.requests if self._transport is not None else 0

    @property
    def bytes_received(self) -> int:
        """Bytes received so far, as they came over the wire."""
        return self._transport.bytes_received if self._transport is not None else 0

    def directories(self, files: Iterable[LockedFile]) -> dict[str, Directory]:
        """See `WheelReader.directories`. Raises InputError for proxies and certificates that are no good."""
        from functools import partial
        from queue import SimpleQueue

        wanted = {file.filename: file for file in files}
        if not wanted:
            return {}
        thread, session = self._open()
        answers: SimpleQueue[tuple[str, Directory] | BaseException] = SimpleQueue()

        async def read(file: LockedFile) -> None:
            answers.put((file.filename, await session.directory(file)))

        found: dict[str, Directory] = {}
        total = 0
        self._wanted += len(wanted)
        jobs = self._jobs(thread, answers.put)
        jobs.start([partial(read, file) for file in wanted.values()])
        try:
            for _ in wanted:
                name, directory = _answer(answers)
                total += len(directory.members)
                if total > MAX_MEMBERS:
                    directory = Directory(
                        problem="the wheels before it have too many members to hold them all"
                    )
                found[name] = directory
                self._finish(name)
        finally:
            self._end(jobs)
        return {name: found[name] for name in wanted}

    def each_content(
        self, wanted: Iterable[tuple[LockedFile, Member]], *, limit: int = MEMBER_LIMIT
    ) -> Generator[tuple[LockedFile, Member, Content], None, None]:
        """See `WheelReader.each_content`."""
        from functools import partial
        from queue import SimpleQueue

        from compatlock.index.wheel_archive import plan_parts
        from compatlock.index.wheel_session import Budget

        files: dict[str, LockedFile] = {}
        members: dict[str, list[Member]] = {}
        for file, member in wanted:
            files[file.filename] = file
            members.setdefault(file.filename, []).append(member)
        if not files:
            return
        plans = {name: plan_parts(some, limit) for name, some in members.items()}
        thread, session = self._open()
        budget = Budget(MAX_HELD)
        answers: SimpleQueue[_PartAnswer | BaseException] = SimpleQueue()
        work = [
            partial(session.members, files[name], parts, limit, budget, partial(_put, answers, files[name]))
            for name, parts in plans.items()
        ]
        self._wanted += sum(len(part.members) for parts in plans.values() for part in parts)
        jobs = self._jobs(thread, answers.put)
        jobs.start(work)
        try:
            for _ in range(sum(map(len, plans.values()))):
                file, found, held = _answer(answers)
                yield from self._unpacked(file, found)
                del found
                thread.call(budget.give, held)
        finally:
            self._end(jobs)

    def _unpacked(
        self, file: LockedFile, found: Sequence[Packed]
    ) -> Iterator[tuple[LockedFile, Member, Content]]:
        # In the caller's thread: the loop goes on receiving meanwhile.
        for member, data, problem in found:
            content = Content(complete=False, problem=problem) if problem else unpack(data, member)
            self._finish(file.filename)
            yield file, member, content

    def whole(self, files: Iterable[LockedFile], limit: int) -> dict[str, tuple[bytes, str]]:
        """Return all bytes of files of up to `limit` bytes by file name; or none, and why. Raises as
        `directories`."""
        import asyncio

        wanted = {file.filename: file for file in files}
        if not wanted:
            return {}
        thread, session = self._open()

        async def read() -> list[tuple[bytes, str]]:
            return await asyncio.gather(*(session.whole(file, limit) for file in wanted.values()))

        return dict(zip(wanted, thread.run(read()), strict=True))

    def close(self) -> None:
        """Close the connections and end the thread, if there are any."""
        if self._thread is not None and self._transport is not None:
            for jobs in self._running:
                jobs.cancel()
            self._thread.run(self._transport.aclose())
            self._thread.close()
        self._thread = self._session = None

    def __enter__(self) -> RemoteWheels:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def _open(self) -> tuple[LoopThread, WheelSession]:
        if self._thread is None or self._session is None:
            from compatlock.index.loop_thread import LoopThread
            from compatlock.index.transport import Transport
            from compatlock.index.wheel_session import WheelSession

            transport = Transport(concurrency=self._concurrency, timeout=self._timeout, cert=self._cert)
            self._session = WheelSession(
                self._indexes, transport, concurrency=self._concurrency, patience=self._patience
            )
            self._transport = transport
            self._thread = LoopThread("compatlock-wheels")
        return self._thread, self._session

    def _jobs(self, thread: LoopThread, on_error: Callable[[BaseException], object]) -> Jobs:
        from compatlock.index.loop_thread import Jobs

        jobs = Jobs(thread, on_error)
        self._running.add(jobs)
        return jobs

    def _end(self, jobs: Jobs) -> None:
        jobs.cancel()
        self._running.discard(jobs)

    def _finish(self, what: str) -> None:
        self._done += 1
        if self._on_progress is not None:
            from compatlock.index.progress import Progress

            progress = Progress(what, self._done, self._wanted, self.requests, self.bytes_received)
            self._on_progress(progress)


if TYPE_CHECKING:
    from typing import TypeVar

    _T = TypeVar("_T")
    _PartAnswer = tuple[LockedFile, Sequence[Packed], int]


def _answer(answers: SimpleQueue[_T | BaseException]) -> _T:
    answer = answers.get()
    if isinstance(answer, BaseException):
        raise answer
    return answer


def _put(
    answers: SimpleQueue[_PartAnswer | BaseException], file: LockedFile, found: Sequence[Packed], held: int
) -> None:
    answers.put((file, found, held))
