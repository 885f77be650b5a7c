"""What was read off an ELF file, as bytes for the cache of observations."""

from __future__ import annotations

import json
import zlib

from compatlock.audit.elf import Elf, Wanted

KIND = "elf/1"
# No summary of a real file comes near it (libtorch_python.so: 1 MB); a damaged cache must not fill memory.
_MAX_SUMMARY = 64 * 1024 * 1024


def encode_elf(elf: Elf) -> bytes:
    """Return `elf` as bytes that `decode_elf` understands."""
    text = json.dumps(elf, separators=(",", ":"))
    return zlib.compress(text.encode("utf-8", "surrogatepass"), 1)


def decode_elf(summary: bytes) -> Elf | None:
    """Return what `encode_elf` was given, None for bytes that are not from it."""
    try:
        unpack = zlib.decompressobj()
        text = unpack.decompress(summary, _MAX_SUMMARY)
        if not unpack.eof:
            return None
        machine, needed, soname, defined, undefined, versions, complete = json.loads(text)
        return Elf(
            int(machine),
            tuple(map(str, needed)),
            str(soname),
            tuple(map(str, defined)),
            tuple(Wanted(str(n), str(v), str(file), bool(weak)) for n, v, file, weak in undefined),
            tuple(map(str, versions)),
            bool(complete),
        )
    except (zlib.error, ValueError, TypeError, UnicodeDecodeError, RecursionError):
        return None
