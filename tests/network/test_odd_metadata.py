"""Real releases whose metadata is odd: they lock all the same, and the lock says what is odd about them."""

from __future__ import annotations

from pathlib import Path

import pytest

import compatlock
from compatlock.model.lock import Pin
from tests.support.real_index import DATE

pytestmark = pytest.mark.network

TARGET = compatlock.Target("3.12", "x86_64-manylinux_2_34")


def lock(cache: Path, requirement: str) -> tuple[Pin, compatlock.Lock]:
    """The pin of what a requirement asks for, and the lock."""
    found = compatlock.lock([requirement], target=TARGET, exclude_newer=DATE, cache_dir=cache)
    (pin,) = (pin for pin in found.pins if pin.is_root)
    return pin, found


def test_bounds_that_only_old_pip_understood(real_cache: Path) -> None:
    pin, found = lock(real_cache, "pytorch-lightning==1.7.7")
    assert "torch (>=1.9.*) -> torch>=1.9" in pin.repaired
    assert any(note.endswith("; pip 24.1 and later refuse this release") for note in pin.notes)
    assert ("pytorch-lightning", ">=1.9") in {
        (e.package, e.specifier) for e in found.edges if e.on == "torch"
    }
    assert "#   pip install" not in compatlock.render(found)


def test_an_sdist_of_hundreds_of_megabytes(real_cache: Path) -> None:
    pin, found = lock(real_cache, "pyspark>=4")
    assert "sdist metadata, unverified" in pin.notes
    assert pin.lag_days == 0
    assert found.versions.keys() == {"pyspark", "py4j"}
