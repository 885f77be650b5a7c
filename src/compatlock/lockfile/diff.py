"""What changed between two locks, and why it matters."""

from __future__ import annotations

import re

from compatlock.lockfile.compare import Change, changes
from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# The steps of a change, in the order in which they deserve to be looked at.
DOWNGRADE, MAJOR, MINOR, PATCH, OTHER, MARKERS, ADDED, REMOVED = STEPS = (
    "downgrade", "major", "minor", "patch", "other", "markers", "added", "removed",
)  # fmt: skip
# What brings CUDA's runtime, by name with the major, or with the major as the version's.
_RUNTIME = re.compile(r"nvidia-(?:cuda-runtime|cublas)-cu(\d\d)\Z")
_UNSUFFIXED = frozenset({"cuda-toolkit", "nvidia-cuda-runtime", "nvidia-cublas"})
_LOCAL = re.compile(r"\+cu(\d\d)\d?\Z")


class Side(NamedTuple):
    """What one of the two locks says: its name for people, its pins `{normalised name: version}`, the edges
    that it waives, the target it is for (`""`: not said), what the user's own lines name, and of the pins
    that are not for all targets `{name: versions with their markers}`."""

    name: str
    pins: Mapping[str, str]
    waivers: tuple[str, ...] = ()
    target: str = ""
    roots: frozenset[str] = frozenset()
    markers: Mapping[str, str] = {}


class Step(NamedTuple):
    """A change with how far it goes: one of STEPS."""

    change: Change
    step: str
    is_root: bool = False


class Diff(NamedTuple):
    """The difference between two locks.

    steps: changed pins, the most notable first; waivers_gained, waivers_lost: edges; target, cuda: the old
    and the new, equal when nothing changed there; `cuda` names the CUDA majors that the pins bring.
    """

    old: str
    new: str
    steps: tuple[Step, ...]
    waivers_gained: tuple[str, ...] = ()
    waivers_lost: tuple[str, ...] = ()
    target: tuple[str, str] = ("", "")
    cuda: tuple[str, str] = ("", "")

    @property
    def is_empty(self) -> bool:
        """Whether the two say the same."""
        notable = self.steps or self.waivers_gained or self.waivers_lost
        return not notable and self.target[0] == self.target[1]


def diff_locks(old: Side, new: Side) -> Diff:
    """Return what changed from `old` to `new`. Versions are compared as PEP 440 orders them."""
    roots = old.roots | new.roots
    steps = [Step(change, step_of(change), change.name in roots) for change in changes(old.pins, new.pins)]
    steps = [step for step in steps if step.step]
    steps += (Step(change, MARKERS, change.name in roots) for change in _elsewhere(old, new))
    steps.sort(key=lambda step: (STEPS.index(step.step), not step.is_root, step.change.name))
    return Diff(
        old.name,
        new.name,
        tuple(steps),
        tuple(sorted(set(new.waivers) - set(old.waivers))),
        tuple(sorted(set(old.waivers) - set(new.waivers))),
        # A lock that does not say its target cannot have changed it.
        (old.target, new.target) if old.target and new.target else ("", ""),
        (cuda_of(old.pins), cuda_of(new.pins)),
    )


def _elsewhere(old: Side, new: Side) -> Iterator[Change]:
    """The packages of the same versions that are pinned for other environments than before. Between locks for
    different targets that goes without saying."""
    if old.target != new.target:
        return
    for name in sorted(old.markers.keys() | new.markers.keys()):
        version = old.pins.get(name)
        if version is None or version != new.pins.get(name):
            continue
        before, after = old.markers.get(name, version), new.markers.get(name, version)
        if before != after:
            yield Change(name, before, after)


def step_of(change: Change) -> str:
    """How far a change goes, one of STEPS; `""` when both texts are the same version (`1.0` and `1`)."""
    from packaging.version import InvalidVersion, Version

    if not change.old:
        return ADDED
    if not change.new:
        return REMOVED
    try:
        old, new = Version(change.old), Version(change.new)
    except InvalidVersion:
        return OTHER
    if old == new:
        return ""
    if new < old:
        return DOWNGRADE
    # Before 1.0 the second number is where incompatible changes go (semantic versioning, item 4).
    leading = 2 if old.major == 0 else 1
    if old.epoch != new.epoch or (old.major, old.minor)[:leading] != (new.major, new.minor)[:leading]:
        return MAJOR
    if old.minor != new.minor:
        return MINOR
    return PATCH if old.release != new.release or old.public != new.public else OTHER


def cuda_of(pins: Mapping[str, str]) -> str:
    """The CUDA majors whose runtime pins bring, as `12`, or `12, 13` for a set that mixes them; `""` for
    none. (A package with `-cu12` in its name alone tells nothing: some install one library for each.)"""
    found = set()
    for name, version in pins.items():
        match = _RUNTIME.match(name) or _LOCAL.search(version)
        if match is not None:
            found.add(match[1])
        elif name in _UNSUFFIXED:
            found.add(version.partition(".")[0])
    return ", ".join(sorted(found))
