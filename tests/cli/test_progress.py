"""What is seen on a terminal while a run goes on."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

import compatlock
from compatlock import NoSolution
from compatlock.cli.progress import ProgressDisplay
from compatlock.index.progress import Progress
from tests.support.index_server import IndexServer

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the display says, on a terminal."""
    texts: list[str] = []

    class Status:
        def __init__(self, text: str) -> None:
            texts.append(text)

        def start(self) -> None:
            pass

        def stop(self) -> None:
            texts.append("")

        def update(self, text: str) -> None:
            texts.append(text)

    class Console:
        def __init__(self, **_: object) -> None:
            self.status = Status

    monkeypatch.setattr("rich.console.Console", Console)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    return texts


def test_the_display_tells_what_is_read_and_what_for(shown: list[str]) -> None:
    with ProgressDisplay(enabled=True) as show:
        assert show is not None
        show(Progress("a", 1, 2, 3, 4))
        show(Progress("", 0, 0, 0, 0, stage="looking further"))
        show(Progress("b", 2, 5, 6, 7))
        show(Progress("", 0, 0, 0, 0, building="c 1.0"))
    assert shown == [
        "reading the index: 1 of 2 (a)",
        "looking further",
        "looking further; reading the index: 2 of 5 (b)",
        "looking further; building c 1.0 for its metadata",
        "",
    ]


def test_nothing_is_shown_where_nobody_sees_it(shown: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    for enabled in (True, False):
        with ProgressDisplay(enabled=enabled) as show:
            assert show is None
    assert shown == []


@pytest.mark.parametrize(
    ("needs", "stage"),
    [
        ("lib>=9", "there is no answer, looking for ways out"),
        ("lib<2", "there is no recent answer, looking for ways out"),
        ("lib>=2", None),
    ],
)
def test_that_there_is_no_answer_is_told_before_ways_out_are_looked_for(
    index: IndexServer, tmp_path: Path, needs: str, stage: str | None
) -> None:
    index.add("app", "1.0", requires=[needs], upload_time="2026-01-01T00:00:00Z")
    index.add("lib", "2.0", upload_time="2026-01-01T00:00:00Z")
    index.add("lib", "1.0", upload_time="2020-01-01T00:00:00Z")
    told: list[Progress] = []
    options: dict[str, Any] = {"index_url": index.url, "cache_dir": tmp_path, "on_progress": told.append}
    if stage is None:
        compatlock.lock(["app", "lib"], **options)
    else:
        with pytest.raises(NoSolution):
            compatlock.lock(["app", "lib"], **options)
    assert [progress.stage for progress in told if progress.stage] == ([stage] if stage else [])
