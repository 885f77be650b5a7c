"""What [tool.uv] means here is what uv makes of it: both lock the same projects over the same index."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command import Cli
from tests.support.index_server import IndexServer

uv = pytest.importorskip("uv").find_uv_bin()

TABLES = {
    "nothing": "",
    "constraints": 'constraint-dependencies = ["lib<1.5", "absent>1"]',
    "override": 'override-dependencies = ["lib>=2"]',
    "override without bound": 'override-dependencies = ["lib"]',
    "override elsewhere": "override-dependencies = [\"lib>=2 ; sys_platform == 'win32'\"]",
    "override of a root elsewhere": "override-dependencies = [\"app ; sys_platform == 'win32'\"]",
    "override of a root": 'override-dependencies = ["app<2"]',
    "two overrides": 'override-dependencies = ["lib>=1.5 ; sys_platform == \'linux\'", "lib<3"]',
    "override and constraint": 'override-dependencies = ["lib>=2"]\nconstraint-dependencies = ["lib<3"]',
    "override of an edge": (
        'override-dependencies = [{ package = { name = "app" }, dependencies = ["lib>=1"] }]'
    ),
    "override of an edge of a release": (
        'override-dependencies = [{ package = { name = "app", version = "2" }, dependencies = ["lib<1.5"] }]'
    ),
    "override of an edge of another release": (
        'override-dependencies = [{ package = { name = "app", version = "1" }, dependencies = ["lib<1.5"] }]'
    ),
    "override of an edge and of all": (
        'override-dependencies = ["lib>=2", { package = { name = "app" }, dependencies = ["lib<3"] }]'
    ),
    "override of an edge elsewhere": (
        'override-dependencies = [{ package = { name = "app" }, '
        "dependencies = [\"lib ; sys_platform == 'win32'\"] }]"
    ),
    "exclusion": 'exclude-dependencies = ["lib"]',
    "exclusion of a root": 'exclude-dependencies = ["app"]',
    "exclusion of an edge": (
        'exclude-dependencies = [{ package = { name = "app" }, dependencies = ["tool"] }]'
    ),
    "exclusion of an edge of a release": (
        'exclude-dependencies = [{ package = { name = "app", version = "2.0.0" }, dependencies = ["tool"] }]'
    ),
    "pre-releases": 'prerelease = "allow"',
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What uv knows of the interpreter. (Each index has an address of its own.)"""
    return tmp_path_factory.mktemp("uv")


@pytest.fixture
def world(index: IndexServer) -> IndexServer:
    for version in ("1.0", "2.0"):
        index.add("app", version, requires=["lib<2", "tool"])
    index.add("tool", "1.0", requires=["lib<3"])
    index.add("more", "1.0")
    index.add("more", "2.0")
    index.add("more", "3.0rc1")
    for version in ("1.0", "1.5", "2.0", "3.0"):
        index.add("lib", version)
    return index


@pytest.mark.parametrize("table", TABLES)
def test_uv_and_we_agree(cli: Cli, world: IndexServer, cache: Path, table: str) -> None:
    head = (
        '[project]\nname = "p"\nversion = "0"\nrequires-python = ">=3.10"\ndependencies = ["app", "more"]\n'
    )
    Path("pyproject.toml").write_text(f"{head}[tool.uv]\n{TABLES[table]}\n")
    target = ("--python-version", "3.12", "--python-platform", "linux")
    ours = cli("lock", "pyproject.toml", "-o", "-", "--no-shipped-facts", *target)
    assert ours.code == 0, ours.err
    words = [
        "--index-url",
        world.url,
        "--cache-dir",
        str(cache),
        "--no-header",
        "--no-annotate",
        "-q",
        *target,
    ]
    words += ["--no-python-downloads", "--python", sys.executable]
    theirs = subprocess.run(
        [uv, "pip", "compile", "pyproject.toml", *words], check=False, capture_output=True, text=True
    )
    assert theirs.returncode == 0, theirs.stderr
    assert ours.pins == dict(re.findall(r"^([a-z0-9-]+)==(\S+)", theirs.stdout, re.MULTILINE))


def test_uv_and_we_agree_on_indexes(cli: Cli, world: IndexServer, cache: Path) -> None:
    with IndexServer() as other, IndexServer() as third:
        other.add("lib", "1.2")
        other.add("tool", "0.9")
        third.add("more", "0.5")
        third.add("lib", "0.1")
        Path("pyproject.toml").write_text(
            '[project]\nname = "p"\nversion = "0"\nrequires-python = ">=3.10"\n'
            'dependencies = ["app", "more", "lib"]\n'
            f'[[tool.uv.index]]\nname = "other"\nurl = "{other.url}"\nexplicit = true\n'
            f'[[tool.uv.index]]\nname = "third"\nurl = "{third.url}"\n'
            f'[[tool.uv.index]]\nname = "main"\nurl = "{world.url}"\ndefault = true\n'
            '[tool.uv.sources]\nlib = { index = "other" }\n'
            'app = { index = "other", marker = "sys_platform == \'win32\'" }\n'
        )
        target = ("--python-version", "3.12", "--python-platform", "linux")
        ours = cli("lock", "pyproject.toml", "-o", "-", "--no-shipped-facts", *target)
        words = ["--cache-dir", str(cache), "--no-header", "--no-annotate", "-q", "--no-python-downloads"]
        environment = {n: v for n, v in os.environ.items() if not n.startswith("COMPATLOCK_")}
        theirs = subprocess.run(
            [uv, "pip", "compile", "pyproject.toml", "--python", sys.executable, *words, *target],
            check=False,
            capture_output=True,
            text=True,
            env=environment,
        )
        assert theirs.returncode == 0, theirs.stderr
        assert ours.pins == dict(re.findall(r"^([a-z0-9-]+)==(\S+)", theirs.stdout, re.MULTILINE))
        assert ours.pins["lib"] == "1.2"
        assert ours.pins["more"] == "0.5"
