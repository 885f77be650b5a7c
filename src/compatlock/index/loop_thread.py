"""An event loop in a thread of its own, for plain, synchronous code (which may itself run inside a loop)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

_T = TypeVar("_T")


class LoopThread:
    """Runs coroutines in its loop; `close` ends the thread."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Run a coroutine to its end; return or raise what it does."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def call(self, function: Callable[..., object], *arguments: object) -> None:
        """Have a function called in the loop's thread, soon."""
        self._loop.call_soon_threadsafe(function, *arguments)

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        return self._loop.is_closed()

    def close(self) -> None:
        """End the thread. Nothing may be running."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


class Jobs:
    """Tasks in the loop of a LoopThread, which must all be done or cancelled together.

    What one of them raises is handed to `on_error`, in the loop's thread.
    """

    def __init__(self, thread: LoopThread, on_error: Callable[[BaseException], object]) -> None:
        self._thread = thread
        self._on_error = on_error
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Sequence[Callable[[], Coroutine[Any, Any, None]]]) -> None:
        """Begin to run coroutines, all at once."""
        self._thread.call(self._spawn, work)

    def cancel(self) -> None:
        """Cancel what is still running, and wait until it has let go of its connections."""
        if not self._thread.is_closed:
            self._thread.run(self._cancel())

    def _spawn(self, work: Sequence[Callable[[], Coroutine[Any, Any, None]]]) -> None:
        for make in work:
            task = asyncio.ensure_future(self._guard(make))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _guard(self, make: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            await make()
        except Exception as error:
            self._on_error(error)

    async def _cancel(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
