"""A snapshot as what a package index serves: listings (PEP 691, 700), metadata files (PEP 658), sdists.

A snapshot keeps what was read of metadata and few hashes; what it lacks is made up, the same for every
tool. An sdist holds static metadata (PEP 643) and a build backend of its own that hands it out, so that
tools which build for metadata can do it offline.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
import zipfile
from datetime import datetime, timezone

from compatlock.index.snapshot import Snapshot
from compatlock.model.listing import File, Listing
from compatlock.model.metadata import MISSING, Metadata

_BACKEND = """\
import os, zipfile

def _folder(): return "{stem}.dist-info"
def get_requires_for_build_wheel(config_settings=None): return []

def prepare_metadata_for_build_wheel(directory, config_settings=None):
    os.makedirs(os.path.join(directory, _folder()))
    with open("PKG-INFO", encoding="utf-8") as a:
        with open(os.path.join(directory, _folder(), "METADATA"), "w", encoding="utf-8") as b:
            b.write(a.read())
    with open(os.path.join(directory, _folder(), "WHEEL"), "w", encoding="utf-8") as b:
        b.write("Wheel-Version: 1.0\\nGenerator: replay\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    return _folder()

def build_wheel(directory, config_settings=None, metadata_directory=None):
    name = "{stem}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(directory, name), "w") as wheel:
        with open("PKG-INFO", encoding="utf-8") as a:
            wheel.writestr(_folder() + "/METADATA", a.read())
        wheel.writestr(_folder() + "/WHEEL", "Wheel-Version: 1.0\\nGenerator: replay\\n"
                       "Root-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(_folder() + "/RECORD", "")
    return name
"""
_PYPROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


def core_metadata(project: str, version: str, file: File, metadata: Metadata) -> bytes:
    """A core metadata file with what was recorded of it."""
    lines = ["Metadata-Version: 2.2", f"Name: {project}", f"Version: {version}"]
    requires_python = metadata.requires_python or file.requires_python
    if requires_python:
        lines.append(f"Requires-Python: {requires_python}")
    lines += (f"Requires-Dist: {line}" for line in metadata.requires_dist)
    lines += (f"Provides-Extra: {extra}" for extra in metadata.provides_extra)
    return ("\n".join(lines) + "\n").encode()


def sdist(project: str, version: str, file: File, metadata: Metadata) -> bytes:
    """A source distribution, the same bytes for the same content; b"" in a format that nobody reads any
    more."""
    ending = next((each for each in (".tar.gz", ".tgz", ".zip") if file.filename.endswith(each)), "")
    root = file.filename.removesuffix(ending)
    stem = f"{project.replace('-', '_')}-{version}"
    content = {
        "PKG-INFO": core_metadata(project, version, file, metadata),
        "pyproject.toml": _PYPROJECT.encode(),
        "backend.py": _BACKEND.replace("{stem}", stem).encode(),
    }
    members = {f"{root}/{name}": data for name, data in content.items()}
    if ending == ".zip":
        return _zipped(members)
    return gzip.compress(_tarred(members), mtime=0) if ending else b""


def _tarred(members: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return packed.getvalue()


def _zipped(members: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            # As old as the format allows, the same each time.
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)
    return packed.getvalue()


def usable(metadata: Metadata | None) -> bool:
    """Whether a file can be shown to tools: what was recorded of it, if anything, is no failure."""
    return metadata is None or not (metadata.problem or metadata.source == MISSING)


def listing(
    snapshot: Snapshot, found: Listing, before: int, root: str = "", *, recording: bool = False
) -> bytes:
    """The JSON answer for a project: of the files uploaded up to `before` (seconds since the epoch) that
    can be shown. Their URLs are absolute, below `root`, and entries have the keys that the public index
    writes: others are read more slowly by some tools."""
    files = []
    for release in found.releases:
        for file in release.files:
            metadata = snapshot.metadata.get((found.project, file.filename))
            if (file.upload_time or 0) <= before and usable(metadata):
                entry = _entry(found.project, release.version, file, metadata, root)
                if recording and metadata is None:
                    # It is not known yet what it will hold.
                    entry["hashes"] = entry["hashes"] if file.is_wheel else {}
                    entry["core-metadata"] = file.is_wheel
                files.append(entry)
    versions = sorted({release.version for release in found.releases})
    answer = {"meta": {"api-version": "1.1"}, "name": found.project, "versions": versions, "files": files}
    return json.dumps(answer, separators=(",", ":")).encode()


def _entry(project: str, version: str, file: File, metadata: Metadata | None, root: str) -> dict[str, object]:
    made = b"" if file.is_wheel or metadata is None else sdist(project, version, file, metadata)
    digest = file.sha256 if file.is_wheel else ""
    digest = digest or hashlib.sha256(made or file.filename.encode()).hexdigest()
    side_file: object = False
    if file.is_wheel:
        # What was not recorded is not served either: any hash will do.
        text = file.filename.encode() if metadata is None else core_metadata(project, version, file, metadata)
        side_file = {"sha256": hashlib.sha256(text).hexdigest()}
    time = None
    if file.upload_time is not None:
        moment = datetime.fromtimestamp(file.upload_time, timezone.utc)
        time = moment.strftime("%Y-%m-%dT%H:%M:%S.000000Z")
    return {
        "core-metadata": side_file,
        "filename": file.filename,
        "hashes": {"sha256": digest},
        "requires-python": file.requires_python or None,
        "size": len(made) or file.size or 1000,
        "upload-time": time,
        "url": f"{root}/files/{project}/{file.filename}",
        "yanked": False if file.yanked is None else file.yanked or True,
    }
