"""A matrix on the real index, against uv and against locks of single cells."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest
import uv

import compatlock
from compatlock import Cell, Matrix
from tests.support.real_index import DATE

pytestmark = pytest.mark.network

TARGET = compatlock.Target("3.12", "x86_64-manylinux_2_34")
_WORKS, _IMPOSSIBLE = 4, 4


@pytest.fixture
def matrix(real_cache: Path) -> Matrix:
    """As uv sees it: without facts, and without waivers."""
    (found,) = compatlock.matrix(
        "vllm>=0.10",
        "transformers>=4.50",
        "trl",
        by="transformers=minor",
        target=TARGET,
        exclude_newer=DATE,
        shipped_facts=False,
        no_waivers=True,
        cache_dir=real_cache,
        jobs=1,
    )
    return found


def sample(matrix: Matrix, status: str, count: int) -> list[tuple[str, str, Cell]]:
    """Some cells, each with the requirements of its row and column."""
    found = [
        (f"vllm=={row}", f"transformers=={column}.*", cell)
        for row, cells in zip(matrix.rows.labels, matrix.cells, strict=True)
        for column, cell in zip(matrix.columns.labels, cells, strict=True)
        if cell.status == status
    ]
    return random.Random(1).sample(found, count)


def uv_finds(requirements: list[str], cache: Path, folder: Path) -> bool:
    (folder / "r.in").write_text("\n".join(requirements))
    words = [uv.find_uv_bin(), "pip", "compile", "r.in", "--exclude-newer", DATE, "--no-config", "--quiet"]
    words += ["--python-version", "3.12", "--python-platform", TARGET.platform, "--python", sys.executable]
    words += ["--no-python-downloads", "--only-binary", "vllm", "--cache-dir", str(cache / "uv")]
    run = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=250)
    assert run.returncode == 0 or "No solution found" in run.stderr, run.stderr
    return run.returncode == 0


def test_uv_agrees_on_what_works(matrix: Matrix, real_cache: Path, tmp_path: Path) -> None:
    for status, count in (("works", _WORKS), ("impossible", _IMPOSSIBLE)):
        for vllm, transformers, cell in sample(matrix, status, count):
            found = uv_finds(["trl", vllm, transformers], real_cache, tmp_path)
            assert found == (status == "works"), f"{vllm} {transformers}: {cell}"


def test_a_cell_is_what_a_lock_has(matrix: Matrix, real_cache: Path) -> None:
    for vllm, transformers, cell in sample(matrix, "works", _WORKS):
        lock = compatlock.lock(
            ["trl", vllm, transformers],
            target=TARGET,
            exclude_newer=DATE,
            shipped_facts=False,
            max_lag=["none"],
            cache_dir=real_cache,
        )
        assert {name: lock.versions[name] for name, _ in cell.pins} == dict(cell.pins)
        assert max(pin.lag_days for pin in lock.pins if pin.is_root) == cell.lag
