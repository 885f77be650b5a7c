"""What is asked for along with what was needed: in one fetch, what a search would ask for in several."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from compatlock.index import prefetch
from compatlock.index.lazy_network import LazyNetwork
from compatlock.index.store import Store
from compatlock.index.supply import Supply
from compatlock.model.policy import Policy
from compatlock.model.requirement import Requirement
from compatlock.model.target import Target
from tests.support.index_server import IndexServer


@pytest.fixture
def server() -> Iterator[IndexServer]:
    with IndexServer() as running:
        running.add("app", "1.0", requires=["lib<2", "tool>=1"])
        running.add("tool", "1.0", requires=["lib!=1.5"])
        running.add("lib", "2.0", requires=["only-new"])
        running.add("lib", "1.5", requires=["only-middle"])
        running.add("lib", "1.4", requires=["old[fast]"])
        running.add("old", "3.0", extras={"fast": ["speed"]})
        for name in ("only-new", "only-middle", "speed"):
            running.add(name, "1.0")
        yield running


def fetched(server: IndexServer, *names: str, expected: tuple[Requirement, ...] = ()) -> set[str]:
    """The metadata files that one fetch asks for."""
    network = LazyNetwork(server.url)
    supply = Supply(Store(None), server.url, Target("3.12.0", "x86_64-manylinux_2_28"), Policy(), network)
    supply.expected = expected
    try:
        supply.fetch(names, ())
    finally:
        network.close()
    asked = [seen.path.rpartition("/")[2] for seen in server.requests if seen.path.endswith(".metadata")]
    assert len(set(asked)) == len(asked)
    return {name.partition("-py3")[0] for name in asked}


def test_the_newest_within_what_is_asked_so_far_is_read_with_all_it_needs(server: IndexServer) -> None:
    found = fetched(server, "app")
    assert {"app-1.0", "tool-1.0", "lib-2.0", "lib-1.4", "only_new-1.0", "old-3.0", "speed-1.0"} <= found


def test_bounds_that_become_known_after_the_listing_count_too(server: IndexServer) -> None:
    # The listings of all three are there before any metadata is.
    assert {"lib-2.0", "lib-1.4", "old-3.0", "speed-1.0"} <= fetched(server, "lib", "tool", "app")


def test_what_nothing_asks_for_is_left_alone(server: IndexServer) -> None:
    assert fetched(server, "lib") == {"lib-2.0", "only_new-1.0"}


def test_bounds_that_nothing_fits_lead_nowhere(server: IndexServer) -> None:
    server.add("other", "1.0", requires=["lib<2", "lib>2"])
    assert fetched(server, "other") == {"other-1.0", "lib-2.0", "only_new-1.0"}


def test_what_the_user_asks_for_tells_which_releases_and_extras(server: IndexServer) -> None:
    assert fetched(server, "old") == {"old-3.0"}
    server.requests.clear()
    roots = (Requirement("old", "", ("fast",)), Requirement("lib", ">=1.5,<2"))
    assert fetched(server, "old", "lib", expected=roots) == {
        "old-3.0", "speed-1.0", "lib-2.0", "lib-1.5", "only_new-1.0", "only_middle-1.0",
    }  # fmt: skip


def test_large_files_are_not_asked_for_on_a_guess(
    server: IndexServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prefetch, "_LARGE", 10)
    assert "lib-1.4" not in fetched(server, "app")
