"""Snapshots of observations: what was recorded is known again, without the wheels."""

from __future__ import annotations

import lzma

import pytest

from compatlock.errors import InputError
from compatlock.index.observations import StoredObservations
from compatlock.index.observed_snapshot import dump_observations, load_observations, recorded_wheels
from compatlock.index.wheel_local import LocalWheels
from compatlock.index.wheel_memory import RememberedWheels
from compatlock.model.artefact import Member
from compatlock.model.lock import LockedFile
from tests.support.artifacts import build_zip

A, B = (LockedFile(f"{name}-1-py3-none-any.whl", name * 64) for name in "ab")


def recorded() -> StoredObservations:
    observations = StoredObservations(None)
    wheels = LocalWheels({A.filename: build_zip({"a.py": b"1"}), B.filename: build_zip({"b.py": b"2"})})
    RememberedWheels(wheels, observations).directories([A, B])
    observations.put(
        "elf/1", {(A.sha256, "é.so"): b"\0\1", (B.sha256, "b.so"): b"b", (A.sha256, "a.so"): b""}
    )
    return observations


def test_what_was_recorded_is_known_again() -> None:
    snapshot = dump_observations(recorded(), [B.sha256, A.sha256, A.sha256])
    loaded = load_observations(snapshot, "the snapshot")
    assert dump_observations(loaded, [A.sha256, B.sha256]) == snapshot
    keys = [(A.sha256, "é.so"), (A.sha256, "a.so"), (B.sha256, "b.so")]
    assert loaded.get("elf/1", keys) == dict(zip(keys, (b"\0\1", b"", b"b"), strict=True))
    reader = recorded_wheels(loaded)
    assert [member.path for member in reader.directories([A])[A.filename].members] == ["a.py"]
    assert reader.contents([(A, Member("a.py", 1, 1, 0))])[A.filename, "a.py"].problem == (
        "the snapshot does not hold what is in it"
    )


def test_only_the_wanted_files_are_recorded() -> None:
    loaded = load_observations(dump_observations(recorded(), [A.sha256, "c" * 64]), "the snapshot")
    assert list(loaded.of_file(B.sha256)) == []
    assert [(kind, subject) for kind, subject, _ in loaded.of_file(A.sha256)] == [
        ("directory/1", ""),
        ("elf/1", "a.so"),
        ("elf/1", "é.so"),
    ]


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"no xz",
        lzma.compress(b"something else"),
        lzma.compress(lzma.decompress(dump_observations(recorded(), [A.sha256]))[:-1]),
        lzma.compress(lzma.decompress(dump_observations(recorded(), [A.sha256])) + b"more"),
    ],
)
def test_other_documents_are_refused(document: bytes) -> None:
    with pytest.raises(InputError, match=r"^the snapshot is no snapshot of observations: "):
        load_observations(document, "the snapshot")
