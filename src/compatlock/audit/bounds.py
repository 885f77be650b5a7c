"""Bounds that the chosen pins violate, declared by a neighbouring release or an extra that nobody asked for.

A release that lost a bound mostly did not lose the reason for it (torchaudio 2.11.0 declares no torch, the
ones before do); but it may have, so these are only possible findings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from compatlock.audit.observed import ORIGIN
from compatlock.model.artefact import Artefact
from compatlock.model.fact import Fact, FactBound
from compatlock.model.finding import POSSIBLE, Finding, Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from packaging.requirements import Requirement

CHECK = "bounds"


class Declared(NamedTuple):
    """A Requires-Dist line that holds for the target, of release `version` of `package`; `extra` is set
    when only that extra, which nobody asked for, declares it."""

    package: str
    version: str
    requires: str
    extra: str = ""


def check_bounds(artefacts: Sequence[Artefact], declared: Sequence[Declared]) -> list[Finding]:
    """Compare pins with bounds that do not bind them.

    `declared` are the lines of the chosen releases' other extras, and all lines of neighbouring releases
    (the next newer and the next older one). Of a neighbour only what the chosen release does not bound
    itself counts; where it pins a version, this says nothing of another release, unless it is the
    release's own version: then an older one of the dependency is doubtful.
    One finding for each package, dependency and declaring release, sorted.
    """
    chosen = {artefact.package: artefact for artefact in artefacts}
    findings: dict[tuple[str, str, str, str], Finding] = {}
    for line in sorted(set(declared)):
        artefact = chosen.get(line.package)
        requirement = _parse(line.requires)
        if artefact is None or requirement is None or not requirement.specifier:
            continue
        on = chosen.get(_normalised(requirement.name))
        if on is None or on is artefact:
            continue
        bound = str(requirement.specifier)
        if line.version != artefact.version:
            bound = "" if _bounds(artefact, on.package) else _for_neighbour(requirement, line, artefact)
        if bound and not _satisfies(on.version, bound):
            key = (line.package, on.package, line.version, line.extra)
            findings.setdefault(key, _finding(artefact, on, line, bound))
    return [findings[key] for key in sorted(findings)]


def _parse(line: str) -> Requirement | None:
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        return Requirement(line)
    except InvalidRequirement:
        return None


def _normalised(name: str) -> str:
    from compatlock.model.names import normalise

    return normalise(name)


def _bounds(artefact: Artefact, on: str) -> bool:
    """Whether the chosen release bounds the dependency itself; then it has made up its mind."""
    for line in artefact.requires:
        requirement = _parse(line)
        if requirement is not None and _normalised(requirement.name) == on and requirement.specifier:
            return True
    return False


def _for_neighbour(requirement: Requirement, line: Declared, artefact: Artefact) -> str:
    """What a neighbour's line would say if the chosen release had it, `""` for nothing."""
    pins = [one for one in requirement.specifier if one.operator in ("==", "===")]
    if not pins:
        return str(requirement.specifier)
    if all(_release(one.version) == _release(line.version) for one in pins):
        return f">={'.'.join(map(str, _release(artefact.version)))}"
    return ""


def _release(version: str) -> tuple[int, ...]:
    from packaging.version import InvalidVersion, Version

    try:
        return Version(version).release
    except InvalidVersion:
        return ()


def _satisfies(version: str, bound: str) -> bool:
    from packaging.specifiers import SpecifierSet

    return SpecifierSet(bound).contains(version, prereleases=True)


def _finding(artefact: Artefact, on: Artefact, line: Declared, bound: str) -> Finding:
    who = f"its extra [{line.extra}]" if line.extra else f"{line.package} {line.version}"
    text = (
        f"{artefact.package} {artefact.version} is locked with {on.package} {on.version}; "
        f"{who} declares {line.requires}"
    )
    name = line.extra if line.version == artefact.version else line.version
    fact = Fact(
        id=f"audit-{CHECK}-{artefact.package}-{artefact.version}-{on.package}-{name}",
        package=artefact.package,
        kind="too-loose",
        bounds=(FactBound(f"=={artefact.version}", bound),),
        on=on.package,
        summary=text,
        source=f"Requires-Dist of {line.package} {line.version}",
        origin=ORIGIN,
        evidence=("metadata",),
    )
    return Finding(
        check=CHECK,
        package=artefact.package,
        on=on.package,
        certainty=POSSIBLE,
        summary=text,
        places=(
            Place(artefact.package, artefact.version, artefact.file.filename),
            Place(line.package, line.version, ""),
        ),
        fact=fact,
        details=(f"{line.package} {line.version}: {line.requires}",),
    )
