"""Undefined symbols of extensions that the libraries they are linked to do not have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from compatlock.audit.binaries import Binaries, Binary, read_binaries
from compatlock.audit.elf import Wanted
from compatlock.audit.mangled import Mangled, read_mangled
from compatlock.audit.observed import not_with
from compatlock.audit.providers import FAMILIES, Family, Interface, Libraries, read_libraries
from compatlock.model.artefact import Artefact, Directory, Observations, WheelReader
from compatlock.model.finding import CERTAIN, LIKELY, UNREAD, Finding, Place
from compatlock.model.named_tuple import NamedTuple

CHECK = "symbols"
# Libraries with symbol versions (of CUDA, say) are read up to this size, compressed.
_VERSIONED_LIMIT = 4 * 1024 * 1024
# A library for one of several releases of PyTorch: who loads it looks for the right one.
_CHOSEN = re.compile(r"torch[-_]?\d|[-_]\d+[._]\d+[._]\d+\.[^/]*\Z", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")


class Missing(NamedTuple):
    """A symbol that a member wants and that a provider's release does not have.

    `reason` says how it was seen; `sure` if all libraries that could have it were read in full.
    """

    member: str
    symbol: str
    reason: str
    sure: bool


def check_symbols(
    artefacts: Sequence[Artefact],
    reader: WheelReader,
    observations: Observations,
    *,
    binaries: Binaries | None = None,
) -> list[Finding]:
    """Compare what extensions want with what the providers in the same set have.

    certain: the tables of all libraries that could define the symbol were read; likely: a library is too
    large to be read, but its headers do not know the name, or the class is of a library that was read.
    Findings are sorted by package and provider; there is one for each pair of them. `binaries` are what
    `read_binaries` gave for the same artefacts, if another check has read them.
    """
    binaries = binaries or read_binaries(artefacts, reader, observations)
    directories = reader.directories([a.file for a in artefacts])
    by_name = {a.package: a for a in artefacts}
    findings = []
    for name in sorted(set(FAMILIES) & set(by_name)):
        provider = _Provider(by_name[name], directories[by_name[name].file.filename], reader, observations)
        for artefact in artefacts:
            if artefact.package != name:
                missing = provider.missing(artefact, binaries)
                if missing:
                    findings.append(_finding(artefact, by_name[name], missing))
        findings.extend(provider.unread())
    findings.extend(_versions(artefacts, directories, binaries, reader, observations))
    return sorted(findings, key=lambda f: (f.package, f.on, f.summary))


def symbols_fit(
    artefact: Artefact, provider: Artefact, reader: WheelReader, observations: Observations
) -> bool:
    """Whether a wheel finds all symbols in one release of a provider, as far as `check_symbols` can tell."""
    return not any(finding.fails for finding in check_symbols([artefact, provider], reader, observations))


class _Provider:
    """One provider in the set, read as far as the extensions make it necessary."""

    def __init__(
        self, artefact: Artefact, directory: Directory, reader: WheelReader, observations: Observations
    ) -> None:
        self.artefact = artefact
        self._family: Family = FAMILIES[artefact.package]
        self._directory = directory
        self._reader = reader
        self._observations = observations
        self._interface = Interface(self._family, artefact, directory, reader, observations)
        self._names = frozenset(m.path.rpartition("/")[2] for m in directory.members if ".so" in m.path)
        self._libraries: dict[frozenset[str], Libraries] = {}
        self._classes: dict[frozenset[str], dict[tuple[str, ...], str]] = {}

    def missing(self, artefact: Artefact, binaries: Binaries) -> list[Missing]:
        """What the members of `artefact` want in vain. Of members that differ in a number alone, which are
        for different releases of something, one that finds everything is enough."""
        own = {symbol for _, elf in binaries.of(artefact.package) for symbol in elf.defined}
        found: list[tuple[str, list[Missing]]] = []
        for path, elf in binaries.of(artefact.package):
            needed = [name for name in elf.needed if name in self._names]
            wanted = [w for w in elf.undefined if not w.weak and w.name not in own and self._is_own(w)]
            if needed and not _CHOSEN.search(path):
                found.append((path, self._judge(path, needed, wanted) if wanted else []))
        fine = {_DIGITS.sub("0", path) for path, missing in found if not missing}
        return [m for path, missing in found for m in missing if _DIGITS.sub("0", path) not in fine]

    def unread(self) -> list[Finding]:
        """That headers could not be read, if they had to be."""
        problem = self._interface.problem
        if not problem:
            return []
        package, version, file = self.artefact.package, self.artefact.version, self.artefact.file.filename
        return [
            Finding(
                CHECK,
                package,
                "",
                UNREAD,
                f"what {package} {version} offers to extensions is not known in full: its headers could not "
                f"be read ({problem})",
                (Place(package, version, file),),
            )
        ]

    def _is_own(self, wanted: Wanted) -> bool:
        if wanted.version:
            return False
        mangled = read_mangled(wanted.name)
        if mangled is None:
            return wanted.name.startswith(self._family.prefixes)
        return bool(mangled.scopes) and mangled.scopes[0] in self._family.scopes

    def _judge(self, path: str, needed: Sequence[str], wanted: Sequence[Wanted]) -> list[Missing]:
        # PyTorch's library for Python is a large one: it is read only to clear what seems to be missing.
        first = [name for name in needed if "python" not in name]
        libraries = self._read(first)
        rest = _not_in(libraries, wanted)
        if not rest:
            return []
        if libraries.are_whole(first):
            libraries = self._read(needed)
        if libraries.are_whole(needed):
            where = ", ".join(sorted(libraries.closure(needed)))
            reason = f"not exported by {where}"
            return [Missing(path, w.name, reason, True) for w in _not_in(libraries, wanted)]
        reasons = {w: self._why_missing(w.name, libraries) for w in rest}
        suspects = [w for w, reason in reasons.items() if reason]
        if suspects and len(first) < len(needed):
            suspects = _not_in(self._read(needed), suspects)
        return [Missing(path, w.name, reasons[w], False) for w in suspects]

    def _why_missing(self, symbol: str, libraries: Libraries) -> str:
        mangled = read_mangled(symbol)
        key = frozenset(libraries.read)
        if key not in self._classes:
            self._classes[key] = _classes(libraries)
        if mangled and (library := self._classes[key].get(_class_of(mangled))):
            return f"its class is in {library}, which does not export it"
        if self._interface.has_headers and (part := self._interface.lacks(symbol)):
            return f"no header has `{part}`"
        return ""

    def _read(self, names: Iterable[str]) -> Libraries:
        key = frozenset(names)
        if key not in self._libraries:
            self._libraries[key] = read_libraries(
                self.artefact, self._directory, key, self._reader, self._observations
            )
        return self._libraries[key]


def _not_in(libraries: Libraries, wanted: Sequence[Wanted]) -> list[Wanted]:
    given: set[str] = set()
    for elf in libraries.read.values():
        given.update(elf.defined)
    return [w for w in wanted if w.name not in given]


def _classes(libraries: Libraries) -> dict[tuple[str, ...], str]:
    """Classes that are defined in a library that was read and that stands below the others.

    (Such a library cannot have copies of inline members of another one's classes.)
    """
    found: dict[tuple[str, ...], str] = {}
    for name, elf in sorted(libraries.read.items()):
        if any(other in libraries.paths for other in elf.needed):
            continue
        for symbol in elf.defined:
            mangled = read_mangled(symbol)
            if mangled and mangled.whole and mangled.member and len(mangled.scopes) > 1:
                found[mangled.scopes] = name
    return found


def _class_of(mangled: Mangled) -> tuple[str, ...]:
    """The class that a symbol would be a member of, if the name is known in full."""
    if not mangled.whole:
        return ()
    return mangled.scopes if mangled.member else mangled.scopes[:-1]


def _finding(artefact: Artefact, provider: Artefact, missing: Sequence[Missing]) -> Finding:
    sure = any(m.sure for m in missing)
    ordered = sorted(missing, key=lambda m: (not m.sure, m.member, m.symbol))
    first = ordered[0]
    names = list(dict.fromkeys(m.symbol for m in ordered))
    shown = _shown(first.symbol)
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    package, version = artefact.package, artefact.version
    summary = (
        f"{package} {version} was built for another {provider.package} than {provider.version}, which has no "
        f"`{shown}`{more}: {first.member} cannot be loaded"
    )
    places = dict.fromkeys(Place(package, version, artefact.file.filename, m.member) for m in ordered)
    return Finding(
        CHECK,
        package,
        provider.package,
        CERTAIN if sure else LIKELY,
        summary,
        (*places, Place(provider.package, provider.version, provider.file.filename)),
        not_with(
            CHECK,
            "too-loose",
            artefact,
            provider,
            summary=f"{package} {version} needs `{shown}`, which {provider.package} "
            f"{provider.version} does not have",
            evidence="elf_undefined",
        ),
        tuple(dict.fromkeys(f"{m.member}: {m.symbol} ({m.reason})" for m in ordered)),
    )


def _shown(symbol: str) -> str:
    """A symbol's name for people; the whole one is among the details."""
    mangled = read_mangled(symbol)
    return str(mangled) if mangled and mangled.whole and mangled.member != "class data" else symbol


def _versions(
    artefacts: Sequence[Artefact],
    directories: Mapping[str, Directory],
    binaries: Binaries,
    reader: WheelReader,
    observations: Observations,
) -> list[Finding]:
    """Symbols that carry a version, and with it the name of the library that has to have them."""
    wanted: dict[str, dict[str, list[tuple[Binary, Wanted]]]] = {}
    for artefact in artefacts:
        own = {path.rpartition("/")[2] for path in binaries.names.get(artefact.package, ())}
        for binary in binaries.read.get(artefact.package, ()):
            for symbol in binary.elf.undefined if binary.elf else ():
                if symbol.library and not symbol.weak and symbol.library not in own:
                    users = wanted.setdefault(symbol.library, {})
                    users.setdefault(artefact.package, []).append((binary, symbol))
    findings = []
    for library, users in sorted(wanted.items()):
        holders = [
            a
            for a in artefacts
            if any(path.rpartition("/")[2] == library for path in binaries.names.get(a.package, ()))
        ]
        if len(holders) != 1:
            continue  # of the system, or it cannot be told which one is loaded
        provider = holders[0]
        read = read_libraries(
            provider,
            directories[provider.file.filename],
            [library],
            reader,
            observations,
            limit=_VERSIONED_LIMIT,
        ).read.get(library)
        if read is None:
            continue
        given = frozenset(read.defined)
        for found in users.values():
            missing = [
                Missing(binary.path, symbol.name, f"not exported by {library}", True)
                for binary, symbol in found
                if symbol.name not in given
            ]
            if missing:
                findings.append(_finding(found[0][0].artefact, provider, missing))
    return findings
