"""Where lines of the user's stand, as lock files say it.

The number of the line is left out, so that moving lines changes no lock.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compatlock.model.lock import Lock


def file_of(origin: str) -> str:
    """Return `FILE` for the origins `FILE:LINE` and `FILE:LINE (extra NAME)`, with `/` between folders, and
    other origins as they are."""
    file = origin
    if file.endswith(")"):
        before, blank, inside = file.rpartition(" (")
        # The extra or group of a pyproject.toml that the line stands in.
        if blank and inside.startswith(("extra ", "group ")) and not set("()") & set(inside[:-1]):
            file = before
    before, colon, number = file.rpartition(":")
    if colon and number.isdecimal():
        file = before
    return origin if file == origin else file.replace("\\", "/")


def without_line_numbers(lock: Lock) -> Lock:
    """Return `lock` with the origins of its edges as `file_of` gives them, each edge once, sorted."""
    edges = {edge._replace(origin=file_of(edge.origin)) for edge in lock.edges}
    return lock._replace(edges=tuple(sorted(edges)))
