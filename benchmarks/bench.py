"""Runs of tools on one problem, each from an empty folder, on one replay."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from time import perf_counter, sleep
from typing import Any, NamedTuple

from benchmarks.measure import Attempt, attempt
from benchmarks.peers import TOOLS, Asked, environment
from benchmarks.problems import Problem
from benchmarks.quality import quality, unfit
from benchmarks.record import options
from benchmarks.server import Server

from compatlock.errors import CompatlockError
from compatlock.model.index import parse_indexes

SOLVED, UNSOLVED, LATE, MISSED = "solved", "no answer", "timeout", "not recorded"
# With an empty cache; with what it left, when its listings have to be asked for again; offline with that.
COLD, REFRESHED, WARM = KINDS = ("cold", "refreshed", "warm")
_A_SECOND = 1.1


class Unrecorded(Exception):
    """Tools wanted to read what was not recorded; the argument is their names."""


class Limits(NamedTuple):
    """In seconds: what one run may take, and what all runs of one kind of a problem take before no further
    round begins."""

    run: float
    rounds: float


class Bench:
    """One problem on a replay, with a folder and a cache for each tool."""

    def __init__(
        self, problem: Problem, server: Server, folder: Path, programs: dict[str, str], limits: Limits
    ) -> None:
        self._problem = problem
        self._server = server
        self._folder = folder
        self._programs = programs
        self._limits = limits

    def asked(self, tool: str, kind: str) -> Asked:
        """What a tool is asked in a run of a kind."""
        folder, problem = self._folder / tool, self._problem
        authority = self._server.certificate.authority if self._server.certificate else ""
        lines = problem.requirements, problem.options
        offline = kind == WARM and TOOLS[tool].has_offline
        url, refresh = self._server.url, kind == REFRESHED
        return Asked(*lines, folder, folder / "cache", url, offline, authority, refresh)

    def once(self, tool: str, kind: str) -> tuple[Attempt, dict[str, int], dict[str, str]]:
        """Run a tool without an older answer; what happened, what it asked for, and its pins."""
        asked = self.asked(tool, kind)
        kept = {asked.cache.name} if kind != COLD else set()
        asked.folder.mkdir(exist_ok=True)
        for path in asked.folder.iterdir():
            if path.name not in kept:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        command = TOOLS[tool].command(self._programs[tool], asked)
        if kind == REFRESHED:
            # compatlock believes what it was told within the same second.
            sleep(_A_SECOND)
        self._server.stats()
        done = attempt(command, environment(TOOLS[tool], asked), self._limits.run)
        try:
            pins = TOOLS[tool].pins(asked) if done.code == 0 else {}
        except OSError as error:  # It said that it succeeded, and wrote nothing.
            done, pins = done._replace(code=1, said=f"{done.said}\n{error}"), {}
        return done, self._server.stats(), pins

    def run(self, rounds: int, cold_rounds: int, *, insist: Iterable[str] = ()) -> dict[str, Any]:
        """Cold rounds, as many that ask again, then warm ones; each is one run of each tool, one right after
        the other, every second one in the other order. A tool that does not end in time in a cold run is not
        run again. Without warm rounds there are cold ones only.

        Raises Unrecorded after a round in which a tool of `insist` wanted to read what is not there.
        """
        results: dict[str, Any] = {tool: {kind: [] for kind in KINDS} for tool in self._programs}
        counts = (cold_rounds, cold_rounds if rounds else 0, rounds)
        for kind, count in zip(KINDS, counts, strict=True):
            start = perf_counter()
            for turn in range(count):
                if turn and perf_counter() - start > self._limits.rounds:
                    break
                for tool in [*results][:: -1 if turn % 2 else 1]:
                    if results[tool].get("state") not in (LATE, MISSED):
                        self._round(tool, kind, results[tool])
                missed = [tool for tool in insist if results[tool].get("missed")]
                # One that does not come to an end reads something else each time.
                missed = [tool for tool in missed if results[tool].get("state") != LATE]
                if missed:
                    raise Unrecorded(missed)
            for result in results.values():
                result.setdefault("state", MISSED)
        return results

    def _round(self, tool: str, kind: str, result: dict[str, Any]) -> None:
        done, stats, pins = self.once(tool, kind)
        state = LATE if done.code is None else SOLVED if done.code == 0 else UNSOLVED
        if kind == COLD and stats["missed"]:
            result["missed"] = stats["missed"]
        if kind == COLD and stats["missed"] and state != LATE:
            # It wanted to read what nobody recorded: the figures of this run would say nothing. What is read
            # ahead depends on the time that answers take, so the next run may be a good one.
            result.setdefault("said", done.said[-600:])
            return
        if kind == COLD and "pins" not in result:
            result.update(state=state, pins=pins, stats=stats, said=done.said[-600:])
        if state == result["state"] and state != LATE:
            result[kind].append([*done.run])

    def measure(self, results: dict[str, Any]) -> None:
        """Add the quality of each answer, measured alike over the replay."""
        indexes = parse_indexes(self._server.url)
        for tool, result in results.items():
            if result.get("state") != SOLVED:
                continue
            asked = options(self._problem)._replace(indexes=indexes, cache_dir=str(self._folder / "measure"))
            if self._server.certificate is not None:
                asked = asked._replace(cert=self._server.certificate.authority)
            try:
                found = quality(asked, result["pins"])
                result["quality"] = found._replace(unfit=unfit(asked, result["pins"]))._asdict()
            except CompatlockError as error:
                print(f"{tool}: its pins cannot be measured: {error}", file=sys.stderr)
