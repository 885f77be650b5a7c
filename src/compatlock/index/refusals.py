"""The errors for answers that are neither content nor "there is none"."""

from __future__ import annotations

import hashlib

from compatlock.errors import IndexUnavailable
from compatlock.index.reply import Reply
from compatlock.model.display import redact
from compatlock.model.metadata import MISSING, Metadata

# A file that is gone for good: its release is none, the run goes on.
GONE = frozenset({404, 410})
# Who is asking matters.
DENIED = frozenset({401, 403, 407})


def refused(url: str, reply: Reply, what: str, advice: str = "") -> IndexUnavailable:
    """The error for `reply` to the request of `url` for `what`; `advice` is about credentials."""
    final = f", redirected to `{redact(reply.url)}`," if redact(reply.url) != redact(url) else ""
    if not reply.complete and reply.status == 200:
        return IndexUnavailable(
            f"`{redact(url)}`{final} answered with more than {_size(len(reply.body))} for {what}",
            hints=["check the index URL (--default-index)"],
        )
    hint = "check the index URL (--default-index), or try again later"
    if reply.status == 407:
        hint = "give credentials for the proxy in HTTPS_PROXY (http://user:password@host:port), or check them"
    elif reply.status in DENIED:
        hint = advice or "check the credentials for this index"
    elif reply.status == 406:
        hint = "the index must offer the Simple API as HTML (PEP 503) or JSON (PEP 691)"
    return IndexUnavailable(
        f"`{redact(url)}`: asked for {what}, the server{final} answered {reply.status}", hints=[hint]
    )


def check_hash(url: str, body: bytes, sha256: str) -> None:
    """Raise IndexUnavailable unless `body` has the hash that the index gave for `url`."""
    found = hashlib.sha256(body).hexdigest()
    if found != sha256:
        raise IndexUnavailable(
            f"`{redact(url)}` does not have the hash that the index promises: sha256 {found}, not {sha256}",
            hints=["a proxy or mirror may serve wrong or stale bytes: try again, or use another index"],
        )


def missing_file(reply: Reply) -> Metadata:
    """What there is to know of a file that the index lists and that is not there."""
    problem = f"the index lists its file, but the server has none there (it answered {reply.status})"
    return Metadata(source=MISSING, problem=problem)


def _size(count: int) -> str:
    return f"{count // 2**20} MB" if count >= 2**20 else f"{count} bytes"
