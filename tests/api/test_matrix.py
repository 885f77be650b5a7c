"""`compatlock.matrix`: axes, cells, processes and executors, and going on after a stop."""

from __future__ import annotations

import json
import multiprocessing
import os
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import compatlock
from compatlock import Cell, InputError, Matrix
from compatlock.api.matrix import matrix as matrix_module
from compatlock.api.matrix import work as matrix_work
from compatlock.api.matrix import workers as matrix_workers
from compatlock.api.matrix.matrix import MatrixOptions, MatrixProgress, make_matrices
from compatlock.api.matrix.work import Chunk, solve_chunk
from compatlock.api.options import LockOptions
from compatlock.api.record import record_matrices
from compatlock.api.session import store_of_snapshot
from compatlock.model.index import parse_indexes
from compatlock.solver import matrix_reasons, matrix_waivers
from compatlock.solver.matrix import cells
from tests.support.index_server import IndexServer

APP = {
    "1.0": ["lib<2"],
    "1.1": ["lib<3"],
    "2.0": ["lib<3", "helper<2"],
    "3.0": ["lib>=3"],
}


@pytest.fixture
def world(index: IndexServer) -> IndexServer:
    """app x lib, with tool beside, whose newest release needs a new lib. Later apps lift older bounds."""
    for month, (version, requires) in enumerate(APP.items(), 1):
        index.add("app", version, requires=requires, upload_time=f"2026-0{month}-01T00:00:00Z")
    for month, version in enumerate(("1.0", "2.0", "2.1", "3.0", "4.0rc1"), 1):
        index.add("lib", version, upload_time=f"2026-0{month}-02T00:00:00Z")
    index.add("tool", "1.0", requires=["lib"], upload_time="2026-01-01T00:00:00Z")
    index.add("tool", "2.0", requires=["lib>=2"], upload_time="2026-03-02T00:00:00Z")
    for version in ("1.0", "2.0"):
        index.add("helper", version, requires=["lib>=2"], upload_time="2026-01-01T00:00:00Z")
    return index


@pytest.fixture
def ask(world: IndexServer, tmp_path: Path) -> Any:
    def ask(rows: str = "app", columns: str = "lib", requirements: Any = "tool", **options: Any) -> Matrix:
        how = {} if "executor" in options else {"jobs": 1}
        settings = {"index_url": world.url, "cache_dir": tmp_path / "cache", **how, **options}
        (found,) = compatlock.matrix(rows, columns, requirements, **settings)
        return found

    return ask


def at(matrix: Matrix, row: str, column: str) -> Cell:
    return matrix.cells[matrix.rows.labels.index(row)][matrix.columns.labels.index(column)]


def test_every_pair_is_solved(ask: Any) -> None:
    matrix = ask()
    assert matrix.rows.labels == ("3.0", "2.0", "1.1", "1.0")
    assert matrix.columns.labels == ("3.0", "2.1", "2.0", "1.0")
    assert matrix.asked == ("tool",)
    marks = {"works": "+", "waiver": "~", "impossible": "-"}
    statuses = ["".join(marks[cell.status] for cell in row) for row in matrix.cells]
    assert statuses == ["+---", "~++-", "~+++", "~~~+"]
    assert at(matrix, "3.0", "3.0") == Cell("works", (("app", "3.0"), ("lib", "3.0"), ("tool", "2.0")))


def test_what_is_on_an_axis_is_not_behind_by_being_there(ask: Any) -> None:
    cell = at(ask(), "1.1", "1.0")
    assert dict(cell.pins) == {"app": "1.1", "lib": "1.0", "tool": "1.0"}
    assert cell.lag == 60


def test_an_impossible_cell_says_why(ask: Any) -> None:
    matrix = ask()
    assert at(matrix, "3.0", "1.0") == Cell("impossible", reason="app 3.0 needs lib>=3")
    assert at(matrix, "2.0", "3.0").reason == "app 1.1 and 2.0 need lib<3"
    assert at(matrix, "1.1", "3.0").reason == "app 1.1 and 2.0 need lib<3"
    assert at(matrix, "2.0", "1.0").reason == "app 2.0 needs helper<2; helper 1.0 needs lib>=2"


def test_a_reason_names_what_is_left_out(world: IndexServer, ask: Any) -> None:
    world.add("app", "5.0", requires=["beta>=1"])
    world.add("beta", "0.1")
    world.add("beta", "2.0rc1")
    assert at(ask(), "5.0", "3.0").status == "works"
    reason = at(ask(prerelease="explicit"), "5.0", "3.0").reason
    left_out = "beta 2.0rc1 is left out: it is a pre-release and nothing asks for one"
    assert reason == f"app 5.0 needs beta>=1; {left_out}"


def test_waivers_with_evidence_are_offered_where_only_they_help(ask: Any) -> None:
    cell = at(ask(), "1.0", "2.1")
    assert (cell.status, cell.waivers, cell.reason) == ("waiver", ("app -> lib",), "app 1.0 needs lib<2")
    assert dict(cell.pins) == {"app": "1.0", "lib": "2.1", "tool": "2.0"}
    refused = at(ask(no_waivers=True), "1.0", "2.1")
    assert refused == Cell("impossible", reason="app 1.0 needs lib<2")


def test_releases_that_are_no_step_are_no_reason(world: IndexServer, ask: Any) -> None:
    world.add("lib", "9.0", requires_python=">=3.99", upload_time="2026-06-02T00:00:00Z")
    assert at(ask(), "3.0", "1.0").reason == "app 3.0 needs lib>=3"


def test_an_axis_without_releases_says_what_hides_them(world: IndexServer, ask: Any) -> None:
    world.add("new", "1.0", requires_python=">=3.99", upload_time="2026-06-02T00:00:00Z")
    world.add("new", "2.0", requires_python=">=3.98", upload_time="2026-06-02T00:00:00Z")
    with pytest.raises(InputError, match="no release of `new<2` can be used") as refused:
        ask("new<2")
    (hint,) = refused.value.hints
    assert hint.startswith("new 1.0 needs Python >=3.99, the target has 3.")


def test_a_requirement_that_no_project_is_behind_is_an_error(ask: Any) -> None:
    with pytest.raises(InputError, match="the index has no project `tol`") as refused:
        ask(requirements="tol")
    assert refused.value.hints == ("is it spelt right?",)


def test_looking_for_a_reason_may_be_given_up(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix_reasons, "_ROUNDS", 0)
    matrix = ask()
    reason = "why was not found out with a reasonable effort"
    assert at(matrix, "3.0", "1.0") == Cell("impossible", reason=reason)
    assert (at(matrix, "1.0", "2.1").waivers, at(matrix, "1.0", "2.1").reason) == (("app -> lib",), reason)


def test_looking_for_waivers_may_be_given_up(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix_waivers, "_EFFORT", -1_000_000)
    given_up = "whether waivers help was not found out with a reasonable effort"
    assert at(ask(), "1.0", "2.1") == Cell("unknown", reason=f"app 1.0 needs lib<2; {given_up}")


def test_waivers_of_the_users_are_told(ask: Any) -> None:
    cell = at(ask(waivers=["app -> lib"]), "3.0", "1.0")
    assert (cell.status, cell.waivers, cell.reason) == ("waiver", ("app -> lib",), "app 3.0 needs lib>=3")
    assert at(ask(waivers=["app -> lib"]), "3.0", "3.0").status == "works"


def test_axes_are_bounded_by_what_is_said_of_their_packages(ask: Any) -> None:
    matrix = ask("app>=1.1", "lib", ["tool", "lib<3"])
    assert matrix.rows.labels == ("3.0", "2.0", "1.1")
    assert matrix.columns.labels == ("2.1", "2.0", "1.0")


def test_an_axis_may_go_by_minors(ask: Any) -> None:
    matrix = ask(by="app=minor")
    assert matrix.rows.labels == ("3.0", "2.0", "1.1", "1.0")
    minors = ask("lib", "app", by=["minor", "app=release"])
    assert minors.rows.labels == ("3.0", "2.1", "2.0", "1.0")


def test_a_minor_has_the_best_of_its_releases(world: IndexServer, ask: Any) -> None:
    world.add("lib", "2.0.5", requires=["helper>=2"], upload_time="2026-02-20T00:00:00Z")
    matrix = ask(by="lib=minor")
    assert matrix.columns.labels == ("3.0", "2.1", "2.0", "1.0")
    assert matrix.columns.versions[2] == ("2.0.5", "2.0")
    assert dict(at(matrix, "1.1", "2.0").pins)["lib"] == "2.0.5"
    held = at(matrix, "2.0", "2.0")
    assert (dict(held.pins)["lib"], held.lag) == ("2.0", 18)


def test_many_releases_go_by_minors_unless_it_is_said_otherwise(world: IndexServer, ask: Any) -> None:
    for patch in range(1, 100):
        world.add("lib", f"3.0.{patch}")
    assert ask().columns.labels == ("3.0", "2.1", "2.0", "1.0")
    assert len(ask(by="release", requirements="helper").columns.labels) == 103


def test_there_is_a_matrix_for_each_python(world: IndexServer, tmp_path: Path) -> None:
    world.add("app", "4.0", requires_python=">=3.12")
    old, new = compatlock.matrix(
        "app", "lib", pythons=["3.11", "3.12"], index_url=world.url, cache_dir=tmp_path / "cache", jobs=1
    )
    assert old.rows.labels[0] == "3.0"
    assert new.rows.labels[0] == "4.0"
    assert old.target.startswith("CPython 3.11")
    assert "--python 3.12" in new.command


def test_the_head_says_how_to_make_it_again(ask: Any) -> None:
    matrix = ask("app>=2", by="minor", exclude_newer="2026-06-01")
    assert matrix.command.startswith("compatlock matrix 'app>=2' lib --by minor --requirement tool")
    assert matrix.index_state == "as of 2026-06-01T23:59:59Z"
    assert matrix.lock[:2] == ("--requirement", "tool")
    assert ask().index_state == "newest release of these packages 2026-05-02T00:00:00Z"


@pytest.mark.parametrize(
    ("axes", "options", "message"),
    [
        (("app", "nothing"), {}, "the index has no project `nothing`"),
        (("app", "app"), {}, "a matrix needs two packages"),
        (("app>9", "lib"), {}, "no release of `app>9` can be used"),
        (("app; python_version>'3'", "lib"), {}, "is no axis"),
        (("app>>1", "lib"), {}, "the axis `app>>1`"),
        (("app", "lib"), {"by": "major"}, "`major` is no way to go along an axis"),
        (("app", "lib"), {"strategy": "greedy"}, "`--strategy greedy` is not for a matrix"),
    ],
)
def test_bad_input(ask: Any, axes: tuple[str, str], options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        ask(*axes, **options)


# Processes and executors


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of the matrix for each row."""
    monkeypatch.setattr(matrix_module, "_CELLS", 4)


def executor_of(kind: str) -> Executor:
    if kind == "threads":
        return ThreadPoolExecutor(2)
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_any_executor_gives_the_same(ask: Any, kind: str) -> None:
    alone = ask()
    with executor_of(kind) as executor:
        assert ask(executor=executor) == alone


@pytest.mark.usefixtures("small_parts")
def test_several_processes_give_the_same(ask: Any) -> None:
    seen: list[MatrixProgress] = []
    assert ask(jobs=2, on_progress=seen.append) == ask()
    assert seen == [MatrixProgress(done, 16) for done in (4, 8, 12, 16)]


@pytest.mark.usefixtures("small_parts")
def test_a_cluster_of_dask_gives_the_same(ask: Any) -> None:
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    alone = ask()
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
        client.get_executor() as executor,
    ):
        assert ask(executor=executor) == alone


@pytest.mark.usefixtures("small_parts")
def test_the_index_is_asked_again_once(world: IndexServer, tmp_path: Path) -> None:
    options = LockOptions(
        requirements=("tool",),
        indexes=parse_indexes(world.url),
        cache_dir=str(tmp_path / "cache"),
        refresh=True,
    )
    wanted = MatrixOptions(("app", "lib"), jobs=1)
    make_matrices(options, wanted)
    # Once for the axes and once for the cells, though there are four parts.
    assert world.count("/simple/helper/") == 1
    assert world.count("/simple/app/") <= 2


@pytest.mark.usefixtures("small_parts")
def test_a_process_keeps_its_solver_from_part_to_part(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []

    def counting(universe: Any, request: Any) -> Any:
        begun.append(request.target.python)
        return cells(universe, request)

    monkeypatch.setattr(matrix_work, "cells", counting)
    ask()
    assert len(begun) == 1


def test_credentials_are_not_sent_anywhere(ask: Any) -> None:
    with ThreadPoolExecutor(1) as executor, pytest.raises(InputError, match="credentials"):
        ask(index_url="https://user:secret@index.example/simple/", executor=executor)


def test_an_error_in_another_process_is_that_error(ask: Any) -> None:
    ask()
    with executor_of("processes") as executor, pytest.raises(compatlock.NotCached):
        ask("app", "lib", "unread", offline=True, executor=executor)


# Recording


@pytest.mark.usefixtures("small_parts")
def test_what_was_recorded_gives_the_same_for_ever(
    world: IndexServer, ask: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = LockOptions(requirements=("tool",), indexes=parse_indexes(world.url), cache=False)
    wanted = MatrixOptions(("app", "lib"))
    (recorded,), snapshot = record_matrices(options, wanted)
    assert recorded.cells == ask().cells
    path = tmp_path / "matrix.json.xz"
    path.write_bytes(snapshot.dump())
    world.add("lib", "5.0")
    asked = len(world.requests)
    filled: list[str] = []

    def counting(options: LockOptions) -> Any:
        filled.append(options.snapshot)
        return store_of_snapshot(options)

    monkeypatch.setattr(matrix_work, "store_of_snapshot", counting)
    replayed = ask(snapshot=path)
    assert replayed.cells == recorded.cells
    assert "--snapshot" in replayed.command
    # It may not have what a lock of a single cell reads.
    assert "--snapshot" not in replayed.lock
    assert len(world.requests) == asked
    # Once for all four parts.
    assert filled == [str(path)]


def test_what_a_snapshot_lacks_is_told(world: IndexServer, ask: Any, tmp_path: Path) -> None:
    options = LockOptions(requirements=("tool",), indexes=parse_indexes(world.url), cache=False)
    _, snapshot = record_matrices(options, MatrixOptions(("app>=2", "lib")))
    path = tmp_path / "matrix.json.xz"
    path.write_bytes(snapshot.dump())
    with pytest.raises(compatlock.NotCached, match=r"matrix.json.xz holds nothing about app 1\.") as refused:
        ask(snapshot=path)
    assert "`compatlock matrix --record`" in refused.value.hints[0]


def test_a_snapshot_is_replayed_by_this_process(ask: Any) -> None:
    with ThreadPoolExecutor(1) as executor, pytest.raises(InputError, match="what one process reads"):
        ask(snapshot="matrix.json.xz", executor=executor)


def test_what_is_not_read_by_this_process_cannot_be_recorded(world: IndexServer, tmp_path: Path) -> None:
    options = LockOptions(requirements=("tool",), indexes=parse_indexes(world.url), cache=False)
    with pytest.raises(InputError, match="finished ones"):
        record_matrices(options, MatrixOptions(("app", "lib"), resume=str(tmp_path / "parts.jsonl")))


# Going on after a stop


@pytest.mark.usefixtures("small_parts")
def test_finished_parts_are_taken_over(ask: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = tmp_path / "parts.jsonl"
    alone = ask(resume=parts)
    lines = parts.read_text().splitlines()
    assert len(lines) == 4
    # Of the third part half a line was written when the run was killed.
    parts.write_text("\n".join([*lines[:2], lines[2][:40]]))
    solved: list[int] = []

    def counting(chunk: Chunk, on_read: Any = None) -> Any:
        solved.append(chunk.first)
        return solve_chunk(chunk, on_read)

    monkeypatch.setattr(matrix_workers, "solve_chunk", counting)
    seen: list[MatrixProgress] = []
    assert ask(resume=parts, on_progress=seen.append) == alone
    assert solved == [2, 3]
    assert [progress.done for progress in seen] == [12, 16]
    solved.clear()
    assert ask(resume=parts) == alone
    assert solved == []
    # Another question has other parts.
    ask(requirements="helper", resume=parts)
    assert solved == [0, 1, 2, 3]
    lines = parts.read_text().splitlines()
    del lines[2]
    assert len({json.loads(line)["part"] for line in lines if line}) == 8


@pytest.mark.parametrize(
    "text",
    ["a\nb\n", "vllm>=0.22\n", "null\n", '{"version": 1}\n', "garbage", '{"part":"of mine"}\n'],
)
def test_a_file_of_something_else_is_left_alone(ask: Any, tmp_path: Path, text: str) -> None:
    other = tmp_path / "requirements.txt"
    other.write_text(text)
    with pytest.raises(InputError, match="holds no parts of a matrix"):
        ask(resume=other)
    assert other.read_text() == text


@pytest.mark.parametrize("path", [os.devnull, "."])
def test_parts_are_kept_in_files_only(ask: Any, path: str) -> None:
    with pytest.raises(InputError, match="is no file that parts of a matrix could be added to"):
        ask(resume=path)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    ("before", "after"),
    [('"works"', '"impossible"'), ('"rows":[[', '"rows":[[],['), ("]]]}", "]]],}"), ('"sum":', '"sum":1')],
)
def test_damaged_parts_are_solved_again(ask: Any, tmp_path: Path, before: str, after: str) -> None:
    parts = tmp_path / "parts.jsonl"
    alone = ask(resume=parts)
    first, *others = parts.read_text().splitlines(keepends=True)
    # The first line says what the file is, so it is another one that is damaged.
    parts.write_text("".join([first, *(line.replace(before, after, 1) for line in others)]))
    assert parts.read_text().count("\n") == 4
    assert ask(resume=parts) == alone
    assert len(parts.read_text().splitlines()) == 7
