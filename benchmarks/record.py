"""Record what tools read of the real index for a problem, to be replayed to all of them.

    python -m benchmarks.record [PROBLEM...] [--peers uv,pip,...] [--folder DIR] [--again]

compatlock and each peer run on a replay that asks the real index for what is not there yet. What a tool
reads depends on what it found: a file whose metadata turns out to be missing is shown to none from then on,
so another one is read instead; and what is read ahead depends on the time that answers take. So they run
again, on a replay as slow as that of the measurements, until a pass of all of them reads nothing new.

`benchmarks.run` does the same for what it needs. Snapshots are kept below the user's cache folder; they
are too large to check in.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import attempt
from benchmarks.peers import PLATFORM, PYTHON_VERSION, TOOLS, Asked, environment, program
from benchmarks.problems import MATRIX, PROBLEMS, Problem
from benchmarks.server import Certificate, Server, make_certificate

from compatlock.api.options import LockOptions
from compatlock.model.target import Target

TIMEOUT = 240.0
# In milliseconds: as long as it takes an answer to come from a server that is not near.
LATENCY = 20.0
_PASSES, _PATIENCE = 8, 3
# What later passes miss is mostly read ahead, now a little further and now less: older releases come along.
_AROUND = 8


def cache_folder() -> Path:
    """Where snapshots and peers are kept unless another folder is named."""
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("compatlock-benchmarks", appauthor=False))


def snapshot_path(folder: Path, name: str) -> str:
    """What to replay for a problem: a file, or the name of a matrix."""
    return name if PROBLEMS[name].kind == MATRIX else str(folder / "snapshots" / f"{name}.json.xz")


def options(problem: Problem) -> LockOptions:
    """The problem for the library; uv's `--no-binary` names what may be built."""
    no_binary = problem.options[1:] if problem.options[:1] == ("--no-binary",) else ()
    target = Target(PYTHON_VERSION, PLATFORM)
    return LockOptions(requirements=problem.requirements, target=target, no_binary=no_binary)


def is_recorded(folder: Path, name: str) -> bool:
    """Whether there is something to replay."""
    return PROBLEMS[name].kind == MATRIX or Path(snapshot_path(folder, name)).exists()


def record_problem(
    name: str,
    folder: Path,
    programs: dict[str, str],
    certificate: Certificate | None = None,
    timeout: float = TIMEOUT,
) -> str:
    """Record one problem further, until nothing is missing; what the tools did, in words.

    Each run may take `timeout` seconds. After `_PASSES` passes, or `_PATIENCE` times that, no further pass
    begins. A tool that does not end in time has another chance, since the first pass waits for the real
    index, and then none, since it reads something else each time.
    """
    problem, path = PROBLEMS[name], Path(snapshot_path(folder, name))
    path.parent.mkdir(parents=True, exist_ok=True)
    start, going, words = time.monotonic(), dict(programs), list[str]()
    for number in range(_PASSES):
        # The first pass waits for the real index; the others are to read ahead as measured runs do.
        latency, around = (LATENCY, _AROUND) if number else (0.0, 0)
        with Server(path, record=True, around=around, certificate=certificate, latency=latency) as server:
            done = {tool: _run(problem, tool, found, server, timeout) for tool, found in going.items()}
            recorded = sum(one.recorded for one in done.values())
            if recorded:
                path.write_bytes(server.get("/-/snapshot"))
        words.append(", ".join(f"{tool} {one.words}" for tool, one in done.items()))
        going = {tool: programs[tool] for tool, one in done.items() if one.in_time or not number}
        if not recorded or not going:
            break
        if time.monotonic() - start > _PATIENCE * timeout:
            break
    complete = not recorded and going.keys() == programs.keys()
    state = "complete" if complete else "incomplete"
    return f"{path.name}: {state}, {path.stat().st_size:,} bytes; {'; '.join(words)}"


class _Done(NamedTuple):
    """What a tool did: whether it ended in time, how many answers were read of the real index for it."""

    words: str
    in_time: bool
    recorded: int


def _run(problem: Problem, tool_name: str, found: str, server: Server, timeout: float) -> _Done:
    """Run a tool with an empty cache."""
    tool = TOOLS[tool_name]
    authority = server.certificate.authority if server.certificate else ""
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        one = Asked(
            problem.requirements, problem.options, place, place / "cache", server.url, False, authority
        )
        server.stats()
        done = attempt(tool.command(found, one), environment(tool, one), timeout)
    recorded = server.stats()["recorded"]
    code = "late" if done.code is None else done.code
    return _Done(f"{code} {done.run.seconds:.0f}s +{recorded}", done.code is not None, recorded)


def main() -> None:
    """Record problems that are not recorded yet, or all that are named with --again."""
    parser = argparse.ArgumentParser(description="Record snapshots for the benchmarks.")
    parser.add_argument("problems", nargs="*", metavar="PROBLEM")
    parser.add_argument("--peers", default="uv,pip,nab,pdm,poetry")
    parser.add_argument("--timeout", type=float, default=TIMEOUT, metavar="SECONDS", help="of each run")
    parser.add_argument("--folder", type=Path, default=cache_folder())
    parser.add_argument("--again", action="store_true", help="read further what is recorded already, too")
    asked = parser.parse_args()
    names = ["compatlock", *filter(None, asked.peers.split(","))]
    programs = {name: program(TOOLS[name], asked.folder / "peers") for name in names}
    with tempfile.TemporaryDirectory() as place:
        certificate = make_certificate(Path(place))
        for name in asked.problems or PROBLEMS:
            if PROBLEMS[name].kind == MATRIX or (is_recorded(asked.folder, name) and not asked.again):
                continue
            try:
                print(record_problem(name, asked.folder, programs, certificate, asked.timeout), flush=True)
            except Exception as error:  # The others can still be recorded.
                print(f"{name}: {error}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
