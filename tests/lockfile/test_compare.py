"""What differs between two locks, as values and in words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compatlock.lockfile.compare import Change, changes, describe

_locks = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(["1", "2", "3"]))


def test_changes_and_their_words() -> None:
    found = changes({"trl": "1.15.0", "gone": "1", "same": "1"}, {"new": "2", "same": "1", "trl": "1.16.0"})
    assert found == (Change("gone", "1", ""), Change("new", "", "2"), Change("trl", "1.15.0", "1.16.0"))
    assert describe(found) == (
        "1 changed, 1 added, 1 removed\n  removed gone 1\n  added new 2\n  changed trl 1.15.0 -> 1.16.0"
    )
    assert describe(()) == "no changes"
    assert describe(found[1:2]) == "1 added\n  added new 2"


@given(_locks, _locks)
def test_changes_turn_the_old_into_the_new(old: dict[str, str], new: dict[str, str]) -> None:
    found = changes(old, new)
    assert list(found) == sorted(found)
    result = dict(old)
    for change in found:
        assert result.pop(change.name, "") == change.old != change.new
        if change.new:
            result[change.name] = change.new
    assert result == new
