"""The indexes in a requirements.lock: what is from where, for pip and uv, and for us to pass over."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from compatlock.inputs.requirements_file import read_requirements
from compatlock.lockfile.requirements_lock import lasting_lines, read_pins, render
from compatlock.model.lock import Lock, LockedFile, Pin
from tests.support.command import Cli, pins_of
from tests.support.index_server import IndexServer

FILES = (LockedFile("a.whl", "a" * 64),)
PINS = (
    Pin("lib", "1.0", FILES),
    Pin("mine", "1.0", FILES, index_url="https://me:secret@private.example/simple/"),
    Pin("torch", "2.8.0+cu128", FILES, index_url="https://wheels.example/cu128/"),
    Pin("torchvision", "0.23.0+cu128", FILES, index_url="https://wheels.example/cu128/"),
)
LINES = [
    "# From this index: mine",
    "--extra-index-url https://private.example/simple/",
    "# From this index: torch, torchvision",
    "--extra-index-url https://wheels.example/cu128/",
]
TARGET = ("--python-version", f"{sys.version_info.major}.{sys.version_info.minor}", "--no-shipped-facts")


def test_the_lines() -> None:
    text = render(Lock(PINS[::-1], ()), tool_version="1", path="a.lock")
    lines = text.splitlines()
    at = lines.index(LINES[0])
    assert lines[at - 2 : at + 6] == [
        "#   uv pip install --no-deps --require-hashes --index-strategy unsafe-best-match -r a.lock",
        "",
        *LINES,
        "",
        "lib==1.0 \\",
    ]
    assert "secret" not in text
    assert {(p.name, p.version) for p in read_pins(text)} == {(p.name, p.version) for p in PINS}
    assert set(LINES) <= set(lasting_lines(text))


def test_the_default_index_is_not_named() -> None:
    text = render(Lock(PINS[:1], ()), tool_version="1")
    assert "index" not in text


def test_without_hashes_other_indexes_are_a_risk() -> None:
    bare = PINS[1]._replace(files=(LockedFile("a.whl"),))
    text = render(Lock((bare,), ()), tool_version="1")
    assert "#   (what has no hash may be taken from any index that has a package of this name)\n" in text
    assert "unsafe-best-match" not in text


def test_as_constraints_its_indexes_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "requirements.lock"
    path.write_text(render(Lock(PINS, ()), tool_version="1"), encoding="utf-8")
    found = read_requirements(str(path), constraint=True)
    assert [text for text, _ in found.constraints] == [f"{pin.name}=={pin.version}" for pin in PINS]
    assert found.notes[0] == f"{path}: the indexes that it names are not asked; `--index URL` names one"


# Against real installers


@pytest.fixture
def second() -> Iterator[IndexServer]:
    """An index with builds of its own, and an old copy of what the default index has."""
    with IndexServer() as server:
        server.add("torch", "2.8.0+cu128", requires=["lib"])
        server.add("lib", "0.1")
        yield server


@pytest.fixture
def locked(cli: Cli, index: IndexServer, second: IndexServer) -> Path:
    """A lock with torch from the second index and lib from the default one, which has another torch."""
    index.add("torch", "2.8.0", requires=["lib"])
    index.add("lib", "1.0")
    run = cli("lock", "-r", "torch", "--index-for", f"torch={second.url}", *TARGET)
    assert run.code == 0, run.err
    path = Path("requirements.lock")
    text = path.read_text(encoding="utf-8")
    assert f"# From this index: torch\n--extra-index-url {second.url}\n" in text
    assert pins_of(text) == {"torch": "2.8.0+cu128", "lib": "1.0"}
    return path


def installer(path: Path, name: str) -> list[str]:
    """The command that the header gives, without the installer's own name."""
    (line,) = re.findall(rf"^#   {name} (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return [*line.split(), "--dry-run"]


def test_pip_installs_it(locked: Path, index: IndexServer) -> None:
    options = [
        "--index-url",
        index.url,
        "--no-cache-dir",
        "--disable-pip-version-check",
        "--ignore-installed",
    ]
    pip = subprocess.run(
        [sys.executable, "-m", "pip", "--isolated", *installer(locked, "pip"), *options],
        check=False,
        capture_output=True,
        text=True,
    )
    assert pip.returncode == 0, pip.stderr
    assert set(pip.stdout.splitlines()[-1].split()) >= {"lib-1.0", "torch-2.8.0+cu128"}


def test_uv_installs_it(locked: Path, index: IndexServer, tmp_path: Path) -> None:
    uv = pytest.importorskip("uv").find_uv_bin()
    options = ["--index-url", index.url, "--no-cache", "--no-config", "--python", sys.executable]
    found = subprocess.run(
        [uv, *installer(locked, "uv"), *options, "--target", str(tmp_path / "target")],
        check=False,
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr
    assert {" + lib==1.0", " + torch==2.8.0+cu128"} <= set(found.stderr.splitlines())


def test_it_is_its_own_older_lock(cli: Cli, locked: Path, index: IndexServer, second: IndexServer) -> None:
    index.add("lib", "2.0")
    before = locked.read_bytes()
    words = ("-r", "torch", "--index-for", f"torch={second.url}", "--refresh", *TARGET)
    assert cli("lock", *words, "--locked").code == 0
    run = cli(
        "lock", "-r", "torch", "-c", str(locked), "--index-for", f"torch={second.url}", "-o", "-", *TARGET
    )
    assert run.pins == {"torch": "2.8.0+cu128", "lib": "1.0"}
    assert cli("check", str(locked), "--index-for", f"torch={second.url}", *TARGET).code == 0
    assert locked.read_bytes() == before
