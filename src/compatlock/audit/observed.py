"""Facts that findings imply for the releases that were looked at; who bisects widens them."""

from __future__ import annotations

from compatlock.model.artefact import Artefact
from compatlock.model.fact import Fact, FactBound

ORIGIN = "audit"


def not_with(
    check: str,
    kind: str,
    one: Artefact,
    other: Artefact,
    *,
    summary: str,
    evidence: str,
    severity: str = "error",
) -> Fact:
    """Return the fact that these two releases do not work together: kind `overlap` excludes the pair, kind
    `too-loose` tells `one` not to take this release of `other`."""
    bound = f"=={other.version}" if kind == "overlap" else f"!={other.version}"
    return Fact(
        id=f"audit-{check}-{one.package}-{one.version}-{other.package}-{other.version}",
        package=one.package,
        kind=kind,
        bounds=(FactBound(f"=={one.version}", bound),),
        on=other.package,
        severity=severity,
        summary=summary,
        source=f"{one.file.filename}, {other.file.filename}",
        origin=ORIGIN,
        evidence=(evidence,),
    )
