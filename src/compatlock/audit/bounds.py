"""Bounds that the chosen pins violate, declared by a neighbouring release or an extra that nobody asked for.

A release that lost a bound mostly did not lose the reason for it (torchaudio 2.11.0 declares no torch, the
ones before do); but it may have, so these are only possible findings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from compatlock.audit.observed import ORIGIN
from compatlock.model.artefact import Artefact
from compatlock.model.fact import Fact, FactBound
from compatlock.model.finding import POSSIBLE, Finding, Place
from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from packaging.requirements import Requirement

CHECK = "bounds"

# Extras that are for work on the package itself: what they pin says nothing of using it.
_TOOLING = re.compile(
    r"(?:.*-)?(?:tests?|testing|dev|develop|development|docs?|documentation|lint|linting|"
    r"quality|bench\w*|typing|mypy|ci|release|style|examples?)(?:-.*)?\Z"
)


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
    told = [judged for line in sorted(set(declared)) if (judged := _judged(line, chosen)) is not None]
    # Extras such as cu12 and cu13 are alternatives: where the pins satisfy one, the others say nothing.
    met = {(each.line.package, each.on.package) for each in told if each.is_own and each.holds}
    findings: dict[tuple[str, str, str, str], Finding] = {}
    for each in told:
        if each.holds or (each.is_own and (each.line.package, each.on.package) in met):
            continue
        key = (each.line.package, each.on.package, each.line.version, each.bound)
        extras = [e.line.extra for e in told if (*key[:3], key[3]) == _key(e) and e.line.extra]
        findings.setdefault(key, _finding(chosen[each.line.package], each, extras))
    return [findings[key] for key in sorted(findings)]


class _Judged(NamedTuple):
    """A line about two packages of the set: what it bounds, and whether the pin satisfies that. `is_own` says
    that the chosen release itself declares it."""

    line: Declared
    on: Artefact
    bound: str
    holds: bool
    is_own: bool


def _key(judged: _Judged) -> tuple[str, str, str, str]:
    return judged.line.package, judged.on.package, judged.line.version, judged.bound


def _judged(line: Declared, chosen: Mapping[str, Artefact]) -> _Judged | None:
    artefact, requirement = chosen.get(line.package), _parse(line.requires)
    if artefact is None or requirement is None or not requirement.specifier or _TOOLING.match(line.extra):
        return None
    on = chosen.get(_normalised(requirement.name))
    if on is None or on is artefact:
        return None
    bound = str(requirement.specifier)
    is_own = line.version == artefact.version
    if not is_own:
        bound = "" if _bounds(artefact, on.package) else _for_neighbour(requirement, line, artefact)
    return _Judged(line, on, bound, _satisfies(on.version, bound), is_own) if bound else None


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


def _finding(artefact: Artefact, judged: _Judged, extras: Sequence[str]) -> Finding:
    line, on, bound = judged.line, judged.on, judged.bound
    named = ", ".join(f"[{extra}]" for extra in extras)
    who = f"its extra{'s' if len(extras) > 1 else ''} {named}" if extras else f"{line.package} {line.version}"
    text = (
        f"{artefact.package} {artefact.version} is locked with {on.package} {on.version}; "
        f"{who} declare{'' if len(extras) > 1 else 's'} {line.requires}"
    )
    name = line.extra if judged.is_own else line.version
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
        places=(Place(artefact.package, artefact.version, artefact.file.filename),),
        fact=fact,
        details=(f"{line.package} {line.version}: {line.requires}",),
    )
