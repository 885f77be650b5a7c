"""Progress while an index is being asked, on a terminal only."""

from __future__ import annotations

import sys
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from compatlock.index.progress import Progress


@contextmanager
def progress_display(*, enabled: bool) -> Iterator[Callable[[Progress], None] | None]:
    """Give a callback that shows progress on standard error; None where nobody would see it. The display
    is made when the first answer arrives, so that a warm run imports nothing for it."""
    if not enabled or not sys.stderr.isatty():
        yield None
        return
    display = _Display()
    try:
        yield display.show
    finally:
        display.close()


class _Display:
    def __init__(self) -> None:
        self._stop: Callable[[], None] = lambda: None
        self._update: Callable[[str], None] | None = None

    def show(self, progress: Progress) -> None:
        text = f"reading the index: {progress.done} of {progress.wanted} ({progress.what})"
        if progress.building:
            text = f"building {progress.building} for its metadata"
        if self._update is None:
            from rich.console import Console

            status = Console(stderr=True).status(text)
            status.start()
            self._stop = status.stop
            self._update = status.update
        else:
            self._update(text)

    def close(self) -> None:
        self._stop()
