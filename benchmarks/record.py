"""Record what tools read of the real index for a problem, to be replayed to all of them.

    python -m benchmarks.record [PROBLEM...] [--peers uv,pip,...] [--folder DIR] [--again]

First compatlock records (as `compatlock snapshot` does), then it and each peer run on a replay that asks
the real index for what is not there yet. Snapshots are kept below the user's cache folder; they are too
large to check in.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import attempt
from benchmarks.peers import PLATFORM, PYTHON_VERSION, TOOLS, Asked, clean_environment, program
from benchmarks.problems import MATRIX, PROBLEMS, Problem
from benchmarks.replay import EXCLUDE_NEWER, Server

from compatlock.api.options import LockOptions
from compatlock.api.record import record
from compatlock.model.target import Target

TIMEOUT = 240.0


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


def record_problem(name: str, path: Path, programs: dict[str, str]) -> str:
    """Record one problem into `path`; what the tools did, in words."""
    problem = PROBLEMS[name]
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        asked = options(problem)._replace(exclude_newer=EXCLUDE_NEWER)
        path.write_bytes(record(asked).dump())
    words = []
    with Server(path, record=True) as server, tempfile.TemporaryDirectory() as folder:
        for tool_name, found in programs.items():
            tool = TOOLS[tool_name]
            place = Path(folder) / tool_name
            place.mkdir()
            one = Asked(problem.requirements, problem.options, place, place / "cache", server.url, False)
            env = {**clean_environment(), **tool.environment(one)}
            done = attempt(tool.command(found, one), env, TIMEOUT)
            words.append(f"{tool_name} {'late' if done.code is None else done.code} {done.run.seconds:.0f}s")
        path.write_bytes(server.get("/-/snapshot"))
    return f"{path.name}: {path.stat().st_size:,} bytes; {', '.join(words)}"


def main() -> None:
    """Record problems that are not recorded yet, or all that are named with --again."""
    parser = argparse.ArgumentParser(description="Record snapshots for the benchmarks.")
    parser.add_argument("problems", nargs="*", metavar="PROBLEM")
    parser.add_argument("--peers", default="uv,pip")
    parser.add_argument("--folder", type=Path, default=cache_folder())
    parser.add_argument("--again", action="store_true", help="read further what is recorded already, too")
    asked = parser.parse_args()
    names = ["compatlock", *filter(None, asked.peers.split(","))]
    programs = {name: program(TOOLS[name], asked.folder / "peers") for name in names}
    for name in asked.problems or PROBLEMS:
        path = Path(snapshot_path(asked.folder, name))
        if PROBLEMS[name].kind == MATRIX or (path.exists() and not asked.again):
            continue
        try:
            print(record_problem(name, path, programs), flush=True)
        except Exception as error:  # The others can still be recorded.
            print(f"{name}: {error}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
