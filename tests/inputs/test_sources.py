"""Requirements files and pyproject.toml files together."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from compatlock.errors import InputError
from compatlock.inputs.pyproject import ProjectSelection
from compatlock.inputs.requirements_file import RequirementsFile
from compatlock.inputs.sources import is_pyproject, read_sources


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("r.in").write_text("one\n-c c.txt\n")
    Path("c.txt").write_text("one<2\n")
    Path("pyproject.toml").write_text(
        '[project]\nname = "a"\nrequires-python = ">=3.10"\ndependencies = ["two"]\n'
        '[project.optional-dependencies]\nx = ["three"]\n'
    )
    Path("b").mkdir()
    Path("b/pyproject.toml").write_text(
        '[project]\nname = "b"\ndependencies = ["four"]\n[dependency-groups]\ntest = ["five"]\n'
    )


def message(*paths: str, wanted: ProjectSelection | None = None) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_sources(paths, wanted=wanted)
    return [*caught.value.message.splitlines(), *caught.value.hints]


def test_all_kinds_together() -> None:
    other = os.path.join("b", "pyproject.toml")
    wanted = ProjectSelection(extras=("x",), groups=("test",))
    assert read_sources(["pyproject.toml", "r.in", other], wanted=wanted) == RequirementsFile(
        lines=(
            ("one", "r.in:1"),
            ("two", "pyproject.toml:4"),
            ("three", "pyproject.toml:6 (extra x)"),
            ("four", f"{other}:3"),
            ("five", f"{other}:5 (group test)"),
        ),
        constraints=(("one<2", "c.txt:1"),),
        files=("r.in", "c.txt", "pyproject.toml", other),
        requires_python=((">=3.10", "pyproject.toml:3"),),
    )


def test_only_requirements_files() -> None:
    assert read_sources(["r.in"], ["c.txt"]).lines == (("one", "r.in:1"),)
    assert read_sources([], ["c.txt"], wanted=ProjectSelection()).constraints == (("one<2", "c.txt:1"),)


def test_memo() -> None:
    memo: dict[str, str] = {}
    first = read_sources(["pyproject.toml"], memo=memo)
    assert len(memo) == 1
    Path("c.txt").unlink()
    assert read_sources(["pyproject.toml", "pyproject.toml"], memo=memo) == first


def test_says_all_that_is_wrong_in_all_files() -> None:
    Path("r.in").write_text("--what\n")
    Path("b/pyproject.toml").write_text("[project\n")
    Path("pyproject.toml").write_text('[project]\ndependencies = ["two>"]\n')
    assert message("r.in", "pyproject.toml", "b/pyproject.toml", "c/pyproject.toml") == [
        "r.in:1: `--what` is not supported in a file; remove the line",
        "b/pyproject.toml:1: not valid TOML: Expected ']' at the end of a table declaration",
        "there is no file c/pyproject.toml",
        "pyproject.toml:2: project.dependencies: two>: no version follows `>`",
    ]


def test_what_no_project_has() -> None:
    wanted = ProjectSelection(extras=("x", "y"), groups=("test",))
    assert message("pyproject.toml", "b/pyproject.toml", wanted=wanted) == [
        "pyproject.toml: there is no extra `y`; the project has x",
        "b/pyproject.toml: there is no extra `y`; the project has no extras",
    ]
    assert message("pyproject.toml", wanted=ProjectSelection(groups=("test",))) == [
        "pyproject.toml: there is no group `test`; the project has no groups"
    ]


def test_extras_without_a_project() -> None:
    assert message("r.in", wanted=ProjectSelection(all_extras=True)) == [
        "extras and groups are chosen from a pyproject.toml, and none was given",
        "name it: `compatlock lock pyproject.toml ...`",
    ]


@pytest.mark.parametrize(
    ("path", "expected"),
    [("pyproject.toml", True), ("a/pyproject.toml", True), ("a\\pyproject.toml", True), ("-", False)],
)
def test_is_pyproject(path: str, expected: bool) -> None:
    assert is_pyproject(path) is expected
