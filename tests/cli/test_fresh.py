"""How long the cache is believed: not when upgrades are asked for, and not before a "no"."""

from __future__ import annotations

import time

import pytest

from tests.support.command import Cli
from tests.support.index_server import IndexServer


@pytest.fixture(autouse=True)
def later(monkeypatch: pytest.MonkeyPatch, index: IndexServer, cli: Cli) -> None:
    """A cache from a minute ago, since when a release was uploaded."""
    index.add("app", "1.0", upload_time="2026-01-01T00:00:00Z")
    assert cli("lock", "-r", "app").code == 0
    index.add("app", "2.0", upload_time="2026-01-02T00:00:00Z")
    now = int(time.time()) + 60
    monkeypatch.setattr(time, "time", lambda: now)


def test_within_minutes_the_cache_is_believed(cli: Cli, index: IndexServer) -> None:
    asked = len(index.requests)
    assert cli("lock", "-r", "app", "-o", "-").pins == {"app": "1.0"}
    assert len(index.requests) == asked


@pytest.mark.parametrize("option", [["-U"], ["-P", "app"]])
def test_an_upgrade_asks_again(cli: Cli, option: list[str]) -> None:
    assert cli("lock", "-r", "app", *option).code == 0
    assert cli("lock", "-r", "app", "-o", "-").pins == {"app": "2.0"}


def test_refresh_asks_again(cli: Cli) -> None:
    assert cli("lock", "-r", "app", "-o", "-", "--refresh").pins == {"app": "2.0"}


def test_before_it_is_said_that_there_is_no_answer_the_index_is_asked_again(cli: Cli) -> None:
    assert cli("lock", "-r", "app>=2", "-o", "-").pins == {"app": "2.0"}
    run = cli("lock", "-r", "app>=3", "-o", "-")
    assert run.code == 1
    assert "the newest is 2.0" in run.err


def test_offline_the_cache_is_all_there_is(cli: Cli) -> None:
    run = cli("lock", "-r", "app>=2", "-o", "-", "--offline")
    assert run.code == 1
    assert "the newest is 1.0" in run.err
