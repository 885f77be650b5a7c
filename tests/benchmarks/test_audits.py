"""What an audit finds in the answers of tools: kept once for each answer, and reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.report import audit_list, quality_table

from benchmarks import audits
from compatlock.model.audit_report import AuditReport
from compatlock.model.finding import CERTAIN, POSSIBLE, Finding

BREAKS = Finding("overlap", "a", "b", CERTAIN, "a 1 and b 1 both install `x.py`")
HARMLESS = Finding("imports", "a", "b", POSSIBLE, "a may import a name that b 1 has not")
LAG = {"worst": 0, "root_days": 0, "root_releases": 0, "depths": [0, 0, 0, 0], "packages": 2, "unfit": 0}


def _result(pins: dict[str, str]) -> dict[str, Any]:
    return {"state": "solved", "pins": pins, "quality": LAG}


def _write(folder: Path, name: str, result: dict[str, Any]) -> None:
    path = folder / "results" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(result), encoding="utf-8")


def _read(folder: Path, name: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((folder / "results" / f"{name}.json").read_text(encoding="utf-8"))
    return result


def test_only_what_breaks_is_kept() -> None:
    kept = audits.summary_of(AuditReport("pins", "", 2, (BREAKS, HARMLESS), unread=("c 1: no wheel",)))
    assert kept == {
        "audited": 2,
        "unread": 1,
        "breaks": [["overlap", "a", "b", "a 1 and b 1 both install `x.py`"]],
    }


def test_the_same_answer_of_two_tools_is_audited_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path, "trl.uv", _result({"a": "1", "b": "1"}))
    _write(tmp_path, "trl.compatlock", _result({"b": "1", "a": "1"}))
    _write(tmp_path, "trl.pip", _result({"a": "2"}))
    _write(tmp_path, "trl.nab", {"state": "timeout", "pins": {}})
    asked = []

    def audit(pins: dict[str, str], **_options: Any) -> AuditReport:
        asked.append(pins)
        return AuditReport("pins", "", len(pins), (BREAKS,) if len(pins) > 1 else ())

    monkeypatch.setattr("compatlock.audit", audit)
    said = list(audits.audit_answers(tmp_path, ["trl", "matrix-100"]))
    assert asked == [{"b": "1", "a": "1"}, {"a": "2"}]
    assert said == [
        "trl: compatlock: 1 break, in 2 wheels",
        "trl: uv: 1 break, in 2 wheels",
        "trl: pip: 0 break, in 1 wheels",
    ]
    assert (
        _read(tmp_path, "trl.uv")["audit"]["breaks"] == _read(tmp_path, "trl.compatlock")["audit"]["breaks"]
    )
    assert "audit" not in _read(tmp_path, "trl.nab")


def test_the_report_says_what_breaks_and_where() -> None:
    broken = {**_result({}), "audit": {"audited": 2, "unread": 0, "breaks": [[*BREAKS[:3], BREAKS.summary]]}}
    results = {"trl": {"uv": broken, "pip": broken, "nab": _result({})}}
    assert list(audit_list(results)) == ["- a 1 and b 1 both install `x.py`. In: trl (uv), trl (pip)."]
    last = [line.split(" | ")[-1].strip(" |") for line in quality_table(results)][2:]
    assert last == ["1", "1", "–"]
