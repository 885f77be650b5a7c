"""A lock as JSON and back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compatlock.errors import InputError
from compatlock.lockfile.lock_json import from_json, to_json
from compatlock.model.lock import Lock, LockedEdge, LockedFile, Pin, SoftFactReport, TierValue

_texts = st.lists(st.text(), max_size=3).map(tuple)


def _tuples(values: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(values, max_size=3).map(tuple)


_files = st.builds(LockedFile, st.text(), st.text(), st.integers(), st.none() | st.integers(), st.text())
_pins = st.builds(
    Pin,
    st.text(),
    st.text(),
    _tuples(_files),
    _texts,
    st.booleans(),
    st.text(),
    st.integers(),
    st.integers(),
    _texts,
    _texts,
    st.text(),
    _texts,
)
_edges = st.builds(LockedEdge, st.text(), st.text(), st.text(), st.text(), _texts, st.text(), st.booleans())
_locks = st.builds(
    Lock,
    _tuples(_pins),
    _tuples(_edges),
    _texts,
    _texts,
    _tuples(st.builds(SoftFactReport, st.text(), st.text(), st.integers())),
    _tuples(st.builds(TierValue, st.text(), st.integers(), st.text(), st.booleans())),
    st.text(),
    st.text(),
    st.text(),
    st.text(),
    _texts,
)


@given(_locks)
def test_round_trip(lock: Lock) -> None:
    value = to_json(lock)
    assert value["version"] == 1
    back = json.loads(json.dumps(value))
    assert back == value
    assert from_json(back) == lock


def test_form() -> None:
    lock = Lock(
        (Pin("a", "1", (LockedFile("a-1.tar.gz", "00", 5, 7),), is_root=True, newest="1"),),
        (LockedEdge("", "a", ">=1", extras=("x",), origin="r.in:1"),),
        objective=(TierValue("worst root lag", 0, "days"),),
    )
    assert to_json(lock) == {
        "version": 1,
        "pins": [
            {
                "name": "a",
                "version": "1",
                "files": [{"filename": "a-1.tar.gz", "sha256": "00", "size": 5, "upload_time": 7, "url": ""}],
                "extras": [],
                "is_root": True,
                "newest": "1",
                "lag_days": 0,
                "lag_releases": 0,
                "held_by": [],
                "notes": [],
                "index_url": "",
                "repaired": [],
                "marker": "",
            }
        ],
        "edges": [
            {
                "package": "",
                "on": "a",
                "specifier": ">=1",
                "extra": "",
                "extras": ["x"],
                "origin": "r.in:1",
                "waived": False,
            }
        ],
        "roots": [],
        "waivers": [],
        "broken_soft_facts": [],
        "objective": [{"name": "worst root lag", "value": 0, "unit": "days", "proved": True}],
        "command": "",
        "target": "",
        "index_state": "",
        "strategy": "optimal",
        "notes": [],
        "cuda": "",
    }


def test_reads_what_was_written_before_urls_were_kept() -> None:
    lock = Lock(
        (Pin("a", "1", (LockedFile("a-1.tar.gz", "00", url="https://index.example/a-1.tar.gz"),)),), ()
    )
    value = to_json(lock)
    del value["pins"][0]["index_url"], value["pins"][0]["files"][0]["url"]
    assert from_json(value) == lock._replace(
        pins=(lock.pins[0]._replace(files=(LockedFile("a-1.tar.gz", "00"),)),)
    )


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"version": 2}, "the lock has the form version 2; this compatlock reads 1: lock again"),
        ({"pins": None}, "the lock: `pins` is expected to be a list"),
        ({"pins": [1]}, "the lock, pins[0]: an object is expected"),
        ({"pins": [{}]}, "the lock, pins[0]: `name` is expected to be text"),
        ({"edges": [{"package": 1}]}, "the lock, edges[0]: `package` is expected to be text"),
        (
            {"objective": [{"name": "a", "value": True}]},
            "the lock, objective[0]: `value` is expected to be a whole number",
        ),
        ({"notes": [1]}, "the lock: `notes` is expected to be a list of texts"),
    ],
)
def test_says_what_is_wrong(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as caught:
        from_json({**to_json(Lock((), ())), **change})
    assert caught.value.message == problem


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(sorted(to_json(Lock((), ())))), _json)
def test_any_other_value_is_refused_or_read(key: str, value: Any) -> None:
    try:
        lock = from_json({**to_json(Lock((), ())), key: value})
    except InputError:
        return
    assert from_json(to_json(lock)) == lock
