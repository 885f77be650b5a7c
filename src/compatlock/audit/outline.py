"""A quick look at a module's text: what stands at the left margin, and all its imports.

Parsing the thousands of modules that a set of distributions imports would take minutes. Regular
expressions find, a hundred times as fast, what needs a closer look: what an outline has is (nearly always)
there, what it lacks is looked for by `modules.summarise`.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

KIND = "outline/1"

_FROM = re.compile(
    rb"^([ \t]*)(?:[\w:.() ]+:[ \t]*)?from[ \t]+([.\w]+)[ \t]*import[ \t]*"
    rb"(\([^)]*\)|[^\n#;\\(]*(?:\\\r?\n[^\n#;\\]*)*)",
    re.MULTILINE,
)
_IMPORT = re.compile(rb"^([ \t]*)(?:[\w:.() ]+:[ \t]*)?import[ \t]+([\w., \t]+)", re.MULTILINE)
_DEFINED = re.compile(
    rb"^(?:class|def|async[ ]def)[ ]+(\w+)|^((?:\w+[ \t]*[,=][ \t]*)*\w+)[ \t]*(?::[^\n=]+)?=(?!=)",
    re.MULTILINE,
)
_NAME = re.compile(rb"\w+")
_AS = re.compile(rb"(\w+)(?:[ \t]+as[ \t]+(\w+))?")
_COMMENT = re.compile(rb"#[^\n]*")
_LOOKED_UP = re.compile(
    rb"^(?:@|class[ ]+\w+\((?:[^()\n]*,[ \t]*)?|\w+[ \t]*=[ \t]*)(\w+)\.(\w+)", re.MULTILINE
)
_PATCHED = re.compile(
    rb"^[ \t]*(\w+)(?:\.\w+)*\.(\w+)[ \t]*=(?!=)|setattr\([ \t]*(\w+)[\w.]*,[ \t]*[\"'](\w+)[\"']",
    re.MULTILINE,
)
_LAZY = re.compile(rb"_LazyModule\(|attach\(\s*__name__")
_HOOKS = re.compile(
    rb"sys\.modules\[[^\]\n]*\]\s*=(?!=)|sys\.modules\.(?:update|setdefault)|meta_path|__path__"
)


class Named(NamedTuple):
    """An import of a module (`name` `""`) or of a name, or the look-up of an `attribute` on a module.

    `at_margin` is set when it stands at the left margin, so that nothing but the module's import is needed.
    """

    module: str
    name: str
    at_margin: bool
    attribute: bool = False


class Outline(NamedTuple):
    """names: bound at the left margin; patches: attributes set on what was imported. `lazy` and `hooks`
    are as in `modules.Summary`, as far as the text looks like it."""

    names: frozenset[str] = frozenset()
    imports: tuple[Named, ...] = ()
    patches: frozenset[str] = frozenset()
    lazy: bool = False
    hooks: bool = False


EMPTY = Outline()


def outline(source: bytes, module: str, *, is_package: bool) -> Outline:
    """Return the outline of a module's source."""
    parts = module.split(".")
    package = parts if is_package else parts[:-1]
    names: set[bytes] = set()
    imports: set[Named] = set()
    modules: dict[bytes, str] = {}
    for indent, text in _IMPORT.findall(source):
        _import(indent, text, names, imports, modules)
    imported = set(modules)
    for indent, given, text in _FROM.findall(source):
        target = _absolute(given.decode(), package)
        for name, alias in _AS.findall(_COMMENT.sub(b"", text).replace(b"\\", b" ")):
            imports.add(Named(target, name.decode(), not indent))
            imported.add(alias or name)
            if not indent:
                names.add(alias or name)
    for one, several in _DEFINED.findall(source):
        names.update(_NAME.findall(one or several))
    for alias, attribute in _LOOKED_UP.findall(source):
        if alias in modules:
            imports.add(Named(modules[alias], attribute.decode(), True, True))
    found = [(m[0] or m[2], m[1] or m[3]) for m in _PATCHED.findall(source)]
    patches = {attribute.decode() for target, attribute in found if target in imported}
    return Outline(
        frozenset(name.decode("utf-8", "replace") for name in names),
        tuple(sorted(named for named in imports if named.module)),
        frozenset(patches),
        _LAZY.search(source) is not None,
        _HOOKS.search(source) is not None,
    )


def _import(
    indent: bytes, text: bytes, names: set[bytes], imports: set[Named], modules: dict[bytes, str]
) -> None:
    for part in text.split(b","):
        words = part.split()
        if not words or words[0].startswith(b"."):
            continue
        alias = words[2] if len(words) == 3 and words[1] == b"as" else words[0].partition(b".")[0]
        imports.add(Named(words[0].decode("utf-8", "replace"), "", not indent))
        if not indent:
            names.add(alias)
            modules[alias] = (words[0] if len(words) == 3 else alias).decode("utf-8", "replace")


def _absolute(given: str, package: list[str]) -> str:
    """The absolute name of the module after `from`, `""` when it leads out of the package."""
    name = given.lstrip(".")
    level = len(given) - len(name)
    if not level:
        return name
    keep = len(package) - level + 1
    return ".".join([*package[:keep], *([name] if name else [])]) if keep > 0 else ""


def encode(found: Outline) -> bytes:
    """Return the compact form that is remembered: imports by module, so that each is written once."""
    modules: dict[str, list[str]] = {}
    for named in found.imports:
        mark = "." if named.attribute else "" if named.at_margin else "~"
        modules.setdefault(named.module, []).append(mark + named.name)
    texts = [" ".join(sorted(part)) for part in (found.names, found.patches)]
    by_module = {module: ",".join(names) for module, names in modules.items()}
    return json.dumps([found.lazy + 2 * found.hooks, *texts, by_module], separators=(",", ":")).encode()


def decode(data: bytes) -> Outline | None:
    """Return what `encode` was given; None for anything else."""
    try:
        flags, names, patches, modules = json.loads(data)
        imports = [
            Named(module, name.lstrip(".~"), not name.startswith("~"), name.startswith("."))
            for module, text in modules.items()
            for name in text.split(",")
        ]
    except (ValueError, TypeError, AttributeError):
        return None
    return Outline(
        frozenset(names.split()),
        tuple(imports),
        frozenset(patches.split()),
        bool(flags & 1),
        bool(flags & 2),
    )
