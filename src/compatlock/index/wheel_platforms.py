"""Where wheels fit that do not fit a target, for people who wonder why a release is hidden."""

from __future__ import annotations

import re
from functools import lru_cache

from compatlock.index.tags import TagRanks, platform_tags
from compatlock.model.display import listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
    here = {*platform_tags(platform), "any"}
    pythons = {i for interpreters, _, p in tags for i in interpreters.split(".") if here & set(p.split("."))}
    if pythons:
        return f"only for {listed(sorted(pythons, key=_python_key))}"
    systems = {name for _, _, p in tags for part in p.lower().split(".") if (name := _system(part))}
    return f"only for {listed(sorted(systems))}" if systems else ""


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
