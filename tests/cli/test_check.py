"""`compatlock check`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command import Cli
from tests.support.index_server import IndexServer
from tests.support.site_packages import install, virtual_environment

TARGET = ("--python-version", "3.12", "--python-platform", "linux")
FREEZE = "verl==0.8.0\nnumpy==2.3.5\nnumba==0.61.2\n"
PLACE = "CPython 3.12.0 on x86_64-manylinux_2_28"


@pytest.fixture
def trinity(index: IndexServer) -> IndexServer:
    """The packages of a known contradiction: verl forbids numpy 2, which others need."""
    index.add("verl", "0.8.0", requires=["numpy<2.0.0"])
    index.add("numpy", "2.3.5")
    index.add("numba", "0.61.2", requires=["numpy>=1.24,<2.3"])
    return index


def test_what_somebody_has_is_told_with_what_is_known_of_it(cli: Cli, trinity: IndexServer) -> None:
    Path("freeze.txt").write_text(FREEZE)
    run = cli("check", "freeze.txt", *TARGET)
    assert (run.code, run.err) == (1, "")
    assert run.out == (
        "numba 0.61.2 needs numpy<2.3,>=1.24, but numpy is 2.3.5\n"
        "  the bound must never be waived: numba refuses to import with a numpy newer than it declares "
        "(fact numba-numpy-hard)\n"
        "  hint: `compatlock explain -r numba==0.61.2 -r numpy==2.3.5 --python-version 3.12.0 "
        "--python-platform x86_64-manylinux_2_28` looks for ways out\n"
        "verl 0.8.0 needs numpy<2.0.0, but numpy is 2.3.5\n"
        "  the bound is known to be too strict: verl 0.7.1 to 0.8.0 works with numpy 2, which it forbids "
        "(fact verl-numpy2)\n"
        "  hint: `--waive 'verl -> numpy'` accepts it\n"
        "  hint: `compatlock explain -r verl==0.8.0 -r numpy==2.3.5 --python-version 3.12.0 "
        "--python-platform x86_64-manylinux_2_28` looks for ways out\n"
        f"freeze.txt: 3 packages for {PLACE}: 2 errors\n"
    )
    assert trinity.count("/simple/verl/") == 1


def test_a_waiver_accepts_it(cli: Cli, trinity: IndexServer) -> None:
    run = cli("check", "-", *TARGET, "--waive", "verl -> numpy", stdin=FREEZE.replace("numba", "#").encode())
    assert run.code == 0
    assert run.out.splitlines()[0] == "waived: verl 0.8.0 needs numpy<2.0.0, but numpy is 2.3.5"
    assert run.out.endswith(f"standard input: 2 packages for {PLACE}: 1 waived\n")
    assert trinity.requests


def test_json(cli: Cli, trinity: IndexServer) -> None:
    Path("freeze.txt").write_text(FREEZE)
    run = cli("check", "freeze.txt", *TARGET, "--json")
    told = json.loads(run.out)
    assert (run.code, told["version"], told["clean"], told["checked"]) == (1, 1, False, 3)
    first = told["findings"][0]
    assert (first["kind"], first["package"], first["on"], first["found"]) == (
        "version",
        "numba",
        "numpy",
        "2.3.5",
    )
    assert first["facts"] == ["numba-numpy-hard"]
    assert trinity.requests


def test_an_environment_needs_no_index(cli: Cli, tmp_path: Path, index: IndexServer) -> None:
    site = virtual_environment(tmp_path / "venv")
    install(site, "app", "1.0", requires=["lib>=2"])
    install(site, "lib", "2.0")
    environment = str(tmp_path / "venv")
    run = cli("check", "--env", environment, "--python-platform", "linux")
    assert (run.code, run.err) == (0, "")
    assert run.out == (
        f"the environment {environment}: 2 packages for CPython 3.12.4 on x86_64-manylinux_2_28: "
        "everything fits\n"
    )
    assert cli("check", "--env", environment, "-q") == (0, "", "")
    install(site, "other", "1.0", requires=["lib<2"])
    run = cli("check", "--env", environment, "-q")
    assert (run.code, run.out) == (1, "other 1.0 needs lib<2, but lib is 2.0\n")
    assert not index.requests


def test_the_running_environment(cli: Cli) -> None:
    run = cli("check", "--env", "--json")
    assert json.loads(run.out)["subject"] == "the running environment"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "nothing to check: no file was given"),
        (("gone.txt",), "there is no file gone.txt"),
        (("empty.txt",), "empty.txt pins nothing that could be checked"),
        (("pyproject.toml",), "pyproject.toml pins nothing that could be checked"),
        (("bad.json",), "bad.json is not valid JSON"),
        ((".",), "`--env .` checks an environment"),
        (("--env", "gone"), "there is no environment at gone"),
        (("freeze.txt", "--waive", "numba -> numpy"), "must never be waived"),
    ],
)
def test_bad_input(cli: Cli, arguments: tuple[str, ...], words: str) -> None:
    Path("freeze.txt").write_text(FREEZE)
    Path("empty.txt").write_text("# nothing\nloose>=1\n")
    Path("pyproject.toml").write_text("[project]\n")
    Path("bad.json").write_text("{")
    run = cli("check", *arguments)
    assert run.code == 2
    assert words in run.err


def test_offline_without_a_cache(cli: Cli) -> None:
    Path("freeze.txt").write_text(FREEZE)
    assert cli("check", "freeze.txt", "--offline").code == 3


def test_several_targets(cli: Cli, index: IndexServer) -> None:
    index.add("app", "1.0", requires=["win; sys_platform == 'win32'"])
    Path("freeze.txt").write_text("app==1.0\n")
    assert cli("check", "freeze.txt", *TARGET).code == 0
    run = cli("check", "freeze.txt", "--universal", "--python-version", "3.12")
    assert (run.code, run.err) == (1, "")
    assert run.out == (
        "app 1.0 needs win, which is missing\n"
        "  for CPython 3.12.0 on x86_64-pc-windows-msvc\n"
        "freeze.txt: 1 package for 4 targets: 1 error\n"
    )


def test_several_files(cli: Cli, index: IndexServer) -> None:
    index.add("app", "1.0")
    for name in ("one.lock", "two.lock"):
        Path(name).write_text("app==1.0\n")
    Path("requirements.in").write_text("app\n")
    run = cli("check", "requirements.in", "one.lock", "two.lock", *TARGET)
    assert run.code == 0
    assert [line.partition(":")[0] for line in run.out.splitlines()] == ["one.lock", "two.lock"]
    Path("requirements.in").write_text("app>=2\n")
    told = json.loads(cli("check", "one.lock", "requirements.in", "two.lock", *TARGET, "--json").out)
    assert (told["clean"], [report["subject"] for report in told["reports"]]) == (
        False,
        ["one.lock", "two.lock"],
    )
    assert told["reports"][1]["findings"][0]["text"] == "requirements.in:1 asks for app>=2, but app is 1.0"
    assert "name the lock of it too" in cli("check", "requirements.in").err


def test_a_script_says_what_its_lock_has_to_fulfil(cli: Cli, index: IndexServer) -> None:
    index.add("app", "1.0")
    head = '# /// script\n# requires-python = "%s"\n# dependencies = ["app%s"]\n# ///\nimport app\n'
    Path("run.py").write_text(head % (">=3.11", ""))
    assert cli("lock", "run.py", *TARGET).code == 0
    assert cli("check", "run.py", "requirements.lock").code == 0
    Path("run.py").write_text(head % (">=3.11", ">=2"))
    run = cli("check", "run.py", "requirements.lock")
    assert (run.code, run.out.splitlines()[0]) == (1, "run.py:3 asks for app>=2, but app is 1.0")
    Path("run.py").write_text(head % (">=3.13", ""))
    run = cli("check", "run.py", "requirements.lock")
    assert run.out.splitlines()[0] == (
        "requirements.lock is stale: it is for Python 3.12.0, and run.py:2 has requires-python >=3.13"
    )
