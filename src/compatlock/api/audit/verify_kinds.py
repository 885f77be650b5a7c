"""What facts say by their kind alone, whatever their evidence: checked against the index as it is now."""

from __future__ import annotations

from compatlock.api.audit.bisect_releases import interval
from compatlock.api.audit.evidence_files import package_of
from compatlock.audit.providers import FAMILIES
from compatlock.audit.verify import count_overlap, is_open, within
from compatlock.model.artefact import Artefact
from compatlock.model.cuda import majors_within
from compatlock.model.evidence import (
    CONFIRMED,
    IMPORTS,
    LEAVES,
    REFUTED,
    STALE,
    UNCHECKED,
    Checked,
    Claim,
    OverlapClaim,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from compatlock.api.audit.auditing import Workshop
    from compatlock.api.audit.evidence_files import EvidenceFiles
    from compatlock.api.options import LockOptions
    from compatlock.index.supply import Supply
    from compatlock.knowledge.claims import Claims
    from compatlock.model.fact import Fact, FactBound


class Kinds:
    """Checks facts by their kind, over one index and target."""

    def __init__(
        self, options: LockOptions, supply: Supply, files: EvidenceFiles, workshop: Workshop
    ) -> None:
        self._options = options
        self._supply = supply
        self._files = files
        self._workshop = workshop

    def check(self, fact: Fact, evidence: Sequence[Claims]) -> Iterator[Checked]:
        """Yield what became of what the fact's kind says. Raises as `Supply.packages`."""
        if fact.kind == "declared-unsat":
            yield from self._unsatisfiable(fact)
        for row in fact.bounds:
            if fact.kind == "cuda" and is_open(row.versions):
                yield self._cuda(fact, row)
            elif fact.kind == "overlap" and (is_open(row.versions) or is_open(row.bound)):
                yield self._overlap(fact, row, evidence)
        for claim in _wants(fact, evidence):
            yield from self._wanted(fact, claim)

    # What declares contradictions

    def _unsatisfiable(self, fact: Fact) -> Iterator[Checked]:
        from compatlock.api.drive import drive
        from compatlock.api.request import prepare
        from compatlock.solver.search import search
        from compatlock.solver.universe import Universe

        extra = f"[{fact.extra}]" if fact.extra else ""
        for row in fact.bounds:
            asked = [f"{fact.package}{extra}{row.versions}", *([] if fact.extra else [fact.on])]
            asked += fact.present
            options = self._options._replace(requirements=tuple(asked))
            request = prepare(options, self._supply.memo).request
            universe = Universe(request.amendments, self._supply.is_compiled, self._supply.is_elsewhere)
            solution = drive(search(universe, request), universe, self._supply)
            if solution is None:
                yield Checked(CONFIRMED, f"nothing satisfies {', '.join(asked)}")
                continue
            chosen = solution.chosen[fact.package]
            version = universe.packages[fact.package].versions[chosen]
            reason = f"what is declared can be satisfied: {fact.package}{extra} {version}"
            yield Checked(REFUTED, reason)

    # What wheels are built for

    def _cuda(self, fact: Fact, row: FactBound) -> Checked:
        versions = self._within(fact.package, row.versions)
        allowed = frozenset(map(int, majors_within(row.bound)))
        if not versions:
            return Checked(UNCHECKED, f"no release of {fact.package} within {row.versions} has a wheel")

        def other(place: int) -> frozenset[int]:
            return self._majors(fact.package, versions[place]) - allowed

        found = other(0)
        if not found:
            return Checked(CONFIRMED)
        last, _ = interval(len(versions), len(versions) - 1, lambda place: not other(place))
        reason = f"{fact.package} {versions[0]} is built for CUDA {min(found)}"
        return _stale(reason, fact.package, row.versions, versions[last])

    def _majors(self, package: str, version: str) -> frozenset[int]:
        from compatlock.api.audit.artefacts import artefact_at
        from compatlock.audit.cuda_use import cuda_majors_of

        index = self._supply.package(package).index_of(version)
        artefact = artefact_at(self._supply, package, index) if index is not None else None
        if artefact is None:
            return frozenset()
        return cuda_majors_of(artefact, self._workshop.reader, self._workshop.observations)

    # Which files they share

    def _overlap(self, fact: Fact, row: FactBound, evidence: Sequence[Claims]) -> Checked:
        """Whether the newest releases that the row speaks of still overlap."""
        ours, theirs = self._within(fact.package, row.versions), self._within(fact.on, row.bound)
        if not ours or not theirs:
            return Checked(UNCHECKED, f"no files of {fact.package} and {fact.on} to compare")
        told = self._differs(fact, ours[0], theirs[0])
        if told is None:
            return Checked(UNCHECKED, f"{fact.package} {ours[0]} and {fact.on} {theirs[0]} were not read")
        if told:
            return Checked(CONFIRMED)
        reason = f"{fact.package} {ours[0]} and {fact.on} {theirs[0]} overwrite nothing of each other"
        for one, other in _pairs(evidence):
            if one in ours and other in theirs:
                place = interval(
                    len(theirs), theirs.index(other), lambda j: bool(self._differs(fact, ours[0], theirs[j]))
                )[0]
                if self._differs(fact, ours[0], theirs[place]):
                    return _stale(reason, fact.on, row.bound, theirs[place])
                place = interval(
                    len(ours), ours.index(one), lambda i: bool(self._differs(fact, ours[i], theirs[0]))
                )[0]
                if self._differs(fact, ours[place], theirs[0]):
                    return _stale(reason, fact.package, row.versions, ours[place])
        return Checked(STALE, reason)

    def _differs(self, fact: Fact, one: str, other: str) -> int | None:
        """How many files two releases install with different content; None when that cannot be told."""
        files = [self._files.any_file(fact.package, one), self._files.any_file(fact.on, other)]
        there = [file for file in files if file is not None]
        directories = self._workshop.reader.directories(there)
        if len(there) < len(files) or any(directory.problem for directory in directories.values()):
            return None
        return count_overlap(there[0].filename, there[1].filename, directories)[1]

    # What they want of each other

    def _wanted(self, fact: Fact, claim: Claim) -> Iterator[Checked]:
        """Whether releases of `on` that the fact allows have what a release of its package wants, and those
        beside them that it excludes have not."""
        release = release_of(claim, fact.package)
        versions = self._within(fact.on, "")
        names = claim.look.kind == IMPORTS
        what = claim.look.text if names else f"what {fact.package} {release} wants"
        asked = self._lacks_names if names else self._lacks_symbols

        def lacks(place: int) -> bool | None:
            return asked(claim, fact, versions[place])

        for row in fact.bounds:
            allowed = set(within(row.bound, versions)) if row.bound else set()
            if allowed and release and within(row.versions, [release]):
                yield self._wanted_in(fact, row, versions, allowed, lacks, what)

    def _wanted_in(
        self,
        fact: Fact,
        row: FactBound,
        versions: Sequence[str],
        allowed: set[int],
        lacks: Callable[[int], bool | None],
        what: str,
    ) -> Checked:
        newest = min(allowed)
        if lacks(newest):
            return Checked(REFUTED, f"{fact.on} {versions[newest]} lacks {what}, too")
        beside = [p for p in (newest - 1, max(allowed) + 1) if 0 <= p < len(versions) and p not in allowed]
        told = {place: lacks(place) for place in beside}
        if not any(told.values()):
            if None in told.values() or not told:
                return Checked(UNCHECKED, f"whether {fact.on} lacks {what} cannot be told")
            names = ", ".join(versions[place] for place in beside)
            return Checked(REFUTED, f"{fact.on} {names}, which it excludes, has {what}")
        if told.get(newest - 1) and lacks(0) is False:
            last = interval(newest, newest - 1, lambda place: lacks(place) is not False)[0]
            again = f"bound: {row.bound} or >{versions[last]}"
            return Checked(STALE, f"{fact.on} {versions[0]} has {what} again", again)
        return Checked(CONFIRMED)

    def _lacks_names(self, claim: Claim, fact: Fact, version: str) -> bool | None:
        """Whether a release of `on` lacks one of the names `module:name,name`."""
        from compatlock.audit.imports import lacks

        file = self._files.file(fact.on, version)
        if isinstance(file, str):
            return None
        module, _, names = claim.look.text.partition(":")
        artefact = Artefact(fact.on, version, file)
        told = [
            lacks(artefact, module, name.strip(), self._workshop.reader, self._workshop.observations)
            for name in names.split(",")
        ]
        return True if True in told else None if None in told else False

    def _lacks_symbols(self, claim: Claim, fact: Fact, version: str) -> bool | None:
        """Whether a release of `on` lacks a symbol that the claim's wheel wants; that it has all of them is
        not known, since large libraries are not read whole."""
        from compatlock.audit.symbols import symbols_fit

        release = release_of(claim, fact.package)
        files = [
            self._files.named(claim.wheel) if claim.wheel else self._files.file(fact.package, release),
            self._files.file(fact.on, version),
        ]
        wheels = [file for file in files if not isinstance(file, str)]
        if len(wheels) < len(files):
            return None
        one, other = Artefact(fact.package, release, wheels[0]), Artefact(fact.on, version, wheels[1])
        fits = symbols_fit(one, other, self._workshop.reader, self._workshop.observations)
        return None if fits else True

    def _within(self, package: str, specifier: str) -> list[str]:
        """The releases within a specifier; those that are yanked or have no wheel if there are no others."""
        for versions in (self._files.versions(package), self._files.all_versions(package)):
            found = [versions[place] for place in within(specifier, versions)]
            if found:
                return found
        return []


def _wants(fact: Fact, evidence: Sequence[Claims]) -> Iterator[Claim]:
    """The claims that a release imports something or wants a symbol, where no evidence says who has it; one
    symbol of a release stands for all that it wants."""
    if fact.kind not in ("too-loose", "undeclared") or not fact.on:
        return
    seen = set()
    for claims in evidence:
        if isinstance(claims, (str, OverlapClaim)) or len(claims) > 1:
            continue
        look, wheel, _, version, *_ = claim = claims[0]
        if look.kind == IMPORTS or (look.kind == LEAVES and fact.on in FAMILIES):
            key = (look.text if look.kind == IMPORTS else "", wheel, version)
            if key not in seen:
                seen.add(key)
                yield claim


def release_of(claim: Claim, package: str) -> str:
    """The one release of a package that a claim is about, `""` when it is about others."""
    if claim.wheel:
        parts = claim.wheel.split("-")
        return parts[1] if len(parts) > 1 and package_of(claim.wheel) == package else ""
    return claim.version if claim.package == package else ""


def _pairs(evidence: Sequence[Claims]) -> Iterator[tuple[str, str]]:
    """The releases whose wheels were compared."""
    for claim in evidence:
        if isinstance(claim, OverlapClaim):
            one, other = (name.split("-")[1:2] for name in (claim.a, claim.b))
            if one and other:
                yield one[0], other[0]


def _stale(reason: str, package: str, specifier: str, last: str) -> Checked:
    """That a range should end at `last`."""
    bound = f"{specifier},<={last}" if specifier else f"<={last}"
    return Checked(STALE, reason, f"{package} {bound}")
