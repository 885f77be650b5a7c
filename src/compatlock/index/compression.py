"""Bodies that are compressed for the way, or to be kept."""

from __future__ import annotations

import zlib

# What zlib has to know of gzip's form, which begins with these two bytes.
GZIP = 31
GZIP_MAGIC = b"\x1f\x8b"
# In bytes, unpacked.
MAX_LISTING = 256 * 1024 * 1024


class PackedError(Exception):
    """What was sent in gzip's form is not whole, or longer than any listing is."""


def inflated(body: bytes, bits: int, limit: int) -> tuple[bytes, bool]:
    """At most one byte more than `limit` of what was compressed, and whether its end was there. `bits` says
    in which form, see `zlib.decompressobj`. Raises zlib.error."""
    inflating = zlib.decompressobj(bits)
    found = inflating.decompress(body, limit + 1)
    return found, inflating.eof


def unpacked_listing(sent: bytes) -> bytes:
    """A listing that was sent in gzip's form. Raises PackedError."""
    try:
        body, is_whole = inflated(sent, GZIP, MAX_LISTING)
    except zlib.error as error:
        raise PackedError(str(error)) from None
    if not is_whole or len(body) > MAX_LISTING:
        raise PackedError("cut off, or too long")
    return body


def packed(body: bytes) -> bytes:
    """A body in gzip's form, quickly made."""
    packing = zlib.compressobj(1, zlib.DEFLATED, GZIP)
    return packing.compress(body) + packing.flush()
