"""`compatlock lock --resolution`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import Cli, pins_of
from tests.support.index_server import IndexServer


@pytest.fixture
def world(index: IndexServer) -> IndexServer:
    for version, moment in (("1.0", "2020"), ("1.5", "2023"), ("2.0", "2026")):
        index.add("a", version, requires=["b>=1.1"], upload_time=f"{moment}-01-01T00:00:00Z")
        index.add("b", version, upload_time=f"{moment}-01-01T00:00:00Z")
    return index


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize(
    ("resolution", "pins"),
    [
        ("highest", {"a": "2.0", "b": "2.0"}),
        ("lowest", {"a": "1.0", "b": "1.5"}),
        ("lowest-direct", {"a": "1.0", "b": "2.0"}),
    ],
)
def test_resolutions(cli: Cli, resolution: str, pins: dict[str, str]) -> None:
    run = cli("lock", "-r", "a", "--resolution", resolution)
    assert run.code == 0
    text = Path("requirements.lock").read_text()
    assert pins_of(text) == pins
    assert "held back" not in text
    assert ("--resolution" in text) == (resolution != "highest")
    if resolution != "highest":
        assert "#   worst root distance from the lowest: 0 days (proved)" in text


@pytest.mark.usefixtures("world")
def test_combinations_that_make_no_sense(cli: Cli) -> None:
    greedy = cli("lock", "-r", "a", "--resolution", "lowest", "--strategy", "greedy")
    assert greedy.code == 2
    assert "knows no `--resolution lowest`" in greedy.err
    unknown = cli("lock", "-r", "a", "--resolution", "middle")
    assert unknown.code == 2
