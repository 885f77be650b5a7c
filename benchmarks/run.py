"""Run all problems with compatlock and its peers on one replay, and write docs/benchmarks.md.

    python -m benchmarks.run [PROBLEM...] [--peers pip,nab,...] [--rounds N] [--cold-rounds N] [--latency MS]

What is not recorded yet is recorded first (`benchmarks.record`), for which the real index is asked. Then come
pairs of runs of compatlock and uv for all problems, then the other peers, once each with an empty cache, and
how cost grows with the index (`benchmarks.growth`; without names of problems only). Results are kept as JSON
in the folder, so that several runs make one report; `--report-only` measures nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.bench import KINDS, MISSED, Bench, Limits, Unrecorded
from benchmarks.peers import TOOLS, program, version
from benchmarks.problems import PROBLEMS
from benchmarks.record import LATENCY, cache_folder, is_recorded, record_problem, snapshot_path
from benchmarks.server import Certificate, Server, make_certificate

FIRST = ("compatlock", "uv")
# In seconds: of a run of compatlock and uv, of all their runs of one kind of a problem, of a run of a peer.
LIMITS, PEER_LIMIT = Limits(60.0, 30.0), 20.0
# Other peers run so many at a time: how long they take is no close race.
TOGETHER = 2


class Runner:
    """Runs problems as asked on the command line."""

    def __init__(self, asked: argparse.Namespace, certificate: Certificate | None) -> None:
        self._asked = asked
        self._certificate = certificate
        self._folder: Path = asked.folder
        self._versions: dict[str, str] = {}
        self._programs: dict[str, str] = {}

    def install(self, names: list[str]) -> None:
        """Install the tools, each into an environment of its own. One that cannot be is left out."""
        for name in names:
            try:
                self._programs[name] = program(TOOLS[name], self._folder / "peers")
            except (SystemExit, subprocess.CalledProcessError) as error:
                if name in FIRST:
                    raise SystemExit(f"{name}: {error}") from None
                print(f"{name}: {error}", file=sys.stderr)
                continue
            self._versions[name] = version(self._programs[name])

    def server(self, name: str, *, record: bool = False) -> Server:
        """A replay of a problem."""
        latency = 0.0 if record else self._asked.latency
        snapshot = snapshot_path(self._folder, name)
        return Server(snapshot, record=record, certificate=self._certificate, latency=latency)

    def pairs(self, name: str) -> None:
        """Rounds of compatlock and uv. What one of them reads and nobody recorded is recorded now."""
        programs = {tool: self._programs[tool] for tool in FIRST}
        for insist in (FIRST, FIRST, ()):
            try:
                self._keep(name, self._pairs(name, programs, insist), LIMITS.run)
                return
            except Unrecorded as error:
                print(f"{name}: recording further", flush=True)
                again = {tool: programs[tool] for tool in error.args[0]}
                record_problem(name, self._folder, again, self._certificate, 2 * LIMITS.run)

    def peers(self, name: str) -> None:
        """All others, once, two at a time. What one of them reads and nobody recorded is recorded now."""
        programs = {tool: found for tool, found in self._programs.items() if tool not in FIRST}
        results = self._together(name, programs)
        missed = {tool: programs[tool] for tool, result in results.items() if result["state"] == MISSED}
        if missed and not self._asked.as_recorded:
            print(f"{name}: recording further, for {', '.join(missed)}", flush=True)
            record_problem(name, self._folder, missed, self._certificate, 3 * self._asked.peer_limit)
            results.update(self._together(name, missed))
        self._keep(name, results, self._asked.peer_limit)

    def _together(self, name: str, programs: dict[str, str]) -> dict[str, Any]:
        """One run of each, with two servers."""
        limits = Limits(self._asked.peer_limit, 0.0)
        found: dict[str, Any] = {}
        with ExitStack() as stack:
            benches = []
            for part in range(TOGETHER):
                tools = dict([*programs.items()][part::TOGETHER])
                if tools:
                    place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                    server = stack.enter_context(self.server(name))
                    benches.append(Bench(PROBLEMS[name], server, place, tools, limits))
            with ThreadPoolExecutor(TOGETHER) as pool:
                for results in pool.map(lambda bench: bench.run(0, 1), benches):
                    found.update(results)
            if benches:
                benches[0].measure(found)
        return found

    def _pairs(self, name: str, programs: dict[str, str], insist: tuple[str, ...]) -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as place, self.server(name) as server:
            bench = Bench(PROBLEMS[name], server, Path(place), programs, LIMITS)
            results = bench.run(self._asked.rounds, self._asked.cold_rounds, insist=insist)
            bench.measure(results)
        return results

    def _keep(self, name: str, results: dict[str, Any], limit: float) -> None:
        load = round(os.getloadavg()[0], 1)
        for tool, result in results.items():
            result.update(version=self._versions[tool], load=load, measured=time.time(), limit=limit)
            result.update(latency=self._asked.latency, protocol=self._asked.protocol)
            path = self._folder / "results" / f"{name}.{tool}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
            times = (f"{kind} {_words(result[kind])}" for kind in KINDS if result[kind])
            print(f"{name}: {tool} {result['state']} {' '.join(times)}", flush=True)


def _words(runs: list[list[float]]) -> str:
    return " ".join(f"{run[0]:.2f}" for run in runs) + " s"


def default_peers() -> list[str]:
    """All that say something new: pip-compile resolves as pip does, for the Python that it runs in only."""
    return [name for name in TOOLS if name not in (*FIRST, "pip-compile")]


def _record(names: list[str], runner: Runner, folder: Path, certificate: Certificate | None) -> None:
    for name in names:
        if not is_recorded(folder, name):
            try:
                print(record_problem(name, folder, runner._programs, certificate), flush=True)
            except Exception as error:  # The others can still be measured.
                print(f"{name} cannot be recorded: {error}", file=sys.stderr, flush=True)


def measure(asked: argparse.Namespace, certificate: Certificate | None) -> None:
    """Record what is missing, and measure everything."""
    names = asked.problems or list(PROBLEMS)
    runner = Runner(asked, certificate)
    runner.install([*FIRST, *filter(None, asked.peers.split(","))])
    _record(names, runner, asked.folder, certificate)
    names = [name for name in names if is_recorded(asked.folder, name)]
    if not asked.problems and not asked.peers_only:
        # Results of other days would stand in the same tables.
        shutil.rmtree(asked.folder / "results", ignore_errors=True)
    start = time.monotonic()
    steps = [(runner.pairs, "compatlock and uv"), (runner.peers, "other peers")]
    for step, title in steps[1:] if asked.peers_only else steps:
        for number, name in enumerate(names, 1):
            minutes = (time.monotonic() - start) / 60
            print(f"--- {title}: {name}, {number} of {len(names)}, minute {minutes:.0f}", flush=True)
            step(name)
    if not asked.problems and not asked.peers_only:
        subprocess.run([sys.executable, "-m", "benchmarks.growth", "--folder", str(asked.folder)], check=True)
    print(f"measured in {(time.monotonic() - start) / 60:.0f} minutes")


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Compare compatlock with other tools on recorded problems.")
    parser.add_argument("problems", nargs="*", metavar="PROBLEM", help=f"of: {', '.join(PROBLEMS)}")
    parser.add_argument("--peers", default=",".join(default_peers()), help="beside uv; of: %(default)s")
    parser.add_argument("--rounds", type=_count, default=9, help="warm pairs of compatlock and uv")
    parser.add_argument(
        "--cold-rounds", type=_count, default=5, help="pairs with empty caches, and with stale listings"
    )
    parser.add_argument("--peer-limit", type=float, default=PEER_LIMIT, metavar="SECONDS")
    parser.add_argument(
        "--peers-only", action="store_true", help="leave the results of compatlock and uv as they are"
    )
    parser.add_argument(
        "--as-recorded", action="store_true", help="record nothing further for the peers, which takes minutes"
    )
    parser.add_argument("--latency", type=float, default=LATENCY, metavar="MS", help="of each answer")
    parser.add_argument("--protocol", choices=("h2", "http/1.1"), default="h2", help="h2 is over TLS")
    parser.add_argument("--folder", type=Path, default=cache_folder(), help="snapshots, peers and results")
    parser.add_argument(
        "--docs",
        type=Path,
        help="where benchmarks.md goes: docs, or FOLDER/docs when a folder is named for some problems or for "
        "the report only",
    )
    parser.add_argument("--report-only", action="store_true")
    asked = parser.parse_args(words)
    unknown = [name for name in asked.problems if name not in PROBLEMS]
    if unknown:
        parser.error(f"unknown problem {unknown[0]!r}; known: {', '.join(PROBLEMS)}")
    strange = [name for name in asked.peers.split(",") if name and name not in TOOLS]
    if strange:
        parser.error(f"unknown peer {strange[0]!r}; known: {', '.join(TOOLS)}")
    if asked.docs is None:
        asked.docs = _docs(asked)
    for option, folder in (("--folder", asked.folder), ("--docs", asked.docs)):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            parser.error(f"{option} {folder} cannot be written to: {error.strerror}")
    return asked


def _count(text: str) -> int:
    """A number from 1 on."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def _docs(asked: argparse.Namespace) -> Path:
    """Where the report goes unless it is said: what a folder of its own holds of some problems must not
    replace the report of all."""
    is_own = asked.folder.resolve() != cache_folder().resolve()
    folder: Path = asked.folder
    return folder / "docs" if is_own and (asked.problems or asked.report_only) else Path("docs")


def main() -> None:
    """Measure, keep the results, write the report."""
    asked = arguments()
    if not asked.report_only:
        with tempfile.TemporaryDirectory() as place:
            measure(asked, make_certificate(Path(place)) if asked.protocol == "h2" else None)
    from benchmarks.report import write_report

    print(f"wrote {write_report(asked.folder, asked.docs)}")


if __name__ == "__main__":
    main()
