"""What differs between two locks."""

from __future__ import annotations

from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from compatlock.model.lock import OlderPin


class Change(NamedTuple):
    """A package whose pin differs. `old` is `""` when it was added, `new` when it was removed."""

    name: str
    old: str
    new: str


def changes(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[Change, ...]:
    """Return what differs from `old` to `new`, both `{normalised name: version}`, sorted by name.

    Versions are compared as text.
    """
    return tuple(
        Change(name, old.get(name, ""), new.get(name, ""))
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    )


def together(pins: Iterable[OlderPin]) -> dict[str, str]:
    """Return `{name: version}` of all targets, several versions of a name joined in their order."""
    versions: dict[str, dict[str, None]] = {}
    for name, version, _ in pins:
        versions.setdefault(name, {})[version] = None
    return {name: ", ".join(found) for name, found in versions.items()}


def marked(pins: Iterable[OlderPin]) -> dict[str, str]:
    """Return `{name: versions with their markers}` of the packages that are not pinned for all targets."""
    found: dict[str, list[str]] = {}
    for name, version, marker in pins:
        if marker:
            found.setdefault(name, []).append(f"{version} ({_marker(marker)})")
    return {name: ", ".join(sorted(entries)) for name, entries in found.items()}


def _marker(text: str) -> str:
    """A marker as it is always written: quotes and spaces differ between formats."""
    from packaging.markers import InvalidMarker, Marker

    try:
        return str(Marker(text))
    except InvalidMarker:
        return text


def describe(found: Sequence[Change]) -> str:
    """Return `found` in words, a count first and then a line for each, or `no changes`."""
    if not found:
        return "no changes"
    added = sum(not change.old for change in found)
    removed = sum(not change.new for change in found)
    counts = ((len(found) - added - removed, "changed"), (added, "added"), (removed, "removed"))
    summary = ", ".join(f"{number} {word}" for number, word in counts if number)
    return "\n".join([summary, *map(_describe_one, found)])


def _describe_one(change: Change) -> str:
    if not change.old:
        return f"  added {change.name} {change.new}"
    if not change.new:
        return f"  removed {change.name} {change.old}"
    return f"  changed {change.name} {change.old} -> {change.new}"
