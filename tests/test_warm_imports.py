"""A warm, offline lock imports nothing heavy: the imports alone would cost more than the whole run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from compatlock.cli.main import main
from compatlock.index import lazy_network
from tests.support.index_server import IndexServer

SOURCE = Path(__file__).resolve().parents[1] / "src"

HEAVY = (
    "click", "packaging", "pydantic", "httpx", "h2", "ssl", "rich", "tomllib", "tomli", "platformdirs",
    "asyncio", "inspect", "dataclasses", "hashlib", "pypi_simple", "resolvelib", "urllib.request", "email",
    "logging", "importlib.metadata", "re", "json", "enum",
)  # fmt: skip

# Of ours: what only a fetch, a wrong input or another form of output needs.
COLD = (
    "compatlock.api.why.obstacles", "compatlock.api.why.words", "compatlock.cli.group",
    "compatlock.index.client",
    "compatlock.index.compile", "compatlock.index.network", "compatlock.index.prefetch",
    "compatlock.index.simple", "compatlock.index.specifiers", "compatlock.index.stored_listing",
    "compatlock.index.view", "compatlock.inputs.problems", "compatlock.knowledge.parse",
    "compatlock.lockfile.lock_json", "compatlock.lockfile.pylock", "compatlock.solver.explain",
    "compatlock.solver.greedy", "compatlock.solver.ways_out",
)  # fmt: skip

# Every module takes 0.25 ms to import: think before raising this.
MOST_MODULES = 92

PROGRAM = """
import sys
from compatlock.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit as ended:
    assert not ended.code, ended.code
print("\\n".join(sys.modules))
"""


def test_a_warm_offline_lock(index: IndexServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for version in ("1.0", "1.1"):
        index.add("trl", version, requires=["transformers>=5", "lib[fast]; python_version>'3.8'"])
        index.add("vllm", f"0.3{version[-1]}.0", extras={"fast": ["lib"]}, sdist=True)
        index.add("transformers", f"5.2{version[-1]}.0", requires=["lib~=1.0"])
        index.add("lib", version, extras={"fast": ["speed!=0.1"]})
        index.add("speed", f"0.{version[-1]}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(lazy_network, "_public_index", lambda: index.url)
    Path("requirements.in").write_text("lib>=1.0  # a comment\n", encoding="utf-8")
    options = [
        "lock", "requirements.in", "--profile", "async-grpo", "--requirement", "speed",
        "--cache-dir", "cache", "--python-version", "3.12", "--quiet",
    ]  # fmt: skip
    with pytest.raises(SystemExit) as ended:
        main(options)
    assert not ended.value.code
    asked = len(index.requests)
    warm = subprocess.run(
        [sys.executable, "-c", PROGRAM, *options, "--offline"],
        env={**os.environ, "PYTHONPATH": str(SOURCE), "PIP_CONFIG_FILE": os.devnull},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    imported = set(warm.stdout.split())
    assert "compatlock.solver.search" in imported
    assert "compatlock.api.verify" in imported
    assert not imported.intersection(HEAVY)
    assert not imported.intersection(COLD)
    own = {name for name in imported if name.startswith("compatlock")}
    assert len(own) <= MOST_MODULES, sorted(own)
    assert len(index.requests) == asked


CONSOLE_SCRIPT = """
import os, sys
from compatlock.cli import main
os._exit = lambda code: print(code, *sys.modules, sep="\\n")
main.run()
"""


def test_a_cold_lock_leaves_out_the_command_line_of_httpx(index: IndexServer, tmp_path: Path) -> None:
    index.add("app", "1.0", requires=["lib"])
    index.add("lib", "1.0")
    (tmp_path / "requirements.in").write_text("app", encoding="utf-8")
    options = ["lock", "requirements.in", "--cache-dir", "cache", "--quiet", "--default-index", index.url]
    cold = subprocess.run(
        [sys.executable, "-c", CONSOLE_SCRIPT, *options],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
    code, *modules = cold.stdout.split()
    assert code == "0"
    assert "httpx" in modules
    assert {"click", "pygments", "rich.console"}.isdisjoint(modules)
