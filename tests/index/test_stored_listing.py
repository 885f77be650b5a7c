"""What is encoded comes out as it went in, whether its hashes are such or not."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compatlock.index.stored_listing import decode_files, deflate, encode_files, inflate
from compatlock.model.listing import File, Release

HASH = "0123456789abcdef" * 4
FOLDER = f"https://files.example/packages/{HASH[:2]}/{HASH[2:4]}/{HASH[4:]}/"

HASHES = st.sampled_from([HASH, "f" * 64, "", "?", HASH.upper(), HASH[:-1], "x" * 64, HASH[:-2] + " a"])
PLACES = st.sampled_from(
    [
        FOLDER,
        FOLDER.replace("0123", "0a23"),
        FOLDER.upper(),
        FOLDER + "more/",
        FOLDER.replace("files", "other"),
        "https://files.example/",
        "https://files.example/" + HASH + "/",
        "",
    ]
)


@st.composite
def files(draw: st.DrawFn) -> File:
    filename = draw(st.text(max_size=10))
    return File(
        filename,
        draw(PLACES) + draw(st.one_of(st.just(filename), st.text(max_size=5))),
        draw(HASHES),
        draw(st.sampled_from([0, 1, 10**12])),
        draw(st.sampled_from([None, 0, 1, 1_700_000_000])),
        draw(st.sampled_from(["", ">=3.10", "odd\n'\""])),
        draw(st.sampled_from([None, "", "broken"])),
        draw(HASHES),
    )


RELEASES = st.lists(st.lists(files(), max_size=4).map(lambda some: Release("1", tuple(some))), max_size=4)


@given(RELEASES)
def test_what_is_encoded_comes_out_as_it_went_in(releases: list[Release]) -> None:
    encoded = encode_files(releases)
    assert [*decode_files(encoded)] == [release.files for release in releases]
    assert inflate(deflate(encoded)) == encoded
    assert encode_files(releases) == encoded


@given(RELEASES, RELEASES)
def test_different_files_are_encoded_differently(some: list[Release], others: list[Release]) -> None:
    assert (encode_files(some) == encode_files(others)) == (some == others)


def test_hashes_take_their_bytes_only() -> None:
    many = [File(f"a-{n}.whl", f"{FOLDER}a-{n}.whl", HASH, n + 1, n, "", None, HASH) for n in range(100)]
    as_text = sum(len(file.url) + len(file.sha256) + len(file.metadata) for file in many)
    assert as_text > 23_000
    assert len(encode_files([Release("1", tuple(many))])) < 100 * (3 * 32 + 25)


def test_what_was_not_deflated_is_refused() -> None:
    with pytest.raises(zlib.error):
        inflate(b"\0\0\0\2xx")
