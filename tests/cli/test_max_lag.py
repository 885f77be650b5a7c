"""`--max-lag` over packages that only extras name, of which there are pre-releases and yanked ones only."""

from __future__ import annotations

import pytest

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
