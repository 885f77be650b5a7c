"""The keywords of the library's functions: what `compatlock lock` has as options, under Python's names."""

from __future__ import annotations

import os
from typing import TypedDict

from compatlock.api.options import LockOptions
from compatlock.model.index import parse_indexes
from compatlock.model.lock import Lock
from compatlock.model.policy import ALL, split
from compatlock.model.target import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typing_extensions import Unpack

    from compatlock.model.waiver import Waiver


class Keywords(TypedDict, total=False):
    """What `compatlock.lock` takes beside requirements; all of it may be left out.

    files:         paths of requirements files, pyproject.toml and setup.cfg files and scripts (PEP 723);
                   constraints: of constraints files
    extras, groups: extras and dependency groups (PEP 735) of those projects
    profile:       name or file of a profile, or several
    target:        what to lock for; None, or an empty field, falls back to the profile's target, then to
                   the running interpreter and platform
    targets, universal: lock for several at once: `PYTHON@PLATFORM`, `PYTHON` or `PLATFORM` each, or the
                   usual platforms; what differs then has markers (`Pin.marker`)
    older:         an older lock (or `{name: version}`) that should change as little as possible
    index_url:     root of the Simple API; the public index unless given. index: further ones, `URL` or
                   `NAME=URL`: the first of these, then `index_url`, that has a project is where it is from
    index_for:     `PROJECT=NAME` or `PROJECT=URL`: projects that are asked for at one index only, and that
                   index for nothing else
    exclude_newer: files uploaded after this timestamp (RFC 3339) or date do not exist; `PKG=TIME` is for one
                   package, `PKG=none` lifts it, and several may be given
    prerelease:    if-necessary-or-explicit (the standard's rule), if-necessary, explicit, allow, disallow;
                   `PKG=MODE` is for one package, and several may be given
    no_binary, only_binary: packages whose wheels, or source distributions, may not be used (`:all:`)
    allow_yanked:  packages whose yanked releases count as any other (`:all:`); only pins admit them else,
                   and with no_yanked nothing does
    allow_builds:  True, or packages whose sdists may be built for their metadata: this runs their code
    prefer:        packages whose own lag goes before that of the other roots
    waivers:       edges whose bounds may drop when nothing else helps: `Waiver` values, or texts such as
                   `verl -> numpy`, `verl[extra] -> numpy`, `verl -> numpy>=1.26` (what holds instead);
                   no_waivers refuses those of profiles, auto_waive permits the cheapest ones with evidence
    max_lag:       how far what is asked for may be behind: `90d`, `vllm=30d`, `none`; 365 days by default
    overrides:     requirements that replace every declared bound on their package
    exclude_dependencies: edges that are taken away, such as `a -> b`, `a[extra] -> b`
    facts:         further facts files; shipped_facts False leaves out those that come with compatlock,
                   soft_facts False those that only warn
    audit:         look into the chosen wheels, learn what breaks, and solve again until nothing does
    resolution:    `highest`, `lowest`, or `lowest-direct`: the lowest of what is asked for only
    strategy:      `optimal`, or `greedy` for what pip would choose
    snapshot:      a file that `compatlock snapshot` recorded, which answers instead of an index
    offline, cache_dir, cache: use only the cache; where it lives; False keeps it in memory
    """

    profile: str | Sequence[str]
    files: Sequence[str | os.PathLike[str]]
    constraints: Sequence[str | os.PathLike[str]]
    extras: Sequence[str]
    groups: Sequence[str]
    target: Target | None
    targets: Sequence[str]
    universal: bool
    older: Mapping[str, str] | Lock | None
    index_url: str
    index: Sequence[str]
    index_for: Sequence[str]
    exclude_newer: str | Sequence[str]
    prerelease: str | Sequence[str]
    no_binary: Sequence[str]
    only_binary: Sequence[str]
    allow_yanked: Sequence[str]
    no_yanked: bool
    allow_builds: bool | Sequence[str]
    prefer: Sequence[str]
    waivers: Sequence[Waiver | str]
    no_waivers: bool
    auto_waive: bool
    max_lag: Sequence[str]
    overrides: Sequence[str]
    exclude_dependencies: Sequence[str]
    facts: Sequence[str | os.PathLike[str]]
    shipped_facts: bool
    soft_facts: bool
    audit: bool
    resolution: str
    strategy: str
    snapshot: str | os.PathLike[str]
    offline: bool
    cache_dir: str | os.PathLike[str]
    cache: bool


def options_of(requirements: str | Sequence[str] = (), **given: Unpack[Keywords]) -> LockOptions:
    """Return keywords as options. Raises TypeError for one that there is not, InputError for bad values."""
    unknown = sorted(given.keys() - Keywords.__annotations__.keys())
    if unknown:
        raise TypeError(f"unexpected keyword argument {unknown[0]!r}")
    (cut, own_cuts) = split(given.get("exclude_newer", ""))
    (mode, own_modes) = split(given.get("prerelease", ""))
    profile, builds, older = given.get("profile", ()), given.get("allow_builds", ()), given.get("older")
    waivers = given.get("waivers", ())
    return LockOptions(
        requirements=(requirements,) if isinstance(requirements, str) else tuple(requirements),
        files=tuple(os.fspath(path) for path in given.get("files", ())),
        constraints=tuple(os.fspath(path) for path in given.get("constraints", ())),
        extras=tuple(given.get("extras", ())),
        groups=tuple(given.get("groups", ())),
        profiles=(profile,) if isinstance(profile, str) else tuple(profile),
        target=given.get("target") or Target(),
        indexes=parse_indexes(given.get("index_url", ""), given.get("index", ()), given.get("index_for", ())),
        exclude_newer=cut,
        exclude_newer_package=own_cuts,
        prerelease=mode,
        prerelease_package=own_modes,
        no_binary=tuple(given.get("no_binary", ())),
        only_binary=tuple(given.get("only_binary", ())),
        allow_yanked=tuple(given.get("allow_yanked", ())),
        no_yanked=given.get("no_yanked", False),
        allow_builds=((ALL,) if builds else ()) if isinstance(builds, bool) else tuple(builds),
        snapshot=os.fspath(given.get("snapshot", "")),
        offline=given.get("offline", False),
        cache_dir=os.fspath(given.get("cache_dir", "")),
        cache=given.get("cache", True),
        facts=tuple(os.fspath(path) for path in given.get("facts", ())),
        shipped_facts=given.get("shipped_facts", True),
        soft_facts=given.get("soft_facts", True),
        prefer=tuple(given.get("prefer", ())),
        waivers=tuple(waiver for waiver in waivers if not isinstance(waiver, str)),
        waive=tuple(waiver for waiver in waivers if isinstance(waiver, str)),
        no_waivers=given.get("no_waivers", False),
        auto_waive=given.get("auto_waive", False),
        max_lag=tuple(given.get("max_lag", ())),
        overrides=tuple(given.get("overrides", ())),
        exclude_dependencies=tuple(given.get("exclude_dependencies", ())),
        targets=tuple(given.get("targets", ())),
        universal=given.get("universal", False),
        older={} if older is None or isinstance(older, Lock) else dict(older),
        older_pins=older.older_pins if isinstance(older, Lock) else (),
        audit=given.get("audit", False),
        resolution=given.get("resolution", "highest"),
        strategy=given.get("strategy", "optimal"),
    )
