"""The older lock that is changed as little as possible: what it pins for one of its targets."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, MutableMapping

    from compatlock.model.lock import OlderPin
    from compatlock.model.target import Target


def pins_for(pins: Iterable[OlderPin], target: Target, memo: MutableMapping[str, str]) -> dict[str, str]:
    """Return `{name: version}` of the pins whose markers hold for a target.

    A name for which several versions are left is left out: which of them holds cannot be told. A marker that
    is none is taken for one that holds.
    """
    found: dict[str, str] = {}
    ambiguous: set[str] = set()
    for name, version, marker in pins:
        if (not marker or _holds(marker, target, memo)) and found.setdefault(name, version) != version:
            ambiguous.add(name)
    return {name: version for name, version in found.items() if name not in ambiguous}


def _holds(marker: str, target: Target, memo: MutableMapping[str, str]) -> bool:
    key = f"older-marker:{target.key}:{marker}"
    known = memo.get(key)
    if known is None:
        known = memo[key] = str(_evaluate(marker, target))
    return known == "True"


def _evaluate(marker: str, target: Target) -> bool:
    from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName

    # Lock files of other tools ask for extras and groups (PEP 751): none is known to be wanted.
    wanted: dict[str, str | frozenset[str]] = {"extras": frozenset(), "dependency_groups": frozenset()}
    environment = {**target.marker_environment, **wanted, "extra": ""}
    try:
        return Marker(marker).evaluate(environment, context="lock_file")
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName, RecursionError):
        return True
