"""Sdists with a tiny build backend of their own (PEP 517, in-tree), so that building them fetches nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tests.support.artifacts import build_sdist, core_metadata

# What the backend does first, then its hooks. The metadata is that of the wheel.
BACKEND = """
import os, sys
METADATA = {metadata!r}
{first}

def prepare_metadata_for_build_wheel(folder, config_settings=None):
    print("preparing the metadata of {project}")
    name = "{project}-{version}.dist-info"
    os.mkdir(os.path.join(folder, name))
    with open(os.path.join(folder, name, "METADATA"), "wb") as file:
        file.write(METADATA)
    return name

def build_wheel(folder, config_settings=None, metadata_directory=None):
    raise RuntimeError("no wheel is needed")
"""

SYSTEM = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


def buildable(
    project: str,
    version: str,
    *,
    requires: Iterable[str] = (),
    static: Iterable[str] | None = (),
    first: str = "",
    system: str = SYSTEM,
    backend: str = "",
    metadata: bytes = b"",
    files: Mapping[str, bytes] | None = None,
) -> bytes:
    """An sdist whose build says that it `requires` something, and whose PKG-INFO (of metadata 2.1) says
    `static` (None: there is none). `first` is what the backend runs when it is imported; `metadata` is what
    it writes instead."""
    metadata = metadata or core_metadata(project, version, requires=requires)
    text = backend or BACKEND.format(metadata=metadata, first=first, project=project, version=version)
    tree = {"pyproject.toml": system.encode(), "backend.py": text.encode(), **(files or {})}
    told = core_metadata(project, version, requires=static) if static is not None else None
    return build_sdist(project, version, told, files=tree)
