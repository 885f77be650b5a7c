"""What is told while an index is being asked; light, so that a display can import it."""

from __future__ import annotations

from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Progress(NamedTuple):
    """The state after one more answer: `done` of `wanted` listings and metadata so far (`wanted` grows
    as the search goes on), requests sent, and bytes received as they came over the wire.

    `what` is what was just finished: a project's name or a file's name. When an sdist is about to be built
    for its metadata, `building` says which, and nothing else is told. `stage` is told alone, too: what the
    run goes on to from now on when that is more than finding an answer.
    """

    what: str
    done: int
    wanted: int
    requests: int
    bytes_received: int
    building: str = ""
    stage: str = ""


class Tally:
    """Counts what is wanted and what is done, for all indexes together, and tells it."""

    def __init__(self, on_progress: Callable[[Progress], None] | None = None) -> None:
        self.wanted = self.done = 0
        self._on_progress = on_progress

    def finish(self, what: str, requests: int, bytes_received: int) -> None:
        """One more is done."""
        self.done += 1
        if self._on_progress is not None:
            self._on_progress(Progress(what, self.done, self.wanted, requests, bytes_received))
