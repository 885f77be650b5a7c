"""What an index has and nobody can use."""

from __future__ import annotations

from compatlock.model.named_tuple import NamedTuple


class Unusable(NamedTuple):
    """A file of a project that was passed over (`filename`), or a release that is no candidate because of its
    metadata (`version`), and why."""

    package: str
    version: str = ""
    filename: str = ""
    reason: str = ""
