"""Parts of a matrix, solved by this process, by others of this machine, or by an executor of the user's."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, ProcessPoolExecutor, wait
from contextlib import contextmanager, nullcontext

from compatlock.api.matrix.work import forget, solve_chunk
from compatlock.errors import CompatlockError, WorkerLost

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Executor, Future
    from contextlib import AbstractContextManager
    from multiprocessing.connection import Connection

    from compatlock.api.matrix.work import Chunk
    from compatlock.index.supply import Supply
    from compatlock.model.matrix import Cell

    Rows = tuple[tuple[Cell, ...], ...]


def solved(
    parts: Sequence[tuple[str, Chunk]],
    executor: Executor | None,
    jobs: int,
    on_read: Callable[[Supply], None] | None,
) -> Iterator[tuple[str, Rows]]:
    """The cells of each part, as they are finished, with the part's key. Before an error all parts that are
    finished are given.

    Raises what `solve_chunk` raises, WorkerLost when an executor or one of its workers fails.
    """
    if executor is None and jobs <= 1:
        try:
            for key, chunk in parts:
                yield key, solve_chunk(chunk, on_read)
        finally:
            forget()
        return
    engine: AbstractContextManager[Executor] = nullcontext(executor) if executor else _processes(jobs)
    with engine as running:
        yield from _solved_by(running, parts)


def _solved_by(engine: Executor, parts: Sequence[tuple[str, Chunk]]) -> Iterator[tuple[str, Rows]]:
    futures: dict[Future[Rows], str] = {}
    failure: Exception | None = None
    try:
        for key, chunk in parts:
            futures[engine.submit(solve_chunk, chunk)] = key
    except Exception as error:  # Executors raise what they like.
        failure = error
    waiting = set(futures)
    try:
        while waiting and failure is None:
            ready, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in ready:
                failure = _failure(future) or failure
            yield from _found(ready, futures)
        yield from _found((future for future in waiting if future.done()), futures)
    finally:
        for future in waiting:
            future.cancel()
    if failure is not None:
        raise failure if isinstance(failure, CompatlockError) else _lost(failure) from failure


def _failure(future: Future[Rows]) -> Exception | None:
    try:
        future.result()
    except Exception as error:
        return error
    return None


def _found(ended: Iterable[Future[Rows]], keys: dict[Future[Rows], str]) -> Iterator[tuple[str, Rows]]:
    for future in ended:
        if _failure(future) is None:
            yield keys[future], future.result()


def _lost(error: Exception) -> WorkerLost:
    hints = ["run again; with `--resume FILE` what is finished is not solved again"]
    if isinstance(error, BrokenExecutor):
        hints.append("if it was for want of memory: fewer `--jobs`")
        return WorkerLost("a process that solved a part of the matrix ended before it was done", hints=hints)
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return WorkerLost(f"the executor did not solve a part of the matrix: {said}", hints=hints)


@contextmanager
def _processes(jobs: int) -> Iterator[Executor]:
    """Processes of this machine. They end at once with an error here, an interrupt for one, and when this
    process is killed."""
    # Its reading end sees the end of the stream when nobody has the writing end any more.
    lifeline, held = multiprocessing.Pipe(duplex=False)
    pool = ProcessPoolExecutor(jobs, initializer=_hang_on, initargs=(lifeline, held))
    try:
        yield pool
    except BaseException:
        held.close()
        raise
    finally:
        # Only after an error there is something to wait for or to drop.
        pool.shutdown(wait=True, cancel_futures=True)
        held.close()
        lifeline.close()


def _hang_on(lifeline: Connection, held: Connection) -> None:
    """Let this process, one of the pool, end when its owner lets go of the lifeline. An interrupt, which the
    terminal sends to all processes, is the owner's to handle."""
    held.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()


def _end_with(lifeline: Connection) -> None:
    try:
        lifeline.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)
