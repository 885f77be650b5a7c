"""uv as an independent referee: it finds our pins consistent and complete, and no root newer."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import uv

import compatlock
from compatlock.knowledge.load import load_profile
from tests.support.real_index import DATE

pytestmark = pytest.mark.network

PYTHON, PLATFORM = "3.12", "x86_64-manylinux_2_34"
TARGET = compatlock.Target(PYTHON, PLATFORM)
SETS = ["trl>=1.0 vllm>=0.22.0 transformers>=5.2.0", "trl[vllm] unsloth", "axolotl vllm"]

Compile = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def uv_compile(real_cache: Path, tmp_path: Path) -> Compile:
    """Runs `uv pip compile` on requirements and constraints, for the same target and state of the index."""

    def run(requirements: list[str], constraints: list[str]) -> subprocess.CompletedProcess[str]:
        (tmp_path / "r.in").write_text("\n".join(requirements))
        (tmp_path / "c.txt").write_text("\n".join(constraints))
        words = [uv.find_uv_bin(), "pip", "compile", "r.in", "-c", "c.txt", "--exclude-newer", DATE]
        words += ["--python-version", PYTHON, "--python-platform", PLATFORM]
        words += ["--python", sys.executable, "--no-python-downloads", "--no-header", "--no-annotate"]
        words += ["--no-config", "--cache-dir", str(real_cache / "uv"), "--quiet"]
        environment = {key: value for key, value in os.environ.items() if not key.startswith("UV_")}
        return subprocess.run(
            words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=200
        )

    return run


def pins(text: str) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9-]+)(?:\[[^\]]*\])?==(\S+)", text, re.MULTILINE))


def lock(cache: Path, roots: list[str], *, shipped_facts: bool) -> compatlock.Lock:
    return compatlock.lock(
        roots, target=TARGET, exclude_newer=DATE, cache_dir=cache, shipped_facts=shipped_facts
    )


def exact(of: compatlock.Lock) -> list[str]:
    return [f"{name}=={version}" for name, version in of.versions.items()]


@pytest.mark.parametrize("roots", SETS)
def test_the_pins_are_all_that_is_needed(real_cache: Path, uv_compile: Compile, roots: str) -> None:
    found = lock(real_cache, roots.split(), shipped_facts=True)
    done = uv_compile(roots.split(), exact(found))
    assert done.returncode == 0, done.stderr
    assert pins(done.stdout) == found.versions


def test_the_profile(real_cache: Path, uv_compile: Compile) -> None:
    found = compatlock.lock(profile="async-grpo", target=TARGET, exclude_newer=DATE, cache_dir=real_cache)
    done = uv_compile([str(root) for root in load_profile("async-grpo").roots], exact(found))
    assert done.returncode == 0, done.stderr
    assert pins(done.stdout) == found.versions


@pytest.mark.parametrize("roots", SETS[:2])
def test_no_root_can_be_newer(real_cache: Path, uv_compile: Compile, roots: str) -> None:
    """With the others at or above their pins. (By metadata alone: uv knows no facts.)"""
    found = lock(real_cache, roots.split(), shipped_facts=False)
    behind = [pin.name for pin in found.pins if pin.is_root and pin.lag_releases]
    assert behind
    for name in behind:
        bounds = [f"{r}{'>' if r == name else '>='}{found.versions[r]}" for r in found.roots]
        done = uv_compile(roots.split(), bounds)
        assert done.returncode == 1, done.stdout
        assert "No solution found" in done.stderr
