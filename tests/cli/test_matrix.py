"""`compatlock matrix`."""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.command import Cli
from tests.support.index_server import IndexServer


@pytest.fixture(autouse=True)
def world(index: IndexServer) -> IndexServer:
    for version, requires in (("1.0", ["lib<2"]), ("2.0", ["lib>=2"])):
        index.add("app", version, requires=requires, upload_time="2026-01-01T00:00:00Z")
        index.add("lib", version, upload_time="2026-01-01T00:00:00Z")
    index.add("tool", "1.0", requires=["lib"], upload_time="2026-01-01T00:00:00Z")
    return index


SUMMARY = "{target}: 4 cells: 2 work, 1 needs a waiver, 1 is impossible\n"


def target_of(text: str) -> str:
    return text.splitlines()[1].partition(":")[0]


def test_a_table_is_printed_with_what_is_in_the_way(cli: Cli) -> None:
    run = cli("matrix", "app", "lib", "-r", "tool", "--python", "3.12", "-j", "1")
    assert run.code == 0
    assert run.out.startswith("app × lib with tool\n")
    assert target_of(run.out).startswith("CPython 3.12.0 on ")
    assert "app 2.0 needs lib>=2" in run.out
    assert "--waive 'app -> lib'; app 1.0 needs lib<2" in run.out
    assert "\x1b" not in run.out
    assert run.err == ""
    written = cli("matrix", "app", "lib", "-r", "tool", "--python", "3.12", "-o", "m.txt")
    assert written.out == ""
    assert written.err == "wrote m.txt\n" + SUMMARY.format(target=target_of(run.out))
    assert Path("m.txt").read_text() == run.out
    assert cli("matrix", "app", "lib", "-r", "tool", "-o", "m.txt", "-q").err == ""


def test_files_have_the_format_of_their_name(cli: Cli) -> None:
    outputs = [word for name in ("m.html", "m.csv", "m.json", "m.md", "m.txt") for word in ("-o", name)]
    run = cli("matrix", "app", "lib", "--python", "3.11, 3.12", *outputs, "-j", "1")
    assert (run.code, run.out) == (0, "")
    assert run.err.startswith(
        "wrote m.html\nwrote m.csv\nwrote m.json\nwrote m.md\nwrote m.txt\nCPython 3.11.0 on "
    )
    document = json.loads(Path("m.json").read_text())
    assert [matrix["target"][:12] for matrix in document["matrices"]] == ["CPython 3.11", "CPython 3.12"]
    assert Path("m.csv").read_text().count("\n") == 9
    assert Path("m.html").read_text().startswith("<!doctype html>")
    assert "| " in Path("m.md").read_text()
    assert "app × lib" in Path("m.txt").read_text()
    assert (
        cli("matrix", "app", "lib", "--json", "-q", "--python", "3.11,3.12").out == Path("m.json").read_text()
    )


def test_a_matrix_can_be_recorded_and_replayed(cli: Cli, world: IndexServer) -> None:
    words = ["matrix", "app", "lib", "-r", "tool", "--json"]
    recorded = cli(*words, "--record", "m.json.xz")
    assert recorded.code == 0
    assert recorded.err.startswith("3 projects, metadata of 5 files\nwrote m.json.xz (")
    world.add("lib", "3.0")
    replayed = cli(*words, "--snapshot", "m.json.xz")
    (before,), (after,) = (json.loads(run.out)["matrices"] for run in (recorded, replayed))
    assert after["cells"] == before["cells"]
    time.sleep(1.1)  # What was fetched in this very second is believed.
    assert json.loads(cli(*words, "--refresh").out)["matrices"][0]["cells"] != before["cells"]
    refused = cli(*words, "--record", "m.json.xz", "--executor", "os:getcwd")
    assert refused.code == 2
    assert json.loads(refused.out)["error"]["message"] == "what other processes read cannot be recorded"


def test_files_bound_the_axes(cli: Cli) -> None:
    Path("requirements.in").write_text("lib<2\n")
    run = cli("matrix", "app", "lib", "requirements.in", "--json", "-q")
    (matrix,) = json.loads(run.out)["matrices"]
    assert matrix["columns"]["labels"] == ["1.0"]
    assert matrix["asked"] == ["lib<2"]


def test_a_run_can_go_on(cli: Cli, world: IndexServer) -> None:
    first = cli("matrix", "app", "lib", "--resume", "parts.jsonl", "-q")
    asked = len(world.requests)
    assert cli("matrix", "app", "lib", "--resume", "parts.jsonl", "-q").out == first.out
    assert len(world.requests) == asked
    assert len(Path("parts.jsonl").read_text().splitlines()) == 1


def test_an_executor_does_the_work(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[ThreadPoolExecutor] = []

    def make() -> ThreadPoolExecutor:
        made.append(ThreadPoolExecutor(1))
        return made[-1]

    engines = ModuleType("engines")
    engines.make = make  # type: ignore[attr-defined]
    engines.number = lambda: 7  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "engines", engines)
    run = cli("matrix", "app", "lib", "-q", "--executor", "engines:make")
    assert run.out == cli("matrix", "app", "lib", "-q").out
    with pytest.raises(RuntimeError, match="after shutdown"):
        made[0].submit(print)
    for name, problem in (
        ("engines:number", "gives a int, no executor"),
        ("engines:nothing", "AttributeError"),
        ("no_such_module:make", "ModuleNotFoundError"),
    ):
        refused = cli("matrix", "app", "lib", "--executor", name)
        assert refused.code == 2
        assert problem in refused.err
        assert "hint: write MODULE:FACTORY" in refused.err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["app"], "Missing argument 'COLUMNS'"),
        (["app", "lib", "-o", "m.xlsx"], "`m.xlsx`: the name of a matrix file says its format"),
        (["app", "lib", "--by", "week"], "`week` is no way to go along an axis"),
        (["app", "nothing"], "the index has no project `nothing`"),
        (["app", ""], "a FILE or name is an empty word"),
    ],
)
def test_bad_input(cli: Cli, words: list[str], problem: str) -> None:
    run = cli("matrix", *words)
    assert run.code == 2
    assert problem in run.err
