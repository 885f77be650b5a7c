"""Where the members of a wheel are installed (PEP 427), and what they are for."""

from __future__ import annotations

import re
from functools import lru_cache

# Below this root lie files outside of site-packages: `data` and `headers` of the .data folder, and scripts.
PREFIX = "<prefix>/"

_DATA = re.compile(r"[^/]+\.data/(purelib|platlib|scripts|headers|data)/(.+)\Z")
_PLACES = {
    "purelib": "",
    "platlib": "",
    "scripts": PREFIX + "bin/",
    "headers": PREFIX + "include/",
    "data": PREFIX,
}

# Folders that are no part of what a distribution is for, at the top level or below a package.
_SIDE_FOLDERS = frozenset(
    [
        "test",
        "tests",
        "testing_data",
        "doc",
        "docs",
        "example",
        "examples",
        "benchmark",
        "benchmarks",
        "scripts",
        "licenses",
        "license",
        "sample",
        "samples",
        "tutorials",
        "demo",
        "demos",
    ]
)
_TESTS = frozenset({"test", "tests", "conftest.py"})
# Modules of a source tree's root that end up in wheels by mistake; nothing imports them.
_STRAY = frozenset(
    [
        "setup.py",
        "conftest.py",
        "versioneer.py",
        "build_backend.py",
        "_build_backend.py",
        "hatch_build.py",
        "noxfile.py",
        "tasks.py",
        "fabfile.py",
        "build.py",
        "_custom_build.py",
    ]
)
_TEXT = re.compile(
    r"(?i)(licen[cs]e|copying|notice|authors|readme|change(s|log)|history|third.?party|contributing|py\.typed)"
    r"[^/]*\Z"
)
_SHARED_OBJECT = re.compile(r"(?i)\.(so|pyd|dll|dylib)(\.[0-9]+)*\Z")


def install_path(member: str) -> str:
    """Return where a member is installed, relative to site-packages or to `PREFIX`; `""` for the files that
    belong to one release by their folder's name (`*.dist-info`) and for what no installer would write."""
    if ".data/" in member:
        found = _DATA.match(member)
        if found:
            member = _PLACES[found[1]] + found[2]
    top = member.partition("/")[0]
    if top.endswith((".dist-info", ".egg-info")) or not top or ".." in member.split("/"):
        return ""
    return member


def is_shared_object(path: str) -> bool:
    """Whether the file is a shared library or an extension module."""
    return _SHARED_OBJECT.search(path) is not None


@lru_cache(maxsize=65536)
def is_side_folder(folder: str) -> bool:
    """Whether a folder is for tests, documentation, examples or the like."""
    return not _SIDE_FOLDERS.isdisjoint(folder.lower().split("/"))


def is_harmless(path: str) -> bool:
    """Whether nothing that runs reads the file: tests, documentation, licences, stray build files."""
    folder, _, name = path.rpartition("/")
    if not folder and name in _STRAY:
        return True
    return _TEXT.match(name) is not None or name == "conftest.py" or is_side_folder(folder)


def is_for_tests(module: str) -> bool:
    """Whether a dotted module name is one of a distribution's own tests or examples."""
    return is_side_folder(module.replace(".", "/")) or module.rpartition(".")[2] == "conftest"
