"""Listings in gzip's form are unpacked whole, or not at all."""

from __future__ import annotations

import gzip

import pytest

from compatlock.index import compression
from compatlock.index.compression import PackedError, packed, unpacked_listing

TEXT = b"a text that is a text that is a text" * 20


def test_what_is_packed_is_unpacked() -> None:
    assert len(packed(TEXT)) < len(TEXT) // 4
    assert packed(TEXT) == packed(TEXT)
    assert packed(TEXT)[:2] == compression.GZIP_MAGIC
    for one in (TEXT, b""):
        assert gzip.decompress(packed(one)) == one == unpacked_listing(packed(one))


@pytest.mark.parametrize("sent", [b"", b"no gzip", packed(TEXT)[:-9], b"\x1f\x8b\x08"])
def test_what_is_damaged_is_no_listing(sent: bytes) -> None:
    with pytest.raises(PackedError):
        unpacked_listing(sent)


def test_what_is_too_long_is_no_listing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "MAX_LISTING", len(TEXT))
    assert unpacked_listing(packed(TEXT)) == TEXT
    with pytest.raises(PackedError):
        unpacked_listing(packed(TEXT + b"!"))
