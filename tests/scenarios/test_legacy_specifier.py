"""A release whose metadata has version bounds that only old pip understood, as pytorch-lightning 1.7.7 has:
it stays a candidate, and the lock says how it was read and that pip refuses it."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import compatlock
from compatlock.model.target import Target
from tests.support.command import Cli
from tests.support.index_server import IndexServer

NAME = "pytorch-lightning"
NOTE = (
    "invalid specifier repaired: `torch (>=1.9.*)` is read as `torch>=1.9`; "
    "pip 24.1 and later refuse this release"
)
REFUSED = "#   (pip 24.1 and later refuse pytorch-lightning 1.7.7: invalid metadata)"


@pytest.fixture(autouse=True)
def releases(index: IndexServer) -> None:
    for version in ("1.8.1", "1.9.0", "2.15.0"):
        index.add("torch", version)
    index.add(NAME, "1.7.7", requires=["torch (>=1.9.*)"])


def lock(index: IndexServer, *requirements: str) -> compatlock.Lock:
    return compatlock.lock(
        [f"{NAME}==1.7.7", *requirements],
        target=Target("3.12", "x86_64-manylinux_2_34"),
        index_url=index.url,
        shipped_facts=False,
        cache=False,
    )


def test_it_locks_and_says_how_it_was_read(index: IndexServer) -> None:
    found = lock(index)
    assert found.versions == {NAME: "1.7.7", "torch": "2.15.0"}
    assert found.waivers == ()
    (pin,) = (pin for pin in found.pins if pin.name == NAME)
    assert pin.notes == (NOTE,)
    assert pin.repaired == ("torch (>=1.9.*) -> torch>=1.9",)
    assert compatlock.from_json(json.loads(json.dumps(compatlock.to_json(found)))) == found


def test_the_repaired_bound_holds(index: IndexServer) -> None:
    assert lock(index, "torch<1.10").versions["torch"] == "1.9.0"
    with pytest.raises(compatlock.NoSolution) as caught:
        lock(index, "torch<1.9")
    assert "pytorch-lightning 1.7.7 needs torch>=1.9" in caught.value.message


def test_the_files_offer_no_command_that_fails(index: IndexServer) -> None:
    found = lock(index)
    text = compatlock.render(found)
    assert f"    # note: {NOTE}" in text.splitlines()
    assert REFUSED in text.splitlines()
    assert "#   uv pip install " in text
    assert "#   pip install" not in text
    pylock = compatlock.render(found, path="pylock.toml")
    assert REFUSED in pylock.splitlines()
    assert "#   pip install" not in pylock
    assert NOTE in pylock


def test_the_command_line_says_so(cli: Cli) -> None:
    run = cli("lock", "--requirement", f"{NAME}==1.7.7", "--python-version", "3.12", "--json")
    assert run.code == 0, run.err
    assert f"note: {NAME} 1.7.7: {NOTE}" in run.err.splitlines()
    pins = {pin["name"]: pin for pin in json.loads(run.out)["pins"]}
    assert pins[NAME]["repaired"] == ["torch (>=1.9.*) -> torch>=1.9"]
    again = cli("lock", "--requirement", f"{NAME}==1.7.7", "--python-version", "3.12", "--json", "--offline")
    assert again.out == run.out


def test_a_release_with_valid_metadata_is_taken_first(index: IndexServer) -> None:
    index.add(NAME, "1.7.8", requires=["torch>=1.9"])
    found = compatlock.lock([NAME], index_url=index.url, shipped_facts=False, cache=False)
    assert [pin.notes for pin in found.pins] == [(), ()]


def test_pip_refuses_it_indeed(index: IndexServer, tmp_path: Path) -> None:
    """Hashes and `--no-deps` do not help."""
    if tuple(map(int, metadata.version("pip").split(".")[:2])) < (24, 1):
        pytest.skip("this pip is older than 24.1, and takes it")
    path = tmp_path / "requirements.lock"
    path.write_text(compatlock.render(lock(index)), encoding="utf-8")
    arguments = ["install", "--dry-run", "--no-deps", "--require-hashes", "--ignore-installed", "-r", path]
    options = ["--index-url", index.url, "--disable-pip-version-check", "--no-cache-dir"]
    pip = subprocess.run(
        [sys.executable, "-m", "pip", "--isolated", *map(str, arguments), *options],
        check=False,
        capture_output=True,
        text=True,
    )
    assert pip.returncode != 0
    assert "invalid metadata" in pip.stderr + pip.stdout
