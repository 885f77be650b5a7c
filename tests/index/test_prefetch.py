"""What is asked for along with what was needed: in one fetch, what a search would ask for in several."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from compatlock.errors import IndexUnavailable
from compatlock.index import prefetch, transport
from compatlock.index.lazy_network import LazyNetwork
from compatlock.index.store import Store
from compatlock.index.supply import Supply
from compatlock.model.policy import Policy
from compatlock.model.requirement import Requirement
from compatlock.model.target import Target
from tests.support.index_server import IndexServer

TARGET = Target("3.12.0", "x86_64-manylinux_2_28")


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


@pytest.fixture
def supply(server: IndexServer) -> Iterator[Supply]:
    with opened(server) as made:
        yield made


@contextmanager
def opened(server: IndexServer) -> Iterator[Supply]:
    network = LazyNetwork(server.url)
    try:
        yield Supply(Store(None), server.url, TARGET, Policy(), network)
    finally:
        network.close()


def drain(supply: Supply) -> None:
    """Wait for all guesses."""
    assert supply._network is not None
    supply._network.fetch((), (), on_listing=no_batch, on_metadata=no_batch)


def no_batch(*_: object) -> None:
    raise AssertionError


def asked(server: IndexServer) -> list[str]:
    """The releases whose metadata files were asked for, each `name-version`."""
    paths = [seen.path for seen in server.requests if seen.path.endswith(".metadata")]
    return [path.rpartition("/")[2].partition("-py3")[0] for path in paths]


def fetched(server: IndexServer, *names: str, expected: tuple[Requirement, ...] = ()) -> set[str]:
    """The releases whose metadata files one fetch asks for, also on guesses."""
    with opened(server) as supply:
        supply.expected = expected
        supply.fetch(names, ())
        drain(supply)
    found = asked(server)
    assert len(set(found)) == len(found)
    return set(found)


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


def test_large_files_are_not_asked_for_on_a_guess_unless_their_metadata_is_a_file_of_its_own(
    server: IndexServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prefetch, "_LARGE", 10)
    assert "lib-1.4" in fetched(server, "app")
    server.requests.clear()
    server.edit("lib-1.4-py3-none-any.whl", core_metadata=None)
    found = fetched(server, "app")
    assert "lib-2.0" in found
    assert "lib-1.4" not in found


def test_nobody_waits_for_a_guess_and_it_is_asked_for_once(server: IndexServer, supply: Supply) -> None:
    server.disturb("lib-2.0-py3-none-any.whl.metadata", "stall", seconds=0.3)
    assert supply.package("lib").size == 3
    assert supply.known_dependencies("lib", 0) is None
    assert [d.name for d in supply.release("lib", 0).of("")] == ["only-new"]
    assert asked(server).count("lib-2.0") == 1


@pytest.fixture
def long(server: IndexServer) -> IndexServer:
    """A project with sixteen releases that need something, and as many older pre-releases."""
    for minor in range(16):
        server.add("long", f"2.{minor}", requires=[f"of-{minor}"])
        server.add("long", f"1.{minor}b1")
    return server


def test_what_comes_next_is_read_ahead_of_a_search_that_goes_down(long: IndexServer, supply: Supply) -> None:
    supply.package("long")
    supply.release("long", 1)
    drain(supply)
    assert sorted(asked(long)) == ["long-2.14", "long-2.15"]
    supply.dependencies([("long", 2), ("long", 3)])
    drain(supply)
    # Twice as many, and of these nothing is followed: the search may stop before them.
    assert sorted(asked(long)[2:]) == [f"long-2.{minor}" for minor in (10, 11, 12, 13, 8, 9)]
    assert {"/simple/of-12/", "/simple/of-9/"} & {seen.path for seen in long.requests} == {"/simple/of-12/"}


def test_what_was_read_ahead_is_no_step_of_its_own(long: IndexServer, supply: Supply) -> None:
    long.disturb("long-2.10-py3-none-any.whl.metadata", "stall", seconds=0.3)
    supply.package("long")
    supply.dependencies([("long", 2), ("long", 3)])
    supply.dependencies([("long", index) for index in range(4, 8)])
    drain(supply)
    assert {"long-2.8", "long-2.10"} <= set(asked(long))
    assert "long-2.7" not in asked(long)


def test_pre_releases_are_passed_over(long: IndexServer, supply: Supply) -> None:
    package = supply.package("long")
    supply.dependencies([("long", 13), ("long", 14)])
    drain(supply)
    assert package.versions[15] == "2.0"
    assert [name for name in asked(long) if name.startswith("long-1")] == []


def test_what_is_under_way_when_a_fetch_fails_is_asked_for_again(
    server: IndexServer, supply: Supply, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "_BACK_OFF", 0.001)
    server.disturb("lib-2.0-py3-none-any.whl.metadata", "stall", seconds=0.3)
    supply.package("lib")
    server.fail("/simple/tool/", status=400)
    with pytest.raises(IndexUnavailable):
        supply.package("tool")
    assert [d.name for d in supply.release("lib", 0).of("")] == ["only-new"]
    assert supply.package("tool").size == 1


def test_metadata_is_not_taken_for_that_of_another_listing(server: IndexServer, supply: Supply) -> None:
    server.disturb("lib-2.0-py3-none-any.whl.metadata", "stall", seconds=0.3)
    supply.package("lib")
    # The first index is that of another release from now on.
    server.add("lib", "3.0", requires=["only-newest"])
    supply.fetch(["lib"], ())
    drain(supply)
    assert [d.name for d in supply.release("lib", 0).of("")] == ["only-newest"]
    assert [d.name for d in supply.release("lib", 1).of("")] == ["only-new"]
