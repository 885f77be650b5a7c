"""What one release needs, already evaluated for a target."""

from __future__ import annotations

from typing import NamedTuple


class Dependency(NamedTuple):
    """One `Requires-Dist` line whose marker holds. `url` is set for a direct reference."""

    name: str
    specifier: str = ""
    extras: tuple[str, ...] = ()
    url: str = ""


class Dependencies(NamedTuple):
    """The dependencies of one release for one marker environment.

    `base` always hold; `extras[x]` are added when extra `x` is requested. `provides` are all extras
    that the release declares (normalised), also those without dependencies. `requires_python` is the
    release's own `Requires-Python`. `source` says where the metadata came from: `side-file`,
    `wheel`, `sdist` (static, metadata 2.2+), `sdist-unverified` (older PKG-INFO).
    """

    base: tuple[Dependency, ...] = ()
    extras: dict[str, tuple[Dependency, ...]] = {}  # noqa: RUF012 - a default that nobody mutates
    provides: tuple[str, ...] = ()
    requires_python: str = ""
    source: str = ""
