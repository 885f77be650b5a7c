"""`compatlock check LOCK --env PATH`: a real environment against a lock."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.support.command import Cli
from tests.support.index_server import IndexServer
from tests.support.real_environment import RealEnvironment

PROFILE = """\
name = "mine"
description = "a test"
roots = ["app"]
imports = ["app", "lib.part"]
source = "a test"
"""


@pytest.fixture
def venv(index: IndexServer, cli: Cli, tmp_path: Path) -> RealEnvironment:
    """An environment with what requirements.lock pins, made of a profile."""
    index.add("app", "1.0", requires=["lib<2"])
    index.add("lib", "1.0", files={"lib/__init__.py": b"", "lib/part.py": b"value = 1\n"})
    index.add("lib", "2.0", files={"lib/__init__.py": b"", "lib/whole.py": b""})
    index.add("other", "1.0", files={"lib/part.py": b"raise RuntimeError('not the one')\n", "other.py": b""})
    for name in ("beside", "pip"):
        index.add(name, "1.0")
    Path("mine.toml").write_text(PROFILE, encoding="utf-8")
    assert cli("lock", "--profile", "./mine.toml", "-o", "requirements.lock", "-o", "pylock.toml").code == 0
    environment = RealEnvironment(tmp_path / "venv", index, tmp_path / "uv-cache")
    environment.install("app", "lib==1.0")
    index.requests.clear()
    return environment


@pytest.mark.parametrize("lock", ["requirements.lock", "pylock.toml"])
def test_it_is_as_the_lock_says(cli: Cli, venv: RealEnvironment, index: IndexServer, lock: str) -> None:
    run = cli("check", lock, "--env", str(venv.root))
    assert run.code == 0
    assert run.err == "importing app\nimporting lib.part\nnote: imported without an error: app, lib.part\n"
    assert run.out.startswith(f"the environment {venv.root} against {lock}: 2 packages for CPython ")
    assert run.out.endswith(": everything fits\n")
    assert not index.requests


def test_what_is_missing_of_another_version_and_beside_it(cli: Cli, venv: RealEnvironment) -> None:
    venv.install("lib==2.0", "other")
    venv.uv("pip", "uninstall", "--python", str(venv.python), "app")
    run = cli("check", "requirements.lock", "--env", str(venv.root), "--no-imports")
    assert run.code == 1
    assert run.out.splitlines()[:3] == [
        "app 1.0 is not installed, and requirements.lock has it",
        "lib 2.0 is installed, and requirements.lock has 1.0",
        "warning: other 1.0 is installed, and requirements.lock does not have it",
    ]
    told = json.loads(cli("check", "requirements.lock", "--env", str(venv.root), "--json").out)
    assert [(f["kind"], f["severity"]) for f in told["findings"]] == [
        ("missing", "error"),
        ("version", "error"),
        ("extra", "warning"),
        ("missing", "error"),  # The profile asks for app.
        ("import", "error"),
        ("import", "error"),
    ]
    run = cli("check", "requirements.lock", "--env", str(venv.root), "--no-imports", "--exact")
    assert "\nother 1.0 is installed, and requirements.lock does not have it\n" in run.out


def test_what_is_beside_the_lock_is_no_error_but_with_exact(cli: Cli, venv: RealEnvironment) -> None:
    venv.install("beside", "pip")
    lock = ("check", "pylock.toml", "--env", str(venv.root), "-q")
    assert cli(*lock) == (0, "", "")
    # What brings an environment about is no part of it.
    assert cli(*lock, "--exact") == (1, "beside 1.0 is installed, and pylock.toml does not have it\n", "")


def test_files_that_were_overwritten_and_the_import_that_fails_for_it(
    cli: Cli, venv: RealEnvironment
) -> None:
    venv.install("other")
    run = cli("check", "requirements.lock", "--env", str(venv.root))
    assert run.code == 1
    assert run.out.splitlines()[1:4] == [
        "lib 1.0 and other 1.0 install 1 file over each other with different content; what is there is of "
        "other 1.0 (lib/part.py)",
        "  hint: `compatlock audit` finds this before an installation; lock again with `--audit` for "
        "versions that go together",
        "import lib.part fails: RuntimeError: not the one",
    ]
    assert "importing lib.part\nnote: imported without an error: app\n" in run.err


def test_further_imports_and_none(cli: Cli, venv: RealEnvironment) -> None:
    run = cli("check", "--env", str(venv.root), "--import", "app", "--import", "gone")
    assert run.code == 1
    assert run.out.startswith("import gone fails: ModuleNotFoundError: No module named 'gone'\n")
    run = cli("check", "requirements.lock", "--env", str(venv.root), "--no-imports")
    assert (run.code, run.err) == (0, "")


def test_a_waived_bound_is_waived(cli: Cli, venv: RealEnvironment) -> None:
    waive = ("--waive", "app -> lib", "-r", "app", "-r", "lib>=2", "--no-shipped-facts")
    assert cli("lock", *waive, "-o", "waived.lock").code == 0
    venv.install("lib==2.0")
    run = cli("check", "waived.lock", "--env", str(venv.root))
    assert (run.code, run.err) == (0, "")
    assert run.out.startswith("waived: app 1.0 needs lib<2, but lib is 2.0\n")
    assert cli("check", "--env", str(venv.root)).code == 1


def test_a_profile_that_is_not_here_any_more(cli: Cli, venv: RealEnvironment) -> None:
    Path("mine.toml").unlink()
    run = cli("check", "requirements.lock", "--env", str(venv.root))
    assert run.code == 0
    assert "note: the profile of requirements.lock cannot be read, and does not count\n" in run.err


def test_a_lock_for_other_environments(cli: Cli, venv: RealEnvironment) -> None:
    other = "3.12" if sys.version_info[:2] != (3, 12) else "3.11"
    for options, kind in (
        (("--python-version", other), "python"),
        (("--python-platform", "windows"), "platform"),
        (("--target", f"{other}@linux", "--target", f"{other}@windows"), "python"),
    ):
        assert cli("lock", "-r", "lib==1.0", "-U", "-o", "other.lock", *options).code == 0
        told = json.loads(cli("check", "other.lock", "--env", str(venv.root), "--json", "-q").out)
        first = told["findings"][0]
        assert (first["kind"], first["text"].partition(" is for ")[0]) == (kind, "other.lock")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("requirements.lock", "--exact"), "`--exact` is about an environment"),
        (("requirements.lock", "--import", "x"), "`--import` is about an environment"),
        (("--exact", "--env", "VENV"), "`--exact` compares an environment with a lock"),
        (("requirements.lock", "pylock.toml", "--env", "VENV"), "an environment is of one lock"),
        (("VENV",), "is a folder"),
        (("--env", "VENV", "--universal"), "`--universal` is about a lock"),
    ],
)
def test_wrong_usage(cli: Cli, venv: RealEnvironment, arguments: tuple[str, ...], words: str) -> None:
    run = cli("check", *(str(venv.root) if word == "VENV" else word for word in arguments))
    assert run.code == 2
    assert words in run.err


def test_the_path_may_stand_before_the_option(cli: Cli, venv: RealEnvironment) -> None:
    assert cli("check", str(venv.root), "--env").code == 0
