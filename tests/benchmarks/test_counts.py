"""A guard against slower searches, by counts instead of time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from compatlock.cli.main import main
from tests.benchmarks.counts import IMPOSSIBLE, LABELS, counts, expected
from tests.support.index_server import IndexServer

SOURCE = Path(__file__).resolve().parents[2] / "src"

# How much more than recorded is let pass.
SLACK = 1.1

# Modules of a warm, offline lock, of Python itself too: what a bare interpreter has is not counted.
MOST_MODULES = 158

PROGRAM = """
import sys
before = set(sys.modules)
from compatlock.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit as ended:
    assert not ended.code, ended.code
print(len(set(sys.modules) - before))
"""


@pytest.mark.parametrize("label", [*LABELS, *IMPOSSIBLE])
def test_a_search_takes_no_more_than_recorded(label: str) -> None:
    found, most = counts(label), expected()[label]
    assert found.keys() == most.keys()
    grown = {name: (most[name], value) for name, value in found.items() if value > SLACK * most[name]}
    assert not grown, "more than recorded; see tests/benchmarks/counts.py"


def test_all_that_is_recorded_is_looked_at() -> None:
    assert expected().keys() == {*LABELS, *IMPOSSIBLE}
    assert all(value > 0 for each in expected().values() for value in each.values())


def test_a_warm_lock_imports_few_modules(index: IndexServer, tmp_path: Path) -> None:
    index.add("app", "1.0", requires=["lib>=1"])
    index.add("lib", "1.0")
    options = [
        "lock", "--requirement", "app", "--default-index", index.url, "--cache-dir", str(tmp_path / "cache"),
        "--output-file", str(tmp_path / "requirements.lock"), "--python-version", "3.12", "--quiet",
    ]  # fmt: skip
    with pytest.raises(SystemExit) as ended:
        main(options)
    assert not ended.value.code
    warm = [sys.executable, "-S", "-c", PROGRAM, *options, "--offline"]
    # -S: what site and .pth files of this environment import is not ours.
    paths = os.pathsep.join([str(SOURCE), *filter(None, sys.path)])
    done = subprocess.run(warm, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) <= MOST_MODULES
