"""Progress while an index is being asked, on a terminal only."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from compatlock.index.progress import Progress


class ProgressDisplay:
    """A context in which progress is shown on standard error: it gives a callback that does, or None where
    nobody would see it. The display is made when the first answer arrives, so that a warm run imports
    nothing for it."""

    def __init__(self, *, enabled: bool) -> None:
        self._display = _Display() if enabled and sys.stderr.isatty() else None

    def __enter__(self) -> Callable[[Progress], None] | None:
        return None if self._display is None else self._display.show

    def __exit__(self, *_: object) -> None:
        if self._display is not None:
            self._display.close()


class _Display:
    def __init__(self) -> None:
        self._stop: Callable[[], None] = lambda: None
        self._update: Callable[[str], None] | None = None
        self._stage = ""

    def show(self, progress: Progress) -> None:
        if progress.stage:
            self._stage = f"{progress.stage}; "
        text = f"{self._stage}reading the index: {progress.done} of {progress.wanted} ({progress.what})"
        if progress.stage:
            text = progress.stage
        elif progress.building:
            text = f"{self._stage}building {progress.building} for its metadata"
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
