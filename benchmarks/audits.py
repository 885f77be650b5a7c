"""What an audit finds in the wheels of each tool's answer, added to the results that runs kept.

    python -m benchmarks.audits [PROBLEM...] [--folder DIR]

A replay has no wheels: they are read from the real index, by range requests, which takes a minute for an
answer whose wheels nobody has looked into yet. An answer that several tools gave is audited once.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.peers import TOOLS
from benchmarks.problems import MATRIX, PROBLEMS
from benchmarks.record import cache_folder, options

import compatlock
from compatlock.errors import CompatlockError
from compatlock.model.audit_report import AuditReport

Audit = dict[str, Any]


def audit_answers(folder: Path, names: list[str]) -> Iterator[str]:
    """Audit the answers to problems whose results lie in a folder, and keep what is found with them; what was
    found, in words. Matrices are left out: their packages do not exist."""
    for name in names:
        if PROBLEMS[name].kind == MATRIX:
            continue
        found: dict[str, Audit] = {}
        for tool in TOOLS:
            path = folder / "results" / f"{name}.{tool}.json"
            result = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
            if not result.get("pins"):
                continue
            same = json.dumps(result["pins"], sort_keys=True)
            if same not in found:
                found[same] = _audit(name, result["pins"])
            result["audit"] = found[same]
            path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
            yield f"{name}: {tool}: {len(found[same]['breaks'])} break, in {found[same]['audited']} wheels"


def _audit(name: str, pins: dict[str, str]) -> Audit:
    asked = options(PROBLEMS[name])
    report = compatlock.audit(pins, target=asked.target, no_binary=asked.no_binary)
    return summary_of(report)


def summary_of(report: AuditReport) -> Audit:
    """What of a report is kept: how many wheels were looked into and how many pins were not; for each finding
    that breaks the set its check, the packages and what it says."""
    breaks = [[each.check, each.package, each.on, each.summary] for each in report.failures]
    return {"audited": report.audited, "unread": len(report.unread), "breaks": breaks}


def main() -> None:
    """Audit what is asked for on the command line."""
    parser = argparse.ArgumentParser(description="Audit the answers that benchmarks.run kept.")
    parser.add_argument("problems", nargs="*", metavar="PROBLEM", choices=[[], *PROBLEMS])
    parser.add_argument("--folder", type=Path, default=cache_folder(), help="where the results are")
    asked = parser.parse_args()
    try:
        for words in audit_answers(asked.folder, asked.problems or list(PROBLEMS)):
            print(words, flush=True)
    except CompatlockError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
