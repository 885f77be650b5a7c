"""`compatlock.Session`: the answers are those of `compatlock.lock`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import compatlock
from compatlock import InputError, NoSolution, Session
from compatlock.api import held
from compatlock.api.locking import finished
from compatlock.index.supply import CacheChanged, IndexChanged
from tests.support.index_server import IndexServer


@pytest.fixture
def world(index: IndexServer) -> IndexServer:
    for month in (1, 2, 3):
        day = f"2026-0{month}-01T00:00:00Z"
        index.add("app", f"{month}.0", requires=[f"lib>={month - 1}", "other"], upload_time=day)
        index.add("lib", f"{month}.0", upload_time=day)
        index.add("other", f"{month}.0", upload_time=day)
    return index


@pytest.fixture
def options(world: IndexServer, tmp_path: Path) -> dict[str, Any]:
    return {"index_url": world.url, "cache_dir": tmp_path / "cache"}


def alone(tmp_path: Path, bounds: list[str], options: dict[str, Any]) -> compatlock.Lock:
    file = tmp_path / "bounds.txt"
    file.write_text("".join(f"{bound}\n" for bound in bounds))
    return compatlock.lock("app", constraints=[file], **options)


def test_answers_are_those_of_lock(tmp_path: Path, options: dict[str, Any]) -> None:
    with Session("app", **options) as session:
        assert session.lock() == compatlock.lock("app", **options)
        for bounds in (["lib<3"], ["other<2", "lib<3"], ["app<3"], ["lib<3"], ["unheard-of<1"]):
            found, other = session.lock(bounds), alone(tmp_path, bounds, options)
            assert (found.pins, found.objective) == (other.pins, other.objective)
            assert set(found.notes) - set(other.notes) == {f"bounded by {bound}" for bound in bounds}
        assert session.lock() == compatlock.lock("app", **options)


def test_what_contradicts_itself_is_explained(options: dict[str, Any]) -> None:
    with Session("app", **options) as session:
        with pytest.raises(NoSolution, match="the session allows only lib<1"):
            session.lock(["lib<1", "app>=2"])
        assert session.lock(["lib<2", "app<3"]).versions == {"app": "2.0", "lib": "1.0", "other": "3.0"}


def test_old_answers_are_refused_as_ever(world: IndexServer, options: dict[str, Any]) -> None:
    world.add("app", "4.0", requires=["lib>=9"], upload_time="2026-04-01T00:00:00Z")
    with Session("app", max_lag=["20d"], **options) as session:
        with pytest.raises(NoSolution, match="recent releases"):
            session.lock()
        assert session.lock(["app<4"]).versions["app"] == "3.0"


def test_the_index_is_asked_again_when_it_is_said(world: IndexServer, options: dict[str, Any]) -> None:
    with Session("app", **options) as session:
        assert session.lock().versions["lib"] == "3.0"
        world.add("lib", "4.0", upload_time="2026-04-01T00:00:00Z")
        asked = len(world.requests)
        assert session.lock().versions["lib"] == "3.0"
        assert len(world.requests) == asked
        # What was read within this second counts as fresh.
        time.sleep(1.1)
        session.refresh()
        assert session.lock().versions["lib"] == "4.0"


@pytest.mark.parametrize("error", [CacheChanged, IndexChanged])
def test_what_changed_meanwhile_is_read_again(
    error: type[Exception], options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    failed: list[Any] = []

    def finish_at_last(*seen: Any) -> Any:
        if not failed:
            failed.append(seen)
            raise error("it changed")
        return finished(*seen)

    with Session("app", **options) as session:
        before = session.lock()
        monkeypatch.setattr(held, "finished", finish_at_last)
        assert session.lock() == before
        assert failed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"strategy": "greedy"}, "`strategy` is not for a session"),
        ({"audit": True}, "`audit` is not for a session"),
        ({"requirements": "app>>1"}, "app>>1"),
    ],
)
def test_bad_input(arguments: dict[str, Any], message: str, options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=message):
        Session(**{"requirements": "app", **options, **arguments})


def test_bounds_have_no_markers(options: dict[str, Any]) -> None:
    with Session("app", **options) as session, pytest.raises(InputError, match="is no bound"):
        session.lock(["lib<2; python_version>'3'"])
