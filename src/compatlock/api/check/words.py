"""A report of a check in words and as JSON."""

from __future__ import annotations

from compatlock.api.report_words import report_values, text_of, verdict
from compatlock.model.display import counted
from compatlock.model.report import ERROR, WAIVED, WARNING, Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

JSON_VERSION = 1
_WORDS = {ERROR: ("error", "errors"), WARNING: ("warning", "warnings"), WAIVED: ("waived", "waived")}


def describe_report(report: Report, *, errors_only: bool = False) -> str:
    """The findings, each with its remarks and hints below, then a line that sums up; `errors_only` leaves
    out everything but errors."""
    return text_of(_lines(report, errors_only=errors_only))


def _lines(report: Report, *, errors_only: bool) -> Iterator[str]:
    for finding in report.errors if errors_only else report.findings:
        yield finding.text if finding.severity == ERROR else f"{finding.severity}: {finding.text}"
        yield from (f"  {remark}" for remark in finding.remarks)
        yield from (f"  hint: {hint}" for hint in finding.hints)
    if errors_only:
        return
    counts = dict.fromkeys(_WORDS, 0)
    for finding in report.findings:
        counts[finding.severity] += 1
    told = [f"{n} {_WORDS[severity][n != 1]}" for severity, n in counts.items() if n]
    yield verdict(report, counted(report.checked, "package"), told or ["everything fits"])


def report_to_json(report: Report) -> dict[str, Any]:
    """The report as plain JSON values; `version` names the schema."""
    findings = [finding._asdict() for finding in report.findings]
    return report_values(report, JSON_VERSION, checked=report.checked, findings=findings)


def reports_to_json(reports: Sequence[Report]) -> dict[str, Any]:
    """Several reports as plain JSON values."""
    return {
        "version": JSON_VERSION,
        "clean": all(report.is_clean for report in reports),
        "reports": list(map(report_to_json, reports)),
    }
