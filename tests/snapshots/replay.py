"""Locking over a recorded snapshot of the index: no network, no addresses, the same pins for ever."""

from __future__ import annotations

import json
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

from compatlock.api.make import make_lock
from compatlock.api.options import LockOptions
from compatlock.api.session import source_of
from compatlock.errors import NoSolution
from compatlock.index.snapshot import Snapshot
from compatlock.index.store import Store
from compatlock.knowledge.load import profile_names
from compatlock.model.lock import Lock
from compatlock.model.target import Target

HERE = Path(__file__).parent
DOCUMENT = HERE / "profiles.json.xz"
EXPECTED = HERE / "profiles.json"

EXCLUDE_NEWER = "2026-11-30T14:00:00Z"
PYTHONS = ("3.10", "3.11", "3.12", "3.13")


# Roots that plain resolvers answer poorly, and the worst root lag (days) that is optimal on declared metadata
# alone, for Python 3.12.
SETS = {
    "llamafactory vllm": 68,
    "axolotl vllm": 41,
    "trl[vllm] unsloth": 6,
    "vllm lmdeploy": 198,
    "vllm sglang": 413,
    "trl>=1.0 ms-swift": 1041,
    "trl llamafactory": 364,
    "trl vllm>=0.22.0 transformers>=5.2.0": 32,
}


def asked() -> dict[str, LockOptions]:
    """All that is recorded, by label: each shipped profile for each Python, and the sets."""
    result = {
        f"{profile} {python}": LockOptions(
            profiles=(profile,), target=Target(python=python), exclude_newer=EXCLUDE_NEWER
        )
        for profile in profile_names()
        for python in PYTHONS
    }
    for roots in SETS:
        result[roots] = LockOptions(
            requirements=tuple(roots.split()),
            target=Target("3.12", "x86_64-manylinux_2_34"),
            exclude_newer=EXCLUDE_NEWER,
            shipped_facts=False,
            max_lag=("none",),
        )
    return result


@lru_cache(maxsize=1)
def recorded() -> Store:
    """A store that holds the recorded snapshot."""
    store = Store(None)
    snapshot = Snapshot.load(DOCUMENT.read_bytes(), DOCUMENT.name)
    snapshot.fill(store, source_of(LockOptions()), int(time.time()))
    return store


def replay(options: LockOptions) -> Lock:
    """Lock over the snapshot. Raises what `make_lock` does."""
    return make_lock(options._replace(offline=True), store=recorded()).lock


def answer(options: LockOptions) -> dict[str, Any]:
    """What is expected, as JSON: pins and worst root lag, or the lines that say why there are none."""
    try:
        lock = replay(options)
        worst = next(tier.value for tier in lock.objective if tier.name == "worst root lag")
        return {"pins": lock.versions, "worst root lag": worst}
    except NoSolution as error:
        return {"impossible": error.message.splitlines()}


def expected() -> dict[str, dict[str, Any]]:
    """The recorded answers by label."""
    answers: dict[str, dict[str, Any]] = json.loads(EXPECTED.read_text())
    return answers
