"""Why releases of a project are no candidates, with what a reader can do something about."""

from __future__ import annotations

import re
from functools import lru_cache

from compatlock.model.package import YANKED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from compatlock.index.supply import Supply
    from compatlock.index.tags import TagRanks
    from compatlock.index.view import Hidden
    from compatlock.model.listing import File, Listing
    from compatlock.model.platforms import Platform
    from compatlock.model.target import Target

# A wheel's platform tag: system, version of its libc or of the system, machine.
_TAG = re.compile(r"(manylinux|musllinux|macosx)_(\d+)_(\d+)_(\w+)\Z|(linux)_(\w+)\Z|(win32)\Z|(win)_(\w+)\Z")
_LEGACY = {
    "manylinux1": "manylinux_2_5",
    "manylinux2010": "manylinux_2_12",
    "manylinux2014": "manylinux_2_17",
}
_SYSTEMS = {
    "manylinux": "Linux",
    "musllinux": "musl Linux",
    "macosx": "macOS",
    "linux": "Linux",
    "win": "Windows",
}
_MACHINES = {"amd64": "x86_64", "universal2": "x86_64 and arm64", "intel": "x86_64"}
# Newer than any system there will be: what fits there, but not here, only needs a newer system.
_NEWEST = {"manylinux": "manylinux_2_99", "musllinux": "musllinux_1_99", "macos": "apple-darwin-99.0"}


def obstacles(supply: Supply, name: str) -> tuple[Hidden, ...]:
    """The releases of a project that are no candidates, or only when pinned, newest first, from what is
    stored. Compared with `Supply.hidden` the details say more:

    tags, native  the nearest platform that wheels of the release fit (`x86_64-manylinux_2_34`), or what
                  its wheels are for (`only for Windows x86_64`)
    date          the day of the first upload, `2026-12-02`
    yanked        (added) the reason that the index gives
    """
    from compatlock.index.view import Hidden

    listing = supply.listing(name)
    if listing is None:
        return ()
    supply.package(name)
    files = {release.version: release.files for release in listing.releases}
    found = [_detailed(hidden, files[hidden.version], supply) for hidden in supply.hidden(name)]
    known = {hidden.version for hidden in found}
    found += [Hidden(version, YANKED, reason) for version, reason in _yanked(listing) if version not in known]
    order = {release.version: k for k, release in enumerate(listing.releases)}
    return tuple(sorted(found, key=lambda hidden: order[hidden.version]))


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


def wheels_fit(filenames: Sequence[str], target: Target) -> str:
    """Where wheels fit that do not fit the target: the name of the nearest newer platform of the same
    kind, or in words what they are for. `""` when there are none."""
    platform = target.parsed_platform
    tags = [filename[:-4].split("-")[-3:] for filename in filenames]
    relaxed = _relaxed(target)
    if relaxed is not None:
        fitting = [p for i, a, p in tags if relaxed.rank(i, a, p) is not None]
        floors = [floor for p in fitting for floor in _floors(p, platform)]
        if floors:
            return _platform_name(platform, min(floors))
    return _only_for(tags, platform)


@lru_cache(maxsize=8)
def _relaxed(target: Target) -> TagRanks | None:
    """The tags of the newest system of the target's kind; None where systems have no versions."""
    from compatlock.index.tags import TagRanks

    platform = target.parsed_platform
    newest = _NEWEST.get(platform.family)
    if newest is None:
        return None
    machine = platform.name.split("-")[0]
    return TagRanks(target._replace(platform=f"{machine}-{newest}"))


def _floors(platform_tag: str, platform: Platform) -> Iterable[tuple[int, int]]:
    """System versions that a compressed platform tag names for the target's kind of platform."""
    family = "macosx" if platform.family == "macos" else platform.family
    for part in platform_tag.lower().split("."):
        match = _match(part)
        if match and match[1] == family and match[4] in (platform.tag_machine, "universal2"):
            yield int(match[2]), int(match[3])


def _platform_name(platform: Platform, floor: tuple[int, int]) -> str:
    machine = platform.name.split("-")[0]
    if platform.family == "macos":
        return f"{machine}-apple-darwin-{floor[0]}.{floor[1]}"
    return f"{machine}-{platform.family}_{floor[0]}_{floor[1]}"


def _match(platform_tag: str) -> re.Match[str] | None:
    for legacy, name in _LEGACY.items():
        if platform_tag.startswith(f"{legacy}_"):
            platform_tag = name + platform_tag[len(legacy) :]
    return _TAG.match(platform_tag)


def _only_for(tags: Sequence[Sequence[str]], platform: Platform) -> str:
    """What wheels are for: the Pythons when it is these that do not fit, else the systems."""
    from compatlock.index.tags import platform_tags

    here = {*platform_tags(platform), "any"}
    pythons = {i for interpreters, _, p in tags for i in interpreters.split(".") if here & set(p.split("."))}
    if pythons:
        return f"only for {_listed(sorted(pythons, key=_python_key))}"
    systems = {name for _, _, p in tags for part in p.lower().split(".") if (name := _system(part))}
    return f"only for {_listed(sorted(systems))}" if systems else ""


def _system(platform_tag: str) -> str:
    match = _match(platform_tag)
    if match is None:
        return ""
    if match[7]:
        return "Windows x86"
    system, machine = match[1] or match[5] or match[8], match[4] or match[6] or match[9]
    return f"{_SYSTEMS[system]} {_MACHINES.get(machine, machine)}"


def _python_key(interpreter: str) -> tuple[str, int, int]:
    digits = interpreter.lstrip("abcdefghijklmnopqrstuvwxyz")
    major, minor = digits[:1] or "0", digits[1:] or "0"
    return interpreter[: len(interpreter) - len(digits)], int(major), int(minor) if minor.isdigit() else 0


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
