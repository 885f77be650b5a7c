"""Fixtures of whole runs: an index on the loopback interface, and the command line against it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from compatlock.index import transport
from tests.support.command import Cli, Run, run_here
from tests.support.index_server import IndexServer
from tests.support.real_index import real_cache

__all__ = ["real_cache"]


@pytest.fixture
def index() -> Iterator[IndexServer]:
    """An empty index that is being served."""
    with IndexServer() as server:
        yield server


@pytest.fixture
def cli(
    index: IndexServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Cli:
    """`cli("lock", ..., stdin=b"")` in an empty directory, with `index` as the default index and an empty
    cache."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in list(os.environ):
        if name.startswith(("COMPATLOCK_", "UV_", "PIP_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("COMPATLOCK_DEFAULT_INDEX", index.url)
    monkeypatch.setenv("COMPATLOCK_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(transport, "_BACK_OFF", 0.001)

    def run(*arguments: str, stdin: bytes = b"") -> Run:
        return run_here(arguments, stdin, monkeypatch, capsys)

    return run
