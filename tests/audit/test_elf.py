"""The ELF reader: what was written is read, and no bytes make it fail in any other way than by its error."""

from __future__ import annotations

import contextlib
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compatlock.audit.elf import Elf, ElfError, Wanted, read_elf
from compatlock.audit.elf_summary import decode_elf, encode_elf
from tests.support.elf_writer import Undefined, shared_object

NAMES = st.lists(st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_]{0,20}", fullmatch=True), unique=True, max_size=12)
LIBRARIES = st.lists(
    st.from_regex(r"lib[a-z]{1,8}\.so(\.[0-9]{1,2}){0,2}", fullmatch=True), unique=True, max_size=5
)
UNDEFINED = st.lists(
    st.builds(
        Undefined,
        st.from_regex(r"u_[a-z]{1,10}", fullmatch=True),
        st.sampled_from(["V_1", "V_2.5"]),
        st.sampled_from(["libx.so.1", "liby.so.2"]),
        st.booleans(),
    )
    | st.builds(
        Undefined, st.from_regex(r"n_[a-z]{1,10}", fullmatch=True), st.just(""), st.just(""), st.booleans()
    ),
    unique_by=lambda u: u.name,
    max_size=8,
)
SAMPLE = {
    "needed": ["libcudart.so.13", "libc.so.6"],
    "soname": "libmine.so",
    "defined": ["mine_open", "mine_close"],
    "undefined": [
        Undefined("cudaMalloc", "libcudart.so.13", "libcudart.so.13"),
        Undefined("gone", weak=True),
    ],
    "versions": ["MINE_1.0"],
}


@settings(deadline=None)
@given(
    LIBRARIES,
    st.sampled_from(["", "libown.so.3"]),
    NAMES,
    UNDEFINED,
    st.lists(st.sampled_from(["A_1", "A_2", "B"]), unique=True),
    st.sampled_from([32, 64]),
    st.booleans(),
    st.sampled_from(["gnu", "sysv", "sections", "order"]),
)
def test_what_is_written_is_read(
    needed: list[str],
    soname: str,
    defined: list[str],
    undefined: list[Undefined],
    versions: list[str],
    bits: int,
    little: bool,
    table: str,
) -> None:
    data = shared_object(
        needed=needed,
        soname=soname,
        defined=defined,
        undefined=undefined,
        versions=versions,
        bits=bits,
        little=little,
        machine=183,
        # A GNU table without a defined symbol does not tell how many there are, as in real files.
        table=table,
    )
    elf = read_elf(data)
    assert elf == Elf(
        183,
        tuple(needed),
        soname,
        tuple(sorted(defined)),
        tuple(sorted(Wanted(*u) for u in undefined)),
        tuple(versions),
    )
    assert decode_elf(encode_elf(elf)) == elf


@settings(deadline=None, max_examples=150)
@given(
    st.data(), st.sampled_from([32, 64]), st.booleans(), st.sampled_from(["gnu", "sysv", "sections", "order"])
)
def test_damaged_files(data: st.DataObject, bits: int, little: bool, table: str) -> None:
    """Any bytes overwritten, any length: an answer or an ElfError."""
    good = bytearray(shared_object(**SAMPLE, bits=bits, little=little, table=table, code=50))  # type: ignore[arg-type]
    for at in data.draw(st.lists(st.integers(4, len(good) - 1), max_size=6)):
        value = data.draw(st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]) | st.integers(0, 255))
        width = data.draw(st.sampled_from([1, 2, 4, 8]))
        good[at : at + width] = bytes([value]) * len(good[at : at + width])
    length = data.draw(st.integers(0, len(good)) | st.just(len(good)))
    complete = data.draw(st.booleans())
    elf = _read(bytes(good[:length]), complete)
    assert elf is None or decode_elf(encode_elf(elf)) == elf


def _read(data: bytes, complete: bool) -> Elf | None:
    with contextlib.suppress(ElfError):
        return read_elf(data, complete=complete)
    return None


@given(st.binary(max_size=300))
def test_arbitrary_bytes(data: bytes) -> None:
    with pytest.raises(ElfError, match="no ELF file"):
        read_elf(data)
    for head in (b"\x7fELF\x02\x01", b"\x7fELF\x01\x02"):
        for complete in (True, False):
            elf = _read(head + data, complete)
            assert elf is None or isinstance(elf, Elf)


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("little", [True, False])
def test_the_start_tells_libraries_and_symbols(bits: int, little: bool) -> None:
    data = shared_object(**SAMPLE, bits=bits, little=little, code=5000)  # type: ignore[arg-type]
    elf = read_elf(data[: len(data) - 4000], complete=False)
    assert not elf.complete
    # By the string table alone: what versions belong to looks the same as what is needed.
    assert set(elf.needed) == {"libcudart.so.13", "libc.so.6", "libmine.so"}
    assert elf.defined == ("mine_close", "mine_open")
    assert elf.undefined == (Wanted("cudaMalloc"), Wanted("gone", weak=True))


def test_a_start_without_names_tells_nothing() -> None:
    data = shared_object(**SAMPLE, code=5000)  # type: ignore[arg-type]
    assert read_elf(data[:200], complete=False) == Elf(62, complete=False)


def test_a_complete_file_that_is_cut_off_is_an_error() -> None:
    data = shared_object(**SAMPLE)  # type: ignore[arg-type]
    with pytest.raises(ElfError, match="outside of itself"):
        read_elf(data[:-20])


def test_names_without_end_cost_no_quadratic_work() -> None:
    """A string table in which every name reaches far: refused, instead of read again and again."""
    names = ["x" * 10_000] + [f"s{i}" for i in range(2000)]
    good = shared_object(defined=names, table="sysv")
    damaged = bytearray(good)
    first = 64 + 2 * 56
    strings = first + 24 * 2002
    long = good.index(b"x" * 10_000) - strings
    for index in range(1, 2002):
        at = first + 24 * index
        damaged[at : at + 4] = (long + index).to_bytes(4, "little")
    with pytest.raises(ElfError, match="absurdly long"):
        read_elf(bytes(damaged))


def test_versions_without_end_are_refused() -> None:
    """Counts that claim 65,535 versions for each of many libraries, over the same few bytes."""
    good = shared_object(undefined=[Undefined("a", "V_1", "libx.so")])
    head = struct.pack("<2H", 1, 1)
    at = next(
        i for i in range(len(good)) if good[i : i + 4] == head and good[i + 8 : i + 12] == b"\x10\0\0\0"
    )
    damaged = bytearray(good)
    damaged[at : at + 4] = struct.pack("<2H", 1, 0xFFFF)
    damaged[at + 8 : at + 12] = (len(good) + -len(good) % 4 - at).to_bytes(4, "little")
    damaged += bytes(-len(good) % 4) + b"\4\0\0\0" * 70_000
    with pytest.raises(ElfError, match="absurdly many versions"):
        read_elf(bytes(damaged))


@pytest.mark.parametrize("summary", [b"", b"x", b"x\x9c\x03\x00\x00\x00\x00\x01", encode_elf(Elf(1))[:-3]])
def test_a_damaged_summary_is_none(summary: bytes) -> None:
    assert decode_elf(summary) is None
