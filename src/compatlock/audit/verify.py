"""Judges claims of evidence by what files show: confirmed, refuted, or stale, with the range that is true.

A judge is a generator that yields batches of questions and is sent the answers, so that who drives many
of them reads for all at once. Nothing is read here.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence

from compatlock.audit.layout import install_path
from compatlock.audit.looks import NO, NO_MEMBER, UNTOLD, YES, Answer
from compatlock.model.evidence import (
    CONFIRMED,
    REFUTED,
    STALE,
    UNCHECKED,
    Checked,
    Claim,
    Look,
    OverlapClaim,
    worst,
)
from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compatlock.model.artefact import Directory

# How many releases of a range are looked into: both ends, and some between.
_SAMPLES = 5


class Ask(NamedTuple):
    """A look into a release of a package, or into one `file`."""

    look: Look
    package: str = ""
    version: str = ""
    file: str = ""


Judge = Generator[Sequence[Ask], Mapping[Ask, Answer], Checked]


def judge(claim: Claim, versions: Sequence[str] = ()) -> Judge:
    """Judge a claim. `versions` are the releases of its package that can be looked into, newest first; they
    are needed for claims about ranges."""
    if claim.present is None and claim.absent is None:
        return _judge_one(claim)
    return _judge_ranges(claim, versions)


def judge_all(claims: Sequence[Judge]) -> Judge:
    """Judge claims that only together are a piece of evidence."""
    results: list[Checked] = []
    for each in claims:
        results += [(yield from each)]
    return joined(results)


def joined(results: Sequence[Checked]) -> Checked:
    """One result for several that belong together: the worst verdict, with its reasons. What cannot be
    checked leaves the whole open, unless something is wrong."""
    verdicts = [each.verdict for each in results]
    verdict = UNCHECKED if UNCHECKED in verdicts and worst(verdicts) == CONFIRMED else worst(verdicts)
    telling = [each for each in results if each.verdict == verdict]
    reasons = dict.fromkeys(each.reason for each in telling if each.reason)
    corrections = dict.fromkeys(each.correction for each in telling if each.correction)
    return Checked(verdict, "; ".join(reasons), "; ".join(corrections))


def _judge_one(claim: Claim) -> Judge:
    ask = _ask(claim, claim.version)
    answer = (yield [ask])[ask]
    if answer.state == YES:
        return Checked(CONFIRMED)
    return Checked(UNCHECKED if answer.state == UNTOLD else REFUTED, answer.reason)


def _ask(claim: Claim, version: str) -> Ask:
    return Ask(claim.look, claim.package, version, claim.wheel)


class _Side(NamedTuple):
    """The releases of one specifier, as places in the list of all, newest first, and what they should
    show."""

    word: str
    specifier: str
    places: Sequence[int]
    shows: bool


def _judge_ranges(claim: Claim, versions: Sequence[str]) -> Judge:
    sides = [
        _Side(word, specifier, within(specifier, versions), word == "present")
        for word, specifier in (("present", claim.present), ("absent", claim.absent))
        if specifier is not None
    ]
    for side in sides:
        if not side.places:
            reason = f"no release of {claim.package} within {side.specifier} has a wheel to look into"
            return Checked(UNCHECKED, reason)
    samples = {place: _ask(claim, versions[place]) for side in sides for place in spread(side.places)}
    answers = yield list(samples.values())
    known = {place: answers[ask] for place, ask in samples.items()}
    results: list[Checked] = []
    for side in sides:
        results += [(yield from _judge_side(claim, versions, side, known))]
    return joined(results)


def _judge_side(claim: Claim, versions: Sequence[str], side: _Side, known: Mapping[int, Answer]) -> Judge:
    asked = spread(side.places)
    right = [place for place in asked if _fits(known[place], side)]
    wrong = [place for place in asked if known[place].state != UNTOLD and place not in right]
    if not wrong:
        untold = [known[place].reason for place in asked if known[place].state == UNTOLD]
        if not right:
            return Checked(UNCHECKED, untold[0])
        return Checked(CONFIRMED, f"not all could be read: {untold[0]}" if untold else "")
    place = wrong[0]
    reason = known[place].reason or f"{claim.package} {versions[place]}: {claim.look.member} has it"
    if not right:
        return Checked(REFUTED, reason)
    good = right[0]
    newest, oldest = yield from _interval(claim, versions, good, side)
    correction = f"{side.word}: {_specifier(versions, newest, oldest, side)}"
    is_stale = place < min(right) and is_open(side.specifier)
    return Checked(STALE if is_stale else REFUTED, reason, correction)


def _fits(answer: Answer, side: _Side) -> bool:
    return answer.state == YES if side.shows else answer.state in (NO, NO_MEMBER)


def _interval(
    claim: Claim, versions: Sequence[str], good: int, side: _Side
) -> Generator[Sequence[Ask], Mapping[Ask, Answer], tuple[int, int]]:
    """The newest and the oldest place around `good` that fit, found at growing distances, then by halves."""
    ends = []
    for step, most in ((-1, good), (1, len(versions) - 1 - good)):
        fits, fails = 0, 1
        while fits < most:
            fails = min(fails, most)
            if not (yield from _fits_at(claim, versions, good + step * fails, side)):
                break
            fits, fails = fails, fails * 2
        while fails - fits > 1 and fits < most:
            middle = (fits + fails) // 2
            if (yield from _fits_at(claim, versions, good + step * middle, side)):
                fits = middle
            else:
                fails = middle
        ends.append(good + step * fits)
    return ends[0], ends[1]


def _fits_at(
    claim: Claim, versions: Sequence[str], place: int, side: _Side
) -> Generator[Sequence[Ask], Mapping[Ask, Answer], bool]:
    ask = _ask(claim, versions[place])
    return _fits((yield [ask])[ask], side)


def _specifier(versions: Sequence[str], newest: int, oldest: int, side: _Side) -> str:
    """The specifier of the places, open where the claim was and nothing speaks against it."""
    if newest == 0 and is_open(side.specifier):
        return f">={versions[oldest]}"
    if oldest == len(versions) - 1 and ">" not in side.specifier:
        return f"<={versions[newest]}"
    if newest == oldest:
        return f"=={versions[newest]}"
    return f">={versions[oldest]},<={versions[newest]}"


def judge_beyond(
    package: str, row: str, claims: Sequence[Claim], claimed: str, versions: Sequence[str]
) -> Judge:
    """Whether what `claims` show of release `claimed` can still be seen in the newest release of `row`, an
    open range of a fact's `versions`. `versions` are the releases within it, newest first.

    One claim that still holds is enough. Where the newest release has no such members, nothing is known.
    """
    if not versions or versions[0] == claimed or claimed not in versions:
        return Checked(CONFIRMED)
    asks = [Ask(claim.look, package, versions[0]) for claim in claims]
    answers = yield asks
    if any(answers[ask].state == YES for ask in asks):
        return Checked(CONFIRMED)
    failing = [ask for ask in asks if answers[ask].state == NO]
    if not failing:
        return Checked(UNCHECKED, answers[asks[0]].reason)
    side = _Side("versions", row, range(len(versions)), shows=True)
    claim = Claim(failing[0].look, package=package)
    good = versions.index(claimed)
    newest, _ = yield from _interval(claim, versions[: good + 1], good, side)
    ending = ",".join(filter(None, (row, f"<={versions[newest]}")))
    return Checked(STALE, answers[failing[0]].reason, f"versions: {ending}")


def judge_overlap(claim: OverlapClaim, directories: Mapping[str, Directory]) -> Checked:
    """Judge a claim by the directories of its two files, by name."""
    for name in (claim.a, claim.b):
        if directories[name].problem:
            return Checked(UNCHECKED, f"{name}: {directories[name].problem}")
    files, differ = count_overlap(claim.a, claim.b, directories)
    if (files, differ) == (claim.files, claim.differ):
        return Checked(CONFIRMED)
    return Checked(REFUTED, f"they share {files} paths, {differ} with different content")


def count_overlap(one: str, other: str, directories: Mapping[str, Directory]) -> tuple[int, int]:
    """How many paths two files, by name, both install, and how many of them with different content. Of a
    source distribution it is the paths below its top folder."""
    ours, theirs = (_installed(name, directories[name]) for name in (one, other))
    common = ours.keys() & theirs.keys()
    return len(common), sum(ours[path] != theirs[path] for path in common)


def _installed(name: str, directory: Directory) -> dict[str, tuple[int, int]]:
    """Size and checksum by the path of installation."""
    found = {}
    for member in directory.members:
        inner = member.path if name.endswith(".whl") else member.path.partition("/")[2]
        path = install_path(inner)
        if path:
            found[path] = member.size, member.crc
    return found


def within(specifier: str, versions: Sequence[str]) -> list[int]:
    """The places of the releases within a specifier (PEP 440), pre-releases only if it names one or there
    is nothing else."""
    from packaging.specifiers import SpecifierSet

    allowed = set(SpecifierSet(specifier).filter(versions))
    return [place for place, version in enumerate(versions) if version in allowed]


def is_open(specifier: str) -> bool:
    """Whether a specifier has no upper end."""
    return not any(part.strip().startswith(("<", "==", "~=")) for part in specifier.split(","))


def spread(places: Sequence[int]) -> list[int]:
    """Both ends of a range, and some places between."""
    if len(places) <= _SAMPLES:
        return list(places)
    last = len(places) - 1
    return [places[round(i * last / (_SAMPLES - 1))] for i in range(_SAMPLES)]
