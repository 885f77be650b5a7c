"""Tiny but real wheels and sdists, built in memory; the same arguments always give the same bytes."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import tarfile
import zipfile
from collections.abc import Iterable, Mapping

_DATE = (2020, 1, 1, 0, 0, 0)


def core_metadata(
    project: str,
    version: str,
    *,
    requires: Iterable[str] = (),
    extras: Mapping[str, Iterable[str]] | None = None,
    requires_python: str = "",
    metadata_version: str = "2.1",
    dynamic: Iterable[str] = (),
) -> bytes:
    """Return a METADATA or PKG-INFO file; `extras` maps each extra to its requirements."""
    lines = [f"Metadata-Version: {metadata_version}", f"Name: {project}", f"Version: {version}"]
    lines += [f"Dynamic: {field}" for field in dynamic]
    if requires_python:
        lines.append(f"Requires-Python: {requires_python}")
    lines += [f"Requires-Dist: {requirement}" for requirement in requires]
    for extra, needed in (extras or {}).items():
        lines.append(f"Provides-Extra: {extra}")
        for requirement in needed:
            text, _, marker = requirement.partition(";")
            condition = f'({marker.strip()}) and extra == "{extra}"' if marker else f'extra == "{extra}"'
            lines.append(f"Requires-Dist: {text.strip()} ; {condition}")
    return ("\n".join(lines) + "\n\nA made-up project.\n").encode()


def wheel_filename(project: str, version: str, tag: str = "py3-none-any", build: str = "") -> str:
    """Return a wheel's file name with the project's name escaped; `build` is a build tag such as `1`."""
    parts = [_escaped(project), version, *([build] if build else []), tag]
    return "-".join(parts) + ".whl"


def sdist_filename(project: str, version: str, suffix: str = ".tar.gz") -> str:
    """Return an sdist's file name with the project's name escaped."""
    return f"{_escaped(project)}-{version}{suffix}"


def build_wheel(
    project: str,
    version: str,
    metadata: bytes,
    *,
    tag: str = "py3-none-any",
    files: Mapping[str, bytes] | None = None,
) -> bytes:
    """Return a wheel with the given METADATA; `files` default to one module named after the project."""
    name = _escaped(project)
    info = f"{name}-{version}.dist-info"
    wheel = f"Wheel-Version: 1.0\nGenerator: made-up\nRoot-Is-Purelib: true\nTag: {tag}\n"
    contents = dict(files) if files is not None else {f"{name}.py": f"__version__ = {version!r}\n".encode()}
    contents[f"{info}/METADATA"] = metadata
    contents[f"{info}/WHEEL"] = wheel.encode()
    record = "".join(f"{path},{_record_hash(data)},{len(data)}\n" for path, data in contents.items())
    contents[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    return build_zip(contents)


def build_sdist(
    project: str,
    version: str,
    metadata: bytes | None,
    *,
    suffix: str = ".tar.gz",
    files: Mapping[str, bytes] | None = None,
) -> bytes:
    """Return an sdist with the given PKG-INFO (None for none); `files` are relative to its directory.

    `suffix` is `.tar.gz`, `.tgz`, `.tar.bz2` or `.zip`. It builds with no backend: only its metadata is real.
    """
    top = f"{_escaped(project)}-{version}"
    contents = {f"{top}/{path}": data for path, data in (files or {"README": b"made-up\n"}).items()}
    if metadata is not None:
        contents[f"{top}/PKG-INFO"] = metadata
    if suffix == ".zip":
        return build_zip(contents)
    return build_tar(contents, "bz2" if suffix == ".tar.bz2" else "gz")


def build_zip(contents: Mapping[str, bytes]) -> bytes:
    """Return a deflated zip archive of these members."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in contents.items():
            archive.writestr(zipfile.ZipInfo(path, _DATE), data, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def build_tar(contents: Mapping[str, bytes], compression: str = "gz") -> bytes:
    """Return a tar archive of these members, compressed by `gz` or `bz2`."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w" if compression == "gz" else "w:bz2") as archive:
        for path, data in contents.items():
            member = tarfile.TarInfo(path)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    data = stream.getvalue()
    return gzip.compress(data, mtime=0) if compression == "gz" else data


def _escaped(project: str) -> str:
    return project.lower().replace("-", "_").replace(".", "_")


def _record_hash(data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
    return f"sha256={digest.decode()}"
