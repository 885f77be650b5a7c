"""Judging claims by answers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from compatlock.audit.looks import NO, NO_MEMBER, UNTOLD, YES, Answer
from compatlock.audit.verify import (
    Ask,
    Judge,
    is_open,
    joined,
    judge,
    judge_all,
    judge_beyond,
    spread,
    within,
)
from compatlock.model.evidence import (
    CONFIRMED,
    REFUTED,
    REGEX,
    STALE,
    UNCHECKED,
    Checked,
    Claim,
    Look,
    worst,
)

LOOK = Look(REGEX, "a.py", "x")
VERSIONS = [f"1.{minor}" for minor in range(40, -1, -1)]  # newest first


def run(judged: Judge, answer: Callable[[Ask], Answer]) -> tuple[Checked, int, int]:
    """The judgement, how many questions it took, and in how many rounds."""
    asked, rounds = 0, 0
    try:
        asks = next(judged)
        while True:
            asked += len(asks)
            rounds += 1
            # What others ask is answered, too.
            others = [Ask(LOOK, "a", "7.0"), Ask(LOOK, "a", "8.0")]
            known = dict(zip(others, [Answer(YES), Answer(NO)], strict=True))
            asks = judged.send({**known, **{ask: answer(ask) for ask in asks}})
    except StopIteration as ended:
        return ended.value, asked, rounds


def minor(ask: Ask) -> int:
    return int(ask.version.split(".")[1])


def shown_from(first: int, last: int = 99) -> Callable[[Ask], Answer]:
    """Releases 1.first to 1.last show it."""
    return lambda ask: Answer(YES) if first <= minor(ask) <= last else Answer(NO, "a.py has no x")


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [(YES, CONFIRMED), (NO, REFUTED), (NO_MEMBER, REFUTED), (UNTOLD, UNCHECKED)],
)
def test_one_release(answer: str, verdict: str) -> None:
    claim = Claim(LOOK, package="a", version="1.0")
    checked, asked, _ = run(judge(claim), lambda _: Answer(answer, "why"))
    assert (checked.verdict, checked.reason, asked) == (verdict, "" if answer == YES else "why", 1)


def test_a_range_that_is_as_claimed() -> None:
    claim = Claim(LOOK, package="a", present=">=1.20", absent="<=1.19")
    checked, asked, rounds = run(judge(claim, VERSIONS), shown_from(20))
    assert checked == Checked(CONFIRMED)
    assert (asked, rounds) == (10, 1)


def test_newer_releases_that_no_longer_show_it() -> None:
    claim = Claim(LOOK, package="a", present=">=1.20", absent="<=1.19")
    checked, asked, _ = run(judge(claim, VERSIONS), shown_from(20, 33))
    assert checked == Checked(STALE, "a.py has no x", "present: >=1.20,<=1.33")
    assert asked < 25


def test_newer_releases_that_show_it_again() -> None:
    claim = Claim(LOOK, package="a", absent=">=1.20")
    checked, _, _ = run(judge(claim, VERSIONS), lambda ask: Answer(YES if minor(ask) > 31 else NO_MEMBER))
    assert checked == Checked(STALE, "a 1.40: a.py has it", "absent: >=1.0,<=1.31")


def test_a_range_that_began_later() -> None:
    claim = Claim(LOOK, package="a", present=">=1.20")
    checked, _, _ = run(judge(claim, VERSIONS), shown_from(24))
    assert checked == Checked(REFUTED, "a.py has no x", "present: >=1.24")


def test_a_closed_range_is_refuted_rather_than_stale() -> None:
    claim = Claim(LOOK, package="a", present=">=1.20,<=1.30")
    checked, _, _ = run(judge(claim, VERSIONS), shown_from(20, 27))
    assert checked == Checked(REFUTED, "a.py has no x", "present: >=1.20,<=1.27")


def test_a_range_in_which_nothing_shows_it() -> None:
    claim = Claim(LOOK, package="a", present=">=1.20")
    checked, _, _ = run(judge(claim, VERSIONS), lambda _: Answer(NO, "a.py has no x"))
    assert checked == Checked(REFUTED, "a.py has no x")


def test_a_range_without_releases() -> None:
    claim = Claim(LOOK, package="a", present=">=7")
    checked, asked, _ = run(judge(claim, VERSIONS), shown_from(0))
    assert checked == Checked(UNCHECKED, "no release of a within >=7 has a wheel to look into")
    assert asked == 0


def test_releases_that_cannot_be_read() -> None:
    claim = Claim(LOOK, package="a", present=">=1.20")
    checked, _, _ = run(judge(claim, VERSIONS), lambda _: Answer(UNTOLD, "no answer"))
    assert checked == Checked(UNCHECKED, "no answer")
    some, _, _ = run(
        judge(claim, VERSIONS), lambda a: Answer(UNTOLD, "gone") if minor(a) == 40 else Answer(YES)
    )
    assert some == Checked(CONFIRMED, "not all could be read: gone")


def test_claims_that_belong_together() -> None:
    one, other = Claim(LOOK, package="a", version="1.1"), Claim(LOOK, package="a", version="1.2")
    both = judge_all([judge(one), judge(other)])
    checked, _, _ = run(both, lambda ask: Answer(YES) if ask.version == "1.1" else Answer(NO, "no x"))
    assert checked == Checked(REFUTED, "no x")


@pytest.mark.parametrize(
    ("verdicts", "verdict"),
    [
        ([CONFIRMED, UNCHECKED], UNCHECKED),
        ([CONFIRMED, CONFIRMED], CONFIRMED),
        ([UNCHECKED, STALE], STALE),
        ([STALE, REFUTED], REFUTED),
    ],
)
def test_joined(verdicts: list[str], verdict: str) -> None:
    assert joined([Checked(each) for each in verdicts]).verdict == verdict


def test_the_worst() -> None:
    assert worst([UNCHECKED, CONFIRMED]) == CONFIRMED
    assert worst([CONFIRMED, STALE, UNCHECKED]) == STALE
    assert worst([]) == UNCHECKED


def test_what_one_release_showed_is_gone_in_newer_ones() -> None:
    claim = Claim(LOOK, package="a", version="1.20")
    beyond = judge_beyond("a", ">=1.18", [claim], "1.20", VERSIONS[:23])
    checked, _, _ = run(beyond, shown_from(0, 30))
    assert checked == Checked(STALE, "a.py has no x", "versions: >=1.18,<=1.30")


def test_what_one_release_showed_is_still_there() -> None:
    claims = [Claim(LOOK._replace(member=name), package="a", version="1.20") for name in ("a.py", "b.py")]
    # One of several is enough: the others may have been renamed.
    beyond = judge_beyond("a", "", claims, "1.20", VERSIONS)
    checked, asked, _ = run(beyond, lambda ask: Answer(YES if ask.look.member == "b.py" else NO_MEMBER))
    assert (checked, asked) == (Checked(CONFIRMED), 2)
    gone = judge_beyond("a", "", claims, "1.20", VERSIONS)
    checked, _, _ = run(gone, lambda _: Answer(NO_MEMBER, "no such file"))
    assert checked == Checked(UNCHECKED, "no such file")
    newest = judge_beyond("a", "", claims, "1.40", VERSIONS)
    assert run(newest, shown_from(0)) == (Checked(CONFIRMED), 0, 0)


def test_specifiers() -> None:
    assert within(">=1.38", VERSIONS) == [0, 1, 2]
    assert within(">=2", ["2.0", "2.0rc1", "1.0"]) == [0]
    assert within("", ["2.0rc1"]) == [0]
    assert [is_open(text) for text in ("", ">=1", ">1,!=3", "<2", "==1.*", "~=1.0", ">=1,<=2")] == (
        [True, True, True, False, False, False, False]
    )


def test_samples_have_both_ends() -> None:
    assert spread([3, 4]) == [3, 4]
    assert spread(range(100)) == [0, 25, 50, 74, 99]
