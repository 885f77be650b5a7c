"""What a search returns."""

from __future__ import annotations

from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compatlock.model.lock import TierValue


class Solution(NamedTuple):
    """An optimal answer.

    chosen:  index of each package's release
    extras:  the extras that are needed, by package
    newest:  the candidate that each root's lag is counted from
    depths:  depth of packages as the objective counts it
    tiers:   what each tier came to
    broken:  ids of the soft facts that are broken
    presumed: packages whose gated candidates were kept out because no release read admits them; the proof
             takes for granted that a release which was not read does so only if known edges lead to it and
             another release of its package depends on them
    proved:  whether the proof is complete but for that
    """

    chosen: dict[str, int]
    extras: dict[str, tuple[str, ...]]
    newest: dict[str, int]
    depths: dict[str, int]
    tiers: tuple[TierValue, ...]
    broken: tuple[str, ...]
    presumed: tuple[str, ...]
    proved: bool
    counters: dict[str, int]
