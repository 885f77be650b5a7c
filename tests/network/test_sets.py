"""Sets of roots that plain resolvers answer poorly; the figures are those of docs and design: the worst root
lag in days that is optimal on declared metadata alone (Python 3.12, the index of 2026-11-30)."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

import compatlock
from tests.support.real_index import DATE

pytestmark = pytest.mark.network


class Known(NamedTuple):
    """What is optimal for a set of roots."""

    roots: str
    worst_lag: int
    versions: dict[str, str]


SETS = [
    Known("llamafactory vllm", 68, {"llamafactory": "0.9.5", "vllm": "0.28.0"}),
    Known("axolotl vllm", 41, {"axolotl": "0.21.0", "vllm": "0.30.0"}),
    Known("trl[vllm] unsloth", 6, {"trl": "1.15.0", "vllm": "0.31.0", "unsloth": "2026.10.9"}),
    Known("vllm lmdeploy", 198, {"vllm": "0.19.1", "lmdeploy": "0.18.0"}),
    Known("vllm sglang", 413, {"vllm": "0.33.0", "sglang": "0.5.2"}),
    Known("trl>=1.0 ms-swift", 1041, {"trl": "1.16.0", "ms-swift": "1.4.0"}),
    Known("trl llamafactory", 364, {"trl": "0.24.0", "llamafactory": "0.9.5"}),
]


@pytest.mark.parametrize("known", SETS, ids=[known.roots for known in SETS])
def test_the_best_of_declared_metadata(real_cache: Path, known: Known) -> None:
    lock = compatlock.lock(
        known.roots.split(),
        target=compatlock.Target("3.12", "x86_64-manylinux_2_34"),
        exclude_newer=DATE,
        shipped_facts=False,
        cache_dir=real_cache,
        max_lag=["none"],
    )
    (worst,) = (tier.value for tier in lock.objective if tier.name == "worst root lag")
    assert worst == known.worst_lag
    assert {name: lock.versions[name] for name in known.versions} == known.versions
