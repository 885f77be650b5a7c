"""`compatlock snapshot`, and replaying one."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from tests.support.command import Cli, pins_of
from tests.support.index_server import IndexServer


@pytest.fixture
def world(index: IndexServer) -> IndexServer:
    for version in ("1.0", "2.0"):
        index.add("a", version, requires=["b<2"], upload_time=f"2026-0{version[0]}-01T00:00:00Z")
        index.add("b", version, upload_time=f"2026-0{version[0]}-01T00:00:00Z")
    return index


def test_what_was_recorded_answers_for_ever(cli: Cli, world: IndexServer) -> None:
    run = cli("snapshot", "-r", "a", "-o", "a.json.xz")
    assert run.code == 0
    assert run.err.startswith("2 projects, metadata of 3 files\nwrote a.json.xz (")
    assert b"127.0.0.1" not in lzma.decompress(Path("a.json.xz").read_bytes())
    world.add("a", "3.0")
    asked = len(world.requests)
    replayed = cli("lock", "-r", "a", "--snapshot", "a.json.xz", "-o", "-")
    assert (replayed.code, pins_of(replayed.out)) == (0, {"a": "2.0", "b": "1.0"})
    assert "--hash=sha256:" in replayed.out
    assert "--snapshot a.json.xz" in replayed.out
    assert len(world.requests) == asked


@pytest.mark.usefixtures("world")
def test_a_contradiction_is_recorded_with_what_explains_it(cli: Cli) -> None:
    assert cli("snapshot", "-r", "a", "-r", "b>=2", "-q").code == 0
    live = cli("lock", "-r", "a", "-r", "b>=2")
    replayed = cli("lock", "-r", "a", "-r", "b>=2", "--snapshot", "snapshot.json.xz")
    assert (replayed.code, replayed.err) == (1, live.err)


def test_a_run_without_an_answer_is_recorded_and_told(cli: Cli, index: IndexServer) -> None:
    index.add("a", "1.0", requires=["b<2"])
    index.add("b", "2.0")
    run = cli("snapshot", "-r", "a", "-o", "s.json.xz")
    assert run.code == 0
    assert "2 projects, metadata of 2 files\nwrote s.json.xz (" in run.err
    assert "the run that it records found no answer: " in run.err
    missing = cli("snapshot", "-r", "nosuch", "-o", "s.json.xz")
    assert missing.code == 0
    assert missing.err.startswith("1 project, metadata of 0 files\n")
    assert "found no answer: " in missing.err
    assert "nosuch" in missing.err


@pytest.mark.usefixtures("world")
def test_a_name_that_says_json_is_given_plain_json(cli: Cli) -> None:
    assert cli("snapshot", "-r", "a", "-q", "-o", "s.json").code == 0
    assert json.loads(Path("s.json").read_text())["projects"].keys() == {"a", "b"}
    replayed = cli("lock", "-r", "a", "--snapshot", "s.json", "-o", "-")
    assert (replayed.code, pins_of(replayed.out)) == (0, {"a": "2.0", "b": "1.0"})


@pytest.mark.parametrize("words", [["snapshot", "-o", "-"], ["matrix", "a", "b", "--record", "-"]])
def test_standard_output_is_no_place_for_a_snapshot(cli: Cli, world: IndexServer, words: list[str]) -> None:
    run = cli(*words, "-r", "a")
    assert (run.code, run.out) == (2, "")
    assert "a snapshot cannot be written to standard output" in run.err
    assert not Path("-").exists()
    assert not world.requests


@pytest.mark.usefixtures("world")
def test_what_a_snapshot_lacks_is_told(cli: Cli) -> None:
    assert cli("snapshot", "-r", "b", "-q").code == 0
    run = cli("lock", "-r", "a", "--snapshot", "snapshot.json.xz")
    assert run.code == 3
    assert "snapshot.json.xz holds nothing about a" in run.err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["lock", "-r", "a", "--snapshot", "none.xz"], "none.xz"),
        (["lock", "-r", "a", "--snapshot", "bad.xz"], "bad.xz is no snapshot"),
        (["snapshot", "-r", "a", "--index", "https://index.example/simple"], "a snapshot is of one index"),
    ],
)
def test_bad_input(cli: Cli, words: list[str], problem: str) -> None:
    Path("bad.xz").write_bytes(b"no snapshot")
    run = cli(*words)
    assert run.code == 2
    assert problem in run.err
    assert not Path("snapshot.json.xz").exists()


def test_indexes_that_files_name(cli: Cli, world: IndexServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COMPATLOCK_DEFAULT_INDEX")
    Path("r.in").write_text(f"-i {world.url}\na\n")
    assert cli("snapshot", "r.in", "-q").code == 0
    replayed = cli("lock", "r.in", "--snapshot", "snapshot.json.xz", "-o", "-")
    assert pins_of(replayed.out) == {"a": "2.0", "b": "1.0"}
    with IndexServer() as other:
        Path("r.in").write_text(f"-i {world.url}\n--extra-index-url {other.url}\na\n")
        run = cli("snapshot", "r.in", "-o", "two.json.xz")
    assert run.code == 2
    assert "a snapshot is of one index" in run.err
    assert not Path("two.json.xz").exists()
