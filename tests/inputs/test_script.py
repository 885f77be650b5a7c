"""Inline script metadata (PEP 723)."""

from __future__ import annotations

from pathlib import Path

import pytest

from compatlock.errors import InputError
from compatlock.inputs.requirements_file import RequirementsFile
from compatlock.inputs.sources import read_sources

SCRIPT = """\
#!/usr/bin/env -S uv run
# /// other
# dependencies = ["not-this"]
# ///

# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "requests<3",
#
#   "rich",
# ]
# [tool.uv]
# constraint-dependencies = ["idna<4"]
# ///
import requests
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(text: str, name: str = "job.py") -> RequirementsFile:
    Path(name).write_bytes(text.encode())
    return read_sources([name])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_script(end: str) -> None:
    assert read(SCRIPT.replace("\n", end)) == RequirementsFile(
        lines=(("requests<3", "job.py:9"), ("rich", "job.py:11")),
        constraints=(("idna<4", "job.py:14"),),
        files=("job.py",),
        requires_python=((">=3.11", "job.py:7"),),
    )


@pytest.mark.parametrize(
    ("text", "name", "problem"),
    [
        ("import x\n", "job.py", "job.py: the script does not say what it needs"),
        ("import x\n", "setup.py", "setup.py: a setup.py is a program: only running it would tell"),
        (
            "# /// script\n# dependencies = []\n# ///\n\n# /// script\n# dependencies = []\n# ///\n",
            "job.pyw",
            "job.pyw:5: a second `script` block; the first is in line 1",
        ),
        (
            "\n# /// script\n# dependencies = [\n# ///\n",
            "job.py",
            "job.py",
        ),
        (
            '"""x"""\n# /// script\n# dependencies = ["a=1", "b>>1"]\n# ///\n',
            "job.py",
            "job.py:3: dependencies: a=1: `=` is no version operator; write `a==1`\n"
            "job.py:3: dependencies: b>>1: `>1` is not a version (PEP 440)",
        ),
    ],
)
def test_scripts_that_do_not_say(text: str, name: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text, name)
    assert caught.value.message.startswith(problem)


def test_a_line_of_toml_is_one_of_the_script() -> None:
    with pytest.raises(InputError) as caught:
        read("import x\n\n# /// script\n# dependencies = []\n# what\n# ///\n")
    assert caught.value.message.startswith("job.py:5: not valid TOML")
