"""Installed distributions made up: dist-info folders in a site-packages folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.support.artifacts import core_metadata


def install(
    folder: Path,
    project: str,
    version: str,
    *,
    requires: Iterable[str] = (),
    extras: Mapping[str, Iterable[str]] | None = None,
    requires_python: str = "",
    tag: str = "py3-none-any",
) -> None:
    """Make the dist-info folder that an installer would leave in `folder`."""
    info = folder / f"{project.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    metadata = core_metadata(
        project, version, requires=requires, extras=extras, requires_python=requires_python
    )
    (info / "METADATA").write_bytes(metadata)
    (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: made-up\nTag: {tag}\n", encoding="utf-8")
    (info / "INSTALLER").write_text("pip\n", encoding="utf-8")


def virtual_environment(root: Path, version: str = "3.12.4") -> Path:
    """Make an empty virtual environment at `root`, without a Python; its site-packages folder."""
    folder = root / "lib" / f"python{'.'.join(version.split('.')[:2])}" / "site-packages"
    folder.mkdir(parents=True)
    (root / "pyvenv.cfg").write_text(f"home = /nowhere/bin\nversion = {version}\n", encoding="utf-8")
    return folder
