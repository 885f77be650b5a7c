"""The synchronous facade: everything at once, callbacks in the caller's thread, clean ends."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from compatlock.errors import IndexUnavailable
from compatlock.index import transport
from compatlock.index.network import Batch, Network
from compatlock.index.progress import Progress
from compatlock.model.listing import File, Listing
from compatlock.model.metadata import Metadata
from tests.support.index_server import IndexServer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[IndexServer]:
    monkeypatch.setattr(transport, "_BACK_OFF", 0.001)
    with IndexServer() as running:
        for number in range(5):
            running.add(f"app{number}", "1.0", requires=[f"app{number + 1}"])
        yield running


class Collector:
    """Callbacks that keep what they get, and follow dependencies when `follow` is set."""

    def __init__(self, follow: bool = False) -> None:
        self.listings: dict[str, Listing | None] = {}
        self.metadata: dict[str, Metadata] = {}
        self.etags: dict[str, str] = {}
        self.threads: set[int] = set()
        self._follow = follow

    def on_listing(self, project: str, listing: Listing | None, etag: str) -> Batch | None:
        self.threads.add(threading.get_ident())
        self.listings[project], self.etags[project] = listing, etag
        if not self._follow or listing is None or not listing.found:
            return None
        return [], [(project, listing.releases[0].files[0])]

    def on_metadata(self, project: str, file: File, metadata: Metadata) -> Batch | None:
        self.threads.add(threading.get_ident())
        self.metadata[project] = metadata
        assert file.filename == f"{project}-1.0-py3-none-any.whl"
        return [(name, "") for name in metadata.requires_dist], []

    def fetch(self, network: Network, *projects: str, enough: str = "") -> None:
        wanted = [(project, self.etags.get(project, "")) for project in projects]
        network.fetch(
            wanted,
            [],
            on_listing=self.on_listing,
            on_metadata=self.on_metadata,
            until=lambda: enough in self.listings,
        )


def test_nothing_to_fetch_is_nothing(server: IndexServer) -> None:
    with Network(server.url) as network:
        Collector().fetch(network)
    assert server.requests == []


def test_listings_and_metadata_are_handed_over(server: IndexServer) -> None:
    collector = Collector()
    with Network(server.url) as network:
        collector.fetch(network, *(f"app{number}" for number in range(6)))
        assert sorted(collector.listings) == [f"app{number}" for number in range(6)]
        found = [listing for listing in collector.listings.values() if listing is not None and listing.found]
        assert len(found) == 5
        files = [(one.project, one.releases[0].files[0]) for one in found]
        network.fetch([], files, on_listing=collector.on_listing, on_metadata=collector.on_metadata)
        assert collector.metadata["app3"].requires_dist == ("app4",)
        # on_metadata asked for the dependencies' listings once more: app1 to app5.
        assert network.requests == 6 + 5 + 5
    assert network.bytes_received > 0
    assert collector.threads == {threading.get_ident()}


def test_callbacks_may_add_to_the_fetch(server: IndexServer) -> None:
    collector = Collector(follow=True)
    with Network(server.url) as network:
        collector.fetch(network, "app0")
    assert sorted(collector.metadata) == [f"app{number}" for number in range(5)]
    last = collector.listings["app5"]
    assert last is not None
    assert not last.found


def test_an_etag_saves_the_listing(server: IndexServer) -> None:
    collector = Collector()
    with Network(server.url) as network:
        collector.fetch(network, "app0")
        collector.fetch(network, "app0")
    assert collector.listings["app0"] is None
    assert collector.etags["app0"]


def test_the_first_failure_ends_the_fetch_and_the_network_stays_usable(server: IndexServer) -> None:
    collector = Collector()
    with Network(server.url, concurrency=2) as network:
        server.fail("/simple/app0/", status=400)
        with pytest.raises(IndexUnavailable, match="answered 400"):
            collector.fetch(network, "app0", *(f"other{number}" for number in range(200)))
        assert server.count() < 150
        collector.fetch(network, "app0")
    assert collector.listings["app0"] is not None


def test_what_a_callback_raises_ends_the_fetch(server: IndexServer) -> None:
    class Stop(Exception):
        pass

    def stop(*_: object) -> None:
        raise Stop

    with Network(server.url) as network:
        with pytest.raises(Stop):
            network.fetch([(f"app{n}", "") for n in range(5)], [], on_listing=stop, on_metadata=stop)
        Collector().fetch(network, "app0")


def test_nobody_waits_for_more_than_is_wanted_and_the_rest_comes_with_the_next_fetch(
    server: IndexServer,
) -> None:
    server.disturb("/simple/app1/", "stall", seconds=0.2)
    first, second = Collector(), Collector()
    with Network(server.url) as network:
        first.fetch(network, "app1", "app0", enough="app0")
        assert "app1" not in first.listings
        second.fetch(network, "app2")
        assert network.requests == 3
    assert [*second.listings] == ["app2"]
    assert first.listings["app1"] is not None


def test_what_is_abandoned_is_handed_to_nobody(server: IndexServer) -> None:
    server.disturb("/simple/app1/", "stall", seconds=0.1)
    first, second = Collector(), Collector()
    with Network(server.url) as network:
        network.abandon()
        first.fetch(network, "app1", "app0", enough="app0")
        network.abandon()
        second.fetch(network, "app1")
    assert "app1" not in first.listings
    assert second.listings["app1"] is not None


def test_it_works_inside_a_running_event_loop(server: IndexServer) -> None:
    async def notebook() -> Collector:
        collector = Collector(follow=True)
        with Network(server.url) as network:
            collector.fetch(network, "app3")
        return collector

    assert sorted(asyncio.run(notebook()).metadata) == ["app3", "app4"]


def test_progress_is_told_in_the_callers_thread(server: IndexServer) -> None:
    seen: list[tuple[Progress, int]] = []
    with Network(server.url, on_progress=lambda one: seen.append((one, threading.get_ident()))) as network:
        Collector(follow=True).fetch(network, "app0")
    assert {thread for _, thread in seen} == {threading.get_ident()}
    last = seen[-1][0]
    assert last.done == last.wanted == last.requests == 11


def test_close_ends_the_thread_and_may_be_repeated(server: IndexServer) -> None:
    server.disturb("/simple/app1/", "stall", seconds=0.1)
    network = Network(server.url)
    Collector().fetch(network, "app1", "app0", enough="app0")
    network.close()
    network.close()
    assert "compatlock-network" not in {thread.name for thread in threading.enumerate()}
