"""Where one run of `compatlock lock` spends its time, phase by phase.

    python benchmarks/phases.py OPTIONS_OF_COMPATLOCK_LOCK...

The product knows nothing of this: its functions are wrapped from here, and each moment counts for the
innermost phase that is running. Prints JSON, `{phase: milliseconds}`, on standard output. What runs in
the network's thread has phases of its own, in processor time, since it overlaps with the others; the second
process, which parses large listings, is not seen.

COMPATLOCK_BENCH_START is the parent's monotonic clock when it started this process;
COMPATLOCK_BENCH_COLD wraps the functions of a cold run too (whose modules a warm run never imports).
"""

from __future__ import annotations

import time

_ENTERED = time.perf_counter()

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Phases:
    """Exclusive time by phase: while an inner phase runs, the outer one stands still."""

    def __init__(self, clock: Callable[[], float], since: float) -> None:
        self.seconds: dict[str, float] = {}
        self._clock = clock
        self._running: list[str] = []
        self._since = since

    def _switch(self) -> None:
        now = self._clock()
        if self._running:
            phase = self._running[-1]
            self.seconds[phase] = self.seconds.get(phase, 0.0) + now - self._since
        self._since = now

    def enter(self, phase: str) -> None:
        """Begin a phase inside the running one."""
        self._switch()
        self._running.append(phase)

    def leave(self) -> None:
        """End the innermost phase."""
        self._switch()
        self._running.pop()

    def wrap(self, phase: str, holder: Any, name: str) -> None:
        """Let calls of a function (an attribute of a module or class) count for a phase."""
        original: Callable[..., Any] = getattr(holder, name)

        def timed(*args: Any, **kwargs: Any) -> Any:
            self.enter(phase)
            try:
                return original(*args, **kwargs)
            finally:
                self.leave()

        setattr(holder, name, timed)


def _wrap_warm(phases: Phases) -> None:
    from compatlock.api import assemble, drive, files, locking, session
    from compatlock.cli import run_lock
    from compatlock.index import store, supply
    from compatlock.lockfile import write

    for phase, holder, name in (
        ("open the store", session, "Store"),
        ("read input, profiles and facts", session, "prepare"),
        ("solve", drive.KeptSearch, "_drive"),
        ("read packages", supply.Supply, "packages"),
        ("read dependencies", supply.Supply, "dependencies"),
        ("assemble", assemble.Assembler, "lock"),
        ("files of the pins", supply.Supply, "installable_files"),
        ("check", locking, "violations"),
        ("save", supply.Supply, "save"),
        ("close the store", store.Store, "close"),
        ("render", files, "render_as"),
        ("compare with the older lock", files, "_compared"),
        ("write the lock", write, "write_atomically"),
        ("summarise", run_lock, "_summarise"),
    ):
        phases.wrap(phase, holder, name)


def _wrap_cold(phases: Phases, network_phases: Phases) -> None:
    from queue import SimpleQueue

    from compatlock.index import (
        compile,
        metadata,
        network,
        parsing,
        remote_wheel,
        specifiers,
        store,
        supply,
        view,
    )

    class Queue(SimpleQueue):  # type: ignore[type-arg]
        def get(self) -> Any:  # type: ignore[override]
            phases.enter("wait for answers")
            try:
                return super().get()
            finally:
                phases.leave()

    setattr(network, "SimpleQueue", Queue)  # noqa: B010 - not part of the module's interface
    for phase, holder, name in (
        ("fetch", supply.Supply, "fetch"),
        ("connect", network, "Network"),
        ("make views", view.Viewer, "view"),
        ("answer specifiers", specifiers, "answer"),
        ("evaluate metadata", compile.Compiler, "compile"),
        ("encode listings", store.Store, "put_listing"),
        ("write to the store", store.Store, "flush"),
    ):
        phases.wrap(phase, holder, name)
    for phase, holder, name in (
        ("network thread: parse small listings", parsing, "parse_listing"),
        ("network thread: take large listings", parsing, "_listing"),
        ("network thread: parse metadata", metadata, "parse_metadata"),
        ("network thread: parse metadata", remote_wheel, "parse_metadata"),
    ):
        network_phases.wrap(phase, holder, name)


def main() -> None:
    """Run the command with all phases wrapped."""
    import gc
    import os
    import sys

    start = float(os.environ.get("COMPATLOCK_BENCH_START", _ENTERED))
    phases = Phases(time.perf_counter, _ENTERED)
    phases.seconds["start the interpreter"] = _ENTERED - start
    network_phases = Phases(time.thread_time, 0.0)
    phases.enter("import")
    gc.set_threshold(100_000, 20, 20)  # as the console script does
    from compatlock.cli.main import main as compatlock

    _wrap_warm(phases)
    phases.leave()
    if os.environ.get("COMPATLOCK_BENCH_COLD"):
        phases.enter("import what asks an index")
        _wrap_cold(phases, network_phases)
        phases.leave()
    phases.enter("the rest (arguments, options)")
    try:
        compatlock(["lock", *sys.argv[1:]])
    except SystemExit as finished:
        if finished.code:
            raise
    phases.leave()
    import json

    both = {**phases.seconds, **network_phases.seconds}
    print(json.dumps({phase: round(1000 * s, 2) for phase, s in both.items()}), flush=True)
    os._exit(0)  # as the console script does


if __name__ == "__main__":
    main()
