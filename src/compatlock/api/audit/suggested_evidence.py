"""Evidence for what an audit found, in the form of a facts file, so that it can be checked again."""

from __future__ import annotations

import re

from compatlock.api.audit.evidence_files import EvidenceFiles
from compatlock.audit.modules import summarise
from compatlock.audit.verify import count_overlap
from compatlock.model.cuda import CUDA

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from compatlock.api.audit.auditing import Workshop
    from compatlock.index.supply import Supply
    from compatlock.model.artefact import Artefact, Member
    from compatlock.model.fact import Fact
    from compatlock.model.finding import Finding
    from compatlock.model.lock import LockedFile

    Table = dict[str, Any]

# Of one kind of evidence, no more than this many pieces for a finding.
_MOST = 6

_NEEDS = re.compile(r"(?P<member>.+) needs (?P<library>\S+)( \(by its names\))?\Z")
_REQUIRES = re.compile(r"(?P<package>\S+) requires (?P<line>.+)\Z")
_MISSING = re.compile(r"(?P<member>.+?): (?P<symbol>\S+) \((?P<reason>.*)\)\Z")
_LIBRARIES = re.compile(r"not exported by (?P<names>.+)\Z|its class is in (?P<one>[^,\s]+),")


class EvidenceWriter:
    """Writes evidence about the artefacts of one audit."""

    def __init__(self, artefacts: Sequence[Artefact], supply: Supply, workshop: Workshop) -> None:
        self._artefacts = {artefact.package: artefact for artefact in artefacts}
        self._files = EvidenceFiles(supply)
        self._reader = workshop.reader

    def evidence(self, finding: Finding, fact: Fact) -> list[Table]:
        """Return the evidence of a fact that a finding implies; never none."""
        write = {
            "overlap": self._overlap,
            "cuda": self._cuda,
            "symbols": self._symbols,
            "imports": self._imports,
            "bounds": self._bounds,
        }.get(finding.check)
        tables = list(write(finding, fact)) if write is not None else []
        unique = {tuple(sorted(table.items())): table for table in tables}
        return list(unique.values())[:_MOST] or [self._seen(finding)]

    def _seen(self, finding: Finding) -> Table:
        """What a check said where nothing of it can be looked up again."""
        wheels = ", ".join(dict.fromkeys(place.file for place in finding.places if place.file))
        said = " ".join(finding.summary.split())
        return {"type": "lint", "cmd": f"compatlock audit: {finding.check} of {wheels}", "expect": said}

    def _overlap(self, finding: Finding, _: Fact) -> Iterator[Table]:
        one, other = self._artefacts[finding.package].file, self._artefacts[finding.on].file
        directories = self._reader.directories([one, other])
        files, differ = count_overlap(one.filename, other.filename, directories)
        if differ:
            names = {"a": one.filename, "b": other.filename}
            yield {"type": "overlap", **names, "files": files, "differ": differ}

    def _cuda(self, finding: Finding, fact: Fact) -> Iterator[Table]:
        """The libraries that the members of the fact's package need, or what it requires."""
        artefact = self._artefacts.get(fact.package)
        if artefact is None or fact.on != CUDA:
            return
        directory = self._reader.directories([artefact.file])[artefact.file.filename]
        members = {member.path for member in directory.members}
        for line in finding.details:
            needs, requires = _NEEDS.match(line), _REQUIRES.match(line)
            if needs and needs["member"] in members:
                where = {"wheel": artefact.file.filename, "member": needs["member"]}
                yield {"type": "elf_needed", **where, "needed": needs["library"]}
            elif requires and requires["package"] == fact.package:
                yield from self._metadata(fact.package, artefact.version, requires["line"])

    def _symbols(self, finding: Finding, _: Fact) -> Iterator[Table]:
        artefact, provider = self._artefacts[finding.package], self._artefacts[finding.on]
        for line in finding.details:
            missing = _MISSING.match(line)
            if missing is None:
                continue
            symbol = missing["symbol"]
            where = {"wheel": artefact.file.filename, "member": missing["member"]}
            yield {"type": "elf_undefined", **where, "symbol": symbol}
            for member in self._libraries(provider, missing["reason"]):
                lacking = {"package": provider.package, "member": member, "symbol": symbol}
                yield {"type": "member_symbol", **lacking, "absent": f"=={provider.version}"}

    def _libraries(self, provider: Artefact, reason: str) -> list[str]:
        """The members that should export a symbol, as the reason names them."""
        told = _LIBRARIES.match(reason)
        if told is None:
            return []
        names = set((told["names"] or told["one"]).split(", "))
        members = self._reader.directories([provider.file])[provider.file.filename].members
        return [member.path for member in members if member.path.rpartition("/")[2] in names]

    def _imports(self, finding: Finding, _: Fact) -> Iterator[Table]:
        file = self._artefacts[finding.package].file
        lines: dict[str, set[int]] = {}
        for place in finding.places:
            if place.member and place.file == file.filename:
                lines.setdefault(place.member, set()).add(place.line)
        for member, data in self._contents(file, lines):
            path = member.removesuffix(".py")
            is_package = path.endswith("/__init__")
            module = path.removesuffix("/__init__").replace("/", ".")
            for found in summarise(data, module, is_package=is_package).imports:
                dotted = f"{found.module}.{found.name}" if found.name else found.module
                if found.line in lines[member] and any(_names(line, dotted) for line in finding.details):
                    imports = f"{found.module}:{found.name}" if found.name else found.module
                    where = {"wheel": file.filename, "member": member}
                    yield {"type": "member_import", **where, "imports": imports}

    def _bounds(self, finding: Finding, __: Fact) -> Iterator[Table]:
        """What a neighbouring release, or an extra, declares."""
        for line in finding.details:
            release, _, need = line.partition(": ")
            package, version = release.split(" ", 1)
            yield from self._metadata(package, version, need)

    def _metadata(self, package: str, version: str, need: str) -> Iterator[Table]:
        """The Requires-Dist line of a release that says `need` under whatever marker."""
        from compatlock.audit.looks import requirement

        file = self._files.file(package, version)
        wanted = requirement(need)
        if isinstance(file, str) or wanted is None:
            return
        directory = self._reader.directories([file])[file.filename]
        paths = [m.path for m in directory.members if m.path.endswith(".dist-info/METADATA")]
        for _, data in self._contents(file, dict.fromkeys(paths)):
            for line in data.decode("utf-8", "replace").splitlines():
                found = (
                    requirement(line.partition(":")[2].strip()) if line.startswith("Requires-Dist") else None
                )
                if found is not None and _same_need(str(found), str(wanted)):
                    yield {"type": "metadata", "package": package, "version": version, "requires": str(found)}
                    return

    def _contents(self, file: LockedFile, paths: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
        directory = self._reader.directories([file])[file.filename]
        wanted: list[tuple[LockedFile, Member]] = [(file, m) for m in directory.members if m.path in paths]
        for (_, path), content in sorted(self._reader.contents(wanted).items()):
            if not content.problem:
                yield path, content.data


def _names(detail: str, dotted: str) -> bool:
    """Whether a line of an import finding is about a name."""
    text = detail.partition(": ")[2]
    return text == dotted or text.startswith(f"{dotted} (")


def _same_need(declared: str, need: str) -> bool:
    """Whether a line, its marker aside, says what another one does."""
    from compatlock.audit.looks import requirement
    from compatlock.model.names import normalise

    one, other = requirement(declared), requirement(need)
    if one is None or other is None:
        return False
    same_name = normalise(one.name) == normalise(other.name)
    return same_name and one.specifier == other.specifier and one.extras == other.extras
