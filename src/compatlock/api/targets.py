"""The targets of a lock for several: named one by one, or the usual platforms over a project's Pythons."""

from __future__ import annotations

from compatlock.api.request import detected
from compatlock.errors import InputError
from compatlock.inputs.pyproject import python_problems
from compatlock.inputs.sources import read_sources
from compatlock.model.platforms import parse_platform
from compatlock.model.target import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from compatlock.api.options import LockOptions

# Linux on two machines, macOS and Windows. The glibc is that of uv's platform `linux`.
UNIVERSAL = ("x86_64-manylinux_2_28", "aarch64-manylinux_2_28", "macos", "windows")
# The Pythons that compatlock knows of.
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")


def targets_of(options: LockOptions) -> tuple[Target, ...]:
    """Return the resolved targets that options ask for; none when it is the one of `options.target`.

    What a target leaves out is that of `options.target`. Raises InputError for what is no target, and when
    the projects that are locked allow no Python that is known.
    """
    if options.targets and options.universal:
        raise InputError("`--universal` names the targets already", hints=["leave out `--target`"])
    if options.targets:
        options = options._replace(target=detected(options.target))
    if options.universal:
        platforms = [_with_floor(platform, options.target.platform) for platform in UNIVERSAL]
        found = [
            options.target._replace(python=python, platform=platform, cuda="", driver="")
            for python in _pythons(options)
            for platform in platforms
        ]
    else:
        found = [parse_target(text, options.target) for text in options.targets]
    return tuple(dict.fromkeys(target.resolved() for target in found))


def parse_target(text: str, default: Target) -> Target:
    """Return the target that `PYTHON@PLATFORM`, `PYTHON` or `PLATFORM` names; what is left out is that of
    `default`. Raises InputError for anything else."""
    python, separator, platform = text.strip().partition("@")
    if not separator and not python[:1].isdigit():
        python, platform = "", python
    if python and platform[:1].isdigit():
        raise InputError(
            f"`{text}` names the platform before the Python", hints=[f"write `--target {platform}@{python}`"]
        )
    if not (python or platform) or (separator and not (python and platform)):
        raise InputError(
            f"`{text}` names no target",
            hints=["write `--target 3.12@linux`, `--target 3.12` or `--target macos`"],
        )
    family = parse_platform(platform).family if platform else ""
    cuda = {"cuda": "", "driver": ""} if family == "macos" else {}
    return default._replace(python=python or default.python, platform=platform or default.platform, **cuda)


def _with_floor(platform: str, asked: str) -> str:
    """A Linux platform, with the glibc of the one that was asked for, if any."""
    floor = parse_platform(asked) if asked else None
    if floor is None or floor.family != "manylinux" or "manylinux" not in platform:
        return platform
    return f"{parse_platform(platform).machine}-manylinux_{floor.floor[0]}_{floor.floor[1]}"


def _pythons(options: LockOptions) -> Iterable[str]:
    """The one asked for, else all that the projects allow, else the running one (`""`)."""
    if options.target.python:
        return (options.target.python,)
    demands = read_sources(options.files, (), wanted=None).requires_python
    if not demands:
        return ("",)
    allowed = [python for python in PYTHONS if not python_problems(demands, f"{python}.0")]
    if not allowed:
        said = "; ".join(f"{specifier} ({origin})" for specifier, origin in demands)
        raise InputError(
            f"no Python of {PYTHONS[0]} to {PYTHONS[-1]} fulfils what the project requires: {said}",
            hints=["choose one with `--python-version`"],
        )
    return allowed
