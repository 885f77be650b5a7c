"""A quick look at a module's text: what stands at the left margin, and all its imports.

Parsing the thousands of modules that a set of distributions imports would take minutes. Regular
expressions find, a hundred times as fast, what needs a closer look: what an outline has is (nearly always)
there, what it lacks is looked for by `modules.summarise`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from compatlock.model.named_tuple import NamedTuple

KIND = "outline/1"
MAX_SOURCE = 4 * 1024 * 1024

# Each begins with literal text, which is searched for several times as fast as anything else. Whether it
# stands at the beginning of a line is looked at afterwards. Lengths are bounded, so that no text, however
# strange, takes time in proportion to its square.
_FROM = re.compile(
    rb"from[ \t]+([.\w]+)[ \t]*import[ \t]*(\([^)]{0,9999}\)|[^\n#;\\(]*(?:\\\r?\n[^\n#;\\]*)*)"
)
_IMPORT = re.compile(rb"import[ \t]+([\w., \t]+)")
_DEFINED = (
    re.compile(rb"\nclass[ ]+(\w+)"),
    re.compile(rb"\ndef[ ]+(\w+)"),
    re.compile(rb"\nasync[ ]+def[ ]+(\w+)"),
    re.compile(rb"\n([A-Za-z_]\w*(?:[ \t]*[,=][ \t]*\w+)*)[ \t]*(?::[^\n=]+)?=(?!=)"),
)
_NAME = re.compile(rb"\w+")
_AS = re.compile(rb"(\w+)(?:[ \t]+as[ \t]+(\w+))?")
_COMMENT = re.compile(rb"#[^\n]*")
_LOOKED_UP = re.compile(
    rb"\n(?:@|class[ ]+\w+\((?:[^()\n]*,[ \t]*)?|\w+[ \t]*=[ \t]*)(\w+)\.(\w+)",
)
_PATCHED = re.compile(rb"\.(?<!self\.)(\w+)[ \t]*=(?!=)")
_SETATTR = re.compile(rb"setattr\([ \t\n]{0,99}(\w{1,99})[\w.]{0,99},[ \t\n]{0,99}[\"'](\w+)[\"']")
_MARGIN = 200
_ATTACH = re.compile(rb"attach\(\s*__name__")
_SYS_MODULES = re.compile(rb"modules\[[^\]\n]{0,200}\]\s{0,9}=(?!=)|sys\.modules\.(?:update|setdefault)")


# How a name is taken from a module; the mark stands before the name (none of it: the module itself).
AT_MARGIN = ""  # at the left margin, so that importing the module is enough
INDENTED = "~"
ATTRIBUTE = "."  # looked up on the module, at the left margin


_NOTHING: Mapping[str, Sequence[str]] = {}


class Outline(NamedTuple):
    """names: bound at the left margin; imports: by module, the names that are taken from it, each with its
    mark; patches: attributes set on what was imported. `lazy` and `hooks` are as in `modules.Summary`, as
    far as the text looks like it."""

    names: frozenset[str] = frozenset()
    imports: Mapping[str, Sequence[str]] = _NOTHING
    patches: frozenset[str] = frozenset()
    lazy: bool = False
    hooks: bool = False


EMPTY = Outline()


def outline(source: bytes, module: str, *, is_package: bool) -> Outline:
    """Return the outline of a module's source, an empty one when that is larger than any real one."""
    if len(source) > MAX_SOURCE:
        return EMPTY
    found = _Text(b"\n" + source, module.split(".") if is_package else module.split(".")[:-1])
    return Outline(
        frozenset(_text(name) for name in found.names),
        {module: sorted(found.imports[module]) for module in sorted(found.imports) if module},
        frozenset(_text(name) for name in found.patches()),
        b"_LazyModule(" in source or _ATTACH.search(source) is not None,
        _hooks(source),
    )


class _Text:
    """What is found in a source that begins with an empty line."""

    def __init__(self, source: bytes, package: list[str]) -> None:
        self.names: set[bytes] = set()
        self.imports: dict[str, set[str]] = {}
        self._source = source
        self._package = package
        self._modules: dict[bytes, str] = {}  # bound by `import`, at the left margin
        self._imported: set[bytes] = set()
        for found in _IMPORT.finditer(source):
            before = _before(source, found.start())
            if not before.strip():
                self._import(found[1], INDENTED if before else AT_MARGIN)
        for found in _FROM.finditer(source):
            before = _before(source, found.start())
            if not before.strip():
                self._from(_text(found[1]), found[2], INDENTED if before else AT_MARGIN)
        for pattern in _DEFINED:
            for text in pattern.findall(source):
                self.names.update(_NAME.findall(text))
        for alias, attribute in _LOOKED_UP.findall(source):
            if alias in self._modules:
                self._note(self._modules[alias], ATTRIBUTE + _text(attribute))

    def _note(self, module: str, name: str) -> None:
        self.imports.setdefault(module, set()).add(name)

    def _import(self, text: bytes, mark: str) -> None:
        for part in text.split(b","):
            words = part.split()
            if not words or words[0].startswith(b"."):
                continue
            renamed = len(words) == 3 and words[1] == b"as"
            alias = words[2] if renamed else words[0].partition(b".")[0]
            self._note(_text(words[0]), mark)
            self._imported.add(alias)
            if mark == AT_MARGIN:
                self.names.add(alias)
                self._modules[alias] = _text(words[0] if renamed else alias)

    def _from(self, given: str, text: bytes, mark: str) -> None:
        module = _absolute(given, self._package)
        if b"*" in text:
            self._note(module, mark)
        for name, alias in _AS.findall(_COMMENT.sub(b"", text).replace(b"\\", b" ")):
            self._note(module, mark + _text(name))
            self._imported.add(alias or name)
            if mark == AT_MARGIN:
                self.names.add(alias or name)

    def patches(self) -> set[bytes]:
        """The attributes that are set on what was imported."""
        found = {m[2] for m in _SETATTR.finditer(self._source) if m[1] in self._imported}
        for match in _PATCHED.finditer(self._source):
            target = _before(self._source, match.start()).strip().partition(b".")[0]
            if target in self._imported:
                found.add(match[1])
        return found


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")


def _hooks(source: bytes) -> bool:
    if b"meta_path" in source or b"__path__" in source:
        return True
    return b"sys.modules" in source and _SYS_MODULES.search(source) is not None


def _before(source: bytes, at: int) -> bytes:
    """What stands before `at` in its line; something or other when that is long."""
    start = source.rfind(b"\n", max(0, at - _MARGIN), at)
    return source[start + 1 : at] if start >= 0 else b"?"


def _absolute(given: str, package: list[str]) -> str:
    """The absolute name of the module after `from`, `""` when it leads out of the package."""
    name = given.lstrip(".")
    level = len(given) - len(name)
    if not level:
        return name
    keep = len(package) - level + 1
    return ".".join([*package[:keep], *([name] if name else [])]) if keep > 0 else ""


def encode(found: Outline) -> bytes:
    """Return the compact form that is remembered."""
    texts = [" ".join(sorted(part)) for part in (found.names, found.patches)]
    imports = {module: ",".join(names) for module, names in found.imports.items()}
    return json.dumps([found.lazy + 2 * found.hooks, *texts, imports], separators=(",", ":")).encode()


def decode(data: bytes) -> Outline | None:
    """Return what `encode` was given; None for anything else."""
    try:
        flags, names, patches, imports = json.loads(data)
        return Outline(
            frozenset(names.split()),
            {module: text.split(",") for module, text in imports.items()},
            frozenset(patches.split()),
            bool(flags & 1),
            bool(flags & 2),
        )
    except (ValueError, TypeError, AttributeError):
        return None
