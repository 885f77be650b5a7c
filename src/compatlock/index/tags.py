"""Wheel tags of a target (PEP 425, 600, 656) and how well a wheel's tags fit."""

from __future__ import annotations

from packaging.tags import compatible_tags, cpython_tags, mac_platforms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compatlock.model.platforms import Platform
    from compatlock.model.target import Target

_LEGACY = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}


def platform_tags(platform: Platform) -> list[str]:
    """Platform tags of a platform, best first."""
    machine = platform.tag_machine
    if platform.family == "manylinux":
        tags = []
        # manylinux_2_5 is the oldest there is; other machines than x86 began with 2_17.
        oldest = 5 if machine in ("x86_64", "i686") else 17
        for minor in range(platform.floor[1], oldest - 1, -1):
            tags.append(f"manylinux_2_{minor}_{machine}")
            if minor in _LEGACY:
                tags.append(f"{_LEGACY[minor]}_{machine}")
        return [*tags, f"linux_{machine}"]
    if platform.family == "musllinux":
        return [f"musllinux_1_{n}_{machine}" for n in range(platform.floor[1], -1, -1)] + [f"linux_{machine}"]
    if platform.family == "macos":
        return list(mac_platforms(platform.floor, machine))
    return [machine]


class TagRanks:
    """How well wheels fit a target: a lower rank is preferred by installers."""

    def __init__(self, target: Target) -> None:
        platforms = platform_tags(target.parsed_platform)
        python = target.python_minor
        interpreter = f"cp{python[0]}{python[1]}"
        # The ABI is named so that the running interpreter's build options do not leak in.
        tags = list(cpython_tags(python, abis=[interpreter], platforms=platforms))
        tags += compatible_tags(python, interpreter, platforms)
        self._ranks: dict[str, int] = {}
        for rank, tag in enumerate(tags):
            self._ranks.setdefault(str(tag), rank)
        self._memo: dict[str, int | None] = {}

    def rank(self, interpreter: str, abi: str, platform: str) -> int | None:
        """Best rank among a wheel's compressed tag set (`py2.py3`, `none`, `any`); None when none fits."""
        best: int | None = None
        for i in interpreter.lower().split("."):
            for a in abi.lower().split("."):
                for p in platform.lower().split("."):
                    rank = self._ranks.get(f"{i}-{a}-{p}")
                    if rank is not None and (best is None or rank < best):
                        best = rank
        return best

    def rank_of_wheel(self, filename: str) -> int | None:
        """Rank of a wheel by its file name; None when it does not fit."""
        # Name and version have no dash in them (binary distribution format); a build tag comes with few.
        rest = filename.split("-", 2)[-1]
        if rest in self._memo:
            return self._memo[rest]
        parts = filename[:-4].split("-")
        rank = self._memo[rest] = self.rank(parts[-3], parts[-2], parts[-1]) if len(parts) >= 5 else None
        return rank


def build_number(filename: str) -> tuple[int, str]:
    """Sort key of a wheel's build tag (binary distribution format): `()` sorts lowest."""
    parts = filename[:-4].split("-")
    if len(parts) != 6:
        return (-1, "")
    digits = len(parts[2]) - len(parts[2].lstrip("0123456789"))
    return (int(parts[2][:digits] or 0), parts[2][digits:])
