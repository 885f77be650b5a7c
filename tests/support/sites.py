"""Sets of releases whose wheels are in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from compatlock.model.artefact import Artefact
from tests.support.memory_wheels import MemoryObservations, MemoryWheels, artefact


class Releases:
    """Releases, each with the sources of its wheel; `add` one after the other."""

    def __init__(self) -> None:
        self.artefacts: list[Artefact] = []
        self._wheels: dict[str, dict[str, bytes]] = {}

    def add(self, package: str, version: str, files: Mapping[str, str], *requires: str) -> Artefact:
        """Add a release whose wheel has `files`, and METADATA."""
        added = artefact(package, version, requires)
        contents = {path: text.encode() for path, text in files.items()}
        stem = f"{package.replace('-', '_')}-{version}"
        contents[f"{stem}.dist-info/METADATA"] = f"Name: {package}\nVersion: {version}\n".encode()
        self._wheels[added.file.filename] = contents
        self.artefacts.append(added)
        return added

    def view(self) -> View:
        """Return a reader over all wheels, and a memory that is empty."""
        return View(MemoryWheels(self._wheels), MemoryObservations())


class View(NamedTuple):
    """What a check is given."""

    reader: MemoryWheels
    observations: MemoryObservations
