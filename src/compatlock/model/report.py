"""What a check found of what somebody has."""

from __future__ import annotations

from compatlock.model.named_tuple import NamedTuple

# Kinds of findings.
MISSING, VERSION, PYTHON, PLATFORM, FACT, DUPLICATE = (
    "missing", "version", "python", "platform", "fact", "duplicate",
)  # fmt: skip
# Of a lock file: something wrong in its text, hashes that are not there or not the index's, a lock for other
# Pythons than the project's. Of an environment: what the lock does not have, files that are not as they were
# installed, an import that fails.
DEFECT, HASH, STALE, EXTRA, FILES, IMPORT = "defect", "hash", "stale", "extra", "files", "import"
# Of a release that the policies of the project, or of who checks, do not admit.
POLICY = "policy"
# How much a finding weighs: only errors make a check fail.
ERROR, WARNING, WAIVED = "error", "warning", "waived"


class Discrepancy(NamedTuple):
    """One thing that does not fit.

    kind:     one of the constants above
    severity: `error`; `warning` for a soft fact; `waived` for a bound that a waiver lets go
    package, version: what demands it (`""`: the user's own line); extra: by which of its extras
    on, found: what it is about, and its version there (`""`: it is missing); needs: the bound
    text:     it all in a sentence; remarks: what facts and waivers say of it, a sentence each
    facts:    the ids of those facts
    hints:    what to do about it
    origin:   `FILE:LINE` or `FILE`, where it stands in one
    """

    kind: str
    severity: str
    package: str
    version: str
    text: str
    on: str = ""
    found: str = ""
    needs: str = ""
    extra: str = ""
    remarks: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    origin: str = ""


class Report(NamedTuple):
    """The result of a check: `subject` is what was checked, `target` for what, `checked` how many packages;
    `notes` say what could not be checked."""

    subject: str
    target: str
    checked: int
    findings: tuple[Discrepancy, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def errors(self) -> tuple[Discrepancy, ...]:
        """The findings that make the check fail."""
        return tuple(finding for finding in self.findings if finding.severity == ERROR)

    @property
    def is_clean(self) -> bool:
        """Whether there is no error."""
        return not self.errors
