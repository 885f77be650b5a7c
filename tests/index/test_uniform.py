"""Answers whose entries are all written alike are read as text, with the same result."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compatlock.index.file_entries import file_of
from compatlock.index.uniform import read_uniform
from compatlock.model.listing import File

SHA, OTHER = "ab" * 32, "cd" * 32
ENTRY: dict[str, Any] = {
    "core-metadata": {"sha256": OTHER},
    "data-dist-info-metadata": {"sha256": OTHER},
    "filename": "app-1.0-py3-none-any.whl",
    "hashes": {"sha256": SHA},
    "provenance": None,
    "requires-python": ">=3.10,<4",
    "size": 12,
    "upload-time": "2024-01-02T03:04:05.123456Z",
    "url": "https://files.example/packages/app-1.0-py3-none-any.whl",
    "yanked": False,
}
FILE = File("app-1.0-py3-none-any.whl", ENTRY["url"], SHA, 12, 1704164645, ">=3.10,<4", None, OTHER)
REST = {"meta": {"_last-serial": 5, "api-version": "1.4"}, "name": "app", "versions": ["1.0"]}
SEPARATORS = [(",", ":"), (", ", ": ")]


def changed(**fields: object) -> dict[str, Any]:
    """The entry with other fields, an underscore for a dash; ... leaves one out."""
    entry = {**ENTRY, **{name.replace("_", "-"): value for name, value in fields.items()}}
    return {name: value for name, value in entry.items() if value is not ...}


def written(*entries: Any, separators: tuple[str, str] = SEPARATORS[0]) -> bytes:
    return json.dumps({**REST, "files": [*entries]}, separators=separators).encode()


def files(body: bytes) -> list[File] | None:
    found = read_uniform(body)
    return None if found is None else found.files


def one_by_one(body: bytes) -> list[File]:
    return [file_of(entry["filename"], entry, "") for entry in json.loads(body)["files"]]


@pytest.mark.parametrize("separators", SEPARATORS, ids=str)
def test_entries_as_the_public_index_writes_them(separators: tuple[str, str]) -> None:
    body = written(ENTRY, ENTRY, separators=separators)
    found = read_uniform(body)
    assert found is not None
    assert found.files == [FILE, FILE] == one_by_one(body)
    assert all(type(file) is File for file in found.files)
    assert found.rest == {**REST, "files": []}
    assert f"[{found.text}]".encode() in body


def test_texts_that_are_not_escaped() -> None:
    entry = changed(yanked="\xfcbel \u4e0d \\")
    body = json.dumps({"files": [ENTRY, entry]}, ensure_ascii=False).encode()
    assert files(body) == one_by_one(body)
    assert files(body.replace("\xfc".encode(), b"\xff")) is None
    assert files(b"\xef\xbb\xbf" + body) is None


@pytest.mark.parametrize("place", [0, 1, 3])
def test_the_files_may_stand_anywhere_in_the_answer(place: int) -> None:
    items: list[tuple[str, Any]] = [*REST.items()]
    items.insert(place, ("files", [ENTRY]))
    assert files(json.dumps(dict(items)).encode()) == [FILE]


USUAL = [
    changed(requires_python=None),
    changed(yanked=True),
    changed(yanked="broken, see #5 [and more"),
    changed(yanked=""),
    changed(yanked='it is "bad", a \\"filename\\" \\'),
    changed(yanked="schlecht, \xfcbel \u4e0d\U0001f600"),
    changed(yanked=None),
    changed(core_metadata=False),
    changed(core_metadata=None),
    changed(size=0),
    changed(size=10**12),
    changed(provenance="https://a.example/x"),
    changed(data_dist_info_metadata=False),
    changed(data_dist_info_metadata=True),
    changed(upload_time="2024-01-02T03:04:05Z"),
    changed(upload_time="2024-01-02T03:04:05.1Z"),
    changed(upload_time="2024-01-02T03:04:05+01:00"),
    changed(upload_time="yesterday"),
    changed(upload_time=""),
    changed(filename=""),
    changed(requires_python=""),
    changed(requires_python="},{"),
]


@pytest.mark.parametrize("entry", USUAL, ids=str)
@pytest.mark.parametrize("separators", SEPARATORS, ids=str)
def test_what_differs_within_an_answer(entry: dict[str, Any], separators: tuple[str, str]) -> None:
    for entries in ([ENTRY, entry, ENTRY], [entry, ENTRY], [ENTRY, entry]):
        body = written(*entries, separators=separators)
        assert files(body) == one_by_one(body)


@pytest.mark.parametrize(
    "left_out", ["size", "upload-time", "requires-python", "yanked", "core-metadata", "provenance"]
)
def test_what_a_whole_answer_lacks(left_out: str) -> None:
    entry = changed(**{left_out: ...})
    body = written(entry, entry)
    assert files(body) == one_by_one(body)


UNUSUAL = [
    changed(requires_python='"'),
    changed(requires_python="\\"),
    changed(url="https://files.example/\xfc"),
    changed(url="/relative"),
    changed(url="http://files.example/a"),
    changed(url="https://me:secret@files.example/a"),
    changed(url="https://files.example/a#sha256=5"),
    changed(url=None),
    changed(hashes={}),
    changed(hashes={"md5": "5", "sha256": SHA}),
    changed(hashes={"sha256": SHA.upper()}),
    changed(hashes={"sha256": SHA[:-1]}),
    changed(core_metadata=True),
    changed(core_metadata={"sha256": "x" * 64}),
    changed(core_metadata={}),
    changed(size=None),
    changed(size=-1),
    changed(size=1.5),
    changed(upload_time=None),
    changed(upload_time="2024-13-02T03:04:05.123456Z"),
    changed(requires_python=3),
    changed(yanked="[bad]"),
    changed(yanked=5),
    changed(provenance=["a"]),
    changed(provenance={"a": {}}),
    changed(filename=None),
    changed(filename=...),
    changed(url=...),
    changed(hashes=...),
    changed(size=...),
    changed(more=1),
    {name: ENTRY[name] for name in reversed(ENTRY)},
    {"about": 1, "files": ENTRY},
    5,
    None,
]  # fmt: skip


@pytest.mark.parametrize("entry", UNUSUAL, ids=str)
def test_what_needs_a_closer_look_is_left_to_it(entry: Any) -> None:
    assert files(written(ENTRY, entry, ENTRY)) is None
    assert files(written(ENTRY, entry)) is None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"<html></html>",
        b'{"files": []}',
        b'{"files": [{}]}',
        b'{"files": {"a": 1}}',
        written(ENTRY)[:-1],
        written(ENTRY)[:-40],
        written(ENTRY) + b"}",
        written(ENTRY).replace(b"}]", b"},]"),
        written(ENTRY, ENTRY).replace(b"},{", b"} ,{"),
        written(ENTRY, ENTRY).replace(b"},{", b"}{"),
        written(ENTRY, changed(size=-1), ENTRY).replace(b"},{", b"}, {", 1),
        json.dumps({"meta": {"files": [ENTRY]}, "files": [ENTRY, ENTRY]}, separators=(",", ":")).encode(),
        json.dumps({"meta": {"files": [ENTRY]}}).encode(),
        json.dumps([{"files": [ENTRY]}]).encode(),
    ],
    ids=lambda body: repr(body[-30:]),
)
def test_other_answers(body: bytes) -> None:
    assert files(body) is None


texts = st.text(st.sampled_from('ab01.,:{}[]"\\/ \xfc-'), max_size=6)
values = st.one_of(st.none(), st.booleans(), texts, st.just({"sha256": SHA}), st.integers(-1, 100))


@given(st.lists(st.dictionaries(st.sampled_from([*ENTRY]), values), max_size=4), st.sampled_from(SEPARATORS))
def test_it_never_says_anything_else(changes: list[dict[str, Any]], separators: tuple[str, str]) -> None:
    body = written(*({**ENTRY, **change} for change in changes), separators=separators)
    found = files(body)
    assert found is None or found == one_by_one(body)
