"""Checks the evidence of facts again, against an index: what `compatlock conflicts verify` does."""

from __future__ import annotations

from contextlib import ExitStack

from compatlock.api.audit.auditing import Workshop
from compatlock.api.audit.evidence_files import EvidenceFiles, package_of
from compatlock.api.audit.verify_kinds import Kinds, release_of
from compatlock.api.session import with_supply
from compatlock.audit.looks import UNTOLD, Answer, look_into
from compatlock.audit.verify import (
    Ask,
    is_open,
    judge,
    judge_all,
    judge_beyond,
    judge_overlap,
    within,
)
from compatlock.index.sdist_reader import SdistReader, SeveralReaders
from compatlock.index.wheel_memory import RememberedWheels
from compatlock.model.evidence import (
    CONFIRMED,
    REQUIRES,
    UNCHECKED,
    Checked,
    CheckedFact,
    Claim,
    OverlapClaim,
    VerifyReport,
)
from compatlock.model.target import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from compatlock.api.options import LockOptions
    from compatlock.api.request import Prepared
    from compatlock.audit.looks import Asked
    from compatlock.audit.verify import Judge
    from compatlock.index.progress import Progress
    from compatlock.index.supply import Supply
    from compatlock.knowledge.claims import Claims
    from compatlock.knowledge.documented import DocumentedFact
    from compatlock.model.fact import Fact
    from compatlock.model.lock import LockedFile

    # A fact's place, and one of its evidence; numbers below zero are of what is checked beyond it.
    Key = tuple[int, int]

# What decides between the wheels of a release when nobody says so: verdicts are the same everywhere.
USUAL_TARGET = Target("3.12", "x86_64-manylinux_2_39")


def verify_facts(
    options: LockOptions,
    facts: Sequence[DocumentedFact],
    *,
    on_progress: Callable[[Progress], None] | None = None,
) -> VerifyReport:
    """Check the evidence of facts again.

    Of the options target, index and cache count; the target only decides which wheel of a release is
    looked into, and is USUAL_TARGET unless given. Raises InputError, IndexUnavailable (NotCached offline).
    """
    target = options.target.or_else(USUAL_TARGET)
    plain = options._replace(
        target=target, requirements=(), files=(), facts=(), shipped_facts=False, max_lag=("none",)
    )

    def work(prepared: Prepared, supply: Supply) -> VerifyReport:
        with ExitStack() as stack:
            workshop = _with_sdists(Workshop.open(plain, stack, on_progress), offline=plain.offline)
            checked = tuple(_Verifier(plain, supply, workshop, facts).run())
            notes = prepared.notes
            cost = workshop.remote.requests, workshop.remote.bytes_received
        supply.save()
        return VerifyReport(str(supply.target), checked, notes, *cost)

    return with_supply(plain, work, on_progress=on_progress, needs_roots=False)


def _with_sdists(workshop: Workshop, *, offline: bool) -> Workshop:
    """A workshop that looks into source distributions, too."""

    def read(files: Iterable[LockedFile], limit: int) -> dict[str, tuple[bytes, str]]:
        if offline:
            return {file.filename: (b"", "offline, and the cache does not hold it") for file in files}
        return workshop.remote.whole(files, limit)

    sdists = RememberedWheels(SdistReader(read), workshop.observations)
    return workshop._replace(reader=SeveralReaders(workshop.reader, sdists))


class _Verifier:
    """One run over some facts."""

    def __init__(
        self, options: LockOptions, supply: Supply, workshop: Workshop, facts: Sequence[DocumentedFact]
    ) -> None:
        from compatlock.knowledge.claims import claims_of

        self._workshop = workshop
        self._files = EvidenceFiles(supply)
        self._kinds = Kinds(options, supply, self._files, workshop)
        self._facts = facts
        self._claims: list[list[Claims]] = [[claims_of(item) for item in each.evidence] for each in facts]

    def run(self) -> Iterator[CheckedFact]:
        """Yield what became of each fact."""
        self._files.load(sorted(set(self._packages())))
        self._spell()
        results = {**self._overlaps(), **self._drive(dict(self._judges()))}
        for place, each in enumerate(self._facts):
            pieces = []
            for number, claims in enumerate(self._claims[place]):
                told = Checked(UNCHECKED, claims) if isinstance(claims, str) else results[place, number]
                pieces.append(told)
            beyond = [results[key] for key in sorted(results) if key[0] == place and key[1] < 0]
            beyond += self._kinds.check(each.fact, self._claims[place])
            yield CheckedFact(
                each.fact.id, tuple(pieces), tuple(b for b in beyond if b != Checked(CONFIRMED))
            )

    def _packages(self) -> Iterator[str]:
        for claims in (claims for fact in self._claims for claims in fact):
            if isinstance(claims, OverlapClaim):
                yield from filter(None, map(package_of, claims[:2]))
            elif not isinstance(claims, str):
                for claim in claims:
                    yield from filter(None, [claim.package or package_of(claim.wheel)])

    def _spell(self) -> None:
        """Take versions as the index spells them."""
        for fact in self._claims:
            for number, claims in enumerate(fact):
                if isinstance(claims, tuple) and not isinstance(claims, OverlapClaim):
                    fact[number] = tuple(
                        claim._replace(version=self._files.spelled(claim.package, claim.version))
                        if claim.version
                        else claim
                        for claim in claims
                    )

    def _judges(self) -> Iterator[tuple[Key, Judge]]:
        for place, each in enumerate(self._facts):
            for number, claims in enumerate(self._claims[place]):
                if not isinstance(claims, (str, OverlapClaim)):
                    yield (place, number), judge_all([judge(c, self._versions(c)) for c in claims])
            for number, beyond in enumerate(self._beyond(each.fact, self._claims[place])):
                yield (place, -1 - number), beyond

    def _versions(self, claim: Claim) -> list[str]:
        if claim.present is None and claim.absent is None:
            return []
        return self._files.versions(claim.package, claim.look.member)

    def _beyond(self, fact: Fact, evidence: Sequence[Claims]) -> Iterator[Judge]:
        """Whether the newest releases of a fact's open ranges still show what single releases showed."""
        for row in fact.bounds:
            if not is_open(row.versions) or fact.kind == "cuda":
                continue  # what wheels are built for is asked of them as a whole
            claims = [
                claim._replace(version=version, wheel="", package=fact.package)
                for several in evidence
                if isinstance(several, tuple) and not isinstance(several, OverlapClaim)
                for claim in several[:1]
                if claim.look.kind != REQUIRES and (version := release_of(claim, fact.package))
            ]
            members = {claim.look.member for claim in claims}
            known = self._files.versions(fact.package, next(iter(members), ""))
            versions = [known[i] for i in within(row.versions, known)]
            told = [claim for claim in claims if claim.version in versions]
            if told:
                newest = min((claim.version for claim in told), key=versions.index)
                last = [claim for claim in told if claim.version == newest]
                yield judge_beyond(fact.package, row.versions, last, newest, versions)

    def _overlaps(self) -> dict[Key, Checked]:
        found: dict[Key, Checked] = {}
        pairs = {}
        for place, fact in enumerate(self._claims):
            for number, claims in enumerate(fact):
                if isinstance(claims, OverlapClaim):
                    both = [self._files.named(claims.a), self._files.named(claims.b)]
                    files = [file for file in both if not isinstance(file, str)]
                    if len(files) == len(both):
                        pairs[place, number] = claims, files
                    else:
                        told = "; ".join(file for file in both if isinstance(file, str))
                        found[place, number] = Checked(UNCHECKED, told)
        directories = self._workshop.reader.directories(f for _, files in pairs.values() for f in files)
        for key, (claim, _) in pairs.items():
            found[key] = judge_overlap(claim, directories)
        return found

    def _drive(self, judges: Mapping[Key, Judge]) -> dict[Key, Checked]:
        """Let all judges have their say, answering in each round what all of them ask."""
        results: dict[Key, Checked] = {}
        asked: dict[Key, Sequence[Ask]] = {}

        def step(key: Key, answers: Mapping[Ask, Answer] | None) -> None:
            try:
                asked[key] = next(judges[key]) if answers is None else judges[key].send(answers)
            except StopIteration as ended:
                results[key] = ended.value

        for key in judges:
            step(key, None)
        while asked:
            answers = self._answer(dict.fromkeys(ask for asks in asked.values() for ask in asks))
            waiting, asked = asked, {}
            for key in waiting:
                step(key, answers)
        return results

    def _answer(self, asks: Mapping[Ask, None]) -> dict[Ask, Answer]:
        answers: dict[Ask, Answer] = {}
        wanted: dict[Ask, Asked] = {}
        for ask in asks:
            if ask.file:
                file = self._files.named(ask.file)
            else:
                file = self._files.file(ask.package, ask.version, ask.look.member)
            if isinstance(file, str):
                answers[ask] = Answer(UNTOLD, file)
            else:
                wanted[ask] = file, ask.look
        found = look_into(wanted.values(), self._workshop.reader, self._workshop.observations)
        answers.update((ask, found[file.filename, look]) for ask, (file, look) in wanted.items())
        return answers
