"""The pre-commit hooks, the action and the examples of docs/ci.md: they parse, and what they run works."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
import yaml  # type: ignore[import-untyped]

from compatlock.cli.group import compatlock
from tests.support.command import SOURCE, Cli, Run
from tests.support.index_server import IndexServer

ROOT = Path(__file__).resolve().parents[1]
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))}
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
DOCUMENT = (ROOT / "docs" / "ci.md").read_text("utf-8")

bash = pytest.mark.skipif(
    os.name != "posix" or shutil.which("bash") is None, reason="steps of the action are bash scripts"
)


def blocks(language: str) -> list[str]:
    """The code blocks of docs/ci.md in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)


WORKFLOWS = [yaml.safe_load(block) for block in blocks("yaml")]


@pytest.fixture
def project(cli: Cli, index: IndexServer) -> IndexServer:
    """A project with a lock that is current, in the current folder, and a newer release on the index."""
    index.add("app", "1.0", requires=["lib"])
    for version in ("1.0", "2.0"):
        index.add("lib", version)
    Path("requirements.in").write_text("app\n", encoding="utf-8")
    # What was locked before the newer release came is kept.
    assert cli("lock", "requirements.in", "-r", "lib<2", "-q").code == 0
    assert cli("lock", "requirements.in", "-q").code == 0
    return index


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the path with `compatlock`, as an installation would leave it."""
    folder = tmp_path / "programs"
    folder.mkdir()
    script = folder / "compatlock"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m compatlock "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(SOURCE))
    return folder


# pre-commit


def hook_words(hook: str, *, args: list[str] | None = None, files: tuple[str, ...] = ()) -> list[str]:
    """The words that pre-commit runs, after the program's name."""
    given = HOOKS[hook]
    named = list(files) if given.get("pass_filenames", True) else []
    given_args: list[str] = given.get("args", [])
    program, *words = [*shlex.split(given["entry"]), *(given_args if args is None else args), *named]
    assert (program, given["language"]) == ("compatlock", "python")
    return words


@pytest.mark.parametrize(
    ("name", "lock", "check"),
    [
        ("pyproject.toml", True, False),
        ("requirements.in", True, False),
        ("sub/dev-requirements.in", True, False),
        ("requirements.lock", True, True),
        ("requirements-gpu.lock", True, True),
        ("pylock.toml", True, True),
        ("sub/pylock.gpu.toml", True, True),
        ("requirements.txt", True, False),
        ("requirements/base.txt", True, False),
        ("constraints.txt", True, False),
        ("setup.cfg", True, False),
        ("uv.lock", True, False),
        ("requirements/README.md", False, False),
        ("uv.toml", False, False),
        ("poetry.lock", False, False),
        ("src/requirements.py", False, False),
    ],
)
def test_hooks_run_for_the_files_that_concern_them(name: str, lock: bool, check: bool) -> None:
    assert bool(re.search(HOOKS["compatlock-lock"]["files"], name)) is lock
    assert bool(re.search(HOOKS["compatlock-check"]["files"], name)) is check


@pytest.mark.usefixtures("project")
def test_the_hook_for_locks(cli: Cli) -> None:
    (example,) = [hook for hook in WORKFLOWS[-1]["repos"][0]["hooks"] if "args" in hook]
    words = hook_words(example["id"], args=example["args"], files=("requirements.in",))
    assert cli(*words).code == 0
    Path("requirements.in").write_text("app\nlib>=2\n", encoding="utf-8")
    run = cli(*words)
    assert run.code == 1
    assert "lib 1.0 -> 2.0" in run.err
    # Without arguments of the user's it is about the project.
    Path("pyproject.toml").write_text('[project]\nname = "x"\nversion = "0"\ndependencies = ["app"]\n')
    Path("requirements.lock").unlink()
    assert cli("lock", "pyproject.toml", "-q").code == 0
    assert cli(*hook_words("compatlock-lock")).code == 0


@pytest.mark.usefixtures("project")
def test_the_hook_for_checks(cli: Cli) -> None:
    assert cli("lock", "requirements.in", "-q", "-o", "pylock.toml").code == 0
    words = hook_words("compatlock-check", files=("requirements.lock", "pylock.toml"))
    assert cli(*words).code == 0
    text = Path("requirements.lock").read_text(encoding="utf-8")
    Path("requirements.lock").write_text(re.sub(r"(?m)^lib==.*\n(    .*\n)*", "", text), encoding="utf-8")
    run = cli(*words)
    assert run.code == 1
    assert "app 1.0 needs lib, which is missing" in run.out


# The action


def run_step(step: dict[str, Any], inputs: dict[str, str], folder: Path) -> tuple[Run, str, str]:
    """Run a step of the action as a runner does; its outcome, the job's summary, and its outputs."""
    values = {name: str(given.get("default", "")) for name, given in ACTION["inputs"].items()} | inputs

    def filled(text: str) -> str:
        return re.sub(
            r"\$\{\{\s*(?:inputs\.([a-z-]+)|github\.action_path)\s*\}\}",
            lambda match: values[match[1]] if match[1] else str(ROOT),
            text,
        )

    assert step["shell"] == "bash"
    assert "${{" not in step["run"], "a script takes inputs from variables only"
    for name in ("summary", "output", "path"):
        (folder / name).write_text("", encoding="utf-8")
    environment = {
        **os.environ,
        **{name: filled(text) for name, text in step.get("env", {}).items()},
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_PATH": str(folder / "path"),
        "RUNNER_TEMP": str(folder),
    }
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
        cwd=filled(step.get("working-directory", ".")),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    summary, output = ((folder / name).read_text(encoding="utf-8") for name in ("summary", "output"))
    return Run(done.returncode, done.stdout, done.stderr), summary, output


INSTALL, RUN = ACTION["runs"]["steps"]


def test_the_action_is_well_formed() -> None:
    assert ACTION["runs"]["using"] == "composite"
    used = set(re.findall(r"inputs\.([a-z-]+)", (ROOT / "action.yml").read_text("utf-8")))
    assert used == set(ACTION["inputs"])
    assert ACTION["outputs"]["outdated"]["value"] == f"${{{{ steps.{RUN['id']}.outputs.outdated }}}}"
    described = set(re.findall(r"^\| `([a-z-]+)` \|", DOCUMENT, re.MULTILINE))
    assert described == set(ACTION["inputs"])


@bash
@pytest.mark.usefixtures("project", "programs")
def test_a_lock_that_is_current_passes(tmp_path: Path) -> None:
    run, summary, output = run_step(RUN, {"arguments": "requirements.in"}, tmp_path)
    assert (run.code, summary, output) == (0, "", "outdated=false\n")
    assert "unchanged: requirements.lock" in run.out


@bash
@pytest.mark.usefixtures("project", "programs")
def test_a_lock_that_is_out_of_date_fails_with_the_difference(tmp_path: Path) -> None:
    before = Path("requirements.lock").read_text(encoding="utf-8")
    inputs = {"arguments": "requirements.in --requirement 'lib >= 2'"}
    run, summary, output = run_step(RUN, inputs, tmp_path)
    assert (run.code, output) == (1, "outdated=true\n")
    assert "lib 1.0 -> 2.0" in run.out
    assert summary.startswith("### `requirements.lock` is out of date\n\n**1 changed**\n")
    assert "| **lib** | 1.0 | 2.0 |" in summary
    assert Path("requirements.lock").read_text(encoding="utf-8") == before


@bash
@pytest.mark.usefixtures("project", "programs")
@pytest.mark.parametrize(
    ("inputs", "code", "words"),
    [
        ({"arguments": "requirements.in -r 'lib>=3'"}, 1, "lib>=3"),
        ({"command": "check"}, 0, ""),
        ({"command": "check", "arguments": "-r 'lib>=2'"}, 1, "asks for lib>=2, but lib is 1.0"),
        ({"command": "check", "lock": "gone.lock"}, 2, "there is no file gone.lock"),
        ({"command": "audit"}, 0, ""),
        ({"command": "rm"}, 2, "there is no command `rm`"),
        ({"arguments": "requirements.in $(touch pwned) `touch pwned` ; touch pwned"}, 2, "pwned"),
    ],
)
def test_other_outcomes(tmp_path: Path, inputs: dict[str, str], code: int, words: str) -> None:
    run, summary, output = run_step(RUN, inputs, tmp_path)
    assert (run.code, output) == (code, "outdated=false\n")
    assert words in run.out
    assert words in summary
    assert bool(summary) is bool(code)
    assert not Path("pwned").exists()


@bash
def test_the_action_installs_its_own_source(tmp_path: Path) -> None:
    """With programs in the place of Python and pip, that say what they were asked for."""
    python = tmp_path / "python3"
    python.write_text(
        '#!/bin/sh\nmkdir -p "$3/bin"\necho "$0 $*" >&2\n'
        'printf \'#!/bin/sh\\necho "pip $*" >&2\\n\' > "$3/bin/python"\nchmod +x "$3/bin/python"\n',
        encoding="utf-8",
    )
    python.chmod(0o755)
    run, _, _ = run_step(INSTALL, {"python": str(python)}, tmp_path)
    assert run.code == 0, run.err
    assert run.err.splitlines() == [
        f"{python} -m venv {tmp_path}/compatlock",
        f"pip -m pip install --quiet {ROOT}",
    ]
    assert (tmp_path / "path").read_text(encoding="utf-8") == f"{tmp_path}/compatlock/bin\n"


# The examples


def test_the_examples_use_the_action_and_the_hooks_as_they_are() -> None:
    steps = [step for flow in WORKFLOWS[:-1] for job in flow["jobs"].values() for step in job["steps"]]
    uses = [step for step in steps if str(step.get("uses", "")).startswith("example/compatlock@")]
    assert len(uses) == 3
    for step in uses:
        assert set(step.get("with", {})) <= set(ACTION["inputs"])
    hooks = {hook["id"] for repo in WORKFLOWS[-1]["repos"] for hook in repo["hooks"]}
    assert hooks == set(HOOKS)


def test_the_options_exist() -> None:
    """Those that the two documents name, but for those of the installers."""
    known = set()
    for name in ("audit", "check", "diff", "lock", "sync"):
        command = compatlock.get_command(click.Context(compatlock), name)
        assert command is not None
        known |= {word for parameter in command.params for word in parameter.opts if word.startswith("-")}
    text = DOCUMENT + (ROOT / "docs" / "check-and-sync.md").read_text("utf-8")
    shown = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))
    assert len(shown) > 15
    assert shown - {"--no-deps", "--require-hashes"} <= known


@bash
def test_the_python_example_works(cli: Cli, project: IndexServer, tmp_path: Path, programs: Path) -> None:
    (example,) = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs" / "check-and-sync.md").read_text("utf-8"), re.DOTALL
    )
    assert (programs / "compatlock").exists()
    done = subprocess.run(
        [sys.executable, "-c", example],
        env={**os.environ, "UV_CACHE_DIR": str(tmp_path / "uv-cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
    assert cli("check", "requirements.lock", "--env", ".venv", "--exact").code == 0
    assert project.count("/simple/app/")


def commands() -> list[str]:
    """The shell scripts of the document: its blocks, and steps of its workflows."""
    steps = [step for flow in WORKFLOWS[:-1] for job in flow["jobs"].values() for step in job["steps"]]
    return [*blocks("sh"), *(step["run"] for step in steps if "run" in step)]


@bash
@pytest.mark.usefixtures("project", "programs")
@pytest.mark.parametrize("script", commands())
def test_the_commands_of_the_examples_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    git = tmp_path / "programs" / "git"
    git.write_text("#!/bin/sh\ncat requirements.lock\n", encoding="utf-8")
    git.chmod(0o755)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "compatlock " in script
