"""Specifiers answered over lists of releases are those of `packaging`, for random versions and specifiers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from compatlock.index.specifiers import answer, specifier_flags
from compatlock.model.package import IS_PIN, NAMES_PRERELEASE

NUMBERS = st.integers(0, 3)
RELEASES = st.lists(NUMBERS, min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts)))
EPOCHS = st.sampled_from(["", "", "", "1!"])
SUFFIXES = st.sampled_from(
    [
        "",
        "",
        "",
        "a1",
        "b2",
        "rc1",
        ".post0",
        ".post1",
        ".dev0",
        ".dev3",
        "a1.dev1",
        "rc1.post1",
        ".post1.dev2",
    ]
)
LOCALS = st.sampled_from(["", "", "", "+cu128", "+1", "+cu128.1", "+abc"])
PUBLIC = st.builds(lambda e, r, s: f"{e}{r}{s}", EPOCHS, RELEASES, SUFFIXES)
VERSIONS = st.builds(lambda p, x: f"{p}{x}", PUBLIC, LOCALS).map(lambda text: str(Version(text)))
CLAUSES = st.one_of(
    st.builds(lambda op, v: f"{op}{v}", st.sampled_from([">=", "<=", ">", "<"]), PUBLIC),
    st.builds(lambda op, v: f"{op}{v}", st.sampled_from(["==", "!=", "==="]), VERSIONS),
    st.builds(lambda op, e, r: f"{op}{e}{r}.*", st.sampled_from(["==", "!="]), EPOCHS, RELEASES),
    st.builds(lambda e, r, n, s: f"~={e}{r}.{n}{s}", EPOCHS, RELEASES, NUMBERS, SUFFIXES),
)
SPECIFIERS = st.lists(CLAUSES, min_size=1, max_size=3).map(",".join)


def newest_first(versions: set[str]) -> list[str]:
    return sorted(versions, key=lambda text: (Version(text), text), reverse=True)


def holds(runs: tuple[int, ...]) -> set[int]:
    return {i for k in range(1, len(runs), 2) for i in range(runs[k], runs[k + 1])}


@settings(max_examples=600, deadline=None)
@given(st.sets(VERSIONS, max_size=25).map(newest_first), SPECIFIERS)
def test_answers_are_those_of_packaging(versions: list[str], specifier: str) -> None:
    expected = SpecifierSet(specifier)
    runs = answer(specifier, versions)
    assert holds(runs) == {
        i for i, text in enumerate(versions) if expected.contains(Version(text), prereleases=True)
    }


@settings(max_examples=200, deadline=None)
@given(st.sets(VERSIONS, min_size=30, max_size=90).map(newest_first), SPECIFIERS)
def test_answers_over_long_lists_are_those_of_packaging(versions: list[str], specifier: str) -> None:
    expected = SpecifierSet(specifier)
    assert holds(answer(specifier, versions)) == {
        i for i, text in enumerate(versions) if expected.contains(Version(text), prereleases=True)
    }


@settings(max_examples=200, deadline=None)
@given(st.sets(VERSIONS, max_size=25).map(newest_first), SPECIFIERS)
def test_runs_are_ascending_disjoint_and_as_long_as_can_be(versions: list[str], specifier: str) -> None:
    bounds = answer(specifier, versions)[1:]
    assert len(bounds) % 2 == 0
    assert list(bounds) == sorted(set(bounds))
    assert all(0 <= bound <= len(versions) for bound in bounds)


@settings(max_examples=200, deadline=None)
@given(SPECIFIERS)
def test_a_specifier_names_a_pre_release_when_packaging_says_so(specifier: str) -> None:
    # `SpecifierSet.prereleases` is True exactly when a clause other than != names one.
    named = SpecifierSet(specifier).prereleases is True
    assert bool(specifier_flags(specifier) & NAMES_PRERELEASE) == named


@pytest.mark.parametrize(
    ("specifier", "flags"),
    [
        ("", 0),
        ("==1.0", IS_PIN),
        ("===1.0", IS_PIN),
        ("==1.0+cu128", IS_PIN),
        ("==1.0.*", 0),
        ("==1.0,!=2", 0),
        (">=1.0", 0),
        (">=1.0a1", NAMES_PRERELEASE),
        ("!=1.0a1", 0),
        ("==1.0rc1", IS_PIN | NAMES_PRERELEASE),
        ("<2.dev0", NAMES_PRERELEASE),
        (">=1,<2.0a0", NAMES_PRERELEASE),
        ("~=1.0b2", NAMES_PRERELEASE),
        ("===text", IS_PIN),
    ],
)
def test_flags(specifier: str, flags: int) -> None:
    assert specifier_flags(specifier) == flags


@pytest.mark.parametrize("specifier", [">=1.*", "1.0", "~=1", ">=", "==1.0.x", ">=1.0;<2"])
def test_an_invalid_specifier_holds_nowhere(specifier: str) -> None:
    with pytest.raises(InvalidSpecifier):
        SpecifierSet(specifier)
    assert answer(specifier, ["2.0", "1.0"]) == (0,)
