"""`compatlock lock --locked` says what would change as `compatlock diff` does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.command import Cli
from tests.support.index_server import IndexServer

FORMATS = ("requirements.lock", "pylock.toml", "lock.json")


@pytest.fixture
def world(index: IndexServer) -> IndexServer:
    """`app` forbids the newest `lib`; `tool` is of another version on Windows."""
    index.add("app", "1.0", requires=["lib<2"])
    for version in ("1.0", "2.0"):
        index.add("lib", version)
    index.add("tool", "1.0", tags=["cp312-cp312-win_amd64", "cp312-cp312-manylinux_2_17_x86_64"])
    index.add("tool", "2.0", tags=["cp312-cp312-manylinux_2_17_x86_64"])
    return index


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("name", FORMATS)
def test_a_waiver_that_would_be_gained(cli: Cli, name: str) -> None:
    asked = ("lock", "-r", "app", "--no-shipped-facts", "-o", name)
    assert cli(*asked).code == 0
    assert cli(*asked, "--locked").code == 0
    before = Path(name).read_bytes()
    run = cli(*asked, "-r", "lib>=2", "--waive", "app -> lib", "--locked", "-q")
    assert run == (
        1,
        "",
        f"error: {name} would change:\n"
        "waiver gained: app -> lib: this bound no longer holds\n"
        "Major steps:\n"
        "  lib 1.0 -> 2.0 (asked for)\n"
        "1 changed\n"
        f"hint: run the same command without `--locked` to update {name}\n",
    )
    assert Path(name).read_bytes() == before


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("name", FORMATS)
def test_a_lock_for_several_targets(cli: Cli, name: str) -> None:
    asked = ("lock", "-r", "tool", "--target", "3.12@linux", "--target", "3.12@windows", "-o", name)
    assert cli(*asked).code == 0
    assert cli(*asked, "--locked").code == 0
    run = cli(*asked, "-r", "lib", "-r", "tool<2", "--locked", "-q")
    assert run.code == 1
    assert f"{name} would change:\n" in run.err
    assert re.search(r"\n  tool 1\.0, 2\.0 -> 1\.0 \(asked for\)\n", run.err)
    assert "Added:\n  lib 2.0" in run.err


@pytest.mark.usefixtures("world")
def test_a_file_that_is_no_lock(cli: Cli) -> None:
    Path("requirements.lock").write_text("lib\n", encoding="utf-8")
    run = cli("lock", "-r", "lib", "--locked")
    assert run.code == 1
    assert "requirements.lock would change:\n1 added\n  added lib 2.0\n" in run.err
