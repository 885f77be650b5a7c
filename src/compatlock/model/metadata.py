"""Core metadata of one distribution file, reduced to what resolution needs."""

from __future__ import annotations

from compatlock.model.dependencies import MISSING
from compatlock.model.named_tuple import NamedTuple

__all__ = ["MISSING", "Metadata"]


class Metadata(NamedTuple):
    """The dependency fields of one file's core metadata, as text, not yet evaluated for a target.

    `source` is `side-file`, `wheel`, `sdist`, `sdist-unverified` (a PKG-INFO older than metadata
    2.2, or one that declares the fields dynamic) or MISSING. `problem` is set when the metadata is
    unusable: the release is then no candidate, and this is the reason shown.
    """

    requires_dist: tuple[str, ...] = ()
    provides_extra: tuple[str, ...] = ()
    requires_python: str = ""
    source: str = ""
    problem: str = ""
