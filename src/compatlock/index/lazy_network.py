"""A network that is set up when first asked, so that a warm run imports no HTTP client."""

from __future__ import annotations

from time import sleep

# In seconds.
_UNTIL_ASKED = 0.02

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from compatlock.index.network import Network, OnListing, OnMetadata
    from compatlock.index.progress import Progress
    from compatlock.model.index import PackageIndex
    from compatlock.model.listing import File
    from compatlock.model.policy import Policy
    from compatlock.model.target import Target


class LazyNetwork:
    """`indexes` is the root of a Simple API (`""` is the public index), or a sequence of indexes; for
    `timeout` and `cert` see `Network`."""

    def __init__(
        self,
        indexes: str | Sequence[PackageIndex],
        on_progress: Callable[[Progress], None] | None = None,
        *,
        timeout: float = 30.0,
        cert: str = "",
    ) -> None:
        self._indexes = indexes
        self._on_progress = on_progress
        self._timeout = timeout
        self._cert = cert
        self._network: Network | None = None
        self._scope: tuple[Target, Policy] | None = None

    @property
    def requests(self) -> int:
        """HTTP requests sent so far."""
        return self._network.requests if self._network is not None else 0

    @property
    def bytes_received(self) -> int:
        """Bytes received so far."""
        return self._network.bytes_received if self._network is not None else 0

    def judge_for(self, target: Target, policy: Policy) -> None:
        """See `Network.judge_for`."""
        self._scope = (target, policy)
        if self._network is not None:
            self._network.judge_for(target, policy)

    def fetch(
        self,
        listings: Iterable[tuple[str, str]],
        metadata: Iterable[tuple[str, File]],
        *,
        on_listing: OnListing,
        on_metadata: OnMetadata,
        until: Callable[[], bool] = lambda: False,
    ) -> None:
        """See `Network.fetch`."""
        network = self._opened()
        network.fetch(listings, metadata, on_listing=on_listing, on_metadata=on_metadata, until=until)

    def abandon(self) -> None:
        """See `Network.abandon`."""
        if self._network is not None:
            self._network.abandon()

    def download(self, project: str, file: File) -> bytes:
        """See `Network.download`."""
        return self._opened().download(project, file)

    def _opened(self) -> Network:
        if self._network is None:
            self._network = self._open()
        return self._network

    def _open(self) -> Network:
        from compatlock.index.second_process import end, start

        # Before the imports: it is ready when the first answer comes.
        child = start()
        from threading import Thread

        from compatlock.index.network import Network
        from compatlock.model.index import PackageIndex, parse_index

        given = self._indexes
        indexes = [parse_index(given) if given else PackageIndex()] if isinstance(given, str) else given
        try:
            network = Network(
                [index if index.url else index._replace(url=_public_index()) for index in indexes],
                timeout=self._timeout,
                cert=self._cert,
                on_progress=self._on_progress,
                child=child,
            )
        except BaseException:
            if child is not None:
                end(child)
            raise
        if self._scope is not None:
            network.judge_for(*self._scope)
        # So that it is done while they are waited for.
        Thread(target=_import_readers, daemon=True).start()
        return network

    def close(self) -> None:
        """Close the connections, if there are any."""
        if self._network is not None:
            self._network.close()


def _import_readers() -> None:
    """Import what reads answers, once the first questions are on their way."""
    sleep(_UNTIL_ASKED)
    from compatlock.index import compile, prefetch, remote_wheel, view

    assert all((compile, prefetch, remote_wheel, view))


def _public_index() -> str:
    """The address of the public index, which pypi-simple knows. Read from that package's source where
    possible: importing it takes 0.2 s, for an HTML parser and another HTTP client."""
    import re
    from importlib.util import find_spec

    spec = find_spec("pypi_simple")
    if spec is not None and spec.origin is not None:
        with open(spec.origin, encoding="utf-8") as file:
            found = re.search(r'^PYPI_SIMPLE_ENDPOINT(?:: str)? = "([^"\\]+)"$', file.read(), re.MULTILINE)
        if found is not None:
            return found[1]
    from pypi_simple import PYPI_SIMPLE_ENDPOINT

    return PYPI_SIMPLE_ENDPOINT
