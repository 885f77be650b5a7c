"""Listings and views as the second process sends them: they are read only as far as they are looked at.

Of the thousands of files that a listing has, a run looks at those of a few releases.
"""

from __future__ import annotations

import marshal
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias, overload

from compatlock.index.kept_listing import kept_releases
from compatlock.model.listing import File, Listing, Release

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from compatlock.index.view import View
    from compatlock.model.policy import Policy
    from compatlock.model.target import Target

# A target and a policy, in plain types.
Scope: TypeAlias = "tuple[tuple[Any, ...], tuple[Any, ...]]"


class SentView(NamedTuple):
    """What a scope sees of a project: its stored form (see `view.encode_view`) and, packed, the files of each
    candidate and the rest of the view."""

    scope: Scope
    encoded: str
    packed_files: list[bytes]
    packed: bytes

    def files(self, index: int) -> tuple[File, ...]:
        """The files of a candidate, best first."""
        return tuple(File(*file) for file in marshal.loads(self.packed_files[index]))

    def unpacked(self) -> View:
        """The whole view."""
        from compatlock.index.view import Candidate, Hidden, View

        candidates, hidden = marshal.loads(self.packed)
        return View(
            tuple(Candidate(c[0], c[1], self.files(k), *c[2:]) for k, c in enumerate(candidates)),
            tuple(Hidden(*each) for each in hidden),
        )


class SentReleases(Sequence[Release]):
    """The releases of a listing, which are read from what is kept of it when one of them is asked for."""

    def __init__(self, project: str, versions: list[str], kept: bytes, view: SentView | None) -> None:
        self.versions = versions
        self.view = view
        self._project = project
        self._kept = kept
        self._releases: tuple[Release, ...] | None = None

    def _read(self) -> tuple[Release, ...]:
        if self._releases is None:
            self._releases = kept_releases(self._project, self.versions, self._kept)
        return self._releases

    def __len__(self) -> int:
        return len(self.versions)

    @overload
    def __getitem__(self, index: int) -> Release: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Release, ...]: ...
    def __getitem__(self, index: int | slice) -> Release | tuple[Release, ...]:
        return self._read()[index]

    def __eq__(self, other: object) -> bool:
        return self._read() == (other._read() if isinstance(other, SentReleases) else other)

    def __hash__(self) -> int:
        return hash(self._read())


def scope_of(target: Target, policy: Policy) -> Scope:
    """Target and policy as they are sent."""
    return tuple(target), tuple(policy)


def versions_of(listing: Listing) -> list[str]:
    """The versions of a listing's releases."""
    releases: Sequence[Release] = listing.releases
    if isinstance(releases, SentReleases):
        return releases.versions
    return [release.version for release in releases]


def sent_view(listing: Listing, target: Target, policy: Policy) -> SentView | None:
    """The view that came with a listing, if it is the one of this target and policy."""
    releases: Sequence[Release] = listing.releases
    view = releases.view if isinstance(releases, SentReleases) else None
    return view if view is not None and view.scope == scope_of(target, policy) else None


def pack_view(view: View) -> tuple[list[bytes], bytes]:
    """A view as it is sent: see `SentView`."""
    files = [marshal.dumps([*map(tuple, candidate[2])]) for candidate in view.candidates]
    rest = [(candidate[:2] + candidate[3:]) for candidate in view.candidates]
    return files, marshal.dumps((rest, [*map(tuple, view.hidden)]))
