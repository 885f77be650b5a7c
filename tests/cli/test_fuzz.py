"""Whatever is fed to the command line, it answers: no traceback, exit codes 0 to 3 only."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.command import Cli, Run
from tests.support.index_server import IndexServer

FUZZ = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
REQUIREMENTS = """\
# -*- coding: utf-8 -*-
--index-url https://user:secret@index.example/simple --trusted-host index.example
-c limits.txt
app[fast] >= 1.0, != 1.5 ; python_version >= "3.8"  # why
lib==1.0 ; sys_platform == 'darwin' \\
    --hash=sha256:0000000000000000000000000000000000000000000000000000000000000000 \\
    --hash=sha512:00
${NAME}==2.0 --config-settings="a=b"
--pre
--no-binary :all:,:none:,other
"""
# Lines that are not resolved, or wrong.
LINES = [
    "\n--extra-index-url=https://index.example/extra -f wheels\n",
    "-e git+https://git.example/x@main#egg=x\n",
    "\n./wheels/x-1.0-py3-none-any.whl\n",
    "\nx @ https://index.example/x-1.0.tar.gz ; sys_platform == 'win32'\n",
    "\npkg>=2.32.*\n",
    "\n-r requirements.txt\n",
    "\nlib==3 ; extra == 'x'\n",
    "\nlib===1.0\n",
]
PYPROJECT = """\
[project]
name = "p"
requires-python = ">=3.10,<3.15"
dependencies = ["app[fast]>=1", "lib ; sys_platform == 'linux'"]

[project.optional-dependencies]
more = ["p[other]", "lib<2"]
other = []

[dependency-groups]
dev = ["lib", { include-group = "more" }]
more = ["app"]

[tool.uv]
constraint-dependencies = ["lib<3"]
override-dependencies = ["lib>=1", { package = { name = "app", version = "1.0" }, dependencies = ["lib"] }]
exclude-dependencies = ["x", { package = { name = "app" }, dependencies = ["y"] }]
no-build = true

[[tool.uv.index]]
name = "i"
url = "https://index.example/simple"
explicit = true

[tool.uv.sources]
lib = [{ index = "i", marker = "sys_platform == 'win32'" }, { git = "https://git.example/x" }]
"""
SCRIPT = """\
#!/usr/bin/env python
# /// script
# requires-python = ">=3.10"
# dependencies = ["app", "lib<2"]
# [tool.uv]
# constraint-dependencies = ["lib<3"]
# ///
import app
"""
SETUP_CFG = """\
[metadata]
name = p
[options]
python_requires = >=3.8
install_requires =
    app>=1
    lib ; python_version < "4"
[options.extras_require]
more = lib<2; app
"""
UV_LOCK = """\
version = 1
revision = 3
requires-python = ">=3.10"
resolution-markers = ["sys_platform == 'linux'", "sys_platform != 'linux'"]

[[package]]
name = "p"
version = "0"
source = { virtual = "." }
dependencies = [
    { name = "app", extra = ["fast"], marker = "python_version > '3'" },
    { name = "lib", version = "1.0", source = { registry = "https://index.example/simple" } },
]

[package.metadata]
requires-dist = [{ name = "app", extras = ["fast"], specifier = ">=1" }]

[[package]]
name = "app"
version = "1.0"
source = { registry = "https://index.example/simple" }
sdist = { url = "https://index.example/app-1.0.tar.gz", hash = "sha256:00", size = 1 }
wheels = [{ url = "https://index.example/app-1.0-py3-none-any.whl", hash = "sha256:11", size = 2 }]

[package.optional-dependencies]
fast = [{ name = "lib" }]

[[package]]
name = "lib"
version = "1.0"
source = { registry = "https://index.example/simple" }
"""
# What breaks things: line ends, quotes, brackets, odd numbers, odd text.
PIECES = st.sampled_from(
    ["", "\n", "\r", "\\\n", "\\", '"', "'", "[", "]", "{", "}", "=", "==", "#", ";", ",", "-", "--", "${X}",
     "\0", "\u2028", "\ufeff", "é", "9" * 30, "0", "-1", "null", "true", "[[", "1e999", "nan",
     "x" * 300, " @ ", "://"]
)  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn, text: str) -> bytes:
    """A real text with some pieces cut, doubled or put in; perhaps in another encoding, or cut short."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 25)))
        text = (
            text[:start] + draw(st.just(text[start:end] * 2) | PIECES | st.sampled_from(LINES)) + text[end:]
        )
    encoding = draw(st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1"]))
    data = text.encode(encoding, "replace")
    return data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data


def answered(run: Run) -> None:
    assert run.code in (0, 1, 2, 3), run.err
    assert "Traceback" not in run.err
    assert "secret@" not in run.err + run.out
    assert run.code == 0 or run.err or run.out


@pytest.fixture
def world(cli: Cli, index: IndexServer, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """A command line whose index has what the texts ask for, and asks no other one."""
    for version in ("1.0", "2.0"):
        index.add("app", version, extras={"fast": ["lib"]})
        index.add("lib", version)
    monkeypatch.setenv("COMPATLOCK_INDEX", index.url)
    monkeypatch.setenv("NAME", "app")
    Path("limits.txt").write_text("lib<3\n")
    return cli


def fuzz(world: Cli, name: str, text: str, run: Callable[[Cli, str], Run]) -> None:
    """Write random and mutated bytes under a name, and look at what a command answers."""

    @FUZZ
    @given(st.one_of(mutated(text), mutated(text), st.binary(max_size=200)))
    def check(data: bytes) -> None:
        Path(name).write_bytes(data.replace(b"index.example", b"127.0.0.1:9"))
        answered(run(world, name))

    check()


def lock(cli: Cli, *words: str) -> Run:
    return cli("lock", *words, "--python-version", "3.12", "--python-platform", "linux", "--no-shipped-facts")


INPUTS = {
    "requirements.txt": REQUIREMENTS,
    "pyproject.toml": PYPROJECT,
    "job.py": SCRIPT,
    "setup.cfg": SETUP_CFG,
}


@pytest.mark.parametrize("name", INPUTS)
def test_inputs(world: Cli, name: str) -> None:
    fuzz(world, name, INPUTS[name], lambda cli, path: lock(cli, path, "-o", "-"))


def test_constraints(world: Cli) -> None:
    fuzz(world, "c.txt", REQUIREMENTS, lambda cli, path: lock(cli, "-r", "app", "-c", path, "-o", "-"))


def own_lock(cli: Cli, name: str) -> str:
    """The text of a lock of ours, for two targets."""
    words = ("-r", "app[fast]", "-r", "lib<2 ; sys_platform == 'linux'", "-r", "lib")
    targets = ("--target", "3.12@linux", "--target", "3.12@windows")
    run = cli("lock", *words, *targets, "--no-shipped-facts", "-o", name)
    assert run.code == 0, run.err
    text = Path(name).read_text("utf-8")
    Path(name).unlink()
    return re.sub(r"http://127[^\s\"']*/", "https://index.example/", text)


@pytest.mark.parametrize("name", ["requirements.lock", "pylock.toml", "lock.json", "uv.lock"])
def test_older_locks(world: Cli, name: str) -> None:
    text = UV_LOCK if name == "uv.lock" else own_lock(world, name)
    fuzz(world, name, text, lambda cli, path: lock(cli, "-r", "app", "--older", path, "-o", "-"))


@pytest.mark.parametrize("name", ["requirements.lock", "pylock.toml", "lock.json", "uv.lock"])
@pytest.mark.parametrize("command", ["check", "diff"])
def test_locks(world: Cli, name: str, command: str) -> None:
    text = UV_LOCK if name == "uv.lock" else own_lock(world, name)
    Path("other.lock").write_text("app==1.0\n")
    others = ("other.lock",) if command == "diff" else ("--offline",)
    fuzz(world, name, text, lambda cli, path: cli(command, path, *others))


def test_json_of_other_shapes(world: Cli) -> None:
    """A lock in JSON whose values are of other types."""
    value = json.loads(own_lock(world, "lock.json"))
    keys = sorted(value)
    odd: st.SearchStrategy[object] = st.sampled_from(
        [None, 1, "x", [], {}, [1], [[]], [{}], {"a": 1}, True, 1e9]
    )

    @FUZZ
    @given(st.sampled_from(keys), odd)
    def check(key: str, other: object) -> None:
        Path("lock.json").write_text(json.dumps({**value, key: other}))
        answered(lock(world, "-r", "app", "--older", "lock.json", "-o", "-"))

    check()
