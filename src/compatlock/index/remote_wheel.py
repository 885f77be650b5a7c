"""Core metadata of a wheel on a server, read with HTTP range requests instead of a download.

`*.dist-info/METADATA` is, by convention, close before the zip directory, so that one request for the tail is
mostly enough.
"""

from __future__ import annotations

import struct

from compatlock.index.metadata import parse_metadata
from compatlock.index.refusals import check_hash, missing_file
from compatlock.index.wheel_archive import (
    TAIL,
    Fetch,
    MissingError,
    Part,
    directory_bytes,
    open_tail,
    read_part,
)
from compatlock.index.wheel_directory import NOT_A_ZIP, UnusableError, find_entries
from compatlock.index.wheel_member import reach, unpack
from compatlock.model.artefact import Member
from compatlock.model.metadata import Metadata

__all__ = ["MAX_METADATA", "TAIL", "wheel_metadata"]

MAX_TAIL = 4 * 1024 * 1024
MAX_METADATA = 16 * 1024 * 1024

_MEMBER = b".dist-info/METADATA"
# RECORD, which lists all members once more, mostly lies between METADATA and the directory: what it needs of
# the size of that.
_RECORD = 0.75


async def wheel_metadata(
    fetch: Fetch, url: str, *, size: int = 0, tail: int = TAIL, sha256: str = ""
) -> tuple[Metadata, int]:
    """Read the metadata of the wheel at `url`; `size` in bytes if it is known, else 0.

    Returns the metadata and a good `tail`, in bytes, for the next wheel of the same project. The metadata
    of an archive that is broken, hostile or not there has a `problem`. A part of a file cannot be checked
    against its hash; a server that gives the whole file is held to `sha256`.

    Raises IndexUnavailable when the server does not give the bytes.
    """
    try:
        file = await open_tail(fetch, url, size, tail)
        if sha256 and file.is_whole:
            check_hash(url, file.data, sha256)
        directory = await directory_bytes(file, _RECORD)
        member = _the_metadata(find_entries(directory.data, _MEMBER, directory.shift))
        [packed] = await read_part(
            file, Part((member,), member.offset, reach(member, MAX_METADATA)), MAX_METADATA
        )
    except MissingError as error:
        return missing_file(error.reply), TAIL
    except UnusableError as error:
        return Metadata(source="wheel", problem=str(error)), TAIL
    except struct.error:
        return Metadata(source="wheel", problem=NOT_A_ZIP), TAIL
    content = unpack(packed.data, member, "the wheel's METADATA")
    problem = packed.problem or content.problem
    if problem:
        return Metadata(source="wheel", problem=problem), TAIL
    used = file.size - member.offset
    return parse_metadata(content.data, "wheel"), used + used // 4 if used <= MAX_TAIL else TAIL


def _the_metadata(found: list[Member]) -> Member:
    if len(found) != 1:
        raise UnusableError(f"the wheel has {len(found) or 'no'} .dist-info/METADATA")
    size = max(found[0].packed, found[0].size)
    if size > MAX_METADATA:
        raise UnusableError(f"its METADATA has {size} bytes; the limit is {MAX_METADATA}")
    return found[0]
