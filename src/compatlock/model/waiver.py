"""Waivers: an edge's bound deliberately not enforced; exclusions: an edge that is taken away."""

from __future__ import annotations

from compatlock.model.named_tuple import NamedTuple


class Waiver(NamedTuple):
    """Permission not to enforce what `package` (or its `extra`) demands of `on`.

    It is spent only when needed and never drops the dependency itself. `bound` is what `on` has to
    satisfy instead when it is spent (`""`: nothing). `reason` and `source` say why it is allowed and who
    allowed it (`profile NAME`, `--waive`).
    """

    package: str
    on: str
    extra: str = ""
    reason: str = ""
    source: str = ""
    bound: str = ""

    def __str__(self) -> str:
        return edge_name(self.package, self.extra, self.on) + self.bound


class Exclusion(NamedTuple):
    """An edge that is taken away, the need itself: all of `package`'s on `on`, or those of one `extra`, of
    all releases or of one `version`. Without a package it is every edge on `on`, the user's own too."""

    package: str
    on: str
    extra: str = ""
    version: str = ""

    def __str__(self) -> str:
        release = f"{self.package} {self.version}" if self.version else self.package
        return edge_name(release or "every package", self.extra, self.on)

    def covers(self, package: str, extra: str, on: str, version: str) -> bool:
        """Whether an edge of a release of `package` (or of its `extra`) is meant."""
        return (
            self.on == on
            and self.package in ("", package)
            and self.extra in ("", extra)
            and is_release(self.version, version)
        )


class EdgeOverride(NamedTuple):
    """A bound that replaces the declared one of `package` on `on`: of all its releases, or of one."""

    package: str
    on: str
    specifier: str
    version: str = ""

    def __str__(self) -> str:
        release = f"{self.package} {self.version}" if self.version else self.package
        return f"{release} -> {self.on}{self.specifier}"


def is_release(wanted: str, version: str) -> bool:
    """Whether the version in normal form is the one that is wanted, `""` for any: 2 is 2.0 (PEP 440)."""
    return not wanted or wanted == version or _unpadded(wanted) == _unpadded(version)


def _unpadded(version: str) -> str:
    while version.endswith(".0"):
        version = version[:-2]
    return version


def edge_name(package: str, extra: str, on: str) -> str:
    """`package[extra] -> on`."""
    return f"{package}{f'[{extra}]' if extra else ''} -> {on}"
