"""Builds of real sdists for their metadata, with setuptools from the index, for the running machine."""

from __future__ import annotations

from pathlib import Path

import pytest

import compatlock
from compatlock.model.lock import Pin
from tests.support.real_index import DATE

pytestmark = pytest.mark.network


def pin_of(cache: Path, requirement: str, *, allow_builds: bool | list[str] = False) -> Pin:
    """The pin of what a requirement asks for."""
    found = compatlock.lock([requirement], exclude_newer=DATE, cache_dir=cache, allow_builds=allow_builds)
    (pin,) = (pin for pin in found.pins if pin.is_root)
    return pin


@pytest.mark.parametrize("requirement", ["docopt==0.6.2", "antlr4-python3-runtime==4.9.3"])
def test_projects_with_nothing_but_a_setup_py(real_cache: Path, requirement: str) -> None:
    name = requirement.partition("==")[0]
    assert "sdist metadata, unverified" in pin_of(real_cache, requirement).notes
    built = pin_of(real_cache, requirement, allow_builds=[name])
    assert "built for its metadata" in built.notes
    assert built.files
    # It is remembered: nothing is asked for, and nothing runs.
    found = compatlock.lock(
        [requirement], exclude_newer=DATE, cache_dir=real_cache, allow_builds=True, offline=True
    )
    assert "built for its metadata" in found.pins[0].notes


def test_a_setup_py_that_needs_more_than_it_says(real_cache: Path) -> None:
    """It imports torch, which is no build requirement of it."""
    pin = pin_of(real_cache, "flash-attn==2.8.3", allow_builds=["flash-attn"])
    assert "sdist metadata, unverified" in pin.notes
