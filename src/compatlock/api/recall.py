"""What the last search for a request read, remembered in the cache, so that the next one reads and encodes it
at once instead of round by round.

It saves rounds and changes no answer: the best answer is one, whatever was read. It counts for the same
request over the same state of the index only, and is kept of searches only that presumed nothing.
"""

from __future__ import annotations

from compatlock import __version__
from compatlock.errors import NotCached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from compatlock.index.supply import Supply
    from compatlock.model.request import Request
    from compatlock.solver.universe import Universe


class Recall:
    """What is remembered of one request: a line a package, with its name, the digest of its listing, and the
    candidates that were read."""

    def __init__(self, request: Request, supply: Supply) -> None:
        import zlib

        asked = f"{__version__} {request!r}".encode()
        # Two sums of 32 bits. (One request taken for another would cost time and nothing else.)
        self._key = f"read:{supply.indexes.source(0)}:{zlib.crc32(asked):x}{zlib.adler32(asked):x}"
        self._supply = supply
        self._text = supply.memo.get(self._key, "")

    def into(self, universe: Universe) -> None:
        """Read all that is remembered, and let searches over the universe begin with it. Raises what the
        supply raises."""
        if not self._text:
            return
        lines = [line.split(" ") for line in self._text.split("\n")]
        try:
            packages = self._supply.packages([name for name, *_ in lines])
        except NotCached:  # Whatever it is, it may not be needed any more.
            return
        if any(self._supply.digest(name) != digest for name, digest, _ in lines):
            universe.add(packages, {})  # Most will be wanted again.
            return
        releases = [(name, int(index)) for name, _, read in lines for index in read.split(",") if index]
        universe.add(packages, self._supply.dependencies(releases))
        universe.recalled = releases

    def keep(self, loaded: Mapping[str, Iterable[int]]) -> None:
        """Remember what a search has loaded."""
        text = "\n".join(
            f"{name} {self._supply.digest(name)} {','.join(map(str, sorted(indexes)))}"
            for name, indexes in loaded.items()
            if self._supply.digest(name)
        )
        if text != self._text:
            self._supply.memo[self._key] = text
