"""The store by itself: what is put in comes out, whatever happens to the file in between."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from compatlock.errors import CompatlockError
from compatlock.index.store import FILE_NAME, PackageRow, Store
from compatlock.model.listing import File, Listing, Release, Skipped
from compatlock.model.metadata import Metadata

NEW = File("a-2.whl", "https://index.example/a-2.whl", "0" * 64, 7, 5, ">=3.9", "bad", "?")
OLD = File("a-1.tar.gz", "https://index.example/a-1.tar.gz")
LISTING = Listing(
    "a",
    (Release("2", (NEW,)), Release("1", (OLD,))),
    (Skipped("x", "why"),),
    True,
    "digest",
    "archived",
    "old",
)


def filled(directory: Path) -> Store:
    store = Store(str(directory))
    store.put_listing("s", LISTING, "etag", 100)
    store.put_view("s", "target", "a", "digest", "2 1\n\xe9\ud800")
    store.put_runs("s", "a", "digest", "\n>=1\t0 0 2\n")
    store.put_metadata("s", "file", Metadata(("b",), ("x",), ">=3", "wheel", ""))
    store.put_edges("s", "env", "file", "wheel\t\t\n\nb")
    store.put_installable("s", "target", "a", "2", "digest", [NEW])
    store.memo["key"] = "value"
    store.flush()
    return store


def package(store: Store, view_key: str = "target") -> PackageRow | None:
    return store.packages("s", view_key, ["a"]).get("a")


def installable(store: Store, version: str = "2", digest: str = "digest") -> list[File] | None:
    return store.installable("s", "target", {"a": (version, digest)}).get("a")


def contents(store: Store) -> list[Any]:
    row = package(store)
    return [
        store.listing("s", "a"),
        store.etag("s", "a"),
        store.versions("s", "a", "digest"),
        installable(store),
        row and (row.fetched, row.digest, row.view, row.runs),
        store.metadata("s", "file"),
        store.edges("s", "env", ["file"]).get("file"),
        store.get_memo("key"),
    ]


CONTENTS = [
    LISTING,
    "etag",
    ["2", "1"],
    [NEW],
    (100, "digest", "2 1\n\xe9\ud800", "\n>=1\t0 0 2\n"),
    [["b"], ["x"], ">=3", "wheel", ""],
    "wheel\t\t\n\nb",
    "value",
]
NOTHING = [None, "", None, None, None, None, None, None]


def damage(directory: Path, statement: str) -> None:
    with sqlite3.connect(directory / FILE_NAME) as database:
        database.execute(statement)
    database.close()


def test_what_is_put_in_comes_out_again(tmp_path: Path) -> None:
    store = filled(tmp_path)
    assert contents(store) == CONTENTS
    store.close()
    again = Store(str(tmp_path))
    assert contents(again) == CONTENTS
    again.close()


def test_an_empty_store_has_nothing(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "new" / "folder"))
    assert contents(store) == NOTHING
    store.close()


def test_in_memory_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = Store(None)
    store.put_listing("s", LISTING, "etag", 100)
    store.flush()
    assert store.listing("s", "a") == LISTING
    store.close()
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_before_a_flush(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.put_listing("s", LISTING, "etag", 100)
    other = Store(str(tmp_path))
    assert other.listing("s", "a") is None
    store.flush()
    assert other.listing("s", "a") == LISTING
    store.close()
    other.close()


@pytest.mark.parametrize("count", [0, 1, 2, 10, 11, 99, 100, 101, 350])
def test_many_rows_at_once(tmp_path: Path, count: int) -> None:
    store = Store(str(tmp_path))
    for number in range(count):
        store.put_edges("s", "env", f"file{number}", str(number))
    store.flush()
    asked = [f"file{number}" for number in range(-5, count + 5)] if count else []
    assert store.edges("s", "env", asked) == {f"file{number}": str(number) for number in range(count)}
    store.close()


def test_sources_targets_and_digests_are_apart(tmp_path: Path) -> None:
    store = filled(tmp_path)
    assert store.listing("other", "a") is None
    assert store.versions("s", "a", "other") is None
    assert installable(store, "2", "other") is None
    assert installable(store, "3", "digest") is None
    assert store.edges("s", "other", ["file"]) == {}
    other = package(store, "other target")
    assert other is not None
    assert other.view is None
    store.put_listing("s", LISTING._replace(digest="later"), "", 200)
    store.flush()
    row = package(store)
    assert row is not None
    assert (row.fetched, row.digest, row.view, row.runs) == (200, "later", None, None)
    store.close()


def test_a_listing_replaces_all_files_of_an_older_one(tmp_path: Path) -> None:
    store = filled(tmp_path)
    store.put_listing("s", LISTING._replace(releases=LISTING.releases[:1], digest="later"), "", 200)
    store.flush()
    listing = store.listing("s", "a")
    assert listing is not None
    assert listing.releases == LISTING.releases[:1]
    store.touch_listing("s", "a", 300)
    store.flush()
    row = package(store)
    assert row is not None
    assert row.fetched == 300
    store.close()


def test_a_row_under_a_wrong_key_counts_as_missing(tmp_path: Path) -> None:
    filled(tmp_path).close()
    damage(tmp_path, "update listing set digest = 'other'")
    for table, key in (("metadata", "file"), ("edges", "file"), ("memo", "key"), ("view", "key")):
        damage(tmp_path, f"update {table} set {key} = 'other'")
    store = Store(str(tmp_path))
    assert store.listing("s", "a") is None
    assert store.metadata("s", "other") is None
    assert store.edges("s", "env", ["other"]) == {}
    assert store.get_memo("other") is None
    row = package(store, "other")
    assert row is not None
    assert (row.view, row.runs) == (None, None)
    store.close()


def test_only_damaged_listings_are_dropped(tmp_path: Path) -> None:
    store = filled(tmp_path)
    store.put_listing("s", LISTING._replace(project="b"), "etag", 100)
    store.put_listing("other", LISTING, "etag", 100)
    store.close()
    damage(tmp_path, "delete from files where source = 's' and project = 'a'")
    store = Store(str(tmp_path))
    store.drop_damaged()
    assert store.listing("s", "a") is None
    assert package(store) is None
    assert store.listing("s", "b") == LISTING._replace(project="b")
    assert store.listing("other", "a") == LISTING
    store.close()


def test_the_memo_gives_back_what_is_not_written_yet(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.memo["new"] = "value"
    assert store.memo["new"] == "value"
    assert store.memo.get("other") is None
    assert list(store.memo) == ["new"]
    with pytest.raises(TypeError):
        del store.memo["new"]
    store.close()


@pytest.mark.parametrize(
    "statement",
    [
        "update {} set body = x'00'",
        "update {} set body = null",
        "update {} set body = substr(body, 1, length(body) - 1)",
        "update {} set body = cast(x'00000000' || substr(body, 5) as blob)",
        "update {} set body = cast(substr(body, 1, length(body) - 4) || x'00000000' as blob)",
        "update {} set body = x''",
        "update {} set body = 'a longer text'",
    ],
)
def test_a_damaged_row_counts_as_missing(tmp_path: Path, statement: str) -> None:
    filled(tmp_path).close()
    for table in ("listing", "files", "view", "runs", "installable", "metadata", "edges", "memo"):
        damage(tmp_path, statement.format(table))
    store = Store(str(tmp_path))
    found = contents(store)
    assert found[:1] + found[2:4] + found[5:] == NOTHING[:1] + NOTHING[2:4] + NOTHING[5:]
    assert found[4] == (100, "digest", None, None)
    store.close()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data[:0],
        lambda data: b"this is no database at all, but a text" * len(data),
        lambda data: data[: len(data) // 2],
        lambda data: data[:100] + b"\0" * (len(data) - 100),
        lambda data: data[:4096] + b"\xff" * (len(data) - 4096),
    ],
    ids=["empty", "text", "truncated", "zeros", "garbage"],
)
def test_a_damaged_file_is_started_afresh(tmp_path: Path, spoil: Any) -> None:
    filled(tmp_path).close()
    path = tmp_path / FILE_NAME
    path.write_bytes(spoil(path.read_bytes()))
    store = Store(str(tmp_path))
    contents(store)
    assert contents(store) == NOTHING
    store.close()
    filled(tmp_path).close()
    again = Store(str(tmp_path))
    assert contents(again) == CONTENTS
    again.close()


def test_damage_that_shows_when_writing(tmp_path: Path) -> None:
    filled(tmp_path).close()
    path = tmp_path / FILE_NAME
    store = Store(str(tmp_path))
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
    store.put_listing("s", LISTING, "etag", 100)
    store.flush()
    assert store.listing("s", "a") == LISTING
    store.close()


def test_a_store_that_cannot_be_written_goes_on_in_memory(tmp_path: Path) -> None:
    filled(tmp_path).close()
    store = Store(str(tmp_path))
    store._database._connection.execute("pragma query_only = on")
    store.memo["more"] = "value"
    store.flush()
    assert store.get_memo("more") == "value"
    assert contents(store) == CONTENTS
    store.close()
    again = Store(str(tmp_path))
    assert again.get_memo("more") is None
    assert contents(again) == CONTENTS
    again.close()


def test_a_place_that_cannot_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CompatlockError) as caught:
        Store(str(tmp_path / "file" / "cache"))
    assert caught.value.message.startswith(f"the cache directory {tmp_path}/file/cache cannot be used: ")
    assert caught.value.hints == ("name another with `--cache-dir`, or use `--no-cache`",)
