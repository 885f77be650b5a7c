"""What docs/audit.md shows: its commands do what they are said to do, its fact goes stale."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.support.command import Cli, pins_of
from tests.support.index_server import IndexServer

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "audit.md"


def block(language: str) -> str:
    """The document's one code block in a language."""
    (found,) = re.findall(
        rf"^```{language}\n(.*?)^```$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    return str(found)


@pytest.fixture
def cuda(index: IndexServer) -> IndexServer:
    """cuda-python and cuda-bindings as they are: older ones of the former have files of the latter."""
    path = "cuda/bindings/__init__.py"
    for version in ("13.4.4", "13.5.0"):
        index.add("cuda-bindings", version, files={path: f"__version__ = '{version}'\n".encode()})
    index.add("cuda-python", "12.6.2.post1", files={path: b"__version__ = '12.6.2.post1'\n"})
    index.add("cuda-python", "13.4.4", requires=["cuda-bindings~=13.4.4"], files={})
    return index


@pytest.mark.usefixtures("cuda")
def test_the_commands(cli: Cli) -> None:
    Path("freeze.txt").write_text("cuda-bindings==13.5.0\ncuda-python==12.6.2.post1\n")
    commands = block("sh").splitlines()
    assert len(commands) == 6
    for command in commands:
        words, _, remark = command.partition("#")
        line, _, target = words.partition(">")
        run = cli(*shlex.split(line)[1:])
        assert run.code == (1 if "exit code 1" in remark else 0), (command, run.out, run.err)
        if target:
            Path(target.strip()).write_text(run.out)
    good = {"cuda-bindings": "13.4.4", "cuda-python": "13.4.4"}
    for lock in ("requirements.lock", "with-facts.lock"):
        assert pins_of(Path(lock).read_text()) == good
    # As few changes as possible: one of the two.
    fixed = pins_of(Path("fixed.lock").read_text())
    assert len(fixed) == 2
    assert cli("audit", "fixed.lock").code == 0


def test_the_fact(cli: Cli, index: IndexServer) -> None:
    Path("mine.toml").write_text(block("toml"))
    for version, source in (("1.0", b"lib.pack()\n"), ("1.1", b"lib.pack( )\n")):
        index.add("app", version, files={"app/core.py": source})
    for version, source in (("2.0", b"def pack(): ...\n"), ("3.0", b"")):
        index.add("lib", version, files={"lib/__init__.py": source})
    own = ("--facts", "mine.toml", "--no-shipped-facts")
    assert cli("conflicts", "verify", *own).code == 0
    index.add("app", "1.2", files={"app/core.py": b""})
    run = cli("conflicts", "verify", *own, "--no-cache")
    assert run.code == 1
    assert run.out.startswith("stale      app-lib-pack: ")
    assert "    what holds: present: >=1.0,<=1.1\n" in run.out
