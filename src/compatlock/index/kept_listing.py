"""What is kept of a listing's files: the index's answer itself, in gzip's form, when it is a uniform one (see
`index.uniform`), else columns (see `index.stored_listing`).

An answer is at hand, so keeping it costs nothing; but it must hold no more than is known of the files, which
only of uniform answers is sure: a URL with a user's name in it, say, is not to be kept.
"""

from __future__ import annotations

from compatlock.index.compression import GZIP_MAGIC, unpacked_listing
from compatlock.index.stored_listing import decode_files, inflate
from compatlock.model.listing import Release


def kept_releases(project: str, versions: list[str], kept: bytes) -> tuple[Release, ...]:
    """The releases of a project, which have these versions, of what is kept of its listing."""
    # Columns begin with the length of a text, which is never as much as this.
    if kept[:2] == GZIP_MAGIC:
        from compatlock.index.simple import parse_listing, releases_of
        from compatlock.index.uniform import read_uniform

        uniform = read_uniform(unpacked_listing(kept))
        if uniform is not None:
            return releases_of(project, uniform)
        return parse_listing(project, kept, "", "application/json", is_packed=True).releases
    return tuple(map(Release, versions, decode_files(inflate(kept))))
