"""What reports of checks, audits and looked-up evidence have in common, in words and as JSON."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from compatlock.model.audit_report import AuditReport
    from compatlock.model.evidence import VerifyReport
    from compatlock.model.report import Report


def text_of(lines: Iterable[str]) -> str:
    """Lines as a text, each with its line end."""
    return "".join(f"{line}\n" for line in lines)


def verdict(report: AuditReport | Report, counted: str, told: Iterable[str]) -> str:
    """The line that sums up: what was looked at, how many of what (`counted`), for which target, and what
    is told of them."""
    return f"{report.subject}: {counted} for {report.target}: {', '.join(told)}"


def traffic(report: AuditReport | VerifyReport) -> str:
    """What it cost on the network, to stand behind a line; `""` for nothing."""
    if not report.requests:
        return ""
    return f" (read {report.bytes_received / 1e6:.1f} MB in {report.requests} requests)"


def report_values(report: AuditReport | Report, version: int, **values: Any) -> dict[str, Any]:
    """A report as plain JSON values, with `values` of its own; `version` names their schema."""
    return {
        "version": version,
        "clean": report.is_clean,
        "subject": report.subject,
        "target": report.target,
        **values,
        "notes": list(report.notes),
    }
