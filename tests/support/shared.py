"""The project's shared folder beside the repository: scenarios, real cases, tools. Tests skip without it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "shared"


def needed(name: str) -> Path:
    """The folder or file `name` of the shared folder; skips the whole module when it is absent."""
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"needs {path}", allow_module_level=True)
    return path


def load_tool(name: str) -> ModuleType:
    """A tool of the shared folder as a module."""
    path = needed(f"tools/{name}.py")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
