"""`compatlock lock` against `uv pip compile --generate-hashes`: the same input, whole processes, in turn.

    python benchmarks/warm_cold.py [--rounds N] [--cold-rounds N] [--profile-phases] [PROBLEM]...

Run it with the Python of an environment in which compatlock is installed (not an editable or source
tree: bytecode must be cached as it is for users). Prints a Markdown report. See README.md here.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import NamedTuple

from measure import Failed, Run, environment, run
from problems import MATRIX
from problems import PROBLEMS as ALL
from uv import find_uv_bin

HERE = Path(__file__).resolve().parent
PYTHON_VERSION = "3.12"
PLATFORM = "x86_64-manylinux_2_34"
EXCLUDE_NEWER = "2026-11-30T14:00:00Z"
# Matrices are made up: no index has them.
PROBLEMS = {name: problem for name, problem in ALL.items() if problem.kind != MATRIX}


class Tool(NamedTuple):
    """One of the two: `command(requirements, output, cache)` is what to run, online."""

    name: str
    command: Callable[[Path, Path, Path], list[str]]


class Pair(NamedTuple):
    """One round: both tools, one right after the other."""

    ours: Run
    theirs: Run


def common_options(requirements: Path, output: Path, cache: Path) -> list[str]:
    """Options that both tools know."""
    return [
        str(requirements), "-o", str(output), "--cache-dir", str(cache), "-q", "--python-version",
        PYTHON_VERSION, "--python-platform", PLATFORM, "--exclude-newer", EXCLUDE_NEWER,
    ]  # fmt: skip


def tools(more: list[str]) -> tuple[Tool, Tool]:
    """compatlock as installed beside this interpreter, and the uv that it depends on; `more` are further
    options for both."""
    script = shutil.which("compatlock", path=sysconfig.get_path("scripts"))
    if script is None:
        raise SystemExit("compatlock is not installed in this environment")
    uv = [
        find_uv_bin(), "pip", "compile", "--generate-hashes", "--no-config", "--no-python-downloads",
        "--python", sys.executable,
    ]  # fmt: skip
    ours = Tool("compatlock", lambda *paths: [script, "lock", *common_options(*paths), *more])
    theirs = Tool("uv", lambda *paths: [*uv, *common_options(*paths), *more])
    return ours, theirs


class Bench:
    """Runs one problem with both tools in a folder of its own."""

    def __init__(self, asked: argparse.Namespace, folder: Path, name: str) -> None:
        self.asked = asked
        self.folder = folder
        self.requirements = folder / "requirements.in"
        self.requirements.write_text(
            "".join(f"{line}\n" for line in PROBLEMS[name].requirements), encoding="utf-8"
        )
        self.more = [*PROBLEMS[name].options]
        if asked.default_index:
            self.more += ["--default-index", asked.default_index]
        self.ours, self.theirs = tools(self.more)

    def output(self, tool: Tool) -> Path:
        """Where a tool writes."""
        return self.folder / f"{tool.name}.lock"

    def cache(self, tool: Tool) -> Path:
        """A tool's own cache."""
        return self.folder / f"{tool.name}-cache"

    def once(self, tool: Tool, *, offline: bool) -> Run:
        """Run a tool without an older lock to go by."""
        self.output(tool).unlink(missing_ok=True)
        command = tool.command(self.requirements, self.output(tool), self.cache(tool))
        return run([*command, "--offline"] if offline else command)

    def warm(self) -> list[Pair]:
        """Pairs of offline runs, after one online run of each to fill its cache."""
        for tool in (self.ours, self.theirs):
            self.once(tool, offline=False)
            self.once(tool, offline=True)
        return [
            Pair(self.once(self.ours, offline=True), self.once(self.theirs, offline=True))
            for _ in range(self.asked.rounds)
        ]

    def cold(self) -> list[Pair]:
        """Pairs of online runs, each with an empty cache."""
        pairs = []
        for _ in range(self.asked.cold_rounds):
            both = []
            for tool in (self.ours, self.theirs):
                shutil.rmtree(self.cache(tool), ignore_errors=True)
                both.append(self.once(tool, offline=False))
            pairs.append(Pair(*both))
        return pairs

    def phases(self, *, cold: bool) -> dict[str, float]:
        """Milliseconds of compatlock by phase, of the fastest of several warm runs, or of one cold run."""
        if cold:
            shutil.rmtree(self.cache(self.ours), ignore_errors=True)
        runs = [self._phases(cold=cold) for _ in range(1 if cold else 15)]
        return min(runs, key=lambda phases: phases["whole process"])

    def _phases(self, *, cold: bool) -> dict[str, float]:
        output = self.output(self.ours)
        output.unlink(missing_ok=True)
        options = [*common_options(self.requirements, output, self.cache(self.ours)), *self.more]
        command = [sys.executable, str(HERE / "phases.py"), *options, *([] if cold else ["--offline"])]
        start = time.perf_counter()
        more = {"COMPATLOCK_BENCH_START": repr(start), **({"COMPATLOCK_BENCH_COLD": "1"} if cold else {})}
        done = subprocess.run(command, env={**environment(), **more}, stdout=subprocess.PIPE, check=True)
        whole = 1000 * (time.perf_counter() - start)
        found: dict[str, float] = json.loads(done.stdout)
        ours = sum(ms for phase, ms in found.items() if not phase.startswith("network thread"))
        return {**found, "end the process": whole - ours, "whole process": whole}


def _spread(values: list[float], digits: int) -> str:
    low, middle, high = (f"{v:.{digits}f}" for v in (min(values), median(values), max(values)))
    return f"{low} / **{middle}** / {high}"


def table(kind: str, results: dict[str, list[Pair]]) -> Iterator[str]:
    """Yield a Markdown table; ratios are compatlock / uv, of each pair by itself."""
    if not any(results.values()):
        return
    yield f"### {kind}"
    yield ""
    yield (
        "| problem | compatlock ms | uv ms | ratio: min / **median** / max "
        "| CPU ms: compatlock, uv | peak MB: compatlock, uv |"
    )
    yield "|---|---|---|---|---|---|"
    for name, pairs in results.items():
        ours, theirs = [p.ours for p in pairs], [p.theirs for p in pairs]
        cells = [
            name,
            f"{1000 * median(r.seconds for r in ours):.0f}",
            f"{1000 * median(r.seconds for r in theirs):.0f}",
            _spread([p.ours.seconds / p.theirs.seconds for p in pairs], 2),
            ", ".join(f"{1000 * median(r.cpu_seconds for r in runs):.0f}" for runs in (ours, theirs)),
            ", ".join(f"{max(r.peak_bytes for r in runs) / 2**20:.0f}" for runs in (ours, theirs)),
        ]
        yield f"| {' | '.join(cells)} |"
    yield ""


def phase_table(kind: str, by_problem: dict[str, dict[str, float]]) -> Iterator[str]:
    """Yield a Markdown table of phases."""
    if not by_problem:
        return
    yield f"### Phases of compatlock, {kind}, ms"
    yield ""
    yield f"| phase | {' | '.join(by_problem)} |"
    yield "|---" * (len(by_problem) + 1) + "|"
    for phase in dict.fromkeys(p for phases in by_problem.values() for p in phases):
        yield f"| {phase} | {' | '.join(f'{phases.get(phase, 0):.1f}' for phases in by_problem.values())} |"
    yield ""


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def heading() -> Iterator[str]:
    """Yield what the figures were measured on."""
    yield f"- machine: {_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}"
    yield f"- date: {time.strftime('%Y-%m-%d', time.gmtime())}"
    versions = ", ".join(f"{name} {version(name)}" for name in ("compatlock", "uv", "packaging"))
    yield f"- versions: {versions}, CPython {platform.python_version()}"
    yield f"- target: Python {PYTHON_VERSION} on {PLATFORM}, index as of {EXCLUDE_NEWER}"
    yield ""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("problems", nargs="*", metavar="PROBLEM", help=f"of: {', '.join(PROBLEMS)}")
    parser.add_argument("--rounds", type=int, default=15, help="pairs of warm runs (default 15)")
    parser.add_argument("--cold-rounds", type=int, default=3, help="pairs of cold runs (default 3)")
    parser.add_argument("--default-index", default="", help="index for both; default: each one's own")
    parser.add_argument("--profile-phases", action="store_true", help="say where compatlock's time goes")
    asked = parser.parse_args()
    unknown = [name for name in asked.problems if name not in PROBLEMS]
    if unknown:
        parser.error(f"unknown problem {unknown[0]!r}; known: {', '.join(PROBLEMS)}")
    cold: dict[str, list[Pair]] = {}
    warm: dict[str, list[Pair]] = {}
    cold_phases: dict[str, dict[str, float]] = {}
    warm_phases: dict[str, dict[str, float]] = {}
    for name in asked.problems or PROBLEMS:
        print(f"{name} ...", file=sys.stderr)
        with tempfile.TemporaryDirectory(prefix="compatlock-bench-") as folder:
            bench = Bench(asked, Path(folder), name)
            try:
                if asked.cold_rounds:
                    cold[name] = bench.cold()
                if asked.rounds:
                    warm[name] = bench.warm()
                if asked.profile_phases:
                    cold_phases[name] = bench.phases(cold=True)
                    warm_phases[name] = bench.phases(cold=False)
            except Failed as error:
                print(f"left out: {error}", file=sys.stderr)
    print("\n".join(heading()))
    for lines in (
        table("Warm, offline", warm),
        table("Cold, online, empty cache", cold),
        phase_table("warm", warm_phases),
        phase_table("cold", cold_phases),
    ):
        for line in lines:
            print(line)


if __name__ == "__main__":
    main()
