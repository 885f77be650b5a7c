"""What the artefacts of a lock put into site-packages: which file a module's name leads to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from sys import stdlib_module_names

from compatlock.audit.layout import PREFIX, install_path, is_for_tests
from compatlock.model.artefact import Artefact, Directory, Member
from compatlock.model.named_tuple import NamedTuple

SOURCE = "source"  # a .py file
BINARY = "binary"  # an extension module, or byte code alone
FOLDER = "folder"  # a namespace package (PEP 420)
SHARED = "shared"  # a file that several distributions install
MISSING = "missing"  # its package is there, the module is not
ABSENT = "absent"  # no distribution of the set has the package, or the standard library does

_BINARY = (".so", ".pyd", ".pyc")


class Located(NamedTuple):
    """What a module's name leads to. `owner`, a package, and `member` are set for `SOURCE` alone."""

    kind: str
    owner: str = ""
    member: Member | None = None
    is_package: bool = False


class Site:
    """An index of the modules of the artefacts."""

    def __init__(self, artefacts: Iterable[Artefact], directories: Mapping[str, Directory]) -> None:
        self.artefacts = {artefact.package: artefact for artefact in artefacts}
        self._sources: dict[str, Located] = {}
        self._binaries: set[str] = set()
        self._found: dict[str, Located] = {}
        self._folders: set[str] = set()
        self._modules: dict[str, list[str]] = {}
        self._below: dict[tuple[str, str], list[Member]] = {}
        for package, artefact in self.artefacts.items():
            for member in directories[artefact.file.filename].members:
                self._add(package, member)

    def _add(self, package: str, member: Member) -> None:
        path = install_path(member.path)
        if not path or path.startswith(PREFIX):
            return
        stem, is_package, kind = _module_of(path)
        if not kind:
            return
        module = stem.replace("/", ".")
        folder = stem if is_package else stem.rpartition("/")[0]
        while folder and folder not in self._folders:
            self._folders.add(folder)
            folder = folder.rpartition("/")[0]
        if kind == BINARY:
            self._binaries.add(module)
            return
        self._below.setdefault((package, path.rpartition("/")[0]), []).append(member)
        known = self._sources.get(module)
        if known is not None and known.owner != package:
            self._sources[module] = Located(SHARED, is_package=is_package)
        elif known is None or is_package:  # a package goes before a module of the same name
            self._sources[module] = Located(SOURCE, package, member, is_package)
            self._modules.setdefault(package, []).append(module)

    def is_ours(self, module: str) -> bool:
        """Whether the top-level package of a module is one that an artefact installs."""
        return self.find(module.partition(".")[0]).kind != ABSENT

    def find(self, module: str) -> Located:
        """Return what `import module` would find."""
        found = self._found.get(module)
        if found is None:
            found = self._found[module] = self._find(module)
        return found

    def owner(self, module: str) -> str:
        """Return the package that a module, or the nearest package above it that has a source, is of."""
        owner = self.find(module).owner
        parent = module.rpartition(".")[0]
        return owner if owner or not parent else self.owner(parent)

    def _find(self, module: str) -> Located:
        if module in self._binaries:
            return Located(BINARY)  # before a source of the same name (importlib's order)
        found = self._sources.get(module)
        if found is not None:
            return found
        if module.replace(".", "/") in self._folders:
            return Located(FOLDER)
        parent = module.rpartition(".")[0]
        top = module.partition(".")[0]
        if not parent or top in stdlib_module_names or _is_stray(top):
            return Located(ABSENT)
        above = self.find(parent)
        if above.kind in (SOURCE, MISSING):
            return Located(MISSING)
        return Located(above.kind if above.kind in (BINARY, SHARED) else ABSENT)

    def exists(self, module: str) -> bool:
        """Whether there is a file or a folder for a module."""
        return self.find(module).kind in (SOURCE, BINARY, FOLDER, SHARED)

    def sources(self, package: str, folder: str) -> list[Member]:
        """Return the sources right in a folder of a package's artefact."""
        return self._below.get((package, folder), [])

    def folders(self, package: str, base: str) -> list[str]:
        """Return `base` and the folders below it in which a package's artefact has sources, sorted."""
        below = base + "/"
        return sorted(
            folder
            for owner, folder in self._below
            if owner == package and (folder == base or folder.startswith(below))
        )

    def tops(self, package: str) -> list[str]:
        """Return the modules by which importing a package's artefact begins, sorted: top-level ones, and
        packages in a namespace (PEP 420)."""
        return [
            module
            for module in self.modules(package)
            if "." not in module or (self.find(module).is_package and self._is_in_namespace(module))
        ]

    def parts(self, package: str) -> frozenset[str]:
        """Return the `tops` of a package that are only parts of it: one of several in a namespace. It may be
        of use though one of them cannot be imported (optimum, say, and optimum.commands)."""
        inner = [top for top in self.tops(package) if "." in top]
        return frozenset(inner) if len(inner) > 1 else frozenset()

    def _is_in_namespace(self, module: str) -> bool:
        above = module.split(".")[:-1]
        folders = (".".join(above[:count]) for count in range(1, len(above) + 1))
        return len(above) < _DEEP and all(self.find(folder).kind == FOLDER for folder in folders)

    def modules(self, package: str) -> list[str]:
        """Return all modules of a package's artefact with a source, but those for tests, sorted."""
        return sorted(
            module
            for module in set(self._modules.get(package, ()))
            if self._sources[module].owner == package
            and not is_for_tests(module)
            and not _is_stray(module.partition(".")[0])
            and all(part.isidentifier() for part in module.split("."))
        )


# Namespaces are not deeper; what is deeper are sources that lie among data.
_DEEP = 4

# Top-level modules of source trees that get into wheels by mistake.
_STRAY = frozenset({"setup", "versioneer", "build_backend", "noxfile", "conftest", "tools"})


def _is_stray(top: str) -> bool:
    return top in _STRAY or is_for_tests(top)


def _module_of(path: str) -> tuple[str, bool, str]:
    """Return the module's path without suffix, whether it is a package's `__init__`, and its kind."""
    folder, _, name = path.rpartition("/")
    if name.endswith(".py"):
        stem, kind = name[:-3], SOURCE
    elif name.endswith(_BINARY) and not folder.endswith("__pycache__"):
        stem, kind = name.partition(".")[0], BINARY
    else:
        return "", False, ""
    if stem == "__init__":
        return folder, True, kind if folder else ""
    return f"{folder}/{stem}" if folder else stem, False, kind
