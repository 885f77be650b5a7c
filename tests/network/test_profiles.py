"""Every shipped profile for every Python on the real index: it locks, or says in words why it cannot. (Exact
pins are those over the recorded snapshot, tests/snapshots; yanks and deletions move the real ones.)"""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

import compatlock
from compatlock.knowledge.load import profile_names
from tests.snapshots.replay import PYTHONS, expected
from tests.support.real_index import DATE

pytestmark = pytest.mark.network

# How far a yank or two may push an answer, in days.
ROOM = 60

# What stands in the way of the profiles that cannot lock (axolotl for one Python only).
IN_THE_WAY = {
    "verl-sglang": ("profile verl-sglang asks for verl[sglang]>=0.9.1", "verl 0.9.1"),
    "trinity-rft": ("profile trinity-rft asks for trinity-rft[vllm]==0.6.0", "trinity-rft 0.6.0"),
    "axolotl": ("profile axolotl asks for axolotl[deepspeed]", "zstandard==0.22.0"),
}


def lock_of(profile: str, python: str, cache: Path) -> compatlock.Lock:
    """The lock of a profile. Raises NoSolution."""
    target = compatlock.Target(python, "x86_64-manylinux_2_34")
    return compatlock.lock([], profile=profile, target=target, exclude_newer=DATE, cache_dir=cache)


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("profile", profile_names())
def test_a_profile_locks_or_says_why_not(real_cache: Path, profile: str, python: str) -> None:
    recorded = expected()[f"{profile} {python}"]
    if "impossible" in recorded:
        with pytest.raises(compatlock.NoSolution) as caught:
            lock_of(profile, python, real_cache)
        assert caught.value.exit_code == 1
        assert all(words in caught.value.message for words in IN_THE_WAY[profile])
        return
    lock = lock_of(profile, python, real_cache)
    asked = [edge for edge in lock.edges if not edge.package]
    assert {edge.on for edge in asked} == set(lock.roots) != set()
    for edge in asked:
        assert SpecifierSet(edge.specifier).contains(lock.versions[edge.on], prereleases=True), edge
    assert all(tier.proved for tier in lock.objective)
    (worst,) = (tier.value for tier in lock.objective if tier.name == "worst root lag")
    assert worst <= recorded["worst root lag"] + ROOM


def test_the_profiles_that_cannot_lock() -> None:
    impossible = {label.split()[0] for label, answer in expected().items() if "impossible" in answer}
    assert impossible == set(IN_THE_WAY)
