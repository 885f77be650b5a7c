"""What a lock costs by the size of the index: matrices of 10^2 to 10^5 releases, and a lock made again.

    python -m benchmarks.growth [--folder DIR] [--again REPEATS]

For each matrix: seconds of the processor that the library takes to lock over a store in memory that holds
it, the first time and again in the same process, what was read, and the solver's counts. And how long the
recorded async-grpo takes again in a running process. Results go into the folder;
`python -m benchmarks.run --report-only` puts them into the report.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.problems import MATRIX_SIZES, PROBLEMS
from benchmarks.record import cache_folder, options, snapshot_path
from benchmarks.replay import EXCLUDE_NEWER, load

import compatlock
from compatlock.api.locking import Outcome
from compatlock.api.make import make_lock
from compatlock.api.options import LockOptions
from compatlock.api.session import source_of
from compatlock.index.store import Store

AGAIN = "async-grpo"


def filled(name: str, asked: LockOptions) -> Store:
    """A store in memory that holds the recording of a problem."""
    store = Store(None)
    load(name).fill(store, source_of(asked), int(time.time()))
    return store


def timed(asked: LockOptions, store: Store) -> tuple[Outcome, float, float]:
    """A lock, with the seconds it took, by the clock and of the processor."""
    wall, cpu = time.perf_counter(), time.process_time()
    outcome = make_lock(asked, store=store)
    return outcome, time.perf_counter() - wall, time.process_time() - cpu


def row(size: int) -> dict[str, Any]:
    """Figures of one matrix."""
    name = f"matrix-{size}"
    asked = options(PROBLEMS[name])._replace(offline=True, max_lag=("none",))
    store = filled(name, asked)
    outcome, _, first = timed(asked, store)
    again = median(timed(asked, store)[2] for _ in range(3))
    worst = next(tier.value for tier in outcome.lock.objective if tier.name == "worst root lag")
    counts = outcome.counters
    return {
        "releases": size,
        "packages": counts["packages"],
        "pins": len(outcome.lock.pins),
        "read": counts["loaded"],
        "calls": counts["calls"],
        "clauses": counts["clauses"],
        "first": first,
        "solve": again,
        "worst": worst,
    }


def again(folder: Path, repeats: int) -> dict[str, Any] | None:
    """How long a lock takes again in a running process; None when it is not recorded."""
    path = snapshot_path(folder, AGAIN)
    if not Path(path).exists():
        return None
    asked = options(PROBLEMS[AGAIN])._replace(offline=True, exclude_newer=EXCLUDE_NEWER)
    store = filled(path, asked)
    timed(asked, store)
    runs = [timed(asked, store)[1:] for _ in range(repeats)]
    held = held_again(path, asked, repeats)
    return {
        "session": median(held),
        "wall": median(wall for wall, _ in runs),
        "cpu": median(cpu for _, cpu in runs),
        "best": min(cpu for _, cpu in runs),
        "repeats": repeats,
    }


def held_again(path: str, asked: LockOptions, repeats: int) -> list[float]:
    """Seconds by the clock that a `compatlock.Session` takes for each further lock."""
    with tempfile.TemporaryDirectory() as folder:
        asked = asked._replace(cache_dir=folder)
        store = Store(asked.cache_directory())
        load(path).fill(store, source_of(asked), int(time.time()))
        store.close()
        with compatlock.Session(
            asked.requirements,
            target=asked.target,
            exclude_newer=EXCLUDE_NEWER,
            offline=True,
            cache_dir=folder,
        ) as session:
            session.lock()
            seconds = []
            for _ in range(repeats):
                begun = time.perf_counter()
                session.lock()
                seconds.append(time.perf_counter() - begun)
    return seconds


def section(found: dict[str, Any]) -> Iterator[str]:
    """The part of the report about growth."""
    yield "## Growth"
    yield ""
    yield (
        "The library, over a store in memory that holds a made-up index with a planted answer (see\n"
        "`benchmarks/matrices.py`): five roots are asked for. Times are those of the processor; *again* is\n"
        "the median of three further locks in the same process."
    )
    yield ""
    yield "![Metadata read and time, by the number of releases in the index](images/bench-growth.png)"
    yield ""
    yield (
        "| releases | packages reached | pins | metadata read | solver calls | clauses "
        "| first, ms | again, ms | worst root lag, days |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for each in found["rows"]:
        counts = [each[key] for key in ("releases", "packages", "pins", "read", "calls", "clauses")]
        cells = [*counts, round(1000 * each["first"]), round(1000 * each["solve"]), each["worst"]]
        yield "| " + " | ".join(f"{value:,}" for value in cells) + " |"
    sizes = {each["releases"] for each in found["rows"]}
    left = [size for size in MATRIX_SIZES if size not in sizes]
    if left:
        yield ""
        yield f"Not measured yet: {', '.join(f'{size:,}' for size in left)} releases."
    if found.get("again"):
        once = found["again"]
        yield ""
        yield (
            f"{AGAIN}, locked again in a running process (`compatlock.lock` with everything at hand), "
            f"{once['repeats']} times:\nmedian {1000 * once['cpu']:.0f} ms of the processor, the fastest "
            f"{1000 * once['best']:.0f}; median {1000 * once['wall']:.0f} ms by the clock, on a machine with "
            f"a load of {found['load']}.\nBy a `compatlock.Session`, which keeps the request: median "
            f"{1000 * once['session']:.1f} ms by the clock."
        )


def main() -> None:
    """Measure, and keep the results."""
    import os

    parser = argparse.ArgumentParser(description="Measure how a lock's cost grows with the index.")
    parser.add_argument("--folder", type=Path, default=cache_folder())
    parser.add_argument("--again", type=int, default=20, metavar="REPEATS")
    parser.add_argument("--sizes", type=int, nargs="*", default=MATRIX_SIZES, choices=MATRIX_SIZES)
    asked = parser.parse_args()
    rows = []
    for size in asked.sizes:
        rows.append(row(size))
        print(rows[-1], flush=True)
    found = {"rows": rows, "again": again(asked.folder, asked.again), "load": round(os.getloadavg()[0], 1)}
    print(found["again"])
    path = asked.folder / "results" / "growth.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
