"""Record what tools read of the real index for a problem, to be replayed to all of them.

    python -m benchmarks.record [PROBLEM...] [--peers uv,pip,...] [--folder DIR] [--again]

compatlock and each peer run on a replay that asks the real index for what is not there yet.
`benchmarks.run` does the same for what it needs. Snapshots are kept below the user's cache folder; they
are too large to check in.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import attempt
from benchmarks.peers import PLATFORM, PYTHON_VERSION, TOOLS, Asked, environment, program
from benchmarks.problems import MATRIX, PROBLEMS, Problem
from benchmarks.server import Certificate, Server

from compatlock.api.options import LockOptions
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
    """Record one problem further; what the tools did, in words. Each may run for `timeout` seconds."""
    problem, path = PROBLEMS[name], Path(snapshot_path(folder, name))
    path.parent.mkdir(parents=True, exist_ok=True)
    authority = certificate.authority if certificate else ""
    words = []
    with (
        Server(path, record=True, certificate=certificate) as server,
        tempfile.TemporaryDirectory() as temporary,
    ):
        for tool_name, found in programs.items():
            tool, place = TOOLS[tool_name], Path(temporary) / tool_name
            place.mkdir()
            lines = problem.requirements, problem.options
            one = Asked(*lines, place, place / "cache", server.url, False, authority)
            done = attempt(tool.command(found, one), environment(tool, one), timeout)
            words.append(f"{tool_name} {'late' if done.code is None else done.code} {done.run.seconds:.0f}s")
            path.write_bytes(server.get("/-/snapshot"))
    return f"{path.name}: {path.stat().st_size:,} bytes; {', '.join(words)}"


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
    for name in asked.problems or PROBLEMS:
        if PROBLEMS[name].kind == MATRIX or (is_recorded(asked.folder, name) and not asked.again):
            continue
        try:
            print(record_problem(name, asked.folder, programs, timeout=asked.timeout), flush=True)
        except Exception as error:  # The others can still be recorded.
            print(f"{name}: {error}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
