"""The main job on the real index: `--profile async-grpo`. Properties rather than exact pins."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pytest
from packaging.version import Version

import compatlock
from tests.support.real_index import DATE

pytestmark = pytest.mark.network


@lru_cache
def lock(
    cache: Path, python: str = "3.12", date: str = DATE, soft_facts: bool = True, shipped_facts: bool = True
) -> compatlock.Lock:
    return compatlock.lock(
        profile="async-grpo",
        target=compatlock.Target(python),
        exclude_newer=date,
        soft_facts=soft_facts,
        shipped_facts=shipped_facts,
        cache_dir=cache,
    )


def worst_lag(of: compatlock.Lock) -> int:
    return next(tier.value for tier in of.objective if tier.name == "worst root lag")


def version(of: compatlock.Lock, name: str) -> Version:
    return Version(of.versions[name])


def test_the_lock_of_python_3_12(real_cache: Path) -> None:
    found = lock(real_cache)
    assert found.waivers == ()
    assert found.broken_soft_facts == ()
    assert found.versions["cuda-python"] == found.versions["cuda-bindings"]
    assert worst_lag(found) <= 41
    assert version(found, "trl") >= Version("1.16.0")
    assert Version("0.30.0") <= version(found, "vllm") <= Version("0.31.0")
    assert version(found, "transformers") >= Version("5.24.0")
    assert version(found, "torch") >= Version("2.13.0")
    assert all(tier.proved for tier in found.objective)


def test_every_pin_has_hashed_files(real_cache: Path) -> None:
    for pin in lock(real_cache).pins:
        assert pin.files
        assert all(len(file.sha256) == 64 for file in pin.files)


def test_a_root_that_is_held_back_says_by_what(real_cache: Path) -> None:
    (vllm,) = (pin for pin in lock(real_cache).pins if pin.name == "vllm")
    assert vllm.lag_days == worst_lag(lock(real_cache))
    assert any("needs transformers" in reason for reason in vllm.held_by)


def test_without_soft_facts_newer_at_once(real_cache: Path) -> None:
    found = lock(real_cache, soft_facts=False)
    assert worst_lag(found) <= 32
    assert version(found, "vllm") > version(lock(real_cache), "vllm")
    assert version(found, "vllm") >= Version("0.33.0")
    assert version(found, "torch") >= Version("2.14.0")


def test_a_soft_fact_costs_less_than_breaking_it(real_cache: Path) -> None:
    """Both within TRL's range and beyond it there are answers; the better is within, by less than 60 days."""
    assert 0 < worst_lag(lock(real_cache)) - worst_lag(lock(real_cache, soft_facts=False)) < 60


def test_what_plain_metadata_would_give(real_cache: Path) -> None:
    """The optimum of declared metadata is another set: 32 days behind at worst."""
    assert worst_lag(lock(real_cache, shipped_facts=False)) == 32


@pytest.mark.parametrize("python", ["3.10", "3.11", "3.13", "3.14"])
def test_other_pythons(real_cache: Path, python: str) -> None:
    found = lock(real_cache, python)
    assert found.waivers == ()
    assert set(found.roots) == {"trl", "vllm", "transformers"} <= set(found.versions)
    assert version(found, "trl") >= Version("1.0")
    assert version(found, "vllm") >= Version("0.22.0")
    assert version(found, "transformers") >= Version("5.2.0")
    assert found.versions.get("cuda-python") in (None, found.versions.get("cuda-bindings"))


@pytest.mark.parametrize("python", ["3.10", "3.12"])
def test_half_a_year_before(real_cache: Path, python: str) -> None:
    found = lock(real_cache, python, date="2026-05-30T14:00:00Z")
    assert version(found, "trl") >= Version("1.0")
    assert version(found, "vllm") >= Version("0.22.0")
    times = [file.upload_time for pin in found.pins for file in pin.files]
    assert max(time for time in times if time is not None) <= 1_780_149_600
