"""Waivers: an edge's bound deliberately not enforced."""

from __future__ import annotations

from typing import NamedTuple


class Waiver(NamedTuple):
    """Permission not to enforce what `package` (or its `extra`) demands of `on`.

    It is spent only when needed and never drops the dependency itself. `reason` and `source` say why
    it is allowed and who allowed it (`profile NAME`, `--waive`).
    """

    package: str
    on: str
    extra: str = ""
    reason: str = ""
    source: str = ""

    def __str__(self) -> str:
        extra = f"[{self.extra}]" if self.extra else ""
        return f"{self.package}{extra} -> {self.on}"
