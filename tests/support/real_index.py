"""The real package index for tests that are marked `network`: one cache for the whole session."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import compatlock
from compatlock.errors import IndexUnavailable

# The state of the index that expectations are about.
DATE = "2026-11-30T14:00:00Z"

# A warm cache makes repeated runs of these tests quick.
CACHE_VARIABLE = "COMPATLOCK_TEST_CACHE"


@pytest.fixture(scope="session")
def real_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache directory of the session; skips the test when the index cannot be reached."""
    named = os.environ.get(CACHE_VARIABLE)
    cache = Path(named) if named else tmp_path_factory.mktemp("cache")
    try:
        compatlock.lock(["iniconfig"], cache_dir=cache, exclude_newer=DATE, shipped_facts=False)
    except IndexUnavailable as error:
        pytest.skip(f"the package index cannot be reached: {error.message}")
    return cache
