"""A summary of what a Python module defines and imports, read off its text; nothing is run.

What is told is what `import` would find. Where that cannot be known from the text (`__getattr__`, writing
to `globals()`, `exec`, a module that replaces itself), the summary says so (`dynamic`).
"""

from __future__ import annotations

import json

from compatlock.audit.module_scan import Scan
from compatlock.model.named_tuple import NamedTuple

KIND = "module/2"

# When an import is carried out.
NOW = 0  # whenever the module is imported
CHOSEN = 1  # when a condition holds, such as that a package is there
LATER = 2  # within a function
TYPING = 3  # never; type checkers read it


class Import(NamedTuple):
    """`from module import name`; `name` `""` is `import module`. Names are absolute. `attribute` is set for
    a name that is not imported but looked up on the imported module, as `module.name`."""

    module: str
    name: str
    line: int
    when: int
    attribute: bool = False


class Summary(NamedTuple):
    """What a module defines and imports.

    names:    what it may bind at its top level, on any path (too many rather than too few)
    offered:  names that a lazy loader known to us may give besides (transformers' `_LazyModule`, `attach`)
    folders:  folders, relative to the module's, whose modules' exports the lazy loader offers as well
    imports:  without those whose failure is caught, or that a comparison of versions decides
    stars:    modules of `from module import *`
    dynamic:  it may have names that are not told
    hooks:    it may make modules importable that have no file
    lazy:     it uses such a loader
    """

    names: frozenset[str] = frozenset()
    offered: frozenset[str] = frozenset()
    folders: tuple[str, ...] = ()
    imports: tuple[Import, ...] = ()
    stars: tuple[str, ...] = ()
    dynamic: bool = False
    hooks: bool = False
    lazy: bool = False


UNKNOWN = Summary(dynamic=True, hooks=True)


def summarise(source: bytes, module: str, *, is_package: bool) -> Summary:
    """Return the summary of a module's source; `UNKNOWN` when it is no Python that this interpreter reads."""
    scan = Scan(module, is_package=is_package)
    if not scan.read(source):
        return UNKNOWN
    return Summary(
        names=frozenset(scan.names),
        offered=frozenset(scan.offered),
        folders=tuple(sorted(scan.folders)),
        imports=tuple(sorted({Import(*found) for found in scan.imports})),
        stars=tuple(sorted(scan.stars)),
        dynamic=scan.dynamic,
        hooks=scan.hooks,
        lazy=scan.lazy,
    )


def encode(summary: Summary) -> bytes:
    """Return the compact form that is remembered."""
    flags = summary.dynamic + 2 * summary.hooks + 4 * summary.lazy
    texts = [" ".join(sorted(part)) for part in (summary.names, summary.offered)]
    data = [flags, *texts, summary.folders, summary.stars, summary.imports]
    return json.dumps(data, separators=(",", ":")).encode()


def decode(data: bytes) -> Summary:
    """Return what `encode` was given; `UNKNOWN` for anything else."""
    try:
        flags, names, offered, folders, stars, imports = json.loads(data)
        return Summary(
            names=frozenset(names.split()),
            offered=frozenset(offered.split()),
            folders=tuple(folders),
            imports=tuple(map(Import._make, imports)),
            stars=tuple(stars),
            dynamic=bool(flags & 1),
            hooks=bool(flags & 2),
            lazy=bool(flags & 4),
        )
    except (ValueError, TypeError, AttributeError):
        return UNKNOWN
