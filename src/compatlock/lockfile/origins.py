"""Where lines of the user's stand, as lock files say it.

The number of the line is left out, so that moving lines changes no lock.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compatlock.model.lock import Lock

_LINE_NUMBER = re.compile(r":\d+\Z")


def file_of(origin: str) -> str:
    """Return `FILE` for the origin `FILE:LINE`, with `/` between folders, and other origins as they are."""
    file = _LINE_NUMBER.sub("", origin)
    return origin if file == origin else file.replace("\\", "/")


def without_line_numbers(lock: Lock) -> Lock:
    """Return `lock` with the origins of its edges as `file_of` gives them, each edge once, sorted."""
    edges = {edge._replace(origin=file_of(edge.origin)) for edge in lock.edges}
    return lock._replace(edges=tuple(sorted(edges)))
