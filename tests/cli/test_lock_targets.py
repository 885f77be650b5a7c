"""`compatlock lock` for several targets at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command import Cli
from tests.support.index_server import IndexServer

LINUX = "cp312-cp312-manylinux_2_17_x86_64"
MAC = "cp312-cp312-macosx_11_0_arm64"


@pytest.fixture
def world(index: IndexServer) -> IndexServer:
    """`tool` needs `lib`, whose newest release has no wheel for macOS, and `extra` on Linux."""
    index.add("tool", "1.0", requires=["lib", "extra ; sys_platform == 'linux'"])
    index.add("lib", "1.0", tags=[LINUX, MAC])
    index.add("lib", "2.0", tags=[LINUX])
    index.add("extra", "1.0")
    return index


def pinned(text: str) -> list[str]:
    return [line.removesuffix(" \\") for line in text.splitlines() if line[:1].isalpha()]


@pytest.mark.usefixtures("world")
def test_what_differs_has_markers(cli: Cli) -> None:
    run = cli("lock", "-r", "tool", "-r", "lib", "--target", "3.12@linux", "--target", "3.12@macos")
    assert run.code == 0
    assert run.err.startswith("3 packages for 2 targets together")
    assert '  lib 1.0 (sys_platform == "darwin")' in run.err
    assert pinned(Path("requirements.lock").read_text()) == [
        'extra==1.0 ; sys_platform == "linux"',
        'lib==1.0 ; sys_platform == "darwin"',
        'lib==2.0 ; sys_platform == "linux"',
        "tool==1.0",
    ]


@pytest.mark.usefixtures("world")
def test_what_nobody_asked_for_by_name_is_the_same_for_all_targets(cli: Cli) -> None:
    run = cli("lock", "-r", "tool", "--target", "3.12@macos", "--target", "3.12@linux", "-o", "-")
    assert run.code == 0
    assert pinned(run.out) == ['extra==1.0 ; sys_platform == "linux"', "lib==1.0", "tool==1.0"]
    assert "#   packages that differ between targets: 0 packages (proved)" in run.out


@pytest.mark.usefixtures("world")
def test_a_target_without_an_answer_says_why(cli: Cli) -> None:
    run = cli("lock", "-r", "lib>=2", "--target", "3.12@linux", "--target", "3.12@macos")
    assert run.code == 1
    assert "`lib>=2` cannot be satisfied for CPython 3.12.0 on aarch64-apple-darwin" in run.err
    assert not Path("requirements.lock").exists()


def test_a_project_is_locked_for_all_its_pythons(cli: Cli, index: IndexServer) -> None:
    index.add("a", "1.0", requires_python=">=3.10")
    index.add("a", "2.0", requires_python=">=3.13")
    index.add("w", "1.0")
    Path("pyproject.toml").write_text(
        '[project]\nname = "p"\nversion = "1"\nrequires-python = ">=3.12"\n'
        'dependencies = ["a", "w ; sys_platform == \'win32\'"]\n'
    )
    run = cli("lock", "pyproject.toml", "--universal", "-o", "requirements.lock", "-o", "lock.json")
    assert run.code == 0
    assert "12 targets together" in run.err
    assert "left out" not in run.err
    assert pinned(Path("requirements.lock").read_text()) == [
        'a==1.0 ; python_version < "3.13"',
        'a==2.0 ; python_version >= "3.13"',
        'w==1.0 ; sys_platform == "win32"',
    ]
    pins = json.loads(Path("lock.json").read_text())["pins"]
    assert [pin["marker"] for pin in pins][2] == 'sys_platform == "win32"'


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--target", "@linux"], "`@linux` names no target"),
        (["--target", "beos"], "unknown platform `beos`"),
        (["--target", "2.7"], "`2.7` is no Python version that can be locked for"),
        (["--target", "linux@3.12"], "`linux@3.12` names the platform before the Python"),
        (["--target", "3.12@linux", "--universal"], "`--universal` names the targets already"),
        (
            ["--target", "3.12@linux", "--target", "3.12@x86_64-manylinux_2_34"],
            "no marker tells CPython 3.12.0 on x86_64-manylinux_2_28 from",
        ),
        (["--target", "3.12@linux", "--target", "3.11@linux", "--audit"], "`--audit` is for one target"),
        (
            ["--target", "3.12@linux", "--target", "3.11@linux", "--strategy", "greedy"],
            "`--strategy greedy` is for one target",
        ),
    ],
)
def test_targets_that_are_none(cli: Cli, index: IndexServer, options: list[str], problem: str) -> None:
    index.add("a", "1.0")
    run = cli("lock", "-r", "a", *options)
    assert run.code == 2
    assert problem in run.err
