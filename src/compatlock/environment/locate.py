"""Where an environment keeps its distributions, and which Python it is, without running anything of it."""

from __future__ import annotations

import os
import re
import sys

from compatlock.errors import InputError
from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_PYTHON_FOLDER = re.compile(r"python(3\.\d+)t?\Z")
_PYTHON_PROGRAM = re.compile(r"python(3\.\d+)t?(?:\.exe)?\Z")
_VERSION = re.compile(r"(3\.\d+(?:\.\d+)?)")
_SITE = ("site-packages", "dist-packages")


class Environment(NamedTuple):
    """`folders` are searched in their order; `python` is its version, `3.12.4` or, when the patch release is
    not known, `3.12` (`""`: not known at all)."""

    folders: tuple[str, ...]
    python: str = ""


def locate(path: str = "") -> Environment:
    """Find the environment at `path`: the root of a virtual (or conda) environment, its Python, or a
    site-packages folder; `""` is the running interpreter's. Raises InputError when there is none."""
    if not path:
        return _running()
    full = os.path.abspath(path)
    if os.path.isfile(full):
        return _of_program(full, path)
    if not os.path.isdir(full):
        raise InputError(f"there is no environment at {path}: no such file or folder")
    if os.path.basename(full) in _SITE or _has_distributions(full):
        return Environment(tuple(_with_pth([full])), _python_of_folder(full))
    return _of_prefix(full, path)


def _running() -> Environment:
    """Where the interpreter itself looks, but for the folder that the program was started in."""
    here = os.path.abspath(os.curdir)
    folders = [folder for folder in sys.path if folder and os.path.abspath(folder) != here]
    return Environment(tuple(dict.fromkeys(folders)), "{}.{}.{}".format(*sys.version_info[:3]))


def _of_program(program: str, shown: str) -> Environment:
    named = {match[1] for match in map(_PYTHON_PROGRAM.match, _names(program)) if match}
    folder = os.path.dirname(program)
    # On Windows the program of a base installation is in its root, that of an environment in Scripts.
    for prefix in (os.path.dirname(folder), folder):
        found = list(_site_folders(prefix))
        fitting = [item for item in found if _minor_of(item) in named] or found
        if fitting:
            return _environment(prefix, fitting)
    raise InputError(
        f"{shown} is no Python whose packages can be found",
        hints=["name its site-packages folder instead"],
    )


def _names(program: str) -> tuple[str, ...]:
    return os.path.basename(program), os.path.basename(os.path.realpath(program))


def _of_prefix(prefix: str, shown: str) -> Environment:
    found = list(_site_folders(prefix))
    if not found:
        raise InputError(
            f"{shown} is no environment: it has no site-packages folder",
            hints=["name the root of a virtual environment, its Python, or a site-packages folder"],
        )
    minors = sorted({minor for minor in map(_minor_of, found) if minor})
    if len(minors) > 1:
        raise InputError(
            f"{shown} has packages of several Pythons: {', '.join(minors)}",
            hints=[f"name one of the folders, such as {found[0]}"],
        )
    return _environment(prefix, found)


def _environment(prefix: str, folders: list[str]) -> Environment:
    settings = _settings(prefix)
    named = _VERSION.match(settings.get("version", settings.get("version_info", "")))
    minor = next(filter(None, map(_minor_of, folders)), "")
    python = named[1] if named else _conda_python(prefix) or minor
    if settings.get("include-system-site-packages", "").lower() == "true" and settings.get("home"):
        base = os.path.dirname(settings["home"])
        folders = folders + [item for item in _site_folders(base) if _minor_of(item) in ("", minor)]
    return Environment(tuple(_with_pth(folders)), python)


def _settings(prefix: str) -> dict[str, str]:
    """The fields of pyvenv.cfg."""
    try:
        with open(os.path.join(prefix, "pyvenv.cfg"), encoding="utf-8", errors="replace") as file:
            pairs = [line.partition("=") for line in file]
    except OSError:
        return {}
    return {key.strip().lower(): value.strip() for key, equals, value in pairs if equals}


def _conda_python(prefix: str) -> str:
    """The version of Python that conda recorded: `conda-meta/python-3.12.4-BUILD.json`."""
    for name in _list(os.path.join(prefix, "conda-meta")):
        if match := re.match(r"python-(3\.\d+\.\d+)-", name):
            return match[1]
    return ""


def _site_folders(prefix: str) -> Iterator[str]:
    """The folders of packages below the root of an installation (POSIX, Debian, Windows)."""
    seen: set[str] = set()
    for lib in ("lib", "lib64", "local/lib", "Lib"):
        inner = [name for name in _list(os.path.join(prefix, lib)) if _PYTHON_FOLDER.match(name)]
        for parts in (*((name,) for name in inner), ("python3",), ()):
            for site in _SITE:
                folder = os.path.join(prefix, lib, *parts, site)
                # lib64 is often a link to lib, and on some systems lib is Lib.
                if os.path.isdir(folder) and os.path.realpath(folder) not in seen:
                    seen.add(os.path.realpath(folder))
                    yield folder


def _minor_of(folder: str) -> str:
    match = _PYTHON_FOLDER.match(os.path.basename(os.path.dirname(folder)))
    return match[1] if match else ""


def _python_of_folder(folder: str) -> str:
    """The Python of a folder of packages: that of the environment around it, if it is part of one."""
    minor = _minor_of(folder)
    above = os.path.dirname(os.path.dirname(folder))
    for prefix in (os.path.dirname(above), above):
        named = _VERSION.match(_settings(prefix).get("version", _settings(prefix).get("version_info", "")))
        if named:
            return named[1]
        if minor and (found := _conda_python(prefix)):
            return found
    return minor


def _has_distributions(folder: str) -> bool:
    return any(name.endswith((".dist-info", ".egg-info")) for name in _list(folder))


def _with_pth(folders: list[str]) -> list[str]:
    """The folders with those that their .pth files add, as `site` does (lines that are code are not run)."""
    result = list(folders)
    for folder in folders:
        for name in sorted(_list(folder)):
            if name.endswith(".pth") and not name.startswith("."):
                result += [item for item in _pth_lines(folder, name) if os.path.isdir(item)]
    return list(dict.fromkeys(result))


def _pth_lines(folder: str, name: str) -> list[str]:
    try:
        with open(os.path.join(folder, name), encoding="utf-8-sig", errors="replace") as file:
            lines = [line.strip() for line in file]
    except OSError:
        return []
    paths = [line for line in lines if line and not line.startswith(("#", "import ", "import\t", "\0"))]
    return [os.path.normpath(os.path.join(folder, line)) for line in paths if "\0" not in line]


def _list(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
