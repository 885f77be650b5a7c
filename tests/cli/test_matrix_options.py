"""Options of `compatlock matrix` that contradict each other or name nothing are refused, not passed over."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import Cli
from tests.support.index_server import IndexServer


@pytest.fixture(autouse=True)
def world(index: IndexServer) -> IndexServer:
    index.add("app", "1.0", requires=["lib"], upload_time="2026-01-01T00:00:00Z")
    index.add("lib", "1.0", upload_time="2026-01-01T00:00:00Z")
    return index


@pytest.mark.parametrize(
    ("words", "problem", "hint"),
    [
        (
            ["--by", "nope=minor"],
            "`--by nope=minor`: no axis of this matrix is nope",
            "write `--by app=minor` or ",
        ),
        (
            ["--by", "=minor"],
            "`=minor` is no way to go along an axis",
            "write `minor`, `release` or `PKG=minor`",
        ),
        (["--python", ","], "`--python ,` names no Python", "write `--python 3.12` or `3.11,3.12`"),
        (["--python", "3.12", "--python", " , "], "names no Python", "write `--python 3.12`"),
        (
            ["--executor", "concurrent.futures:ThreadPoolExecutor", "--jobs", "1"],
            "an executor has its own number of processes",
            "leave out `--jobs` or `--executor`",
        ),
        (
            ["--record", "m.json.xz", "-j", "2"],
            "what is recorded is read by one process",
            "leave out `--jobs`",
        ),
        (
            ["--snapshot", "m.json.xz", "-j", "2"],
            "what a snapshot holds is read by one process",
            "leave out `--",
        ),
        (["--no-cache", "-j", "2"], "a cache in memory is read by one process", "leave out `--jobs`"),
    ],
)
def test_what_would_be_passed_over_is_refused(cli: Cli, words: list[str], problem: str, hint: str) -> None:
    assert cli("matrix", "app", "lib", "--record", "m.json.xz", "-q").code == 0
    recorded = Path("m.json.xz").read_bytes()
    run = cli("matrix", "app", "lib", *words)
    assert (run.code, run.out) == (2, "")
    assert f"error: {problem}" in run.err or problem in run.err.splitlines()[0]
    assert f"hint: {hint}" in run.err
    assert Path("m.json.xz").read_bytes() == recorded


def test_one_process_is_what_a_snapshot_is_read_by(cli: Cli) -> None:
    assert cli("matrix", "app", "lib", "--record", "m.json.xz", "-q", "-j", "1").code == 0
    assert cli("matrix", "app", "lib", "--snapshot", "m.json.xz", "-q", "-j", "1").code == 0


def test_a_file_that_is_named_twice_is_written_once(cli: Cli) -> None:
    run = cli("matrix", "app", "lib", "-o", "m.csv", "-o", "m.csv")
    assert run.code == 0
    assert run.err.count("wrote m.csv") == 1


@pytest.mark.parametrize(
    "command", [["matrix", "app", "lib"], ["lock", "-r", "app"], ["snapshot", "-r", "app"]]
)
def test_offline_contradicts_refresh(cli: Cli, command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    run = cli(*command, "--offline", "--refresh")
    assert run.code == 2
    assert "`--refresh` asks the index again, and --offline forbids asking it" in run.err
    assert "hint: leave out one of them" in run.err
    monkeypatch.setenv("COMPATLOCK_OFFLINE", "1")
    run = cli(*command, "--refresh")
    assert run.code == 2
    assert "COMPATLOCK_OFFLINE forbids asking it" in run.err
    assert "hint: leave out `--refresh`" in run.err


@pytest.mark.parametrize("command", [["matrix", "app", "lib"], ["lock", "-r", "app"]])
@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--exclude-newer", "garbage", "--exclude-newer", "2026-11-30"], "`garbage` is no point in time"),
        (
            ["--exclude-newer", "lib=garbage", "--exclude-newer", "lib=2026-11-30"],
            "`garbage` is no point in time",
        ),
        (["--prerelease", "garbage", "--prerelease", "allow"], "unknown pre-release mode `garbage`"),
    ],
)
def test_a_value_that_a_later_one_replaces_is_checked_too(
    cli: Cli, command: list[str], words: list[str], problem: str
) -> None:
    run = cli(*command, *words)
    assert run.code == 2
    assert problem in run.err
    assert cli(*command, *words[2:], "-q").code == 0
