"""Made-up indexes with a planted answer: `(packages x releases)` matrices, the same for the same size.

Each package's releases come out evenly over the same years. A release needs three packages that come after
its own, each within a window around its own age, so that releases fit together when they are of about one
age. The newest release of one package in three is broken: it needs a package within a window that ended
long ago. What is planted is an age at which every window is wide enough; newer answers may exist, but the
newest of everything never fits.
"""

from __future__ import annotations

import random
from typing import NamedTuple

from compatlock.index.snapshot import Snapshot
from compatlock.model.listing import File, Listing, Release
from compatlock.model.metadata import Metadata

ROOTS = 5
PLANTED = 0.8  # of the way from the oldest to the newest release
_FIRST_DAY, _DAYS = 18_000, 2_000
_SECONDS_PER_DAY = 86_400


class Matrix(NamedTuple):
    """An index, and the answer that was planted in it: `{package: version}`."""

    snapshot: Snapshot
    planted: dict[str, str]


def shape(releases: int) -> tuple[int, int]:
    """Packages, and releases of each: longer histories in larger indexes, as in real ones."""
    each = {100: 10, 1_000: 20, 10_000: 50}.get(releases, 100)
    return max(releases // each, ROOTS), each


def matrix(releases: int, seed: int = 7) -> Matrix:
    """An index with about that many releases."""
    rng = random.Random(f"{seed}/{releases}")
    packages, each = shape(releases)
    names = [f"p{i:04}" for i in range(packages)]
    planted = max(0, round(PLANTED * (each - 1)))
    snapshot = Snapshot()
    for i, name in enumerate(names):
        after = names[i + 1 :]
        usual = rng.sample(after, min(3, len(after)))
        found = []
        for r in range(each):
            needs = [f"{other}{_window(rng, r, each, planted)}" for other in usual]
            if r > planted and rng.random() < 1 / 3 and usual:
                needs[0] = f"{usual[0]}<{1 + planted // 2}"
            found.append(_release(snapshot, name, r, each, needs))
        snapshot.listings[name] = Listing(name, tuple(reversed(found)), digest=f"matrix-{releases}-{name}")
    return Matrix(snapshot, dict.fromkeys(names, f"{1 + planted}.0"))


def _window(rng: random.Random, release: int, each: int, planted: int) -> str:
    """A bound around a release of the same age. The planted release's bounds hold the planted ones."""
    low = max(0, release - rng.randint(0, max(1, each // 4)))
    high = release + rng.randint(1, max(2, each // 4))
    if release == planted:
        low, high = min(low, planted), max(high, planted + 1)
    return f">={1 + low}.0,<{1 + high}.0"


def _release(snapshot: Snapshot, name: str, release: int, each: int, needs: list[str]) -> Release:
    version = f"{1 + release}.0"
    filename = f"{name}-{version}-py3-none-any.whl"
    day = _FIRST_DAY + _DAYS * release // each
    snapshot.metadata[name, filename] = Metadata(tuple(needs), (), "", "side-file")
    return Release(version, (File(filename, "", "", 0, day * _SECONDS_PER_DAY),))
