"""Directories are remembered by file hash; what could not be read is asked for again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from compatlock.index.observations import StoredObservations
from compatlock.index.wheel_local import LocalWheels
from compatlock.index.wheel_memory import RememberedWheels, decode_directory, encode_directory
from compatlock.model.artefact import MEMBER_LIMIT, Content, Directory, Member, WheelReader
from compatlock.model.lock import LockedFile
from tests.support.artifacts import build_zip

A, B, C = (LockedFile(f"{name}-1-py3-none-any.whl", name * 64) for name in "abc")
WHEELS = {A.filename: build_zip({"a.py": b"1", "é/ü.py": b"2"}), B.filename: build_zip({})}

NUMBERS = st.integers(0, 0xFFFFFFFF)
LARGE = st.integers(0, 2**63)
PATHS = st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1)
MEMBERS = st.builds(Member, PATHS, LARGE | NUMBERS, NUMBERS, NUMBERS, NUMBERS, st.sampled_from([0, 8, 99]))


class Counting(WheelReader):
    """A reader that notes for which files it was asked."""

    def __init__(self, reader: WheelReader) -> None:
        self.asked: list[str] = []
        self._reader = reader

    def directories(self, files: Iterable[LockedFile]) -> Mapping[str, Directory]:
        files = list(files)
        self.asked += [file.filename for file in files]
        return self._reader.directories(files)

    def each_content(
        self, wanted: Iterable[tuple[LockedFile, Member]], *, limit: int = MEMBER_LIMIT
    ) -> Iterator[tuple[LockedFile, Member, Content]]:
        wanted = list(wanted)
        self.asked += [member.path for _, member in wanted]
        return self._reader.each_content(wanted, limit=limit)


@given(st.lists(MEMBERS, max_size=20))
@settings(deadline=None)
def test_directories_are_encoded_without_loss(members: list[Member]) -> None:
    directory = Directory(tuple(members))
    assert decode_directory(encode_directory(directory)) == directory


@given(st.binary(max_size=100))
def test_other_bytes_are_no_directory(data: bytes) -> None:
    found = decode_directory(data)
    assert found is None or encode_directory(found)


def test_a_second_look_asks_nothing() -> None:
    counting = Counting(LocalWheels(WHEELS))
    observations = StoredObservations(None)
    first = RememberedWheels(counting, observations).directories([A, B])
    assert counting.asked == [A.filename, B.filename]
    assert RememberedWheels(counting, observations).directories([B, A]) == first
    assert list(first) == [A.filename, B.filename]
    assert first == LocalWheels(WHEELS).directories([A, B])
    assert counting.asked == [A.filename, B.filename]


def test_what_could_not_be_read_is_asked_for_again_by_the_next_run_only() -> None:
    counting = Counting(LocalWheels(WHEELS, missing="it is gone"))
    observations = StoredObservations(None)
    for _ in range(2):
        reader = RememberedWheels(counting, observations)
        for _ in range(2):
            assert reader.directories([A, C])[C.filename] == Directory(problem="it is gone")
    assert counting.asked == [A.filename, C.filename, C.filename]


def test_a_file_without_a_hash_is_asked_for_again_by_the_next_run_only() -> None:
    counting = Counting(LocalWheels(WHEELS))
    observations = StoredObservations(None)
    for _ in range(2):
        reader = RememberedWheels(counting, observations)
        for _ in range(2):
            assert len(reader.directories([A._replace(sha256="")])[A.filename].members) == 2
    assert counting.asked == [A.filename, A.filename]


def test_contents_are_those_of_the_reader() -> None:
    counting = Counting(LocalWheels(WHEELS))
    reader = RememberedWheels(counting, StoredObservations(None))
    wanted = [(A, member) for member in reader.directories([A])[A.filename].members]
    for _ in range(2):
        assert reader.contents([*wanted, *wanted]) == {
            (A.filename, "a.py"): Content(b"1"),
            (A.filename, "é/ü.py"): Content(b"2"),
        }
    assert counting.asked == [A.filename, "a.py", "é/ü.py", "a.py", "é/ü.py"]
    assert sorted(content.data for _, _, content in reader.each_content(wanted)) == [b"1", b"2"]


def test_what_a_wheel_says_of_itself_is_remembered() -> None:
    info = {"c-1.dist-info/METADATA": b"Name: c\n", "c-1.dist-info/RECORD": b"x" * 300_000, "c.py": b"3"}
    counting = Counting(LocalWheels({C.filename: build_zip(info)}))
    observations = StoredObservations(None)
    for _ in range(2):
        reader = RememberedWheels(counting, observations)
        members = reader.directories([C])[C.filename].members
        found = reader.contents([(C, member) for member in members])
        assert {path: content.data for (_, path), content in found.items()} == info
    assert counting.asked == [C.filename, *info, "c-1.dist-info/RECORD", "c.py"]
    other = [(C, members[0]._replace(crc=1))]
    assert (
        "checksum"
        in RememberedWheels(counting, observations).contents(other)[C.filename, members[0].path].problem
    )
