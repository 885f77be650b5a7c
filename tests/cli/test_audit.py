"""`compatlock audit` and `compatlock lock --audit`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command import Cli, pins_of
from tests.support.index_server import IndexServer

SHARED = "shared/__init__.py"


@pytest.fixture
def overlapping(index: IndexServer) -> IndexServer:
    """Two projects, of which the last three releases install the same module, each its own."""
    for step, moment in enumerate(("01", "05", "10", "20", "25")):
        for name, major, code in (("left", 1, b"x = 1\n"), ("right", 5, b"y = 1\n")):
            version = f"{major}.{step}" if step < 2 else f"{major + 1}.{step - 2}"
            files = {f"{name}/__init__.py": b"", **({SHARED: code} if step >= 2 else {})}
            index.add(name, version, files=files, upload_time=f"2026-01-{moment}T00:00:00Z")
    return index


def test_files_that_overwrite_each_other_are_found(cli: Cli, overlapping: IndexServer) -> None:
    assert cli("lock", "-r", "left", "-r", "right", "-q").code == 0
    run = cli("audit", "requirements.lock")
    assert (run.code, run.err) == (1, "")
    lines = run.out.splitlines()
    assert lines[0].startswith("overlap (certain): ")
    assert "left 2.2" in lines[0]
    assert "right 6.2" in lines[0]
    assert f"`{SHARED}`" in lines[0]
    assert lines[-1].startswith("requirements.lock: 2 wheels for CPython ")
    assert "1 finding" in lines[-1]
    # What was read is remembered: a second look asks the index for nothing but listings.
    before = len(overlapping.requests)
    again = cli("audit", "requirements.lock", "--offline", "--json")
    assert again.code == 1
    assert len(overlapping.requests) == before
    report = json.loads(again.out)
    assert (report["version"], report["clean"], report["audited"]) == (1, False, 2)
    assert report["findings"][0]["check"] == "overlap"
    assert report["requests"] == 0


@pytest.mark.usefixtures("overlapping")
def test_a_lock_is_solved_again_until_its_artefacts_work_together(cli: Cli) -> None:
    run = cli("lock", "-r", "left", "-r", "right", "--audit")
    assert run.code == 0
    text = Path("requirements.lock").read_text()
    # One of the two has to stay behind the releases with the module, as little as possible.
    assert pins_of(text) in ({"left": "1.1", "right": "6.2"}, {"left": "2.2", "right": "5.1"})
    assert "# Notes:\n#   audited: 2 wheels were looked into, nothing that breaks was found\n" in text
    # All releases that overlap were learned at once.
    assert text.count("learned by the audit:") == 1
    assert "left>=2.0,<=2.2 never beside right>=6.0,<=6.2" in text
    assert "--audit" in text.splitlines()[2]
    assert cli("audit", "requirements.lock").code == 0


@pytest.mark.usefixtures("overlapping")
def test_without_an_answer_left_what_was_learned_is_told(cli: Cli) -> None:
    run = cli("lock", "-r", "left>=2", "-r", "right>=6", "--audit")
    assert run.code == 1
    assert "the audit learned: left>=2.0,<=2.2 never beside right>=6.0,<=6.2" in run.err
    # The contradiction is about all of these releases, not only about the two that were seen first.
    [reason] = [line for line in run.err.splitlines() if "known fact" in line]
    assert "(left>=2.0,<=2.2 never beside right>=6.0,<=6.2)" in reason
    assert not Path("requirements.lock").exists()


def test_what_modules_of_asked_packages_import_is_learned_for_many_releases(
    cli: Cli, index: IndexServer
) -> None:
    for step in range(6):
        moment = f"2026-01-{step + 1:02}T00:00:00Z"
        code = b"def pack(): pass\n" if step < 3 else b""
        index.add("lib", f"1.{step}", files={"lib/__init__.py": code}, upload_time=moment)
        app = {"app/__init__.py": b"", "app/main/__init__.py": b"", "app/main/run.py": b"import lib\n"}
        if step >= 2:
            app["app/__init__.py"] = b"from lib import pack\n"
        index.add("app", f"1.{step}", requires=["lib"], files=app, upload_time=moment)
    run = cli("lock", "-r", "app", "--audit")
    assert run.code == 0
    text = Path("requirements.lock").read_text()
    assert "learned by the audit: app>=1.2,<=1.5 needs lib<1.3 (" in text
    assert pins_of(text) == {"app": "1.5", "lib": "1.2"}


def test_findings_that_teach_nothing_are_told(cli: Cli, index: IndexServer) -> None:
    index.add("base", "1.0")
    index.add("app", "1.0", build="1", requires=["base"])
    index.add("app", "1.0", build="2")
    run = cli("lock", "-r", "app", "--audit")
    assert run.code == 1
    lines = run.err.splitlines()
    assert lines[0] == "error: the best answer does not pass the audit: 1 finding"
    assert lines[1].startswith("  builds (certain): ")
    assert any("app-1.0-1-py3-none-any.whl" in line for line in lines[2:])
    assert not Path("requirements.lock").exists()


def test_an_audit_that_cannot_read_a_wheel_says_so(cli: Cli, index: IndexServer) -> None:
    index.add("a", "1.0", files={"a/__init__.py": b""})
    index.add("b", "1.0", sdist=True, tags=())
    assert cli("lock", "-r", "a", "-r", "b", "-q").code == 0
    wheel = next(path for path in index.files if "/a-1.0" in path and path.endswith(".whl"))
    index.files[wheel] = b"no archive"
    run = cli("audit", "requirements.lock")
    assert run.code == 0
    assert "a 1.0" in run.out
    assert "not audited: b 1.0: a source distribution, its build is not known" in run.out
    assert "not read" in run.out.splitlines()[-1]


@pytest.mark.parametrize("words", [(), ("none.lock",), ("empty.lock",)])
def test_bad_usage(cli: Cli, words: tuple[str, ...]) -> None:
    Path("empty.lock").write_text("")
    run = cli("audit", *words)
    assert (run.code, run.out) == (2, "")
    assert run.err


def test_a_lock_is_fixed_with_as_few_changes_as_possible(cli: Cli, overlapping: IndexServer) -> None:
    overlapping.add("other", "1.0")
    overlapping.add("other", "2.0")
    Path("freeze.txt").write_text("left==2.1\nright==6.1\nother==1.0\n")
    run = cli("audit", "freeze.txt", "--fix")
    assert run.code == 0
    assert run.out.startswith("overlap (certain): ")
    assert "note: taken as asked for (say it with -r to be exact): left, other, right" in run.err
    assert run.err.endswith("wrote freeze.txt\n")
    pins = pins_of(Path("freeze.txt").read_text())
    assert pins["other"] == "1.0"
    assert (pins["left"], pins["right"]) in (("1.1", "6.1"), ("2.1", "5.1"))
    assert cli("audit", "freeze.txt").code == 0
    untouched = Path("freeze.txt").read_text()
    assert cli("audit", "freeze.txt", "--fix").code == 0
    assert Path("freeze.txt").read_text() == untouched


def test_an_output_without_a_fix(cli: Cli, index: IndexServer) -> None:
    index.add("a", "1.0")
    Path("freeze.txt").write_text("a==1.0\n")
    run = cli("audit", "freeze.txt", "-o", "other.lock")
    assert run.code == 2
    assert "`--output-file` is where `--fix` writes" in run.err
