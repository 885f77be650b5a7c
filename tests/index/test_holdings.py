"""What is held of an index for a target, beside what runs of the search show."""

from __future__ import annotations

import pytest

from compatlock.index.indexes import IndexSet
from compatlock.index.store import Store
from compatlock.index.supply import CacheChanged, Supply
from compatlock.model.index import parse_indexes
from compatlock.model.listing import ABSENT, File, Listing, Release, Skipped
from compatlock.model.policy import Policy
from compatlock.model.target import Target

TARGET = Target("3.12", "linux").resolved()
FILE = File("a-1.0-py3-none-any.whl", "https://index.example/a-1.0-py3-none-any.whl")
SKIPPED = (Skipped("", "an entry without a file name"), Skipped("a-0.1.egg", ".egg files are not supported"))
LISTING = Listing("a", (Release("1.0", (FILE,)),), SKIPPED, digest="d")


def supply(default: str, *extra: str, has_it: str = "") -> Supply:
    """A supply that is offline; of its indexes only `has_it` (the default one) is known to have `a`."""
    indexes = IndexSet(parse_indexes(default, extra))
    store = Store(None)
    for position, index in enumerate(indexes.all):
        has = index.url == (has_it or default)
        answer = LISTING if has else Listing("a", found=False, digest=ABSENT)
        store.put_listing(indexes.source(position), answer, "", 0)
    store.flush()
    return Supply(store, indexes, TARGET, Policy(), None)


def test_skipped_files_with_their_reasons() -> None:
    held = supply("https://one.example/")
    assert held.skipped("a") == (), "nothing was asked of it yet"
    held.package("a")
    assert held.skipped("a") == SKIPPED
    assert held.skipped("unknown") == ()


@pytest.mark.parametrize("stored", [True, False])
def test_skipped_files_are_those_of_the_listing_that_was_read(stored: bool) -> None:
    store = Store(None)
    if stored:
        store.put_listing("s", LISTING, "", 0)
        store.flush()
    assert store.skipped("s", "a", "d") == (SKIPPED if stored else ())
    assert store.skipped("s", "a", "another") == ()


@pytest.mark.parametrize(
    ("has_it", "is_elsewhere"), [("https://default.example/", False), ("https://extra.example/", True)]
)
def test_which_packages_are_not_from_the_default_index(has_it: str, is_elsewhere: bool) -> None:
    held = supply("https://default.example/", "https://extra.example/", has_it=has_it)
    held.package("a")
    assert held.is_elsewhere("a") is is_elsewhere
    assert held.index_of("a").url == has_it


def test_of_an_unchanged_listing_the_stored_view_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    held = supply("https://one.example/")
    first = held.package("a")
    held.save()
    again = held.under()
    monkeypatch.setattr(Store, "listing", None)  # It is not read: decoding takes longer than asking.
    assert again.take_listing("a", None, "")
    assert list(again.package("a").versions) == list(first.versions) == ["1.0"]
    assert again.digest("a") == "d"


def test_of_an_unchanged_listing_without_a_view_one_is_made() -> None:
    held = supply("https://one.example/")
    assert held.take_listing("a", None, "")
    assert list(held.package("a").versions) == ["1.0"]
    assert held.file_of("a", 0) == FILE


def test_a_listing_that_is_unchanged_but_gone_begins_the_run_again() -> None:
    with pytest.raises(CacheChanged, match="the cache lost what it held about b"):
        supply("https://one.example/").take_listing("b", None, "")


def test_what_was_made_of_an_older_listing_is_dropped() -> None:
    held = supply("https://one.example/")
    assert held.take_listing("a", None, "")
    assert held.file_of("a", 0) == FILE
    another = FILE._replace(filename="a-2.0-py3-none-any.whl")
    newer = Listing("a", (Release("2.0", (another,)), Release("1.0", (FILE,))), digest="newer")
    held._store.put_listing(held.source_of("a"), newer, "", 0)  # by another process
    held._store.flush()
    view = held.under()
    view.package("a")
    view.save()
    assert held.take_listing("a", None, "")
    assert list(held.package("a").versions) == ["2.0", "1.0"]
    assert held.file_of("a", 0) == another
