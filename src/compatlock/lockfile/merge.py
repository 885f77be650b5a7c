"""The locks of several targets as one, with markers where they differ."""

from __future__ import annotations

from compatlock.lockfile.markers import marker_of
from compatlock.model.target import TARGET_SEPARATOR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeVar

    from compatlock.model.lock import Lock, Pin
    from compatlock.model.target import Target

    Item = TypeVar("Item")


def merged(locks: Sequence[Lock], targets: Sequence[Target]) -> Lock:
    """Return one lock for all `targets`, whose locks are given in the same order.

    A package that is the same for all has one pin without marker, one that differs, or that not all need,
    a pin for each version with the marker of its targets (see `markers.marker_of`): they are disjoint.
    What a pin says of its release (files, lag, remarks) is that of all its targets together.
    """
    places: dict[tuple[str, str, str], list[tuple[Pin, Target]]] = {}
    for lock, target in zip(locks, targets, strict=True):
        for pin in lock.pins:
            places.setdefault((pin.name, pin.version, pin.index_url), []).append((pin, target))
    pins = [_joined([p for p, _ in found], [t for _, t in found], targets) for found in places.values()]
    return locks[0]._replace(
        pins=tuple(sorted(pins)),
        edges=tuple(sorted({edge for lock in locks for edge in lock.edges})),
        roots=tuple(sorted({root for lock in locks for root in lock.roots})),
        waivers=_union(lock.waivers for lock in locks),
        broken_soft_facts=tuple(sorted({fact for lock in locks for fact in lock.broken_soft_facts})),
        target=TARGET_SEPARATOR.join(map(str, targets)),
        index_state=max(lock.index_state for lock in locks),
        notes=_union(lock.notes for lock in locks),
        cuda=TARGET_SEPARATOR.join(dict.fromkeys(lock.cuda for lock in locks if lock.cuda)),
    )


def _joined(pins: Sequence[Pin], at: Sequence[Target], targets: Sequence[Target]) -> Pin:
    furthest = max(pins, key=lambda pin: (pin.lag_days, pin.lag_releases))
    return furthest._replace(
        files=tuple(dict.fromkeys(file for pin in pins for file in pin.files)),
        extras=_union(pin.extras for pin in pins),
        is_root=any(pin.is_root for pin in pins),
        held_by=_union(pin.held_by for pin in pins),
        notes=tuple(dict.fromkeys(note for pin in pins for note in pin.notes)),
        repaired=_union(pin.repaired for pin in pins),
        marker=marker_of(at, targets),
    )


def _union(groups: Iterable[Iterable[Item]]) -> tuple[Item, ...]:
    return tuple(sorted({item for group in groups for item in group}))  # type: ignore[type-var]
