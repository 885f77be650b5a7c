"""Why releases of a project are no candidates, with what a reader can do something about."""

from __future__ import annotations

import re

from compatlock.index.wheel_platforms import wheels_fit
from compatlock.model.package import YANKED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from packaging.version import Version

    from compatlock.index.supply import Supply
    from compatlock.index.view import Hidden
    from compatlock.model.listing import File, Listing

# What follows the version in the name of a wheel, an egg, an installer (with its platform) or an archive.
_ENDING = r"(?:-|\.(?:win|macosx|linux)|\.(?:egg|exe|msi|rpm|deb|dmg|zip|tgz|whl|tar(?:\.\w+)?)\Z)"


def obstacles(supply: Supply, name: str) -> tuple[Hidden, ...]:
    """The releases of a project that are no candidates, or only when pinned, newest first, from what is
    stored. Compared with `Supply.hidden` the details say more:

    tags, native  the nearest platform that wheels of the release fit (`x86_64-manylinux_2_34`), or what
                  its wheels are for (`only for Windows x86_64`)
    date          the day of the first upload, `2026-12-02`
    yanked        (added) the reason that the index gives
    unusable      (added) why none of the release's files can be used
    """
    from packaging.version import Version

    from compatlock.index.view import Hidden

    listing = supply.listing(name)
    if listing is None:
        return ()
    supply.package(name)
    files = {release.version: release.files for release in listing.releases}
    found = [_detailed(hidden, files[hidden.version], supply) for hidden in supply.hidden(name)]
    known = {hidden.version for hidden in found}
    found += [Hidden(version, YANKED, reason) for version, reason in _yanked(listing) if version not in known]
    found += _unusable(listing)
    return tuple(sorted(found, key=lambda hidden: Version(hidden.version), reverse=True))


def _unusable(listing: Listing) -> Iterable[Hidden]:
    """Releases all of whose files were skipped, as far as the names of these tell."""
    from packaging.version import Version

    from compatlock.index.view import UNUSABLE, Hidden

    known = {Version(release.version) for release in listing.releases}
    for skipped in listing.skipped:
        version = _version(listing.project, skipped.filename)
        if version is not None and version not in known:
            known.add(version)
            yield Hidden(str(version), UNUSABLE, skipped.reason)


def _version(project: str, filename: str) -> Version | None:
    """The version in the name of a file of the project, of whatever kind."""
    from packaging.version import InvalidVersion, Version

    match = re.match(project.replace("-", "[-_.]+") + r"-(\d[^-]*?)" + _ENDING, filename, re.IGNORECASE)
    try:
        return Version(match[1]) if match else None
    except InvalidVersion:
        return None


def _yanked(listing: Listing) -> Iterable[tuple[str, str]]:
    for release in listing.releases:
        reasons = [file.yanked for file in release.files if file.yanked is not None]
        if reasons and len(reasons) == len(release.files):
            yield release.version, next((reason for reason in reasons if reason), "")


def _detailed(hidden: Hidden, files: Sequence[File], supply: Supply) -> Hidden:
    from compatlock.index.view import DATE, NATIVE, TAGS

    if hidden.reason == DATE:
        import time

        first = min(f.upload_time for f in files if f.upload_time is not None)
        return hidden._replace(detail=time.strftime("%Y-%m-%d", time.gmtime(first)))
    if hidden.reason in (TAGS, NATIVE):
        wheels = [f.filename for f in files if f.is_wheel and supply.viewer.accepts_python(f.requires_python)]
        return hidden._replace(detail=wheels_fit(wheels, supply.target))
    return hidden
