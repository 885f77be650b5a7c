"""Looking into many remote wheels at once, within one event loop: what fails is a `problem`, never an error,
no request lasts for ever, and no more bytes are held than a budget allows."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager

from compatlock.errors import IndexUnavailable
from compatlock.index.credentials import Credentials, Netrc, origin
from compatlock.index.refusals import DENIED, check_hash, refused
from compatlock.index.reply import Reply
from compatlock.index.transport import Transport
from compatlock.index.wheel_archive import (
    TAIL,
    MissingError,
    Packed,
    Part,
    RemoteFile,
    open_tail,
    read_directory,
    read_part,
)
from compatlock.model.artefact import Directory
from compatlock.model.display import redact
from compatlock.model.index import PackageIndex
from compatlock.model.lock import LockedFile

# Ranges and hashes are about the file as it is, not about a compressed transfer of it.
_IDENTITY = {"Accept-Encoding": "identity"}
# Bytes per second that a server has to send at least, beyond what it may take to begin.
_PACE = 64 * 1024
# After so many files without an answer, and none with one in between, the others of this server are given up.
_ENOUGH_FAILURES = 4
# Files at once from a server that may send whole ones.
_UNSURE = 3


class Budget:
    """So many bytes may be held at once; who comes first is served first. For one event loop."""

    def __init__(self, total: int) -> None:
        self._total = self._left = total
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    async def take(self, amount: int) -> int:
        """Wait until `amount` bytes may be held; what to give back. More than all there is counts as all."""
        amount = min(amount, self._total)
        if self._waiting or self._left < amount:
            future = asyncio.get_running_loop().create_future()
            self._waiting.append((amount, future))
            try:
                await future
            except asyncio.CancelledError:
                if future.done() and not future.cancelled():
                    self.give(amount)
                raise
        else:
            self._left -= amount
        return amount

    def give(self, amount: int) -> None:
        """These bytes are no longer held."""
        self._left += amount
        while self._waiting and (self._waiting[0][1].done() or self._left >= self._waiting[0][0]):
            wanted, future = self._waiting.popleft()
            if not future.done():
                self._left -= wanted
                future.set_result(None)


class WheelSession:
    """`indexes` are those whose credentials count. `patience` is in seconds: how long an answer may take to
    begin, retries included; a server is expected to send 64 KiB a second from then on."""

    def __init__(
        self, indexes: Sequence[PackageIndex], transport: Transport, *, concurrency: int, patience: float
    ) -> None:
        netrc = Netrc()
        self._credentials = [Credentials(index, netrc) for index in indexes or (PackageIndex(),)]
        self._origins = [origin(index.url) for index in indexes]
        self._transport = transport
        self._slots = asyncio.Semaphore(concurrency)
        self._patience = patience
        self._failed: dict[tuple[str, str, int | None], set[str]] = {}
        self._ranged: set[tuple[str, str, int | None]] = set()
        self._gates: dict[tuple[str, str, int | None], asyncio.Semaphore] = {}

    async def directory(self, file: LockedFile) -> Directory:
        """Return what is in a wheel."""
        if not file.url:
            return Directory(problem=_nowhere(file))
        try:
            async with self._gate(file):
                remote = await open_tail(self._fetch, file.url, file.size, TAIL)
                _check_identity(remote, file)
                return await read_directory(remote)
        except (IndexUnavailable, MissingError) as error:
            return Directory(problem=_in_words(error, file))

    async def members(
        self, file: LockedFile, parts: Iterable[Part], limit: int, budget: Budget, deliver: Deliver
    ) -> None:
        """Read parts of a wheel, `limit` packed bytes of each member. `deliver` is called for each part; it,
        or who it hands them to, gives what it is told of back to the budget."""
        left = list(parts)
        if not file.url:
            for part in left:
                deliver([Packed(member, problem=_nowhere(file)) for member in part.members], 0)
            return
        remote = RemoteFile(self._fetch, file.url)
        failed: list[str] = []

        async def read(part: Part) -> None:
            held = await budget.take(part.end - part.start)
            found: Sequence[Packed] = ()
            try:
                if not failed:
                    size = remote.size
                    found = await read_part(remote, part, limit)
                    if not size:
                        _check_identity(remote, file)
            except (IndexUnavailable, MissingError) as error:
                # What is true of one part of a file is true of the others.
                failed.append(_in_words(error, file))
            if failed:
                found = [Packed(member, problem=failed[0]) for member in part.members]
            deliver(found, held)

        async with self._gate(file) as sends_parts:
            # A server that sends the whole file instead of a part shall do so once.
            if left and not sends_parts:
                await read(left.pop(0))
            if origin(file.url) not in self._ranged:
                await asyncio.gather(*map(read, left))
                left.clear()
        await asyncio.gather(*map(read, left))

    async def whole(self, file: LockedFile, limit: int) -> tuple[bytes, str]:
        """Return all bytes of a file of up to `limit` bytes; or none, and why."""
        if not file.url:
            return b"", _nowhere(file)
        try:
            reply = await self._fetch(file.url, limit=limit)
            if reply.status != 200:
                raise MissingError(reply)
            if not reply.complete:
                return b"", f"it is larger than {limit // 2**20} MB"
            if file.sha256:
                check_hash(file.url, reply.body, file.sha256)
        except (IndexUnavailable, MissingError) as error:
            return b"", _in_words(error, file)
        return reply.body, ""

    @asynccontextmanager
    async def _gate(self, file: LockedFile) -> AsyncIterator[bool]:
        """Let few files be read at once from a server that may send whole ones. Whether it is known that it
        sends parts."""
        place = origin(file.url)
        gate = self._gates.setdefault(place, asyncio.Semaphore(_UNSURE))
        if place not in self._ranged:
            async with gate:
                if place not in self._ranged:
                    yield False
                    return
        yield True

    async def _fetch(self, url: str, *, method: str = "GET", byte_range: str = "", limit: int = 0) -> Reply:
        place = origin(url)
        async with self._slots:
            failed = self._failed.setdefault(place, set())
            if len(failed) >= _ENOUGH_FAILURES:
                raise IndexUnavailable(
                    "its server gave no answer for several other files, so it was given up"
                )
            patience = self._patience + _length(byte_range) / _PACE
            credentials = self._credentials_for(place)
            request = self._transport.fetch(
                url,
                method=method,
                byte_range=byte_range,
                headers=_IDENTITY,
                limit=limit,
                credentials=credentials,
            )
            try:
                reply = await asyncio.wait_for(request, patience)
            except asyncio.TimeoutError:
                failed.add(url)
                raise IndexUnavailable(f"its server did not send it within {patience:.0f} seconds") from None
            except IndexUnavailable:
                failed.add(url)
                raise
        failed.clear()
        if reply.status == 206:
            self._ranged.add(place)
        if reply.status in DENIED and method == "GET":
            raise refused(url, reply, "a part of the file", credentials.advice(reply.url))
        return reply

    def _credentials_for(self, place: tuple[str, str, int | None]) -> Credentials:
        return self._credentials[self._origins.index(place) if place in self._origins else 0]


# Members' data, and how many bytes of the budget they hold.
Deliver = Callable[[Sequence[Packed], int], None]


def _length(byte_range: str) -> int:
    first, _, last = byte_range.removeprefix("bytes=").partition("-")
    return int(last or 0) - int(first or 0)


def _check_identity(remote: RemoteFile, file: LockedFile) -> None:
    """Raise IndexUnavailable when it can be seen that this is not the file of the lock."""
    if file.size and remote.size != file.size:
        raise IndexUnavailable(
            f"`{redact(file.url)}` is another file than that of the lock: "
            f"it has {remote.size} bytes, not {file.size}"
        )
    if remote.is_whole and file.sha256:
        check_hash(file.url, remote.data, file.sha256)


def _nowhere(file: LockedFile) -> str:
    return f"it is not known where `{file.filename}` can be had: the lock has no address for it"


def _in_words(error: IndexUnavailable | MissingError, file: LockedFile) -> str:
    if isinstance(error, MissingError):
        return f"the server has no `{file.filename}` (it answered {error.reply.status})"
    return error.message
