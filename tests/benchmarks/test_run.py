"""The command line of the benchmarks, and where their report goes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmarks.report import summary, text
from benchmarks.run import arguments

from benchmarks import run


def _result(measured: float = 1_800_000_000) -> dict[str, Any]:
    return {
        "state": "solved",
        "pins": {},
        "measured": measured,
        "load": 1.0,
        "latency": 20.0,
        "protocol": "h2",
        "limit": 60.0,
        "warm": [[0.1, 0.1, 2**20]],
        "cold": [[1.0, 1.0, 2**20]],
        "stats": {"requests": 3, "bytes": 10},
    }


@pytest.mark.parametrize("option", ["--rounds", "--cold-rounds"])
@pytest.mark.parametrize("number", ["0", "-1"])
def test_there_is_at_least_one_round(option: str, number: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        arguments([option, number])
    assert ended.value.code == 2
    assert f"argument {option}: {number} is less than 1" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--folder", "--docs"])
def test_a_folder_that_cannot_be_written_to(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit) as ended:
        arguments([option, str(tmp_path / "file" / "x")])
    assert ended.value.code == 2
    assert f"{option} {tmp_path / 'file' / 'x'} cannot be written to: " in capsys.readouterr().err


def test_a_report_of_some_problems_does_not_replace_that_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run, "cache_folder", lambda: tmp_path / "usual")
    own = ["--folder", "own"]
    assert arguments(["boto", *own]).docs == Path("own/docs")
    assert arguments(["--report-only", *own]).docs == Path("own/docs")
    assert arguments(["boto", *own, "--docs", "there"]).docs == Path("there")
    assert arguments(own).docs == Path("docs")
    assert arguments(["boto"]).docs == Path("docs")


def test_nothing_is_said_in_words_alone() -> None:
    results = {"boto": {"compatlock": _result(), "uv": _result()}}
    document = text(results, "")
    assert "## compatlock and uv\n" in document
    assert "warm 1.00 in the middle of 1 problem (" in " ".join(document.split())
    assert "## What breaks in the answers" not in document
    assert "## How good the answers are" not in document
    alone = {"boto": {"compatlock": _result()}}
    assert summary(alone) == "There is no problem that both find an answer to."
    assert "## compatlock and uv\n" not in text(alone, "")
