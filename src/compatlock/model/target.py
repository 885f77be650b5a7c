"""The environment that a lock is made for."""

from __future__ import annotations

import sys

from compatlock.errors import InputError
from compatlock.model.cuda import MAJORS, check_cuda, check_driver, exactly, majors_of_cuda, majors_of_driver
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.platforms import Platform, parse_platform, running_platform

# Between the targets that one lock names.
TARGET_SEPARATOR = "; "


class Target(NamedTuple):
    """One environment to lock for.

    python:   `3.12` (which means 3.12.0) or a full `3.12.4`; `""` is the running interpreter
    platform: a platform name as uv spells it (`x86_64-manylinux_2_28`, `linux`, ...); `""` is the
              running platform
    cuda:     the highest CUDA that it runs, `12` or `12.8`, of which the major counts; `""`: not known
    driver:   its NVIDIA driver, `570.133.20` or a branch, `570`; `""`: not known. With neither of the two any
              CUDA will do, but one for the whole set
    """

    python: str = ""
    platform: str = ""
    cuda: str = ""
    driver: str = ""

    def resolved(self) -> Target:
        """This target with Python and platform in full. Raises InputError for an unknown Python or platform,
        and for a CUDA or a driver that is none, or that contradict each other."""
        python = self.python or "{}.{}.{}".format(*sys.version_info[:3])
        numbers = _python_numbers(python)
        if numbers is None:
            raise InputError(
                f"`{python}` is no Python version that can be locked for",
                hints=["write 3.X or 3.X.Y, such as `--python-version 3.12`"],
            )
        full = "3.{}.{}".format(*numbers)
        platform = parse_platform(self.platform or running_platform())
        cuda = check_cuda(self.cuda) if self.cuda else ""
        driver = check_driver(self.driver) if self.driver else ""
        if (cuda or driver) and platform.family == "macos":
            raise InputError(
                f"there is no CUDA for {platform.name}", hints=["leave out `--cuda` and `--driver`"]
            )
        if cuda and driver and majors_of_cuda(cuda)[0] not in majors_of_driver(driver):
            raise InputError(
                f"driver {driver} runs CUDA {majors_of_driver(driver)[0]} at most, not CUDA {cuda}",
                hints=["give one of `--cuda` and `--driver`"],
            )
        return Target(full, platform.name, cuda, driver)

    def or_else(self, other: Target) -> Target:
        """This target, and where it says nothing, the other one. What it says of CUDA, in whichever way,
        stands for all that the other says of it."""
        cuda = self if self.cuda or self.driver else other
        return Target(self.python or other.python, self.platform or other.platform, cuda.cuda, cuda.driver)

    @property
    def cuda_majors(self) -> tuple[str, ...]:
        """The CUDA majors that a resolved target runs, newest first; all that are known when it does not
        say."""
        by_cuda = majors_of_cuda(self.cuda) if self.cuda else MAJORS
        by_driver = majors_of_driver(self.driver) if self.driver else MAJORS
        return tuple(major for major in MAJORS if major in by_cuda and major in by_driver)

    @property
    def cuda_bound(self) -> str:
        """What a resolved target demands of `__cuda` (`model.cuda`), as a specifier; `""` for nothing."""
        majors = self.cuda_majors
        return "" if majors == MAJORS else exactly(majors)

    @property
    def cuda_origin(self) -> str:
        """What says which CUDA the target runs: `driver 570`, `CUDA 12.8`, both, or `""`."""
        parts = (f"driver {self.driver}" if self.driver else "", f"CUDA {self.cuda}" if self.cuda else "")
        return ", ".join(filter(None, parts))

    @property
    def python_minor(self) -> tuple[int, int]:
        """`(3, 12)` of a resolved target."""
        major, minor = self.python.split(".")[:2]
        return int(major), int(minor)

    @property
    def parsed_platform(self) -> Platform:
        """The platform's meaning."""
        return parse_platform(self.platform)

    @property
    def marker_environment(self) -> dict[str, str]:
        """Values of the environment markers (PEP 508) of a resolved target; CPython."""
        return {
            **self.parsed_platform.markers,
            "implementation_name": "cpython",
            "implementation_version": self.python,
            "platform_python_implementation": "CPython",
            "python_full_version": self.python,
            "python_version": "{}.{}".format(*self.python_minor),
        }

    @property
    def key(self) -> str:
        """Identifies a resolved target in caches of what an index offers it. CUDA plays no part in that: it
        hides no file, so that targets with different drivers share what was read."""
        return f"cpython-{self.python}-{self.platform}"

    def __str__(self) -> str:
        return ", ".join(filter(None, (f"CPython {self.python} on {self.platform}", self.cuda_origin)))


def _python_numbers(text: str) -> tuple[int, int] | None:
    """The minor version and the patch of `3.X` or `3.X.Y`, None for anything else."""
    major, *rest = text.split(".")
    fits = all(part.isdecimal() and len(part) <= most for part, most in zip(rest, (2, 3), strict=False))
    if major != "3" or len(rest) not in (1, 2) or not fits:
        return None
    return int(rest[0]), int(rest[1]) if len(rest) == 2 else 0


def target_in_words(text: str) -> Target | None:
    """Return the resolved target that `str` made `text` of, or None when it is no such text."""
    where, *parts = text.removeprefix("CPython ").split(", ")
    python, separator, platform = where.partition(" on ")
    given = dict(part.split(" ", 1) for part in parts if " " in part)
    try:
        if not (python and separator and platform):
            return None
        target = Target(python, platform, given.get("CUDA", ""), given.get("driver", "")).resolved()
    except InputError:
        return None
    return target if str(target) == text else None


def targets_in_words(text: str) -> tuple[Target, ...]:
    """Return the resolved targets that a lock for one or for several names, none when the text is another."""
    targets = tuple(map(target_in_words, text.split(TARGET_SEPARATOR)))
    return () if None in targets else tuple(target for target in targets if target is not None)
