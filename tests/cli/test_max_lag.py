"""`--max-lag` over packages that only extras name, of which there are pre-releases and yanked ones only."""

from __future__ import annotations

from pathlib import Path

import pytest

from compatlock.solver import closed_world
from tests.support.command import Cli
from tests.support.index_server import IndexServer

BETAS = (("0.1b0", "2024-01-01"), ("0.2b0", "2025-11-01"), ("0.3b0", "2026-01-01"))


@pytest.fixture
def world(index: IndexServer) -> IndexServer:
    """Like a monitoring library of which 1.0rc1 was yanked long ago, and betas are made since."""
    for version, day in BETAS:
        index.add("exporter", version, upload_time=f"{day}T00:00:00Z")
    index.add("exporter", "1.0rc1", upload_time="2021-06-01T00:00:00Z")
    index.edit("exporter-1.0rc1-py3-none-any.whl", yanked="deprecated")
    return index


@pytest.mark.parametrize(("limit", "version"), [("", "0.3b0"), ("<0.3b0", "0.2b0"), ("<0.2b0", "0.1b0")])
def test_a_yanked_release_is_no_measure(cli: Cli, world: IndexServer, limit: str, version: str) -> None:
    world.add("app", "1.0", extras={"more": [f"exporter{limit}"]}, upload_time="2026-01-01T00:00:00Z")
    run = cli("lock", "-r", "app[more]", "-o", "-")
    assert (run.code, run.pins) == (0, {"app": "1.0", "exporter": version})


def test_the_guard_lets_recent_pre_releases_in(cli: Cli, world: IndexServer) -> None:
    world.add("app", "1.0", extras={"more": ["exporter>=0a0"]}, upload_time="2026-01-01T00:00:00Z")
    for bound, code in (("<0.3b0", 0), ("<0.2b0", 1)):
        world.add("other", "1.0", requires=[f"exporter{bound}"])
        run = cli("lock", "-r", "app[more]", "-r", "other", "-o", "-", "--no-cache")
        assert run.code == code, run.err
        world.remove("other-1.0-py3-none-any.whl")


def test_what_an_extra_names_is_told_when_it_is_far_behind(cli: Cli, index: IndexServer) -> None:
    """And what freeing it would cost."""
    for version, day in (("1.0", "2025-06-01"), ("2.0", "2025-12-01")):
        index.add("server", version, upload_time=f"{day}T00:00:00Z")
    index.add("app", "1.0", extras={"serve": ["server<3"]}, upload_time="2026-01-01T00:00:00Z")
    index.add("other", "1.0", upload_time="2025-11-01T00:00:00Z")
    index.add("other", "2.0", requires=["server<2"], upload_time="2026-01-01T00:00:00Z")
    run = cli("lock", "-r", "app[serve]", "-r", "other", "-o", "-")
    assert run.pins == {"app": "1.0", "other": "2.0", "server": "1.0"}
    assert (
        "note: server 1.0, which app[serve] names, is 183 days behind 2.0 (held back: other 2.0 needs "
        "server<2); server 2.0 is possible and changes other 2.0 to 1.0 (worst root lag (days): 61 instead "
        "of 0); `compatlock explain ... server` tells more\n"
    ) in run.err
    for _ in range(2):
        again = cli("lock", "-r", "app[serve]", "-r", "other")
    assert "days behind" not in again.err


def test_beside_an_answer_that_is_not_proved_no_price_is_looked_for(
    cli: Cli, index: IndexServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would take as long again as the answer itself."""
    monkeypatch.setattr(closed_world, "_KNOWN_CHASES", -1)
    for version, day in (("1.0", "2025-06-01"), ("2.0", "2025-12-01")):
        index.add("server", version, upload_time=f"{day}T00:00:00Z")
    index.add("app", "1.0", requires=["server<2"], upload_time="2026-01-01T00:00:00Z")
    run = cli("lock", "-r", "app", "-r", "server", "-o", "-")
    assert run.pins == {"app": "1.0", "server": "1.0"}
    assert (
        "\nnote: what server 2.0 would cost was not looked for, as the lock itself is not proved; "
        "`compatlock explain ... server` tells more\n"
    ) in run.err


def test_what_a_newer_release_costs_beside_an_older_lock(cli: Cli, index: IndexServer) -> None:
    """What is kept stays so: no pin that has nothing to do with it changes."""
    for name in ("app", "other"):
        index.add(name, "1.0", upload_time="2025-01-01T00:00:00Z")
        index.add(name, "2.0", upload_time="2026-01-01T00:00:00Z")
    Path("requirements.lock").write_text("app==1.0\nother==1.0\n", encoding="utf-8")
    run = cli("lock", "-r", "app", "-r", "other")
    assert run.code == 0, run.err
    assert "note: app 2.0 is possible and changes nothing else;" in run.err
    assert "note: other 2.0 is possible and changes nothing else;" in run.err
    freed = cli("lock", "-r", "app", "-r", "other", "-P", "app")
    assert "1 changed\n  changed app 1.0 -> 2.0\n" in freed.err
