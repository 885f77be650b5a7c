"""An audit's report in words and as JSON."""

from __future__ import annotations

from compatlock.api.report_words import report_values, text_of, traffic, verdict
from compatlock.model.display import counted
from compatlock.model.finding import POSSIBLE, UNREAD, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from compatlock.model.audit_report import AuditReport
    from compatlock.model.fact import Fact
    from compatlock.model.finding import Place

JSON_VERSION = 1
_SHOWN_PLACES = 3
_SHOWN_DETAILS = 5


def describe_audit(report: AuditReport, *, verbose: bool = False, failures_only: bool = False) -> str:
    """The findings, each with where it was seen and what it implies, then a line that sums up.

    `verbose` shows all places and the findings that are only possible; `failures_only` nothing but what
    makes the audit fail.
    """
    return text_of(_lines(report, verbose=verbose, failures_only=failures_only))


def _lines(report: AuditReport, *, verbose: bool, failures_only: bool) -> Iterator[str]:
    for finding in report.findings:
        if finding.fails or (not failures_only and (verbose or finding.certainty == UNREAD)):
            yield from finding_lines(finding, verbose=verbose)
    if failures_only:
        return
    for line in report.unread:
        yield f"not audited: {line}"
    yield _summary(report, verbose=verbose)


def finding_lines(finding: Finding, *, verbose: bool = False) -> Iterator[str]:
    """One finding in lines: the sentence, where it was seen, and the fact it implies."""
    yield f"{finding.check} ({finding.certainty}): {finding.summary}"
    yield from _some(_place_lines(finding.places), _SHOWN_PLACES, verbose)
    yield from _some(list(finding.details), _SHOWN_DETAILS, verbose)
    if finding.fact is not None:
        yield f"  implies: {fact_text(finding.fact)}"


def _place_lines(places: tuple[Place, ...]) -> list[str]:
    """A line for each place; a file is named once."""
    lines, file = [], ""
    for place in places:
        lines.append(
            f"  {_member_text(place)}" if place.file == file and place.member else f"in {place_text(place)}"
        )
        file = place.file
    return lines


def _some(lines: list[str], shown: int, verbose: bool) -> Iterator[str]:
    cut = lines if verbose or len(lines) <= shown + 1 else lines[:shown]
    yield from (f"  {line}" for line in cut)
    if len(cut) < len(lines):
        yield f"  and {len(lines) - len(cut)} more (-v)"


def place_text(place: Place) -> str:
    """A place as `file: member:line`."""
    return f"{place.file}: {_member_text(place)}" if place.member else place.file


def _member_text(place: Place) -> str:
    return f"{place.member}:{place.line}" if place.line else place.member


def fact_text(fact: Fact) -> str:
    """What a fact says of its packages, in a sentence without its reason."""
    parts = []
    for row in fact.bounds:
        releases = f"{fact.package}{row.versions}" if row.versions else f"every {fact.package}"
        if fact.kind == "overlap":
            parts.append(f"{releases} never beside {fact.on}{row.bound or ' (any)'}")
        elif fact.kind == "known-bad":
            parts.append(f"{releases} is no candidate")
        else:
            parts.append(f"{releases} needs {fact.on}{row.bound}")
    return "; ".join(parts)


def _summary(report: AuditReport, *, verbose: bool) -> str:
    failed, possible = len(report.failures), sum(f.certainty == POSSIBLE for f in report.findings)
    unread = len(report.unread) + sum(f.certainty == UNREAD for f in report.findings)
    told = [counted(failed, "finding") if failed else "nothing found that breaks"]
    if possible:
        told.append(f"{possible} possible{'' if verbose else ' (-v shows them)'}")
    if unread:
        told.append(f"{unread} not read")
    return verdict(report, counted(report.audited, "wheel"), told) + traffic(report)


def audit_to_json(report: AuditReport) -> dict[str, Any]:
    """The report as plain JSON values; `version` names the schema."""
    return {
        **report_values(
            report,
            JSON_VERSION,
            audited=report.audited,
            findings=[_finding_to_json(finding) for finding in report.findings],
            unread=list(report.unread),
        ),
        "requests": report.requests,
        "bytes_received": report.bytes_received,
    }


def _finding_to_json(finding: Finding) -> dict[str, Any]:
    fact = finding.fact
    return {
        **finding._asdict(),
        "fails": finding.fails,
        "places": [place._asdict() for place in finding.places],
        "fact": None if fact is None else {**fact._asdict(), "bounds": [b._asdict() for b in fact.bounds]},
    }
