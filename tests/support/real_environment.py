"""Real virtual environments, made and filled by uv from an index on the loopback interface."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from compatlock.environment.uv import find_uv
from tests.support.index_server import IndexServer


class RealEnvironment:
    """An empty virtual environment at `root` with the running interpreter's Python; without an `index` the
    public one is asked."""

    def __init__(self, root: Path, index: IndexServer | None, cache: Path) -> None:
        self.root = root
        self._variables = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("UV_", "PIP_"))},
            **({"UV_DEFAULT_INDEX": index.url, "PIP_INDEX_URL": index.url} if index is not None else {}),
            "UV_CACHE_DIR": str(cache),
            "UV_PREVIEW_FEATURES": "pylock",
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_CACHE_DIR": "1",
        }
        self.uv("venv", "--quiet", "--no-project", "--python", sys.executable, str(root))

    @property
    def python(self) -> Path:
        """Its Python program."""
        return self.root / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    @property
    def packages(self) -> Path:
        """Its folder of packages."""
        return next(path for path in self.root.rglob("site-packages") if path.is_dir())

    def install(self, *requirements: str) -> None:
        """Install from the index, without dependencies."""
        self.uv("pip", "install", "--no-deps", "--python", str(self.python), *requirements)

    def uv(self, *arguments: str) -> str:
        """Run uv; what it says."""
        return self._run(find_uv(), *arguments, "--no-config", "--no-python-downloads")

    def pip(self, *arguments: str) -> str:
        """Run the running Python's pip for the environment; what it says."""
        return self._run(sys.executable, "-m", "pip", "--python", str(self.python), *arguments)

    def freeze(self) -> dict[str, str]:
        """What is installed, as uv tells it."""
        said = self.uv("pip", "freeze", "--python", str(self.python), "--quiet")
        return dict(line.split("==") for line in said.split())

    def _run(self, *command: str) -> str:
        done = subprocess.run(
            command,
            env=self._variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout
