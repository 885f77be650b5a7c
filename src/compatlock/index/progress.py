"""What is told while an index is being asked; light, so that a display can import it."""

from __future__ import annotations

from typing import NamedTuple


class Progress(NamedTuple):
    """The state after one more answer: `done` of `wanted` listings and metadata so far (`wanted` grows
    as the search goes on), requests sent, and bytes received as they came over the wire.

    `what` is what was just finished: a project's name or a file's name.
    """

    what: str
    done: int
    wanted: int
    requests: int
    bytes_received: int
