"""Searches side by side: one fetch a round for all of them, each answer that of the search alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from compatlock.api.why.side_by_side import drive_side_by_side
from compatlock.errors import IndexUnavailable, NotCached, SearchGivenUp
from compatlock.index.lazy_network import LazyNetwork
from compatlock.index.store import Store
from compatlock.index.supply import CacheChanged, Supply
from compatlock.model.policy import Policy
from compatlock.model.target import Target
from compatlock.solver.universe import Need, Universe
from tests.support.index_server import IndexServer

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

TARGET = Target("3.12", "x86_64-manylinux_2_34")


class Counting(Supply):
    """Counts rounds of reading."""

    rounds = 0

    def fetch(self, names: Iterable[str], releases: Iterable[tuple[str, int]]) -> None:
        self.rounds += 1
        super().fetch(names, releases)


@pytest.fixture
def store() -> Iterator[Store]:
    store = Store(None)
    yield store
    store.close()


@pytest.fixture
def supply(index: IndexServer, store: Store) -> Iterator[Counting]:
    for name in "abc":
        for version in ("1.0", "2.0", "3.0"):
            index.add(name, version, requires=[f"lib<{version}"])
    network = LazyNetwork(index.url)
    yield Counting(store, index.url, TARGET, Policy(), network)
    network.close()


def reading(universe: Universe, name: str, indexes: Iterable[int]) -> Generator[Need, None, list[str]]:
    """Reads one release after the other; what each needs."""
    yield from universe.want_packages([name])
    found = []
    for index in indexes:
        yield from universe.want_dependencies([(name, index)])
        found += [need.specifier for need in universe.dependencies[name, index].of("")]
    return found


def test_what_all_wait_for_is_read_in_one_round(supply: Counting) -> None:
    apart = Universe()
    universes = [Universe(), Universe(), apart]
    searches = [(reading(u, n, (0, 2)), u) for u, n in zip(universes, "abc", strict=True)]
    assert drive_side_by_side(searches, supply) == [["<3.0", "<1.0"]] * 3
    # The listings, then twice one release of each (the network may have read ahead).
    assert 1 <= supply.rounds <= 3
    assert set(apart.packages) == {"c", "__cuda"}


def test_one_universe_may_be_looked_at_by_several(supply: Counting) -> None:
    universe = Universe()
    searches = [
        (reading(universe, name, indexes), universe) for name, indexes in (("a", (0,)), ("a", (0, 1)))
    ]
    assert drive_side_by_side(searches, supply) == [["<3.0"], ["<3.0", "<2.0"]]


def test_what_ends_one_ends_no_other(supply: Counting) -> None:
    def given_up() -> Generator[Need, None, list[str]]:
        yield Need(("b",))
        raise SearchGivenUp("too much")

    universe = Universe()
    first, second = drive_side_by_side(
        [(given_up(), universe), (reading(universe, "a", (1,)), universe)], supply
    )
    assert isinstance(first, SearchGivenUp)
    assert second == ["<2.0"]


def test_what_cannot_be_read_fails_only_who_needs_it(
    supply: Counting, store: Store, index: IndexServer
) -> None:
    supply.dependencies([(name, 0) for name in supply.packages("a")])
    offline = Supply(store, index.url, TARGET, Policy(), None)
    searches = [
        (reading(universe, name, (0,)), universe) for universe, name in ((Universe(), "z"), (Universe(), "a"))
    ]
    first, second = drive_side_by_side(searches, offline)
    assert isinstance(first, NotCached)
    assert second == ["<3.0"]
    assert [*searches[0][0]] == []


def test_a_cache_that_changes_ends_all(supply: Counting, monkeypatch: pytest.MonkeyPatch) -> None:
    def changed(*_: object) -> None:
        raise CacheChanged("changed")

    monkeypatch.setattr(supply, "fetch", changed)
    with pytest.raises(CacheChanged):
        drive_side_by_side([(reading(Universe(), "a", (0,)), Universe())], supply)
    assert issubclass(CacheChanged, IndexUnavailable)
