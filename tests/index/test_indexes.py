"""Several indexes: the first that has a project is where it is from, and no other is asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from compatlock.errors import IndexUnavailable
from compatlock.index import transport
from compatlock.index.indexes import IndexSet, request_key, split_key
from compatlock.index.network import Batch, Network
from compatlock.index.specifiers import answer
from compatlock.model.index import Indexes, PackageIndex, parse_index
from compatlock.model.listing import File, Listing
from compatlock.model.metadata import Metadata
from tests.support.index_server import IndexServer

A, B, C = (PackageIndex(f"https://{name}.example/", name) for name in "abc")


class Row(NamedTuple):
    is_absent: bool = False
    is_fresh: bool = True


def test_one_index() -> None:
    indexes = IndexSet(Indexes(A))
    assert (indexes.all, indexes.is_single, indexes.order("x")) == ((A,), True, (0,))
    assert indexes.source(0) == "https://a.example/"
    assert IndexSet(Indexes()).source(0) == "default"


def test_the_order_of_asking() -> None:
    indexes = IndexSet(Indexes(C, (A, B), (("torch", B), ("other", PackageIndex("https://d.example/")))))
    assert [index.url[8] for index in indexes.all] == ["a", "c", "b", "d"]
    assert indexes.order("numpy") == (0, 1)
    assert indexes.order("torch") == (2,)
    assert indexes.order("other") == (3,)
    assert not indexes.is_single


def test_an_index_that_is_named_twice_is_asked_once() -> None:
    with_login = parse_index("https://u:p@a.example/")
    indexes = IndexSet(Indexes(A, (with_login, B, B), (("torch", A),)))
    assert indexes.all == (B, A)
    assert indexes.order("torch") == (1,)
    assert IndexSet(Indexes(A, (with_login,))).all == (with_login,)


def look_in(known: dict[str, dict[str, Row]], log: list[tuple[str, list[str]]] | None = None):  # type: ignore[no-untyped-def]
    def look(source: str, projects: list[str]) -> dict[str, Row]:
        if log is not None:
            log.append((source[8], projects))
        rows = known.get(source[8], {})
        return {project: rows[project] for project in projects if project in rows}

    return look


def test_projects_are_located_in_what_is_known() -> None:
    indexes = IndexSet(Indexes(C, (A, B)))
    absent, stale = Row(is_absent=True), Row(is_fresh=False)
    known = {
        "a": {"one": Row(), "two": absent, "three": absent, "four": absent, "five": stale, "six": absent},
        "b": {
            "one": Row(),
            "two": Row(),
            "three": absent,
            "four": absent,
            "five": Row(),
            "six": absent._replace(is_fresh=False),
        },
        "c": {"two": Row(), "three": Row(), "four": absent},
    }
    log: list[tuple[str, list[str]]] = []
    names = ["one", "two", "three", "four", "five", "six", "seven"]
    found, unknown = indexes.locate(names, look_in(known, log), lambda row: row.is_fresh)
    assert found == {"one": (0, Row()), "two": (1, Row()), "three": (2, Row()), "four": (2, absent)}
    assert unknown == {"five": 0, "six": 1, "seven": 0}
    assert log == [("a", names), ("b", ["two", "three", "four", "six"]), ("c", ["three", "four"])]


def test_assigned_projects_are_looked_for_in_one_place() -> None:
    indexes = IndexSet(Indexes(C, (A,), (("torch", B),)))
    known = {"a": {"torch": Row()}, "b": {"torch": Row(is_absent=True), "x": Row()}}
    found, unknown = indexes.locate(["torch", "x"], look_in(known), lambda row: row.is_fresh)
    assert (found, unknown) == ({"torch": (2, Row(is_absent=True))}, {"x": 0})


def test_keys_of_requests() -> None:
    for project, position in (("torch", 0), ("torch", 1), ("my-app", 12)):
        assert split_key(request_key(project, position)) == (project, position)
    assert request_key("torch", 0) == "torch"


# Over the network


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[IndexServer]]:
    monkeypatch.setattr(transport, "_BACK_OFF", 0.001)
    with IndexServer(login="u:p", forms="html") as first, IndexServer() as second:
        first.add("torch", "2.0+cu128", requires=["numpy"])
        second.add("torch", "3.0")
        second.add("numpy", "1.0")
        yield [first, second]


class Walk:
    """Asks for a project at one index after the other, as a caller of `fetch` does, then for its metadata."""

    def __init__(self, indexes: IndexSet) -> None:
        self.indexes = indexes
        self.answers: list[tuple[str, int, list[str]]] = []
        self.metadata: dict[str, Metadata] = {}

    def run(self, *projects: str) -> None:
        with Network(self.indexes.all) as network:
            wanted = [(request_key(name, self.indexes.order(name)[0]), "") for name in projects]
            network.fetch(wanted, [], on_listing=self.on_listing, on_metadata=self.on_metadata)

    def on_listing(self, key: str, listing: Listing | None, etag: str) -> Batch:
        assert listing is not None
        name, position = split_key(key)
        self.answers.append((name, position, [release.version for release in listing.releases]))
        order = self.indexes.order(name)
        if listing.found:
            assert etag
            return [], [(key, listing.releases[0].files[0])]
        others = order[order.index(position) + 1 :]
        return [(request_key(name, other), "") for other in others[:1]], []

    def on_metadata(self, key: str, _file: File, metadata: Metadata) -> None:
        self.metadata[key] = metadata


def walk(servers: list[IndexServer], assigned: str = "") -> Walk:
    first = parse_index(servers[0].url.replace("://", "://u:p@"))
    second = parse_index(servers[1].url)
    done = Walk(IndexSet(Indexes(second, (first,), ((assigned, first),) if assigned else ())))
    done.run("torch", "numpy")
    return done


def test_the_first_that_has_a_project_wins(servers: list[IndexServer]) -> None:
    done = walk(servers)
    assert sorted(done.answers) == [("numpy", 0, []), ("numpy", 1, ["1.0"]), ("torch", 0, ["2.0+cu128"])]
    assert done.metadata["torch"].requires_dist == ("numpy",)
    assert set(done.metadata) == {"torch", "numpy@1"}
    assert servers[1].count("/torch/") == 0
    assert {"authorization" in one.headers for one in servers[0].requests} == {True}
    assert {"authorization" in one.headers for one in servers[1].requests} == {False}


def test_an_explicit_index_is_asked_for_nothing_else(servers: list[IndexServer]) -> None:
    done = walk(servers, "torch")
    assert sorted(done.answers) == [("numpy", 0, ["1.0"]), ("torch", 1, ["2.0+cu128"])]
    assert servers[0].count("/numpy/") == 0


@pytest.mark.parametrize("status", [401, 403, 500, 503])
def test_a_failure_never_falls_through_to_the_next_index(servers: list[IndexServer], status: int) -> None:
    servers[0].fail("/torch/", status=status, times=9)
    with pytest.raises(IndexUnavailable, match=str(status)):
        walk(servers)
    assert servers[1].count("/torch/") == 0


def test_local_versions_satisfy_public_ones() -> None:
    versions = ["2.1.0+cu128", "2.0.0+cu128"]
    for specifier, runs in (
        ("==2.0.0", (1, 2)),
        (">=2.0", (0, 2)),
        ("==2.0.0+cu128", (1, 2)),
        ("==2.0.0+cpu", ()),
    ):
        # The answer begins with the number of versions.
        assert tuple(answer(specifier, versions))[1:] == runs
