"""`compatlock diff`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command import Cli
from tests.support.index_server import IndexServer


def test_locks_of_two_formats_are_compared(cli: Cli, index: IndexServer) -> None:
    index.add("a", "1.0")
    assert cli("lock", "-r", "a", "-o", "old.lock", "-q").code == 0
    index.add("a", "2.0", requires=["b"])
    index.add("b", "1.0")
    assert cli("lock", "-r", "a", "-o", "pylock.toml", "-q", "--no-cache").code == 0
    run = cli("diff", "old.lock", "pylock.toml")
    assert (run.code, run.err) == (0, "")
    assert run.out == "Major steps:\n  a 1.0 -> 2.0 (asked for)\nAdded:\n  b 1.0\n1 changed, 1 added\n"
    assert cli("diff", "old.lock", "pylock.toml", "--exit-code").code == 1
    assert cli("diff", "old.lock", "old.lock", "--exit-code").code == 0
    assert json.loads(cli("diff", "old.lock", "pylock.toml", "--json").out)["changes"][0]["new"] == "2.0"
    assert "| **a** | 1.0 | 2.0 |" in cli("diff", "old.lock", "pylock.toml", "--format", "markdown").out


@pytest.mark.parametrize(
    ("old", "problem"),
    [("none.lock", "none.lock"), ("empty.lock", "pins nothing"), ("p.toml", "pins nothing")],
)
def test_what_cannot_be_compared(cli: Cli, old: str, problem: str) -> None:
    Path("empty.lock").write_text("# nothing\n")
    Path("p.toml").write_text("[project]\n")
    Path("new.lock").write_text("a==1.0\n")
    run = cli("diff", old, "new.lock")
    assert (run.code, run.out) == (2, "")
    assert problem in run.err
