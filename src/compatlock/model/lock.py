"""The result: pins with their files, who needs them, what was waived, and how good the answer is."""

from __future__ import annotations

from compatlock.model.named_tuple import NamedTuple


class LockedFile(NamedTuple):
    """A file that the target could install. `sha256` is lower-case hex, `""` when the index gives none.

    `url` is where the index keeps it, without credentials (`model.display.public_url`), `""` if not known.
    """

    filename: str
    sha256: str = ""
    size: int = 0
    upload_time: int | None = None
    url: str = ""


class LockedEdge(NamedTuple):
    """`package[extra] -> on[extras] specifier`, as declared by the pinned release of `package`.

    A line of the user's has `package` `""` and says where it stands in `origin`. `waived` is set when
    the pin of `on` does not satisfy the specifier and a waiver allowed that.
    """

    package: str
    on: str
    specifier: str = ""
    extra: str = ""
    extras: tuple[str, ...] = ()
    origin: str = ""
    waived: bool = False


class Pin(NamedTuple):
    """One package of the lock.

    `lag_days` and `lag_releases` tell how far it is behind the newest release that the target allows
    (`newest`); `held_by` are the edges that exclude the next newer candidate, `""` joined text each.
    `notes` are remarks a user should see: yanked, pre-release, sdist metadata unverified. `index_url` is the
    index that the files are from, `""` for the default one, without credentials. `repaired` are dependencies
    whose declaration is invalid, as read: `b (>=1.*) -> b>=1`; pip refuses such a release from 24.1 on.
    `marker` (PEP 508) says for which targets of a lock for several the pin is, `""` for all: pins of one name
    have disjoint markers.
    """

    name: str
    version: str
    files: tuple[LockedFile, ...] = ()
    extras: tuple[str, ...] = ()
    is_root: bool = False
    newest: str = ""
    lag_days: int = 0
    lag_releases: int = 0
    held_by: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    index_url: str = ""
    repaired: tuple[str, ...] = ()
    marker: str = ""


class OlderPin(NamedTuple):
    """What an older lock pins: `marker` (PEP 508) says for which targets, `""` for all."""

    name: str
    version: str
    marker: str = ""


class TierValue(NamedTuple):
    """The value that one tier of the objective took, and whether it is proved that none is better."""

    name: str
    value: int
    unit: str
    proved: bool = True


class SoftFactReport(NamedTuple):
    """A soft fact that the lock breaks."""

    id: str
    summary: str
    days: int


class Lock(NamedTuple):
    """A complete answer for one target; pins, edges and waivers are sorted by name.

    `command` is how to make it again, `target` the target in words, `index_state` what the index looked
    like, `objective` the tiers from the most important down, `strategy` `optimal` or `greedy`. `cuda` is the
    CUDA of the set and what decides it, `CUDA 13 (free)` or `CUDA 12 (driver 570)`, `""` when no pin is bound
    to any.
    """

    pins: tuple[Pin, ...]
    edges: tuple[LockedEdge, ...]
    roots: tuple[str, ...] = ()
    waivers: tuple[str, ...] = ()
    broken_soft_facts: tuple[SoftFactReport, ...] = ()
    objective: tuple[TierValue, ...] = ()
    command: str = ""
    target: str = ""
    index_state: str = ""
    strategy: str = "optimal"
    notes: tuple[str, ...] = ()
    cuda: str = ""

    @property
    def older_pins(self) -> tuple[OlderPin, ...]:
        """What this lock pins, as the older one of another."""
        return tuple(OlderPin(pin.name, pin.version, pin.marker) for pin in self.pins)

    @property
    def versions(self) -> dict[str, str]:
        """`{name: version}` of all pins. (Of a lock for several targets only what is the same for all, or
        pinned for some of them only.)"""
        versions = {pin.name: pin.version for pin in self.pins}
        if len(versions) < len(self.pins):
            several = [pin.name for pin in self.pins if versions[pin.name] != pin.version]
            versions = {name: version for name, version in versions.items() if name not in several}
        return versions
