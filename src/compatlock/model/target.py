"""The environment that a lock is made for."""

from __future__ import annotations

import re
import sys
from typing import NamedTuple

from compatlock.errors import InputError
from compatlock.model.platforms import Platform, parse_platform, running_platform

_PYTHON = re.compile(r"3\.(\d{1,2})(?:\.(\d{1,3}))?\Z")


class Target(NamedTuple):
    """One environment to lock for.

    python:   `3.12` (which means 3.12.0) or a full `3.12.4`; `""` is the running interpreter
    platform: a platform name as uv spells it (`x86_64-manylinux_2_28`, `linux`, ...); `""` is the
              running platform
    """

    python: str = ""
    platform: str = ""

    def resolved(self) -> Target:
        """This target with both fields in full. Raises InputError for an unknown Python or platform."""
        python = self.python or "{}.{}.{}".format(*sys.version_info[:3])
        match = _PYTHON.match(python)
        if not match:
            raise InputError(
                f"`{python}` is no Python version that can be locked for",
                hints=["write 3.X or 3.X.Y, such as `--python-version 3.12`"],
            )
        full = f"3.{int(match[1])}.{int(match[2] or 0)}"
        platform = parse_platform(self.platform or running_platform())
        return Target(full, platform.name)

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
        """Identifies a resolved target in caches."""
        return f"cpython-{self.python}-{self.platform}"

    def __str__(self) -> str:
        return f"CPython {self.python} on {self.platform}"


def target_in_words(text: str) -> Target | None:
    """Return the resolved target that `str` made `text` of, or None when it is no such text."""
    python, separator, platform = text.removeprefix("CPython ").partition(" on ")
    try:
        target = Target(python, platform).resolved() if python and separator and platform else None
    except InputError:
        return None
    return target if str(target) == text else None
