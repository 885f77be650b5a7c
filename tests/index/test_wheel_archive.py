"""Zip directories and members: what zipfile writes reads back equal, and hostile archives are problems."""

from __future__ import annotations

import io
import itertools
import random
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compatlock.index import wheel_directory, wheel_member
from compatlock.index.wheel_archive import GAP, MAX_PART, plan_parts
from compatlock.index.wheel_local import LocalWheels
from compatlock.index.wheel_member import unpack
from compatlock.model.artefact import Content, Directory, Member
from compatlock.model.lock import LockedFile
from tests.support.artifacts import build_zip

NAME = "app-1.0-py3-none-any.whl"
FILE = LockedFile(NAME)

PATHS = st.text(
    st.characters(codec="utf-8", exclude_characters="\\/", exclude_categories=("Cc", "Cs")),
    min_size=1,
    max_size=12,
).filter(lambda part: part not in (".", "..") and part[1:2] != ":")
NAMES = st.lists(PATHS, min_size=1, max_size=3).map("/".join)


def directory(data: bytes) -> Directory:
    return LocalWheels({NAME: data}).directories([FILE])[NAME]


def contents(data: bytes, members: tuple[Member, ...], limit: int = 1 << 20) -> dict[str, Content]:
    found = LocalWheels({NAME: data}).contents([(FILE, member) for member in members], limit=limit)
    return {path: content for (_, path), content in found.items()}


def read(data: bytes) -> dict[str, bytes]:
    """Everything in an archive that is in order."""
    members = directory(data)
    assert not members.problem
    found = contents(data, members.members)
    assert all(content.complete and not content.problem for content in found.values())
    return {path: content.data for path, content in found.items()}


class Unseekable(io.BytesIO):
    """A stream for which zipfile writes data descriptors."""

    def seekable(self) -> bool:
        return False

    def seek(self, *_: object) -> int:
        raise io.UnsupportedOperation


@st.composite
def archives(draw: st.DrawFn) -> tuple[bytes, dict[str, bytes]]:
    """What zipfile may write, and what is in it."""
    wanted = draw(st.dictionaries(NAMES, st.binary(max_size=300) | st.just(b"abc" * 20_000), max_size=6))
    stream = draw(st.sampled_from([io.BytesIO, Unseekable]))()
    with zipfile.ZipFile(stream, "w") as archive:
        for path, data in wanted.items():
            info = zipfile.ZipInfo(path)
            info.extra = b"".join(
                struct.pack("<2H", 0x7777, len(extra)) + extra
                for extra in draw(st.lists(st.binary(max_size=200), max_size=2))
            )
            info.comment = draw(st.binary(max_size=20))
            info.compress_type = draw(st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))
            with archive.open(info, "w", force_zip64=draw(st.booleans())) as member:
                member.write(data)
            if draw(st.booleans()):
                archive.writestr(f"folder{len(archive.infolist())}/", b"")
        archive.comment = draw(st.binary(max_size=100)).replace(b"PK", b"")
    before = draw(st.sampled_from([b"", b"#!/bin/sh\n"]))
    return before + stream.getvalue(), wanted


@given(archives())
@settings(max_examples=150, deadline=None)
def test_what_zipfile_writes_reads_back_equal(made: tuple[bytes, dict[str, bytes]]) -> None:
    data, wanted = made
    assert read(data) == wanted
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        sizes = {
            i.filename: (i.file_size, i.compress_size, i.CRC) for i in archive.infolist() if not i.is_dir()
        }
    assert {m.path: (m.size, m.packed, m.crc) for m in directory(data).members} == sizes


@given(archives(), st.data())
@settings(max_examples=200, deadline=None)
def test_damage_gives_a_problem_or_the_right_bytes(
    made: tuple[bytes, dict[str, bytes]], draw: st.DataObject
) -> None:
    damaged = bytearray(made[0])
    for _ in range(draw.draw(st.integers(1, 4))):
        damaged[draw.draw(st.integers(0, len(damaged) - 1))] = draw.draw(st.integers(0, 255))
    data = bytes(damaged[: draw.draw(st.integers(1, len(damaged)) | st.just(len(damaged)))])
    found = directory(data)
    assert not (found.problem and found.members)
    for path, content in contents(data, found.members).items():
        assert not (content.problem and content.data)
        # A changed byte in a name makes another member of the same content.
        if not content.problem and content.complete:
            assert path in made[1] or content.data in made[1].values()
            assert made[1].get(path, content.data) == content.data


@given(st.binary(max_size=200))
def test_noise_is_a_problem(noise: bytes) -> None:
    assert directory(noise).problem


def test_zip64_counts_sizes_and_offsets(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = {f"app{n}.py": bytes([n]) * 1000 for n in range(5)}
    for limit, value in (("ZIP_FILECOUNT_LIMIT", 1), ("ZIP64_LIMIT", 500)):
        stream = io.BytesIO()
        with monkeypatch.context() as patch, zipfile.ZipFile(stream, "w") as archive:
            patch.setattr(zipfile, limit, value)
            for path, data in wanted.items():
                archive.writestr(path, data)
            archive.close()
        assert b"PK\6\6" in stream.getvalue()
        assert read(stream.getvalue()) == wanted
        assert read(b"before" * 100 + stream.getvalue()) == wanted


def test_more_members_than_sixteen_bits_count() -> None:
    wanted = {f"app/m{n}.py": b"" for n in range(66_000)}
    data = build_zip(wanted)
    assert [member.path for member in directory(data).members] == list(wanted)


def test_a_comment_of_any_length() -> None:
    for length in (1, 1000, 65_535):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr("app.py", b"x")
            archive.comment = b"c" * length
        assert read(stream.getvalue()) == {"app.py": b"x"}


def raw_zip(
    entries: list[tuple[bytes, bytes]], edit: Callable[[int, bytearray], None] | None = None
) -> bytes:
    """An archive of stored members with names as given; `edit` may change each directory entry."""
    body, central = bytearray(), bytearray()
    for number, (name, data) in enumerate(entries):
        crc = zlib.crc32(data)
        entry = bytearray(
            struct.pack(
                "<4s6H3L5H2L", b"PK\1\2", 20, 20, 0x800, 0, 0, 33, crc, len(data), len(data), len(name),
                0, 0, 0, 0, 0, len(body),
            )
        )  # fmt: skip
        if edit is not None:
            edit(number, entry)
        central += entry + name
        body += struct.pack(
            "<4s5H3L2H", b"PK\3\4", 20, 0x800, 0, 0, 33, crc, len(data), len(data), len(name), 0
        )
        body += name + data
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, len(entries), len(entries), len(central), len(body), 0)
    return bytes(body + central + end)


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../app.py",
        "app/../../x.py",
        "app\\x.py",
        "C:/x.py",
        "C:x.py",
        "a\nb",
        "a\0b",
        "",
        ".",
        "/",
    ],
)
def test_paths_that_lead_elsewhere_are_a_problem(path: str) -> None:
    found = directory(raw_zip([(b"app.py", b"x"), (path.encode(), b"x")]))
    assert found.members == ()
    assert found.problem.startswith("the wheel has a member with an unsafe path: `")
    assert found.problem.isprintable()


def test_paths_are_normal() -> None:
    data = raw_zip([(b"./app.py", b"1"), (b"lib//sub/./x.py", b"2"), (b"lib/", b""), (b"./", b"")])
    assert read(data) == {"app.py": b"1", "lib/sub/x.py": b"2"}


def test_a_name_that_is_not_utf8_is_a_problem() -> None:
    assert "not UTF-8" in directory(raw_zip([(b"\xff\xfe.py", b"x")])).problem


def test_duplicates() -> None:
    assert read(raw_zip([(b"a.py", b"x"), (b"b.py", b""), (b"./a.py", b"x")])) == {"a.py": b"x", "b.py": b""}
    found = directory(raw_zip([(b"a.py", b"x"), (b"a.py", b"y")]))
    assert found == Directory(problem="the wheel has two different members `a.py`")


def test_overlapping_members_are_a_problem() -> None:
    def onto_the_first(_: int, entry: bytearray) -> None:
        struct.pack_into("<L", entry, 42, 0)

    overlapping = raw_zip([(b"a.py", b"x" * 50), (b"b.py", b"x" * 50)], onto_the_first)
    assert directory(overlapping).problem == "members of the wheel overlap each other in the archive"


@pytest.mark.parametrize(("at", "value"), [(42, 10_000), (42, 0xFFFFFFFE), (20, 0x7FFFFFFF)])
def test_members_outside_are_a_problem(at: int, value: int) -> None:
    def edit(_: int, entry: bytearray) -> None:
        struct.pack_into("<L", entry, at, value)

    assert (
        directory(raw_zip([(b"a.py", b"x")], edit)).problem
        == "the wheel's zip directory points to the wrong place"
    )


@pytest.mark.parametrize("count", [0, 1, 3, 500])
def test_a_wrong_count_is_a_problem(count: int) -> None:
    data = bytearray(raw_zip([(b"a.py", b"x"), (b"b.py", b"x")]))
    struct.pack_into("<2H", data, len(data) - 14, count, count)
    assert directory(bytes(data)).problem == (
        f"the wheel's zip directory is damaged: it has 2 entries and claims {count}"
    )


def test_too_many_members_are_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheel_directory, "MAX_MEMBERS", 3)
    assert directory(build_zip(dict.fromkeys("abcd", b""))).problem == "the wheel has more than 3 members"


def test_a_split_archive_is_a_problem() -> None:
    data = bytearray(raw_zip([(b"a.py", b"x")]))
    struct.pack_into("<H", data, len(data) - 18, 3)
    assert "several files" in directory(bytes(data)).problem


def test_encryption_and_other_methods_are_problems_of_their_member() -> None:
    def edit(number: int, entry: bytearray) -> None:
        if number == 0:
            struct.pack_into("<H", entry, 8, 1)
        if number == 1:
            struct.pack_into("<H", entry, 10, 93)

    data = raw_zip([(b"a.py", b"x"), (b"b.py", b"x"), (b"c.py", b"x")], edit)
    found = contents(data, directory(data).members)
    assert found["a.py"].problem == "it is encrypted"
    assert found["b.py"].problem == "the wheel's zip directory and its members tell of different compressions"
    assert found["c.py"] == Content(b"x")
    zstd = Member("b.py", 1, 1, 0, 0, 93)
    assert unpack(b"x", zstd).problem == "`b.py` is packed by method 93; only deflate is known"


def test_lzma_is_named() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.py", b"x")
    found = contents(stream.getvalue(), directory(stream.getvalue()).members)
    assert found["a.py"] == Content(
        complete=False, problem="`a.py` is packed by method 14; only deflate is known"
    )


def test_names_that_differ_are_a_problem() -> None:
    data = raw_zip([(b"a.py", b"x")])
    other = data.replace(b"a.py", b"b.py", 1)
    assert contents(other, directory(other).members)["a.py"].problem == (
        "the wheel's zip directory and its members name different files"
    )


def test_a_wrong_checksum_is_a_problem() -> None:
    data = bytearray(raw_zip([(b"a.py", b"x" * 10)]))
    data[36] ^= 1
    found = contents(bytes(data), directory(bytes(data)).members)["a.py"]
    assert found == Content(complete=False, problem="`a.py` is damaged (its checksum is wrong)")


def test_a_bomb_is_unpacked_to_what_it_says_only() -> None:
    bomb = bytearray(build_zip({"bomb.bin": b"\0" * 50_000_000}))
    struct.pack_into("<L", bomb, bomb.rindex(b"PK\1\2") + 24, 1000)
    tracemalloc.start()
    found = contents(bytes(bomb), directory(bytes(bomb)).members)["bomb.bin"]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "checksum is wrong" in found.problem
    assert peak < 2_000_000


@pytest.mark.parametrize(
    "data", [b"\0" * 10_000_000, random.Random(1).randbytes(3_000_000), b"abc" * 1_000_001]
)
def test_large_members_take_little_more_memory_than_they_have(data: bytes) -> None:
    wheel = build_zip({"lib.so": data})
    members = directory(wheel).members
    tracemalloc.start()
    found = contents(wheel, members, limit=20 << 20)["lib.so"]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == Content(data)
    assert peak < len(data) * 1.5 + members[0].packed + 3_000_000


def test_a_bomb_that_says_so_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheel_member, "MAX_UNPACKED", 5000)
    data = build_zip({"bomb.bin": b"\0" * 50_000_000, "small.bin": b"\0" * 5000})
    found = contents(data, directory(data).members)
    assert found == {"bomb.bin": Content(b"\0" * 5000, complete=False), "small.bin": Content(b"\0" * 5000)}


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_members_beyond_the_limit_are_read_as_far_as_it_goes(method: int) -> None:
    noise = bytes(number * number % 251 ^ (number >> 8) & 255 for number in range(50_000))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        archive.writestr("lib.so", noise)
        archive.writestr("b.so", b"small")
    data = stream.getvalue()
    found = contents(data, directory(data).members, limit=10_000)
    assert found["b.so"] == Content(b"small")
    assert (found["lib.so"].complete, found["lib.so"].problem) == (False, "")
    assert len(found["lib.so"].data) > 9_000
    assert noise.startswith(found["lib.so"].data)


def test_members_near_to_each_other_are_got_together() -> None:
    offsets = itertools.accumulate([0, 200, 200 + GAP, 200 + 10 * GAP, 300, MAX_PART])
    members = [Member(f"{offset}.py", 100, 100, 0, offset) for offset in offsets]
    parts = plan_parts(reversed(members), 1 << 20)
    assert [len(part.members) for part in parts] == [3, 2, 1]
    assert all(part.end - part.start <= MAX_PART for part in parts)
    assert [member for part in parts for member in part.members] == members


def test_parts_are_bounded() -> None:
    members = [Member(f"{n}.py", 1_000_000, 1_000_000, 0, n * 1_000_100) for n in range(20)]
    large = Member("large.so", 10 * MAX_PART, 10 * MAX_PART, 0, 30_000_000)
    parts = plan_parts([*members, large, *members], 20 << 20)
    assert sum(len(part.members) for part in parts) == 21
    assert max(part.end - part.start for part in parts if large not in part.members) <= MAX_PART
    [of_large] = [part for part in parts if large in part.members]
    assert of_large.members == (large,)
    assert of_large.end - of_large.start < (20 << 20) + 1000
