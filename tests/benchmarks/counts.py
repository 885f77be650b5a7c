"""Counts of recorded problems that do not depend on the machine. `python -m tests.benchmarks.counts` records
them: when a change makes them smaller, or when they grow for a reason that is worth it.
"""

from __future__ import annotations

import json
from pathlib import Path

from compatlock.api.make import make_lock
from compatlock.errors import NoSolution
from tests.snapshots.replay import asked, recorded

EXPECTED = Path(__file__).parent / "counts.json"

LABELS = ("async-grpo 3.12", "axolotl 3.12", "ms-swift 3.12", "trl-vllm 3.12", "unsloth 3.12")
# A problem without an answer has no counters; what its explanation read tells.
IMPOSSIBLE = ("verl-sglang 3.12",)


def counts(label: str) -> dict[str, int]:
    """What a search took: calls of the SAT solver, clauses, variables, releases whose metadata was read,
    packages reached; of an impossible problem, the listings and metadata that were read."""
    read: dict[str, int] = {}

    def on_read(supply: object, _pins: object) -> None:
        read["packages"] = len(supply._packages)  # type: ignore[attr-defined]
        read["loaded"] = len(supply._dependencies)  # type: ignore[attr-defined]

    options = asked()[label]._replace(offline=True)
    try:
        outcome = make_lock(options, store=recorded(), on_read=on_read)
    except NoSolution:
        return read
    return {**read, **{name: outcome.counters[name] for name in ("calls", "clauses", "variables")}}


def expected() -> dict[str, dict[str, int]]:
    """The recorded counts by label."""
    found: dict[str, dict[str, int]] = json.loads(EXPECTED.read_text(encoding="utf-8"))
    return found


if __name__ == "__main__":
    every = {label: counts(label) for label in (*LABELS, *IMPOSSIBLE)}
    EXPECTED.write_text(json.dumps(every, indent=1, sort_keys=True) + "\n", encoding="utf-8")
