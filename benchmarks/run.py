"""Run problems with compatlock and its peers, in turn, on one replay, and write docs/benchmarks.md.

    python -m benchmarks.run [PROBLEM...] [--peers uv,pip,...] [--rounds N] [--cold-rounds N]

Problems have to be recorded first (`python -m benchmarks.record`); those that are not are left out, and the
report says so. Results are kept as JSON in the folder, so that several runs make one report;
`--report-only` measures nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.measure import Attempt, attempt
from benchmarks.peers import PYTHON_VERSION, TOOLS, Asked, clean_environment, program, version
from benchmarks.problems import MATRIX, PROBLEMS, Problem
from benchmarks.quality import quality, unfit
from benchmarks.record import cache_folder, options, snapshot_path
from benchmarks.replay import Server

from compatlock.errors import CompatlockError
from compatlock.model.index import parse_indexes

TIMEOUT = 120.0
# A tool whose run took longer is not run again: its figure is one of a single run.
SLOW = 40.0
SOLVED, UNSOLVED, LATE, MISSED = "solved", "no answer", "timeout", "not recorded"


class Bench:
    """One problem on a replay, with a folder and a cache for each tool."""

    def __init__(self, problem: Problem, server: Server, folder: Path, programs: dict[str, str]) -> None:
        self._problem = problem
        self._server = server
        self._folder = folder
        self._programs = programs

    def asked(self, tool: str, *, offline: bool = False) -> Asked:
        """What a tool is asked."""
        folder = self._folder / tool
        problem = self._problem
        return Asked(
            problem.requirements, problem.options, folder, folder / "cache", self._server.url, offline
        )

    def once(self, tool: str, *, cold: bool) -> tuple[Attempt, dict[str, int], dict[str, str]]:
        """Run a tool without an older answer; what happened, what it asked for, and its pins."""
        asked = self.asked(tool, offline=not cold and TOOLS[tool].has_offline)
        kept = {asked.cache.name} if not cold else set()
        asked.folder.mkdir(exist_ok=True)
        for path in asked.folder.iterdir():
            if path.name not in kept:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        command = TOOLS[tool].command(self._programs[tool], asked)
        env = {**clean_environment(), **TOOLS[tool].environment(asked)}
        self._server.stats()
        done = attempt(command, env, TIMEOUT)
        pins = TOOLS[tool].pins(asked) if done.code == 0 else {}
        return done, self._server.stats(), pins

    def run(self, rounds: int, cold_rounds: int) -> dict[str, Any]:
        """Cold rounds, then warm ones; each is one run of each tool, one right after the other. A tool that
        did not come to an end in time is not run again."""
        results: dict[str, Any] = {tool: {"cold": [], "warm": []} for tool in self._programs}
        for kind, count in (("cold", cold_rounds), ("warm", rounds)):
            for _ in range(count):
                for tool, result in results.items():
                    slow = any(run[0] > SLOW for run in (*result["cold"], *result["warm"]))
                    if result.get("state") not in (LATE, MISSED) and not slow:
                        self._round(tool, kind, result)
        return results

    def _round(self, tool: str, kind: str, result: dict[str, Any]) -> None:
        done, stats, pins = self.once(tool, cold=kind == "cold")
        state = LATE if done.code is None else SOLVED if done.code == 0 else UNSOLVED
        if kind == "cold":
            if stats["missed"]:
                # It wanted to read what nobody recorded: its figures would say nothing.
                state = MISSED
                result["missed"] = stats["missed"]
            result.update(state=state, pins=pins, stats=stats, said=done.said[-600:])
        if state == result["state"] and state != LATE:
            result[kind].append([*done.run])

    def measure(self, results: dict[str, Any]) -> None:
        """Add the quality of each answer, measured alike over the replay."""
        indexes = parse_indexes(self._server.url)
        for tool, result in results.items():
            if result.get("state") != SOLVED:
                continue
            own = str(self._folder / "measure")
            asked = options(self._problem)._replace(indexes=indexes, cache_dir=own)
            try:
                found = quality(asked, result["pins"])
                result["quality"] = found._replace(unfit=unfit(asked, result["pins"]))._asdict()
            except CompatlockError as error:
                print(f"{tool}: its pins cannot be measured: {error}", file=sys.stderr)


def run_problem(
    name: str, folder: Path, programs: dict[str, str], asked: argparse.Namespace
) -> dict[str, Any]:
    """Results of one problem, by tool."""
    with tempfile.TemporaryDirectory() as place, Server(snapshot_path(folder, name)) as server:
        bench = Bench(PROBLEMS[name], server, Path(place), programs)
        results = bench.run(asked.rounds, asked.cold_rounds)
        bench.measure(results)
    return results


def default_peers() -> list[str]:
    """All that can be asked for the target: pip-compile knows only the interpreter that it runs in."""
    runs = f"{sys.version_info[0]}.{sys.version_info[1]}" == PYTHON_VERSION
    return [name for name in TOOLS if name != "compatlock" and (runs or name != "pip-compile")]


def is_recorded(folder: Path, name: str) -> bool:
    """Whether there is something to replay."""
    return PROBLEMS[name].kind == MATRIX or Path(snapshot_path(folder, name)).exists()


def main() -> None:
    """Measure, keep the results, write the report."""
    parser = argparse.ArgumentParser(description="Compare compatlock with other tools on recorded problems.")
    parser.add_argument("problems", nargs="*", metavar="PROBLEM", help=f"of: {', '.join(PROBLEMS)}")
    parser.add_argument("--peers", default=",".join(default_peers()), help="of: %(default)s")
    parser.add_argument("--rounds", type=int, default=5, help="warm runs of each tool")
    parser.add_argument("--cold-rounds", type=int, default=3, help="runs with an empty cache")
    parser.add_argument("--folder", type=Path, default=cache_folder(), help="snapshots, peers and results")
    parser.add_argument("--docs", type=Path, default=Path("docs"), help="where benchmarks.md goes")
    parser.add_argument("--report-only", action="store_true")
    asked = parser.parse_args()
    unknown = [name for name in asked.problems if name not in PROBLEMS]
    if unknown:
        parser.error(f"unknown problem {unknown[0]!r}; known: {', '.join(PROBLEMS)}")
    if not asked.report_only:
        names = ["compatlock", *filter(None, asked.peers.split(","))]
        programs = {name: program(TOOLS[name], asked.folder / "peers") for name in names}
        versions = {name: version(found) for name, found in programs.items()}
        for name in asked.problems or PROBLEMS:
            if not is_recorded(asked.folder, name):
                print(f"{name}: not recorded", file=sys.stderr)
                continue
            results = run_problem(name, asked.folder, programs, asked)
            for tool, result in results.items():
                result["version"] = versions[tool]
                result["load"] = round(os.getloadavg()[0], 1)
                _keep(asked.folder, name, tool, result)
                times = [f"{1000 * run[0]:.0f}" for run in result["warm"]]
                print(name, tool, result["state"], "warm ms:", *times, flush=True)
    from benchmarks.report import write_report

    write_report(asked.folder, asked.docs)


def _keep(folder: Path, name: str, tool: str, result: dict[str, Any]) -> None:
    path = folder / "results" / f"{name}.{tool}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
