"""Files of one release that declare different dependencies."""

from __future__ import annotations

import pytest

from compatlock.audit.builds import check_builds
from compatlock.model.finding import CERTAIN, POSSIBLE
from tests.support.memory_wheels import artefact

LOCKED = artefact("lib", "1.0")
OWN = LOCKED.file.filename
OTHER = "lib-1.0-cp312-cp312-macosx_11_0_arm64.whl"


def test_files_that_differ_are_possible() -> None:
    files = {"lib": {OWN: ["a>=1", "b"], OTHER: ["a>=2", "b"]}}
    found = check_builds([LOCKED], files)
    assert [(f.check, f.package, f.certainty, f.fact) for f in found] == [("builds", "lib", POSSIBLE, None)]
    assert found[0].details == (f"{OTHER}: + a>=2", f"{OTHER}: - a>=1")
    assert [place.file for place in found[0].places] == [OWN, OTHER]
    assert OTHER in found[0].summary


def test_what_another_installer_would_take_is_certain() -> None:
    peer = "lib-1.0-1-py3-none-any.whl"
    files = {"lib": {OWN: ["a"], OTHER: ["b"], peer: ["c"]}}
    found = check_builds([LOCKED], files, {"lib": peer})
    assert [(f.certainty, f.places[1].file) for f in found] == [(CERTAIN, peer)]
    found = check_builds([LOCKED], {"lib": {OWN: ["a"], OTHER: ["b"], peer: ["a"]}}, {"lib": peer})
    assert [f.certainty for f in found] == [POSSIBLE]


@pytest.mark.parametrize(
    "other",
    [["b", "a >= 1"], ["a>=1", "b", "b"], ["A>=1", "b"]],
)
def test_the_same_said_differently_is_no_finding(other: list[str]) -> None:
    assert check_builds([LOCKED], {"lib": {OWN: ["a>=1", "b"], OTHER: other}}) == []


def test_quotes_of_markers_do_not_matter() -> None:
    own, other = ["a; extra == 'x'"], ['a; extra == "x"']
    assert check_builds([LOCKED], {"lib": {OWN: own, OTHER: other}}) == []


def test_releases_of_which_nothing_is_known() -> None:
    assert check_builds([LOCKED], {}) == []
    assert check_builds([LOCKED], {"lib": {OTHER: ["a"]}}) == []


def test_findings_are_sorted() -> None:
    more = artefact("else", "2")
    files = {
        "lib": {OWN: ["a"], OTHER: ["b"]},
        "else": {more.file.filename: ["a"], "else-2-py2-none-any.whl": ["b"]},
    }
    assert [f.package for f in check_builds([LOCKED, more], files)] == ["else", "lib"]
