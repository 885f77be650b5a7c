"""The benchmarks name functions of the product from outside; they must not rot."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

PROGRAM = """
import phases
found = phases.Phases(lambda: 0.0, 0.0)
phases._wrap_warm(found)
phases._wrap_cold(found, found)
"""


def test_the_phases_are_those_of_functions_that_exist() -> None:
    paths = os.pathsep.join([str(ROOT / "benchmarks"), str(ROOT / "src")])
    subprocess.run([sys.executable, "-c", PROGRAM], env={**os.environ, "PYTHONPATH": paths}, check=True)


def test_phases_are_exclusive() -> None:
    program = """
import phases
now = iter(range(100))
found = phases.Phases(lambda: next(now), 0)
found.enter("outer"); found.enter("inner"); found.leave(); found.leave()
assert found.seconds == {"outer": 2, "inner": 1}, found.seconds
"""
    subprocess.run([sys.executable, "-c", program], cwd=ROOT / "benchmarks", check=True)
