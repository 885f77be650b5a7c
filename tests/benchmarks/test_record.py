"""Recording goes on until nothing new is read, and ends in any case."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

import pytest

from benchmarks import record


class _Server:
    """A replay that is never asked anything but for its snapshot."""

    def __init__(self, *_about: object, **_how: object) -> None:
        pass

    def __enter__(self) -> _Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def get(self, path: str) -> bytes:
        assert path == "/-/snapshot"
        return b"what was read"


def _recorded(
    monkeypatch: pytest.MonkeyPatch, folder: Path, counts: list[int], *, in_time: bool = True
) -> tuple[str, int]:
    """What is said, and how many times the tool ran, when its runs read so much of the real index."""
    left = iter(counts)
    runs = 0

    def run(*_asked: object) -> record._Done:
        nonlocal runs
        runs += 1
        return record._Done("0 1s", in_time, next(left))

    monkeypatch.setattr(record, "Server", _Server)
    monkeypatch.setattr(record, "_run", run)
    said = record.record_problem("trl", folder, {"uv": "uv"})
    assert (folder / "snapshots" / "trl.json.xz").read_bytes() == b"what was read"
    return said, runs


def test_a_tool_runs_until_it_reads_nothing_new(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    said, runs = _recorded(monkeypatch, tmp_path, [7, 2, 0, 1])
    assert runs == 3
    assert " complete, " in said


def test_a_recording_that_is_never_complete_ends(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    said, runs = _recorded(monkeypatch, tmp_path, [1] * 100)
    assert runs == record._PASSES
    assert " incomplete, " in said


def test_a_tool_that_is_late_has_one_more_chance(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    said, runs = _recorded(monkeypatch, tmp_path, [1] * 100, in_time=False)
    assert runs == 2
    assert " incomplete, " in said
