"""For which releases what an audit found holds: the facts that its findings imply."""

from __future__ import annotations

from compatlock.api.audit.artefacts import artefact_at
from compatlock.api.audit.bisect_releases import interval, specifier_of
from compatlock.model.cuda import CUDA
from compatlock.model.fact import Fact, FactBound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from compatlock.api.audit.checks import Checks
    from compatlock.index.supply import Supply
    from compatlock.model.artefact import Artefact
    from compatlock.model.finding import Finding
    from compatlock.model.package import Package


class Implied:
    """Runs a finding's check again over other releases of the one or two packages that it is about.

    `versions` are those of the set in which something was found, `{package: version}`.
    """

    def __init__(self, checks: Checks, supply: Supply, versions: Mapping[str, str]) -> None:
        self._checks = checks
        self._supply = supply
        self._at = {
            name: index
            for name, version in versions.items()
            if (index := supply.package(name).index_of(version)) is not None
        }

    def facts(self, finding: Finding) -> tuple[Fact, ...]:
        """Return the facts that a finding implies, for as many releases as it was found to hold for, none
        when it implies none. Raises as `Supply.packages`.

        First the other package's releases are tried beside the one that was seen, then this one's beside
        the first and the last of those.
        """
        fact = finding.fact
        if fact is None or finding.package not in self._at:
            return ()
        if fact.on == CUDA:
            return self._cuda(finding, fact)
        seen = self._at[finding.package]
        if finding.on not in self._at:
            mine = self._interval(finding.package, lambda i: self._shows(finding, i, None))
            return (_holding(fact, self._specifier(finding.package, mine), fact.bounds[0].bound),)
        theirs = self._interval(finding.on, lambda j: self._shows(finding, seen, j))
        ends = tuple(dict.fromkeys(theirs))
        mine = self._interval(finding.package, lambda i: all(self._shows(finding, i, j) for j in ends))
        other = self._supply.package(finding.on)
        bound = specifier_of(other.versions, *theirs) if fact.kind == "overlap" else _outside(other, *theirs)
        return (_holding(fact, self._specifier(finding.package, mine), bound),)

    def _cuda(self, finding: Finding, fact: Fact) -> tuple[Fact, ...]:
        """That the wheels are for the CUDA that they are for; of the one that it was measured by, too."""
        found = [_holding(fact, self._built_alike(finding.package), fact.bounds[0].bound)]
        majors = self._majors(finding.on, self._at[finding.on]) if finding.on in self._at else frozenset()
        if len(majors) == 1:
            name, major = finding.on, min(majors)
            bound = FactBound(self._built_alike(name), f"=={major}.*")
            summary = f"the wheels of {name} are built for CUDA {major}"
            found.append(
                Fact(
                    f"audit-cuda-{name}-{major}",
                    name,
                    "cuda",
                    (bound,),
                    CUDA,
                    summary=summary,
                    origin="audit",
                )
            )
        return tuple(found)

    def _built_alike(self, name: str) -> str:
        """The releases around the one that was seen that are for the same CUDA major."""
        majors = self._majors(name, self._at[name])
        return self._specifier(name, self._interval(name, lambda i: self._majors(name, i) == majors))

    def _majors(self, name: str, index: int) -> frozenset[int]:
        artefact = artefact_at(self._supply, name, index)
        return self._checks.cuda_majors(artefact) if artefact is not None else frozenset()

    def _interval(self, name: str, shows: Callable[[int], bool]) -> tuple[int, int]:
        return interval(self._supply.package(name).size, self._at[name], shows)

    def _specifier(self, name: str, ends: tuple[int, int]) -> str:
        return specifier_of(self._supply.package(name).versions, *ends)

    def _shows(self, finding: Finding, index: int, other: int | None) -> bool:
        """Whether the same is found of other releases; not of those that have no wheel or cannot be read."""
        artefacts = [artefact_at(self._supply, finding.package, index)]
        if other is not None:
            artefacts.append(artefact_at(self._supply, finding.on, other))
        wheels: list[Artefact] = [artefact for artefact in artefacts if artefact is not None]
        if len(wheels) < len(artefacts):
            return False
        again = self._checks.again(finding.check, wheels)
        # Which of the two is at fault can be the other one for other releases.
        return any(f.fails and {f.package, f.on} == {finding.package, finding.on} for f in again)


def _holding(fact: Fact, versions: str, bound: str) -> Fact:
    """The fact for the releases that it was found to hold for; where these are more than the one that was
    seen, the summary says so, since explanations print it."""
    from compatlock.api.audit.words import fact_text

    bounds = (FactBound(versions, bound),)
    if bounds == fact.bounds:
        return fact
    found = fact._replace(bounds=bounds)
    reach = f"found for {fact.package}{versions}" if fact.on in ("", CUDA) else fact_text(found)
    return found._replace(summary=f"{fact.summary} ({reach})")


def _outside(package: Package, first: int, last: int) -> str:
    """The specifier of everything but the candidates `first` to `last`."""
    versions = package.versions
    if first == 0:
        return f"<{versions[last]}"
    if last == package.size - 1:
        return f">={versions[first - 1]}"
    return ",".join(f"!={versions[index]}" for index in range(first, last + 1))
