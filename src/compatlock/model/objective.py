"""The objective as data: lexicographic tiers, the most important first (design, Semantics 3)."""

from __future__ import annotations

from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

WAIVERS = "waivers"
WAIVED_BOUNDS = "waived bounds"
CHANGES = "changes"
PREFERRED = "preferred"
WORST = "worst root lag"
ROOT_DAYS = "root days"
ROOT_RELEASES = "root releases"
DIFFERENT = "different"
DEPTH = "depth"
PACKAGES = "packages"

CHANGED_PINS = "pins changed"

DEEPEST = 4  # depth 4 stands for "deeper or unreached"


class Tier(NamedTuple):
    """One tier: a sum to be made as small as possible, except WORST, which is a maximum.

    `package` names the package of a PREFERRED tier, `depth` the depth of a DEPTH tier.
    """

    kind: str
    name: str
    unit: str
    package: str = ""
    depth: int = 0


def tiers(
    *, waivers: bool, older: bool, prefer: Sequence[str], several_targets: bool = False
) -> tuple[Tier, ...]:
    """The tiers of a run: those about waivers only when some are allowed, those about changes only when
    there is an older lock, and what differs between targets when there are several."""
    result = []
    if waivers:
        result.append(Tier(WAIVERS, "waivers spent", "waivers"))
        result.append(Tier(WAIVED_BOUNDS, "bounds waived", "bounds"))
    if older:
        result.append(Tier(CHANGES, CHANGED_PINS, "pins"))
    result += [Tier(PREFERRED, f"lag of {name}", "releases", package=name) for name in prefer]
    result.append(Tier(WORST, "worst root lag", "days"))
    result.append(Tier(ROOT_DAYS, "summed root lag", "days"))
    result.append(Tier(ROOT_RELEASES, "summed root lag", "releases"))
    if several_targets:
        result.append(Tier(DIFFERENT, "packages that differ between targets", "packages"))
    for depth in range(1, DEEPEST):
        result.append(Tier(DEPTH, f"summed lag at depth {depth}", "releases", depth=depth))
    result.append(Tier(DEPTH, "summed lag deeper", "releases", depth=DEEPEST))
    result.append(Tier(PACKAGES, "packages", "packages"))
    return tuple(result)
