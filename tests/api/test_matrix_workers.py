"""Parts of a matrix that other processes solve: what is done when one of them, or this one, is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import compatlock
from compatlock.api.matrix import workers

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are not sent to processes here")

# Two processes solve parts: each writes its number into a file of the part's name, and goes on for ever when
# the part is not called "short".
PROGRAM = """\
import os, sys, time
from compatlock.api.matrix import workers

def solve(part):
    with open(part + ".part", "w") as stream:
        stream.write(str(os.getpid()))
    os.rename(part + ".part", part)
    while part != "short":
        time.sleep(0.01)
    return ()

if __name__ == "__main__":
    workers.solve_chunk = solve
    try:
        for key, _ in workers.solved([(part, part) for part in sys.argv[1:]], None, 2, None):
            print("finished", key, flush=True)
    except Exception as error:
        print(type(error).__name__, error)
"""


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Any]:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM, encoding="utf-8")
    begun: list[subprocess.Popen[str]] = []

    def begin(*parts: str) -> tuple[subprocess.Popen[str], list[int]]:
        """The running program, and the numbers of the processes that solve its parts."""
        command = [sys.executable, str(script), *parts]
        run = subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        begun.append(run)
        wait_until(lambda: all((tmp_path / part).exists() for part in parts))
        return run, [int((tmp_path / part).read_text(encoding="utf-8")) for part in parts]

    yield begin
    for run in begun:
        run.kill()
        run.communicate()


def wait_until(is_so: Any, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
        state = Path(f"/proc/{process}/stat")
        # One that nobody has asked about since it ended is no process any more.
        return not state.exists() or state.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_processes_end_when_their_owner_does(program: Any, sent: signal.Signals) -> None:
    run, processes = program("long", "longer")
    assert all(map(is_alive, processes))
    run.send_signal(sent)
    run.wait(20)
    wait_until(lambda: not any(map(is_alive, processes)))


def test_an_interrupt_is_the_owners_to_handle(program: Any) -> None:
    _, processes = program("long", "longer")
    for process in processes:
        os.kill(process, signal.SIGINT)
    time.sleep(0.2)
    assert all(map(is_alive, processes))


def test_a_lost_process_is_an_error_for_people_after_what_is_finished(program: Any) -> None:
    run, (_, process) = program("short", "long")
    os.kill(process, signal.SIGKILL)
    said, _ = run.communicate(timeout=20)
    assert said.splitlines() == [
        "finished short",
        "WorkerLost a process that solved a part of the matrix ended before it was done",
    ]


class Failing(ThreadPoolExecutor):
    """An engine that takes two parts and no third, or whose third part fails."""

    def __init__(self, error: Exception, *, at_once: bool) -> None:
        super().__init__(1)
        self._error, self._at_once, self._count = error, at_once, 0

    def submit(self, *given: Any, **options: Any) -> Future[Any]:
        self._count += 1
        if self._count < 3:
            return super().submit(*given, **options)
        if self._at_once:
            raise self._error
        future: Future[Any] = Future()
        future.set_exception(self._error)
        return future


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RuntimeError("cannot schedule"), "the executor did not solve a part .*: RuntimeError: cannot sched"),
        (ConnectionError(), "the executor did not solve a part of the matrix: ConnectionError$"),
        (compatlock.IndexUnavailable("the index is gone"), "the index is gone"),
    ],
)
def test_an_engine_that_fails_says_so_after_what_is_finished(
    monkeypatch: pytest.MonkeyPatch, error: Exception, said: str, at_once: bool
) -> None:
    monkeypatch.setattr(workers, "solve_chunk", lambda part: ((part,),))
    found: list[Any] = []
    engine: Executor
    with Failing(error, at_once=at_once) as engine:
        given: list[Any] = [("one", 1), ("two", 2), ("three", 3)]
        # The first two are done before anybody asks for them.
        solved = workers.solved(given, Ready(engine), 0, None)
        with pytest.raises(compatlock.CompatlockError, match=said) as raised:
            found += solved
    assert sorted(found) == [("one", ((1,),)), ("two", ((2,),))]
    assert raised.value.exit_code == 3


class Ready(Executor):
    """An engine whose parts are done when it has taken them."""

    def __init__(self, engine: Executor) -> None:
        self._engine = engine

    def submit(self, *given: Any, **options: Any) -> Future[Any]:
        future = self._engine.submit(*given, **options)
        future.exception()
        return future
