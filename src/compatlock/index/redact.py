"""URLs fit for messages."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit


def redact(url: str) -> str:
    """Return `url` without what may be secret: user and password, and the query (signed links)."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "(an invalid URL)"
    host = parts.netloc.rpartition("@")[2]
    netloc = f"****@{host}" if "@" in parts.netloc else host
    return urlunsplit((parts.scheme, netloc, parts.path, "****" if parts.query else "", ""))
