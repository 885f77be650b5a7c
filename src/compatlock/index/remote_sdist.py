"""Core metadata of a large sdist on a server: its beginning is read instead of all of it.

Setuptools and other backends pack files by name, capitals first, so that `PKG-INFO` is among the first
members of the archive, far ahead of what makes it large.
"""

from __future__ import annotations

from compatlock.index.refusals import GONE, missing_file, refused
from compatlock.index.sdist import head_metadata
from compatlock.model.metadata import Metadata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compatlock.index.reply import Reply
    from compatlock.index.wheel_archive import Fetch
    from compatlock.model.listing import File

# How many bytes of it are read, at first and at most.
HEADS = (256 * 1024, 4 * 1024 * 1024)


async def large_sdist_metadata(fetch: Fetch, file: File, limit: int) -> Metadata:
    """Read the metadata of the sdist `file`, which is larger than `limit` bytes, from its first bytes.

    They cannot be checked against the file's hash. It has a `problem` when they do not tell what the project
    needs. Raises IndexUnavailable when the server does not give them.
    """
    for length in dict.fromkeys(min(length, limit) for length in HEADS):
        reply = await fetch(file.url, byte_range=f"bytes=0-{length - 1}", limit=length)
        if reply.status in GONE:
            return missing_file(reply)
        if not _is_head(reply):
            raise refused(file.url, reply, f"the beginning of `{file.filename}`")
        metadata = head_metadata(reply.body, file.filename)
        if metadata is not None:
            return metadata
    large, read = f"{limit // 2**20} MB", f"{len(reply.body) // 2**10} kB"
    problem = f"the sdist is larger than {large}, and its first {read} do not say what it needs"
    return Metadata(source="sdist", problem=problem)


def _is_head(reply: Reply) -> bool:
    """Whether an answer is the file's beginning. A server that ignores ranges gives all, of which no more
    than was asked for is read."""
    part = reply.content_range
    return reply.status == 200 or (part is not None and part.start == 0)
