"""pip and uv install what is written, in real environments, from an index on the loopback interface."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.support.index_server import IndexServer
from tests.support.real_environment import RealEnvironment

import compatlock

RUNNING = "{}.{}".format(*sys.version_info[:2])
OTHER = "3.12" if RUNNING != "3.12" else "3.13"
FORMATS = ("requirements.lock", "pylock.toml")


@pytest.fixture
def packages(index: IndexServer) -> IndexServer:
    """A small set: extras, markers, a name to normalise, a post release, and what each Python gets another
    version of."""
    index.add("App_Base", "1.0.post1", requires=["lib[fast]>=1", "win; sys_platform == 'win32'"])
    index.add("lib", "1.0", extras={"fast": ["speed"]}, requires_python=f"!={RUNNING}.*")
    index.add("lib", "2.0", extras={"fast": ["speed"]}, requires_python=f"!={OTHER}.*")
    index.add("speed", "0.1")
    index.add("win", "1.0")
    return index


@pytest.fixture
def environment(packages: IndexServer, tmp_path: Path) -> RealEnvironment:
    return RealEnvironment(tmp_path / "venv", packages, tmp_path / "uv-cache")


def written(index: IndexServer, path: Path, targets: tuple[str, ...]) -> dict[str, str]:
    """Write a lock to `path`; the pins of the running environment."""
    lock = compatlock.lock(
        ["App.Base"], index_url=index.url, cache=False, shipped_facts=False, targets=targets
    )
    compatlock.write(lock, path)
    here = {"app-base": "1.0.post1", "lib": "2.0", "speed": "0.1"}
    if targets:
        assert sorted((pin.name, pin.version) for pin in lock.pins if pin.marker) == [
            ("lib", "1.0"),
            ("lib", "2.0"),
            ("win", "1.0"),
        ]
    else:
        assert lock.versions == here
    return here


@pytest.mark.parametrize(
    "targets", [(), (RUNNING, f"{OTHER}@linux", f"{RUNNING}@windows")], ids=["one", "several"]
)
@pytest.mark.parametrize("name", FORMATS)
def test_installers_take_what_is_written(
    packages: IndexServer, environment: RealEnvironment, tmp_path: Path, name: str, targets: tuple[str, ...]
) -> None:
    path = tmp_path / name
    pins = written(packages, path, targets)
    python = str(environment.python)
    environment.uv("pip", "sync", "--require-hashes", "--python", python, str(path))
    assert environment.freeze() == pins
    environment.uv("pip", "uninstall", "--quiet", "--python", python, *pins)
    hashed = ("--no-deps", "--require-hashes")
    environment.uv("pip", "install", *hashed, "--python", python, "-r", str(path))
    assert environment.freeze() == pins
    environment.uv("pip", "uninstall", "--quiet", "--python", python, *pins)
    if name == "pylock.toml" and "pylock" not in environment.pip("install", "--help"):
        pytest.skip("this pip does not read pylock.toml")
    # Of a pylock.toml pip checks the hashes and takes no dependencies anyway.
    environment.pip("install", *(hashed if name != "pylock.toml" else ()), "-r", str(path))
    assert environment.freeze() == pins
