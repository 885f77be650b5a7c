"""Entries read column by column give what reading them one by one gives."""

from __future__ import annotations

import pytest

from compatlock.index.file_entries import UnusableError, file_of, files_of
from compatlock.model.listing import File

ENTRY: dict[str, object] = {
    "filename": "app-1.0-py3-none-any.whl",
    "url": "https://files.example/app-1.0-py3-none-any.whl",
    "hashes": {"sha256": "0123456789abcdef" * 4},
    "size": 1000,
    "upload-time": "2024-02-29T23:59:59.999999Z",
    "requires-python": ">=3.10",
    "yanked": False,
    "core-metadata": {"sha256": "ab" * 32},
}
FILE = File(
    "app-1.0-py3-none-any.whl",
    "https://files.example/app-1.0-py3-none-any.whl",
    "0123456789abcdef" * 4,
    1000,
    1709251199,
    ">=3.10",
    None,
    "ab" * 32,
)

# Entries that differ in one field; `...` leaves it out.
USUAL = [
    *(("size", value) for value in (0, -1, None, "1000", 1.5, True, ...)),
    *(("requires-python", value) for value in (None, "", 3, ["3"], ...)),
    *(("yanked", value) for value in (True, "broken", "", None, 0, 1, ...)),
    *(("core-metadata", value) for value in (True, False, {}, {"sha256": "x"}, "yes", ...)),
    *(
        ("upload-time", value)
        for value in (
            None, 5, "", "2024-02-29T23:59:59Z", "2024-02-29T23:59:59+02:00", "2024-02-29 23:59:59.999999Z",
            "yesterday", ...,
        )
    ),
]  # fmt: skip
UNUSUAL = [
    *(
        ("url", value)
        for value in (
            "app.whl", "http://files.example/a.whl", "https://me@files.example/a.whl", "https://[::1]/a.whl",
            "https://files.example/a.whl#sha256=00", "https://files.example/é.whl", "ftp://a.example/a", "",
            "https://files.example/a.whl\nhttps://files.example/b.whl", 5, None, ...,
        )
    ),
    *(
        ("hashes", value)
        for value in (
            {}, {"sha256": ""}, {"sha256": "AB" * 32}, {"sha256": "ab" * 31}, {"sha256": "xy" * 32}, {},
            {"sha256": None}, {"sha256": "ab" * 31 + " a"}, {"sha256": 5}, None, "sha256", ["sha256"], ...,
        )
    ),
    ("filename", 5),
    ("filename", ...),
]  # fmt: skip


def changed(field: str, value: object) -> dict[str, object]:
    entry = {**ENTRY, field: value}
    if value is ...:
        del entry[field]
    return entry


def one_by_one(entries: list[dict[str, object]]) -> list[File] | None:
    try:
        return [
            file_of(str(entry["filename"]), entry, "https://index.example/simple/app/") for entry in entries
        ]
    except UnusableError:
        return None


def test_an_entry_as_the_public_index_writes_it() -> None:
    assert files_of([ENTRY]) == [FILE] == one_by_one([ENTRY])
    assert all(type(file) is File for file in files_of([ENTRY]) or ())


@pytest.mark.parametrize(("field", "value"), USUAL, ids=repr)
def test_what_may_be_missing_or_malformed_is_read_alike(field: str, value: object) -> None:
    entries = [ENTRY, changed(field, value), ENTRY]
    assert files_of(entries) == one_by_one(entries) is not None


@pytest.mark.parametrize(("field", "value"), UNUSUAL, ids=repr)
def test_what_needs_a_closer_look_is_left_to_it(field: str, value: object) -> None:
    assert files_of([ENTRY, changed(field, value), ENTRY]) is None


@pytest.mark.parametrize("text", ["2024-13-01T00:00:00.000000Z", "2024-01-01T25:00:00.000000Z"])
def test_a_time_that_only_looks_like_one_is_left_to_the_closer_look(text: str) -> None:
    entry = changed("upload-time", text)
    assert files_of([entry]) is None
    assert one_by_one([entry]) == [FILE._replace(upload_time=None)]


@pytest.mark.parametrize("entry", [None, 5, "filename", ["filename"], {}])
def test_no_entry_at_all(entry: object) -> None:
    assert files_of([ENTRY, entry]) is None  # type: ignore[list-item]


def test_no_entries_are_left_to_the_closer_look() -> None:
    assert files_of([]) is None
