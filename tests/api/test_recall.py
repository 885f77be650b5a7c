"""What a search read is remembered: the next one takes fewer rounds and gives the same lock."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from compatlock import Target
from compatlock.api.locking import Outcome
from compatlock.api.make import make_lock
from compatlock.api.options import LockOptions
from compatlock.index.store import Store
from compatlock.lockfile.requirements_lock import render
from compatlock.model.index import Indexes, parse_index
from tests.support.index_server import IndexServer
from tests.support.world import ROOTS, fill


@pytest.fixture
def world(index: IndexServer) -> IndexServer:
    fill(index)
    return index


def locked(server: IndexServer, cache: Path, **others: Any) -> Outcome:
    options = LockOptions(
        requirements=ROOTS,
        target=Target("3.12", "linux"),
        indexes=Indexes(parse_index(server.url, "test")),
        cache_dir=str(cache),
        shipped_facts=False,
    )
    return make_lock(options._replace(**others))


def text(outcome: Outcome) -> str:
    return render(outcome.lock, tool_version="0", path="requirements.lock")


def test_the_second_search_takes_fewer_rounds(world: IndexServer, tmp_path: Path) -> None:
    first, second = locked(world, tmp_path), locked(world, tmp_path)
    assert text(second) == text(first)
    assert second.counters["loaded"] == first.counters["loaded"]
    assert second.counters["rounds"] < first.counters["rounds"]
    assert second.counters["calls"] < first.counters["calls"]


def test_another_request_has_a_memory_of_its_own(world: IndexServer, tmp_path: Path) -> None:
    first = locked(world, tmp_path)
    fewer = locked(world, tmp_path, requirements=ROOTS[1:])
    assert fewer.counters == locked(world, tmp_path / "another", requirements=ROOTS[1:]).counters
    cut = locked(world, tmp_path, exclude_newer="2024-02-20")
    assert cut.lock.versions != first.lock.versions
    assert text(locked(world, tmp_path / "other", exclude_newer="2024-02-20")) == text(cut)
    assert locked(world, tmp_path).counters["rounds"] < first.counters["rounds"]


def test_another_state_of_the_index_is_searched_anew(world: IndexServer, tmp_path: Path) -> None:
    first = locked(world, tmp_path)
    world.add("p00", "9.0", requires=["p05"])
    time.sleep(1.1)  # What was fetched in this very second is believed.
    again = locked(world, tmp_path, refresh=True)
    assert again.lock.versions["p00"] == "9.0"
    assert text(again) == text(locked(world, tmp_path / "fresh"))
    assert again.counters["rounds"] >= first.counters["rounds"] - 1


def test_what_the_cache_has_lost_is_not_needed(world: IndexServer, tmp_path: Path) -> None:
    first = locked(world, tmp_path)
    store = Store(str(tmp_path))
    keys = [key for (key,) in store._database.rows("select key from memo where key like 'read:%'", ())]
    assert len(keys) == 1
    remembered = store.get_memo(keys[0])
    assert remembered is not None
    store.put_memo(keys[0], f"{remembered}\nno-such-project 0 0")
    store.close()
    assert text(locked(world, tmp_path, offline=True)) == text(first)
