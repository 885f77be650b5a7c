"""What docs/uv.md shows: its commands do what they are said to do, with the real uv."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from compatlock.environment.uv import find_uv
from compatlock.errors import InputError
from compatlock.model.toml import parse_toml
from tests.support.command import Cli
from tests.support.index_server import IndexServer

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "uv.md"


def blocks(language: str) -> list[str]:
    text = DOCUMENT.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_commands(cli: Cli, index: IndexServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        program = find_uv()
    except InputError as error:
        pytest.skip(error.message)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))
    monkeypatch.setenv("UV_PYTHON", sys.executable)
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    index.add("app", "1.1", requires=["lib<2"])
    for version in ("1.0", "2.1"):
        index.add("lib", version)
    project, shown = blocks("toml")
    Path("pyproject.toml").write_text(project, encoding="utf-8")
    first, second = blocks("sh")
    for command in (first + second).splitlines():
        line, _, remark = command.partition("#")
        words = shlex.split(line)
        if words[0] == "uv":
            done = subprocess.run([program, *words[1:], "--no-python-downloads"], env=os.environ, check=False)
            code, said = done.returncode, ""
        else:
            run = cli(*words[1:])
            code, said = run.code, run.err
        assert code == (1 if "exit code 1" in remark else 0), (command, said)
    written = Path("pyproject.toml").read_text(encoding="utf-8")
    values = parse_toml(shown.replace(" and ...", ""), "docs/uv.md")["tool"]["uv"]
    found = parse_toml(written, "pyproject.toml")["tool"]["uv"]
    for key in ("constraint-dependencies", "override-dependencies"):
        assert found[key] == values[key]
    for comment in re.findall(r"# (?:Pins|Bounds).*", shown):
        assert comment in written
    installed = sorted(path.name for path in Path(".venv").rglob("*.dist-info"))
    assert installed == ["app-1.1.dist-info", "lib-2.1.dist-info"]
