"""setup.cfg as an input."""

from __future__ import annotations

from pathlib import Path

import pytest

from compatlock.errors import InputError
from compatlock.inputs.pyproject import ProjectSelection
from compatlock.inputs.requirements_file import RequirementsFile
from compatlock.inputs.sources import read_sources

CFG = """\
[metadata]
name = foo
[options]
python_requires = >=3.9
install_requires =
    requests>=2 ; python_version < "3.13"
    # a comment
    rich
[options.extras_require]
fast = uvloop; numpy>1
win = pywin32>=1; sys_platform == "win32"
all = foo[fast,win]
[tool:pytest]
addopts = %(x)s
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(text: str, *extras: str) -> RequirementsFile:
    Path("setup.cfg").write_text(text)
    return read_sources(["setup.cfg"], wanted=ProjectSelection(extras) if extras else None)


def test_what_is_wanted() -> None:
    own = (('requests>=2 ; python_version < "3.13"', "setup.cfg:6"), ("rich", "setup.cfg:8"))
    assert read(CFG) == RequirementsFile(
        lines=own, files=("setup.cfg",), requires_python=((">=3.9", "setup.cfg:4"),)
    )
    assert read(CFG, "all").lines == (
        *own,
        ("uvloop", "setup.cfg:10 (extra fast)"),
        ("numpy>1", "setup.cfg:10 (extra fast)"),
        ('pywin32>=1; sys_platform == "win32"', "setup.cfg:11 (extra win)"),
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (CFG.replace("rich", "rich=3"), "setup.cfg:8: options.install_requires: rich=3: `=` is no version"),
        (CFG.replace("uvloop", "uv loop"), "setup.cfg:10: options.extras_require.fast: uv loop: "),
        (CFG.replace(">=3.9", "three"), "setup.cfg:4: options.python_requires: `three` is no version"),
        (
            "[options]\ninstall_requires = file: requirements.txt\n",
            "setup.cfg:2: the requirements stand elsewhere (file: requirements.txt)",
        ),
        ("[options]\nwhat\n", "setup.cfg:2: not a valid setup.cfg"),
        ("what\n", "setup.cfg:1: not a valid setup.cfg"),
        ("[options]\na = 1\na = 2\n", "setup.cfg:3: not a valid setup.cfg"),
        (CFG, "setup.cfg: there is no extra `fats` (did you mean `fast`?)"),
    ],
)
def test_what_is_wrong(text: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text, "all", *(["fats"] if text == CFG else []))
    assert problem in caught.value.message
