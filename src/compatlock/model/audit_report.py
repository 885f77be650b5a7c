"""The result of an audit."""

from __future__ import annotations

from compatlock.model.finding import UNREAD, Finding
from compatlock.model.named_tuple import NamedTuple


class AuditReport(NamedTuple):
    """What an audit of a set of artefacts found.

    subject:  what was audited; target: for what
    audited:  how many wheels were looked into; unread: pins of which no wheel could be, with the reason
    findings: the worst first
    requests, bytes_received: what it cost on the network
    """

    subject: str
    target: str
    audited: int
    findings: tuple[Finding, ...] = ()
    unread: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    requests: int = 0
    bytes_received: int = 0

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The findings that make the audit fail."""
        return tuple(finding for finding in self.findings if finding.fails)

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found that breaks the set; what was not read breaks nothing."""
        return not self.failures

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that are only reported."""
        return tuple(f for f in self.findings if not f.fails and f.certainty != UNREAD)
