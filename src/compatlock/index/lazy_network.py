"""A network that is set up when first asked, so that a warm run imports no HTTP client."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from compatlock.index.network import Network, OnListing, OnMetadata
    from compatlock.index.progress import Progress
    from compatlock.model.listing import File


class LazyNetwork:
    """`index_url` is the root of a Simple API; `""` is the public index."""

    def __init__(self, index_url: str, on_progress: Callable[[Progress], None] | None = None) -> None:
        self._index_url = index_url
        self._on_progress = on_progress
        self._network: Network | None = None

    @property
    def requests(self) -> int:
        """HTTP requests sent so far."""
        return self._network.requests if self._network is not None else 0

    @property
    def bytes_received(self) -> int:
        """Bytes received so far."""
        return self._network.bytes_received if self._network is not None else 0

    def fetch(
        self,
        listings: Iterable[tuple[str, str]],
        metadata: Iterable[tuple[str, File]],
        *,
        on_listing: OnListing,
        on_metadata: OnMetadata,
    ) -> None:
        """See `Network.fetch`."""
        if self._network is None:
            from compatlock.index.network import Network

            self._network = Network(self._index_url or _public_index(), on_progress=self._on_progress)
        self._network.fetch(listings, metadata, on_listing=on_listing, on_metadata=on_metadata)

    def close(self) -> None:
        """Close the connections, if there are any."""
        if self._network is not None:
            self._network.close()


def _public_index() -> str:
    from pypi_simple import PYPI_SIMPLE_ENDPOINT

    return PYPI_SIMPLE_ENDPOINT
