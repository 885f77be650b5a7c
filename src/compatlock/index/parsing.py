"""Large listings are parsed in a second process, while this one asks the index and judges what is parsed.

Python computes on one processor at a time, and parsing the megabytes that some projects list is a third of
what a cold run computes. Where there can be no second process, or when it fails, this one parses by itself.
"""

from __future__ import annotations

import asyncio
import os
import sys
from queue import SimpleQueue
from subprocess import DEVNULL, PIPE, Popen
from threading import Thread
from typing import IO, Any, NamedTuple, cast

from compatlock.errors import IndexUnavailable
from compatlock.index.parse_server import receive, send
from compatlock.index.simple import parse_listing
from compatlock.index.stored_listing import decode_files
from compatlock.model.listing import Listing, Release, Skipped

# In bytes: smaller answers are parsed sooner than they are handed over.
WORTH_IT = 60_000
# In bytes: what a pipe holds, so that the second process need not wait until an answer is fetched.
_PIPE_SIZE = 1024 * 1024
# In seconds, for one answer.
_PATIENCE = 60.0
_SET_PIPE_SIZE = 1031  # F_SETPIPE_SZ, which `fcntl` names from Python 3.10 on, on Linux only

# Its modules are found where those of this process are, and no others are run first.
_CODE = """
import sys
sys.path[:] = sys.argv[1:]
from compatlock.index.parse_server import serve
serve(sys.stdin.buffer, sys.stdout.buffer)
"""


class _Job(NamedTuple):
    """An answer to parse, and who waits for the listing."""

    arguments: tuple[str, bytes, str, str]
    result: asyncio.Future[Any]


class ListingParser:
    """Parses the answers of an index; for one event loop. `command` starts the second process, None: there is
    none. It is started with the first large answer."""

    def __init__(self, command: list[str] | None = None) -> None:
        self._command = _command() if command is None else command
        self._process: _Process | None = None

    async def parse(self, project: str, body: bytes, page_url: str, content_type: str = "") -> Listing:
        """See `simple.parse_listing`."""
        arguments = (project, body, page_url, content_type)
        if len(body) < WORTH_IT or not self._is_there():
            return parse_listing(*arguments)
        assert self._process is not None
        answer = await self._process.ask(arguments)
        if answer is None:  # It ended, or found what it cannot tell.
            return parse_listing(*arguments)
        return _listing(answer)

    def close(self) -> None:
        """End the second process."""
        if self._process is not None:
            self._process.close()
            self._process = None
        self._command = []

    def _is_there(self) -> bool:
        if self._process is None and self._command:
            try:
                self._process = _Process(self._command, asyncio.get_running_loop())
            except (OSError, ValueError):
                self._command = []
        return self._process is not None and self._process.is_alive


class _Process:
    """The second process, one thread that writes to it and one that reads: neither side waits for the other
    while there is something to do. Every job is settled, whatever becomes of the process."""

    def __init__(self, command: list[str], loop: asyncio.AbstractEventLoop) -> None:
        self.is_alive = True
        self._loop = loop
        self._child = Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
        self._unsent: SimpleQueue[_Job | None] = SimpleQueue()
        self._sent: SimpleQueue[_Job | None] = SimpleQueue()
        self._threads = [Thread(target=task, daemon=True) for task in (self._write, self._read)]
        for pipe in (self._child.stdin, self._child.stdout):
            _widen(cast("IO[bytes]", pipe))
        for thread in self._threads:
            thread.start()

    async def ask(self, arguments: tuple[str, bytes, str, str]) -> Any:
        """What the process answers; None when it does not."""
        job = _Job(arguments, self._loop.create_future())
        self._unsent.put(job)
        try:
            return await asyncio.wait_for(job.result, _PATIENCE)
        except asyncio.TimeoutError:
            self._end()
            return None

    def close(self) -> None:
        """End the process."""
        self._end()
        self._unsent.put(None)
        for thread in self._threads:
            thread.join()
        self._child.wait()

    def _end(self) -> None:
        self.is_alive = False
        self._child.terminate()

    def _write(self) -> None:
        pipe = cast("IO[bytes]", self._child.stdin)
        while (job := self._unsent.get()) is not None:
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
        def settle() -> None:
            if not job.result.done():
                job.result.set_result(answer)

        try:
            self._loop.call_soon_threadsafe(settle)
        except RuntimeError:  # The loop is closed: nobody waits.
            pass


def _listing(answer: Any) -> Listing:
    """The listing of an answer of the second process. Raises the IndexUnavailable that it tells of."""
    if len(answer) == 2:
        raise IndexUnavailable(answer[0], hints=answer[1])
    project, versions, skipped, *others = answer
    releases = map(Release, versions, decode_files(others[-1]))
    return Listing(project, tuple(releases), tuple(Skipped(*one) for one in skipped), *others)


def _command() -> list[str]:
    """How to start this Python once more; empty where that is not known, or is of no use."""
    name = os.path.basename(sys.executable or "").lower()
    if getattr(sys, "frozen", False) or not name.startswith("python") or (os.cpu_count() or 1) < 2:
        return []
    options = ["-I", "-S", *(["-B"] if sys.dont_write_bytecode else [])]
    return [sys.executable, *options, "-c", _CODE, *filter(None, map(os.path.abspath, sys.path))]


def _widen(pipe: IO[bytes]) -> None:
    try:
        import fcntl

        fcntl.fcntl(pipe.fileno(), _SET_PIPE_SIZE, _PIPE_SIZE)
    except (ImportError, OSError):
        pass  # Not Linux, or not allowed: then with more waiting.
