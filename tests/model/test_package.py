"""Candidates of a package: runs, gates, lag."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compatlock.index.specifiers import answer
from compatlock.model.package import PRERELEASE, YANKED, Package

DAY = 86_400


def package(
    all_versions: Sequence[str],
    *,
    hidden: Sequence[str] = (),
    gates: dict[str, str] | None = None,
    times: Sequence[int | None] | None = None,
    prerelease: str = "if-necessary-or-explicit",
) -> Package:
    positions = [k for k, v in enumerate(all_versions) if v not in hidden]
    versions = [all_versions[k] for k in positions]
    return Package(
        "a",
        versions,
        positions=positions,
        times=times if times is not None else [0] * len(versions),
        gates={versions.index(v): gate for v, gate in (gates or {}).items()},
        file_keys=[f"key-{v}" for v in versions],
        full_runs={},
        compute=lambda specifier: answer(specifier, all_versions),
        prerelease=prerelease,
    )


def test_runs_are_over_candidates_though_specifiers_are_answered_over_all_releases() -> None:
    a = package(["5", "4", "3", "2", "1"], hidden=["4", "2"])
    assert list(a.versions) == ["5", "3", "1"]
    assert a.runs("") == ((0, 3),)
    assert a.runs(">=2") == ((0, 2),)
    assert a.runs("==4") == ()
    assert a.runs("!=3") == ((0, 1), (2, 3))


def test_runs_that_only_a_hidden_release_separates_are_joined() -> None:
    assert package(["3", "2", "1"], hidden=["2"]).runs("!=2") == ((0, 2),)


def test_a_candidate_is_admitted_when_a_run_holds_it() -> None:
    a = package(["5", "4", "3", "2", "1"])
    assert [a.admits("!=3,<5", index) for index in range(5)] == [False, True, False, True, True]
    assert not a.admits("==7", 0)


def test_every_ordinary_candidate_is_one_release_more_behind() -> None:
    versions = ["4", "3b1", "3", "2"]
    assert list(package(versions).lags_in_releases(0)) == [0, 1, 2, 3]
    assert list(package(versions).lags_in_releases(1)) == [0, 0, 1, 2]
    assert list(package(versions, gates={"3b1": PRERELEASE}).lags_in_releases(0)) == [0, 1, 1, 2]


def test_a_package_without_candidates_has_no_runs() -> None:
    nothing = package(["1"], hidden=["1"])
    assert nothing.runs("") == ()
    assert nothing.newest() == nothing.size == 0


@pytest.mark.parametrize(
    ("specifier", "admitted"),
    [
        ("", []),  # final releases satisfy it
        (">=1", []),
        (">=2.0rc1", ["2.0rc2", "2.0rc1"]),  # names a pre-release
        ("==2.0rc1", ["2.0rc1"]),
        ("!=2.0rc1", []),  # an exclusion asks for nothing
        (">1.5,<2.0.post1", ["2.0rc2", "2.0rc1"]),  # no final release satisfies it
        (">=1.1,<1.2", []),  # only a yanked one would
        ("==1.1", ["1.1"]),  # a pin admits it
        ("===1.1", ["1.1"]),
        ("==1.1.*", []),  # a wildcard is no pin
        ("==1.1,!=1.0", []),  # nor is a range
    ],
)
def test_which_edges_admit_pre_releases_and_yanked_releases(specifier: str, admitted: list[str]) -> None:
    a = package(
        ["2.0rc2", "2.0rc1", "1.5", "1.1", "1.0"],
        gates={"2.0rc2": PRERELEASE, "2.0rc1": PRERELEASE, "1.1": YANKED},
    )
    assert [a.versions[i] for i in sorted(a.admitted_gates(specifier))] == admitted


def test_pre_release_modes() -> None:
    def admitted(mode: str, specifier: str) -> int:
        a = package(["2rc1", "1"], gates={"2rc1": PRERELEASE}, prerelease=mode)
        return len(a.admitted_gates(specifier))

    assert (admitted("explicit", ">=2rc1"), admitted("explicit", ">1")) == (1, 0)
    assert (admitted("if-necessary", ">=1rc1"), admitted("if-necessary", ">1,!=2")) == (0, 1)


def test_the_newest_candidate_is_an_ordinary_one_if_there_is_any() -> None:
    a = package(["3rc1", "2", "1"], gates={"3rc1": PRERELEASE})
    assert a.newest() == 1
    assert a.newest(((2, 3),)) == 2
    assert a.newest(((0, 1),)) == 0
    assert a.newest(()) == 3


def test_lag_in_releases_counts_ordinary_newer_candidates() -> None:
    a = package(["3", "2rc1", "2b1", "1"], gates={"2rc1": PRERELEASE, "2b1": PRERELEASE})
    assert [a.lag_releases(i, 0) for i in range(4)] == [0, 1, 1, 1]
    assert a.lag_releases(0, 3) == 0


def test_lag_in_days_is_floored_and_monotone_from_the_newest_down() -> None:
    times = [10 * DAY, 2 * DAY + 1, 9 * DAY, DAY]  # index 2 is a backport, uploaded after index 1
    a = package(["4", "3", "2.9", "1"], times=times)
    assert [a.lag_days(i, 0) for i in range(4)] == [0, 7, 7, 9]
    assert [a.lag_days(i, 1) for i in range(4)] == [0, 0, 0, 1]


def test_without_upload_times_lag_in_days_is_lag_in_releases() -> None:
    a = package(["3", "2", "1"], times=[5 * DAY, None, 0])
    assert [a.lag_days(i, 0) for i in range(3)] == [0, 1, 2]


@given(st.lists(st.none() | st.integers(0, 40 * DAY), min_size=1, max_size=8))
def test_the_lag_of_one_candidate_is_that_of_the_table(times: list[int | None]) -> None:
    a = package([str(n) for n in range(len(times), 0, -1)], times=times)
    for newest in range(a.size):
        assert [a.lag_days(i, newest) for i in range(a.size)] == [*a.lags_in_days(newest)]


@given(
    st.lists(
        st.sampled_from([">=3", "<7", "!=5", "!=6", "==4", "<=2", ">8", "!=9,!=8", "==1.*"]), max_size=4
    ),
    st.sets(st.integers(1, 9)),
    st.sets(st.integers(1, 9), max_size=5),
)
def test_the_newest_within_some_bounds(bounds: list[str], hidden: set[int], gated: set[int]) -> None:
    gates = {str(number): YANKED for number in gated - hidden}
    a = package([str(n) for n in range(9, 0, -1)], hidden=[str(n) for n in hidden], gates=gates)
    within = (i for i in range(a.size) if i not in a.gates and all(a.admits(bound, i) for bound in bounds))
    assert a.newest_within(bounds) == next(within, None)
