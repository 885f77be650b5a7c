"""What an index says about one project, digested: releases newest first and their files."""

from __future__ import annotations

from compatlock.model.named_tuple import NamedTuple

# What an index may say of a whole project (PEP 792); an active project has the status `""`.
ARCHIVED, DEPRECATED, QUARANTINED = STATUSES = ("archived", "deprecated", "quarantined")


# Digest of the listing of a project that the index does not have.
ABSENT = "absent"


class File(NamedTuple):
    """One distribution file of a release (PEP 691 / PEP 700 fields).

    `upload_time` is in seconds since the epoch (UTC) or None when the index does not tell; `yanked`
    is None when the file is not yanked, else the reason (possibly `""`, PEP 592); `metadata` is the
    sha256 of the advertised metadata side file (PEP 714), `""` when none is advertised, `"?"` when
    it is advertised without a hash.
    """

    filename: str
    url: str
    sha256: str = ""
    size: int = 0
    upload_time: int | None = None
    requires_python: str = ""
    yanked: str | None = None
    metadata: str = ""

    @property
    def is_wheel(self) -> bool:
        """Whether the file is a wheel; all others in a listing are source distributions."""
        return self.filename.endswith(".whl")


class Release(NamedTuple):
    """A version (canonical text, PEP 440) of a project and its files, in the order of their names."""

    version: str
    files: tuple[File, ...]


class Skipped(NamedTuple):
    """A file of the index's answer that cannot be used, and why."""

    filename: str
    reason: str


class Listing(NamedTuple):
    """All releases of a project, newest version first. An unknown project has none and `found` False.

    `digest` identifies the content: equal digests mean equal releases, files and status. `status` is one of
    STATUSES or `""`, with the index's reason for it; a quarantined project has no releases. `kept` are the
    files as the store keeps them, when they are at hand in that form.
    """

    project: str
    releases: tuple[Release, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    found: bool = True
    digest: str = ""
    status: str = ""
    status_reason: str = ""
    kept: bytes = b""
