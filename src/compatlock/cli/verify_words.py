"""What became of facts when their evidence was checked again, in words and as JSON."""

from __future__ import annotations

from compatlock.api.report_words import text_of, traffic
from compatlock.cli.evidence import evidence_line
from compatlock.model.display import counted
from compatlock.model.evidence import CONFIRMED, FAILING, REFUTED, STALE, UNCHECKED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from compatlock.knowledge.documented import DocumentedFact
    from compatlock.model.evidence import Checked, CheckedFact, VerifyReport

JSON_VERSION = 1
_WORDS = {UNCHECKED: "not checkable here"}


def describe_verified(
    report: VerifyReport,
    facts: Sequence[DocumentedFact],
    *,
    verbose: bool = False,
    failures_only: bool = False,
) -> str:
    """Each fact with its verdict, and with what is wrong; `verbose` shows all evidence of all facts,
    `failures_only` nothing but what is wrong. `facts` are those of the report, in its order."""
    lines: list[str] = []
    for checked, item in zip(report.facts, facts, strict=True):
        if checked.verdict in FAILING or not failures_only:
            lines += _fact_lines(checked, item, verbose=verbose)
    if not failures_only:
        lines.append(_summary(report))
    return text_of(lines)


def _fact_lines(checked: CheckedFact, item: DocumentedFact, *, verbose: bool) -> Iterator[str]:
    yield f"{checked.verdict:<9}  {item.fact.id}: {item.fact.summary}"
    for piece, evidence in zip(checked.pieces, item.evidence, strict=True):
        if verbose or piece.verdict in FAILING:
            yield from _piece_lines(piece, evidence_line(evidence))
    for piece in checked.beyond:
        if verbose or piece.verdict in FAILING:
            yield from _piece_lines(piece, "beyond its evidence")


def _piece_lines(piece: Checked, what: str) -> Iterator[str]:
    yield f"  {_WORDS.get(piece.verdict, piece.verdict)}: {what}"
    if piece.reason:
        yield f"    {piece.reason}"
    if piece.correction:
        yield f"    what holds: {piece.correction}"


def _summary(report: VerifyReport) -> str:
    counts = {
        verdict: sum(fact.verdict == verdict for fact in report.facts)
        for verdict in (CONFIRMED, REFUTED, STALE, UNCHECKED)
    }
    told = [f"{n} {_WORDS.get(verdict, verdict)}" for verdict, n in counts.items() if n]
    facts = counted(len(report.facts), "fact")
    return f"{facts}: {', '.join(told) or 'nothing to check'}{traffic(report)}"


def verified_to_json(report: VerifyReport, facts: Sequence[DocumentedFact]) -> dict[str, Any]:
    """The report as plain JSON values; `version` names the schema."""
    return {
        "version": JSON_VERSION,
        "holds": report.holds,
        "target": report.target,
        "facts": [
            {
                "id": checked.id,
                "verdict": checked.verdict,
                "evidence": [
                    {**evidence.model_dump(exclude_none=True), **_piece_to_json(piece)}
                    for piece, evidence in zip(checked.pieces, item.evidence, strict=True)
                ],
                "beyond": [_piece_to_json(piece) for piece in checked.beyond],
            }
            for checked, item in zip(report.facts, facts, strict=True)
        ],
        "notes": list(report.notes),
        "requests": report.requests,
        "bytes_received": report.bytes_received,
    }


def _piece_to_json(piece: Checked) -> dict[str, Any]:
    return {key: value for key, value in piece._asdict().items() if value}
