"""Facts against listings: ranges that concern no release are errors."""

from __future__ import annotations

from collections.abc import Sequence

from compatlock.knowledge.check import unmatched_versions
from compatlock.model.fact import Fact, FactBound

RELEASES = {"a": ["1.0", "1.1", "2.0rc1"], "b": ["3.0", "3.1+cu128"]}


def versions_of(project: str) -> Sequence[str]:
    return RELEASES.get(project, [])


def problems(kind: str, *rows: tuple[str, str], package: str = "a", on: str = "b") -> list[str]:
    fact = Fact("f", package, kind, tuple(FactBound(*row) for row in rows), on=on, origin="facts.toml")
    return unmatched_versions([fact], versions_of)


def test_ranges_that_match_are_silent() -> None:
    assert problems("too-loose", ("", "<3.1"), ("==1.*", "==3.1")) == []
    assert problems("hard", ("", "")) == []


def test_each_range_that_matches_nothing_is_reported() -> None:
    assert problems("too-loose", ("<1", "<=3.0"), (">=1.1", "==4"), (">3", ">4")) == [
        'facts.toml: fact "f": versions: `<1` matches no release of a',
        'facts.toml: fact "f": bound: `==4` matches no release of b',
        'facts.toml: fact "f": versions: `>3` matches no release of a',
        'facts.toml: fact "f": bound: `>4` matches no release of b',
    ]


def test_pre_releases_count_as_releases() -> None:
    assert problems("hard", (">1.1", "")) == []
    assert problems("hard", (">=2", "")) == ['facts.toml: fact "f": versions: `>=2` matches no release of a']


def test_a_bound_that_excludes_nothing_says_nothing() -> None:
    assert problems("too-loose", ("", ">=3")) == [
        'facts.toml: fact "f": bound: `>=3` excludes no release of b'
    ]
    assert problems("overlap", ("", ">=3")) == []


def test_unknown_projects() -> None:
    assert problems("too-loose", ("", ">1"), package="nope") == [
        'facts.toml: fact "f": versions: `*` matches no release of nope',
        'facts.toml: fact "f": bound: `>1` excludes no release of b',
    ]
    assert problems("overlap", ("", ">1"), on="nope") == ['facts.toml: fact "f": on: no release of nope']
    fact = Fact("f", "a", "known-bad", (FactBound("==1.0"),), present=("b", "nope"), origin="facts.toml")
    assert unmatched_versions([fact], versions_of) == [
        'facts.toml: fact "f": when.present: no release of nope'
    ]


def test_cuda_is_no_project() -> None:
    assert problems("cuda", ("", "==12.*"), on="__cuda") == []
