"""URLs fit to be written into files that people share."""

from __future__ import annotations


def public_url(url: str) -> str:
    """Return `url` without what may be secret or belongs to one answer of the index: user and password,
    the query (signatures of links that expire), and the fragment (hashes).
    """
    if "@" not in url and "?" not in url and "#" not in url:
        return url
    bare = url.partition("#")[0].partition("?")[0]
    scheme, separator, rest = bare.partition("://")
    if not separator:
        return bare
    authority, slash, path = rest.partition("/")
    return f"{scheme}://{authority.rpartition('@')[2]}{slash}{path}"
