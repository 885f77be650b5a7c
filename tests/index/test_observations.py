"""The cache of what was read off files: by hash and subject, bounded, shared, never failing a run."""

from __future__ import annotations

import multiprocessing
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compatlock.errors import InputError
from compatlock.index.observations import FILE_NAME, StoredObservations

A, B = "a" * 64, "b" * 64
KIND = "elf/1"


def opened(path: Path, **bounds: int) -> StoredObservations:
    return StoredObservations(str(path), **bounds)


def sha(number: int) -> str:
    return f"{number:064x}"


def test_summaries_are_found_by_file_kind_and_subject(tmp_path: Path) -> None:
    with opened(tmp_path) as first:
        first.put(KIND, {(A, "lib.so"): b"libcudart.so.13", (A, ""): b"", (B, "lib.so"): b"x" * 10_000})
        assert first.get(KIND, [(A, "lib.so")]) == {(A, "lib.so"): b"libcudart.so.13"}
    with opened(tmp_path) as again:
        wanted = [(A, "lib.so"), (A, ""), (A, "other.so"), (B, "lib.so"), (sha(3), "lib.so")]
        assert again.get(KIND, wanted) == {
            (A, "lib.so"): b"libcudart.so.13",
            (A, ""): b"",
            (B, "lib.so"): b"x" * 10_000,
        }
        assert again.get("elf/2", wanted) == {}


@given(
    st.dictionaries(
        st.tuples(st.sampled_from([A, B]), st.text(max_size=8)), st.binary(max_size=300), max_size=30
    )
)
@settings(max_examples=50, deadline=None)
def test_what_is_put_is_got(summaries: dict[tuple[str, str], bytes]) -> None:
    with StoredObservations(None) as memory:
        memory.put(KIND, summaries)
        assert memory.get(KIND, [*summaries, (A, "never put")]) == summaries
        changed = {key: value + b"!" for key, value in summaries.items()}
        memory.put(KIND, changed)
        assert memory.get(KIND, list(summaries)) == changed


def test_a_file_without_a_hash_is_not_remembered(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.put(KIND, {("", "lib.so"): b"x", ("no hash", "lib.so"): b"x", ("z" * 64, "lib.so"): b"x"})
        assert store.get(KIND, [("", "lib.so"), ("no hash", "lib.so"), ("z" * 64, "lib.so")]) == {}


def test_what_was_not_used_for_the_longest_time_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    day = 20_000

    def at(number: int) -> StoredObservations:
        monkeypatch.setattr("time.time", lambda: (day + number) * 86_400.0)
        return opened(tmp_path, max_files=10)

    for number in range(10):
        with at(number) as store:
            store.put(KIND, {(sha(number), ""): b"x"})
    with at(20) as store:
        assert store.get(KIND, [(sha(0), "")])
    with at(21) as store:
        store.put(KIND, {(sha(99), ""): b"x"})
    with at(22) as store:
        keys = [(sha(number), "") for number in (*range(10), 99)]
        kept = [int(key[0], 16) for key in store.get(KIND, keys)]
    assert kept == [0, 4, 5, 6, 7, 8, 9, 99]


def test_bytes_are_bounded(tmp_path: Path) -> None:
    noise = [bytes((n * k * k) % 251 ^ (k >> 3) & 255 for k in range(1000)) for n in range(1, 60)]
    with opened(tmp_path, max_bytes=32_000) as store:
        for number, body in enumerate(noise):
            store.put(KIND, {(sha(number), ""): body})
    with opened(tmp_path, max_bytes=32_000) as store:
        found = store.get(KIND, [(sha(number), "") for number in range(len(noise))])
        assert 10 <= len(found) <= 32
        assert (sha(len(noise) - 1), "") in found
        store.put(KIND, {(A, ""): b"x" * 2001})
        assert store.get(KIND, [(A, "")]) == {}


def test_a_damaged_row_counts_as_missing(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.put(KIND, {(A, "one"): b"1" * 500, (A, "two"): b"2"})
    with sqlite3.connect(tmp_path / FILE_NAME) as database:
        database.execute("update summary set body = substr(body, 1, 6) where subject = 'one'")
    with opened(tmp_path) as store:
        assert store.get(KIND, [(A, "one"), (A, "two")]) == {(A, "two"): b"2"}
    with sqlite3.connect(tmp_path / FILE_NAME) as database:
        database.execute("update summary set subject = 'three' where subject = 'two'")
    with opened(tmp_path) as store:
        assert store.get(KIND, [(A, "three")]) == {}


@pytest.mark.parametrize("content", [b"", b"no database at all" * 100])
def test_a_damaged_file_is_started_afresh(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    with opened(tmp_path) as store:
        assert store.get(KIND, [(A, "")]) == {}
        store.put(KIND, {(A, ""): b"x"})
    with opened(tmp_path) as store:
        assert store.get(KIND, [(A, "")]) == {(A, ""): b"x"}


def test_a_file_that_cannot_be_written_is_continued_in_memory(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.put(KIND, {(A, ""): b"x"})
        store._database._connection.execute("pragma query_only = on")
        store.put(KIND, {(B, ""): b"y"})
        assert store.get(KIND, [(A, ""), (B, "")]) == {(A, ""): b"x", (B, ""): b"y"}


def test_a_place_that_is_no_directory_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be used"):
        StoredObservations(str(tmp_path / "file"))


def _put(path: str, start: int) -> None:
    with StoredObservations(path) as store:
        for number in range(start, start + 20):
            store.put(KIND, {(sha(number), ""): str(number).encode(), (A, str(number)): b"x"})


def test_processes_share_a_file(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_put, args=(str(tmp_path), start)) for start in (0, 10)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    with opened(tmp_path) as store:
        assert len(store.get(KIND, [(sha(number), "") for number in range(30)])) == 30
        assert len(store.get(KIND, [(A, str(number)) for number in range(30)])) == 30
