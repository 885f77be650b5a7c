"""What an audit found as entries for a facts file, with evidence that can be checked again."""

from __future__ import annotations

import re

from compatlock.api.audit.artefacts import artefacts_of
from compatlock.api.audit.auditing import with_audit
from compatlock.api.audit.implied import Implied
from compatlock.api.audit.suggested_evidence import EvidenceWriter
from compatlock.api.report_words import text_of
from compatlock.model.cuda import CUDA
from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from compatlock.api.audit.auditing import Audited
    from compatlock.api.check.pins import Given
    from compatlock.api.options import LockOptions
    from compatlock.index.progress import Progress
    from compatlock.model.audit_report import AuditReport
    from compatlock.model.fact import Fact
    from compatlock.model.finding import Finding

_NOT_OF_AN_ID = re.compile(r"[^a-z0-9]+")


class Suggestion(NamedTuple):
    """Entries of a facts file, as tables, and the report of the audit that they are from; `left_out` are the
    findings that imply nothing for the solver."""

    entries: tuple[dict[str, Any], ...]
    report: AuditReport
    left_out: tuple[Finding, ...] = ()


def suggest(
    options: LockOptions,
    given: Given,
    subject: str,
    *,
    possible: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> Suggestion:
    """Audit the artefacts that an installer would pick for pins (see `check_pins.read_given`), and make
    entries of what breaks; with `possible`, of what may break, too.

    Each is about as many releases as it was found to hold for. Raises InputError, IndexUnavailable.
    """

    def entries_of(audited: Audited) -> Suggestion:
        report, supply, workshop = audited.report, audited.supply, audited.workshop
        implied = Implied(workshop.checks(supply.target, audited.asked), supply, audited.versions)
        writer = EvidenceWriter(
            artefacts_of(supply, audited.versions, audited.extras).found, supply, workshop
        )
        entries: dict[str, dict[str, Any]] = {}
        left_out = []
        for finding in report.failures + (report.warnings if possible else ()):
            facts = list(_facts(finding, implied))
            for fact in facts:
                entry = _entry(fact, writer.evidence(finding, fact), subject)
                entries.setdefault(entry["id"], entry)
            if not facts:
                left_out.append(finding)
        return Suggestion(tuple(entries.values()), report, tuple(left_out))

    return with_audit(options, given, subject, entries_of, on_progress=on_progress)


def facts_text(suggestion: Suggestion) -> str:
    """The text of a facts file (TOML)."""
    from compatlock.lockfile.toml_text import table_lines

    lines = []
    for entry in suggestion.entries:
        lines += ["[[fact]]", *table_lines(entry), ""]
    return text_of(lines[:-1])


def _facts(finding: Finding, implied: Implied) -> Iterator[Fact]:
    """What a finding implies; one that is only possible is not looked for in other releases."""
    if finding.fails:
        yield from implied.facts(finding)
    elif finding.fact is not None:
        yield finding.fact


def _entry(fact: Fact, evidence: list[dict[str, Any]], subject: str) -> dict[str, Any]:
    """A fact as the table of a facts file."""
    rows = [{"versions": row.versions or "*", "bound": row.bound} for row in fact.bounds]
    entry: dict[str, Any] = {
        "id": _NOT_OF_AN_ID.sub("-", fact.id.lower()).strip("-"),
        "package": fact.package,
        "kind": fact.kind,
    }
    if fact.on and fact.on != CUDA:
        entry["on"] = fact.on
    entry.update(rows[0] if len(rows) == 1 else {"bounds": rows})
    if fact.severity != "error":
        entry["severity"] = fact.severity
    entry["summary"] = " ".join(fact.summary.split())
    entry["source"] = f"an audit of {subject}: {fact.source}" if fact.source else f"an audit of {subject}"
    entry["evidence"] = evidence
    return entry
