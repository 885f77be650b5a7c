"""Sets of roots that plain resolvers answer poorly: on the real index the answers are about as good as those
that tests/snapshots records exactly. Yanks and deletions move them a little."""

from __future__ import annotations

from pathlib import Path

import pytest

import compatlock
from tests.snapshots.replay import SETS
from tests.support.real_index import DATE

pytestmark = pytest.mark.network


# How far a yank or two may push an answer, in days.
ROOM = 60


@pytest.mark.parametrize("roots", SETS)
def test_the_best_of_declared_metadata(real_cache: Path, roots: str) -> None:
    lock = compatlock.lock(
        roots.split(),
        target=compatlock.Target("3.12", "x86_64-manylinux_2_34"),
        exclude_newer=DATE,
        shipped_facts=False,
        cache_dir=real_cache,
        max_lag=["none"],
    )
    (worst,) = (tier.value for tier in lock.objective if tier.name == "worst root lag")
    assert worst <= SETS[roots] + ROOM
    assert all(tier.proved for tier in lock.objective)
