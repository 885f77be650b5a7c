"""Policies of all packages and of single ones: what may be chosen, from where they are said, who wins."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from compatlock.index.view import View, Viewer
from compatlock.model.listing import Listing
from tests.support.command import Cli
from tests.support.index_server import IndexServer

OUT = ("-o", "-", "-q")


def day(month: int) -> str:
    return f"2026-{month:02}-01T00:00:00Z"


def versions(cli: Cli, *arguments: str) -> dict[str, str]:
    run = cli("lock", *arguments, *OUT)
    assert run.code == 0, run.err
    return run.pins


@pytest.fixture
def filled(index: IndexServer) -> IndexServer:
    """`a` and `b`: a release a month, the third yanked, the fourth a pre-release."""
    for name in ("a", "b"):
        index.add(name, "1.0", upload_time=day(1))
        index.add(name, "2.0", upload_time=day(2))
        index.add(name, "3.0", upload_time=day(3), yanked="it broke")
        index.add(name, "4.0rc1", upload_time=day(4))
    return index


BOTH = ("-r", "a", "-r", "b")


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize(
    ("arguments", "a", "b"),
    [
        ((), "2.0", "2.0"),
        (("--exclude-newer", "A=2026-01-15"), "1.0", "2.0"),
        (("--exclude-newer", "2026-01-15", "--exclude-newer", "a=none"), "2.0", "1.0"),
        (("--exclude-newer", "a=none", "--exclude-newer", "2026-01-15"), "2.0", "1.0"),
        (("--exclude-newer", "2026-01-15", "--exclude-newer", "a=2026-02-15"), "2.0", "1.0"),
        (("--exclude-newer", "2026-01-15", "--exclude-newer", "none"), "2.0", "2.0"),
        (("--prerelease", "a=allow"), "4.0rc1", "2.0"),
        (("--prerelease", "allow", "--prerelease", "b=disallow"), "4.0rc1", "2.0"),
        (("--allow-yanked", "a"), "3.0", "2.0"),
        (("--allow-yanked", ":all:"), "3.0", "3.0"),
        (("--no-yanked", "--allow-yanked", "b"), "2.0", "3.0"),
        (("--allow-yanked", "a", "--prerelease", "a=allow", "--exclude-newer", "a=2026-03-02"), "3.0", "2.0"),
    ],
)
def test_what_is_chosen(cli: Cli, arguments: tuple[str, ...], a: str, b: str) -> None:
    assert versions(cli, *BOTH, *arguments) == {"a": a, "b": b}
    assert versions(cli, *BOTH, *arguments, "--strategy", "greedy") == {"a": a, "b": b}
    # And once more from what is stored.
    assert versions(cli, *BOTH, *arguments, "--offline") == {"a": a, "b": b}


@pytest.mark.usefixtures("filled")
def test_a_yanked_release_is_told_however_it_was_admitted(cli: Cli) -> None:
    for arguments in (("-r", "a==3.0"), ("-r", "a", "--allow-yanked", "a")):
        run = cli("lock", *arguments, "-o", "-")
        assert run.pins == {"a": "3.0"}
        assert "note: a 3.0: yanked: it broke\n" in run.err


@pytest.mark.usefixtures("filled")
def test_no_yanked_release_even_if_pinned(cli: Cli) -> None:
    run = cli("lock", "-r", "a==3.0", "--no-yanked", *OUT)
    assert run.code == 1
    assert "a 3.0 was yanked, and `--no-yanked` rules it out" in run.err
    assert cli("lock", "-r", "a==3.0", "--no-yanked", "--allow-yanked", "a", *OUT).pins == {"a": "3.0"}


def test_a_release_whose_fitting_file_is_yanked(cli: Cli, index: IndexServer) -> None:
    index.add("a", "2.0", tags=("cp312-cp312-win_amd64",))
    index.add("a", "2.0", sdist=True, tags=(), yanked="no")
    index.add("a", "1.0")
    target = ("--python-version", "3.12", "--python-platform", "linux")
    assert versions(cli, "-r", "a", *target) == {"a": "1.0"}
    run = cli("lock", "-r", "a>1", *target, "--no-yanked", *OUT)
    assert "a 2.0 was yanked, and `--no-yanked` rules it out" in run.err


@pytest.mark.usefixtures("filled")
def test_the_lock_says_which_policies_it_was_made_under(cli: Cli) -> None:
    words = ("--exclude-newer", "2026-01-15", "--exclude-newer", "b=2026-02-15", "--exclude-newer", "x=none")
    more = ("--prerelease", "b=explicit", "--allow-yanked", "b", "--no-yanked")
    text = cli("lock", *BOTH, *words, *more, *OUT).out
    command = re.search(r"^#   command: compatlock lock (.*)$", text, re.MULTILINE)
    assert command is not None
    assert "--exclude-newer b=2026-02-15 --exclude-newer x=none" in command[1]
    assert "--exclude-newer 2026-01-15" in command[1]
    assert "--prerelease b=explicit" in command[1]
    assert "--allow-yanked b" in command[1]
    assert "--no-yanked" in command[1]
    state = "as of 2026-01-15T23:59:59Z, b as of 2026-02-15T23:59:59Z, x of any time"
    assert f"#   index: {state}\n" in text
    # The command as it stands there makes the same lock.
    assert cli("lock", *command[1].split(), *OUT).out == text


@pytest.mark.usefixtures("filled")
def test_a_cut_of_one_package_in_the_header(cli: Cli) -> None:
    text = cli("lock", *BOTH, "--exclude-newer", "a=2026-01-15", *OUT).out
    newest = "newest release of these packages 2026-04-01T00:00:00Z"
    assert f"#   index: {newest}, a as of 2026-01-15T23:59:59Z\n" in text


def test_a_policy_of_one_package_leaves_the_cache_of_the_others(
    cli: Cli, filled: IndexServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions(cli, *BOTH)
    made: list[str] = []
    view = Viewer.view

    def noted(viewer: Viewer, listing: Listing) -> View:
        made.append(listing.project)
        return view(viewer, listing)

    monkeypatch.setattr(Viewer, "view", noted)
    asked = len(filled.requests)
    assert versions(cli, *BOTH, "--prerelease", "a=allow") == {"a": "4.0rc1", "b": "2.0"}
    assert made == ["a"], "the view of b is that of the run before"
    assert versions(cli, *BOTH, "--prerelease", "a=allow", "--offline") == {"a": "4.0rc1", "b": "2.0"}
    assert versions(cli, *BOTH, "--offline") == {"a": "2.0", "b": "2.0"}
    assert made == ["a"]
    assert len(filled.requests) == asked + 1, "the metadata of a 4.0rc1"


# Where they are said


def project(table: str) -> None:
    text = f'[project]\nname = "p"\nversion = "1"\ndependencies = ["a", "b"]\n\n{table}'
    Path("pyproject.toml").write_text(text, encoding="utf-8")


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize(
    ("table", "a", "b"),
    [
        ('[tool.compatlock]\nexclude-newer = "2026-01-15"\n', "1.0", "1.0"),
        ("[tool.compatlock]\nexclude-newer = 2026-01-15\n", "1.0", "1.0"),
        ("[tool.compatlock]\nexclude-newer = 2026-02-01T00:00:00Z\n", "2.0", "2.0"),
        (
            '[tool.compatlock]\nexclude-newer = "2026-01-15"\nexclude-newer-package = { b = false }\n',
            "1.0",
            "2.0",
        ),
        ('[tool.compatlock]\nprerelease-package = { A = "allow" }\n', "4.0rc1", "2.0"),
        (
            '[tool.compatlock]\nprerelease = "allow"\nprerelease-package = { a = "disallow" }\n',
            "2.0",
            "4.0rc1",
        ),
        ('[tool.compatlock]\nallow-yanked = ["b"]\n', "2.0", "3.0"),
        (
            '[tool.uv]\nexclude-newer = "2026-01-15"\nexclude-newer-package = { a = "2026-02-15" }\n',
            "2.0",
            "1.0",
        ),
        ('[tool.uv]\nexclude-newer = "2026-01-15"\nexclude-newer-package = { a = false }\n', "2.0", "1.0"),
        ('[tool.uv]\nprerelease-package = { a = "allow" }\n', "4.0rc1", "2.0"),
        ('[tool.uv]\nprerelease = "allow"\nprerelease-package = { b = "disallow" }\n', "4.0rc1", "2.0"),
        # Where both tables speak of one thing, our own is meant.
        (
            '[tool.uv]\nexclude-newer = "2026-01-15"\nprerelease = "allow"\n'
            '[tool.compatlock]\nexclude-newer = "2026-02-15"\nprerelease = "explicit"\n',
            "2.0",
            "2.0",
        ),
    ],
)
def test_policies_of_a_project(cli: Cli, table: str, a: str, b: str) -> None:
    project(table)
    assert versions(cli, "pyproject.toml") == {"a": a, "b": b}


@pytest.mark.usefixtures("filled")
def test_the_command_line_then_variables_then_the_project(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    project(
        '[tool.compatlock]\nexclude-newer = "2026-01-15"\nprerelease = "allow"\n'
        'prerelease-package = { b = "allow" }\n'
    )
    assert versions(cli, "pyproject.toml") == {"a": "1.0", "b": "1.0"}
    assert versions(cli, "pyproject.toml", "--exclude-newer", "none") == {"a": "4.0rc1", "b": "4.0rc1"}
    monkeypatch.setenv("COMPATLOCK_EXCLUDE_NEWER", "2026-05-01, b=2026-02-15")
    assert versions(cli, "pyproject.toml") == {"a": "4.0rc1", "b": "2.0"}
    monkeypatch.setenv("COMPATLOCK_PRERELEASE", "disallow")
    assert versions(cli, "pyproject.toml", "--exclude-newer", "b=none") == {"a": "2.0", "b": "4.0rc1"}
    found = versions(cli, "pyproject.toml", "--exclude-newer", "b=none", "--prerelease", "b=explicit")
    assert found == {"a": "2.0", "b": "2.0"}


@pytest.mark.usefixtures("filled")
def test_what_of_uv_is_passed_over(cli: Cli) -> None:
    project(
        '[tool.uv]\nexclude-newer = "7 days"\nprerelease = "explicit"\n'
        'exclude-newer-package = { a = "P1D" }\nprerelease-package = { b = "if-necessary" }\n'
    )
    run = cli("lock", "pyproject.toml", "-o", "-")
    assert run.pins == {"a": "2.0", "b": "2.0"}
    for line, key in ((7, "exclude-newer"), (8, "prerelease"), (9, "exclude-newer-package.a")):
        assert f"note: pyproject.toml:{line}: tool.uv.{key} is not read; " in run.err
    assert "tool.uv.prerelease-package.b is not read; " in run.err


def test_wrong_policies_of_a_project_are_all_named(cli: Cli) -> None:
    project(
        '[tool.compatlock]\nexclude-newer = 5\nprerelease = "some"\nallow-yanked = "a"\nno-yanked = 1\n'
        'exclude-never = "2026-01-01"\nallow-builds = true\nprerelease-package = { a = "no" }\n'
    )
    run = cli("lock", "pyproject.toml", *OUT)
    assert run.code == 2
    lines = run.err.removeprefix("error: ").splitlines()
    assert [line.partition(": ")[0] for line in lines[:6]] == [
        f"pyproject.toml:{n}" for n in (7, 8, 9, 10, 11, 13)
    ]
    assert "exclude-never: unknown key; did you mean `exclude-newer`?" in run.err
    project('[tool.compatlock]\nexclude-newer = "soon"\n')
    run = cli("lock", "pyproject.toml", *OUT)
    assert run.err.startswith("error: pyproject.toml:7: `soon` is no point in time\n")
    project("[tool]\ncompatlock = 3\n")
    assert "tool.compatlock: must be a table" in cli("lock", "pyproject.toml", *OUT).err


@pytest.mark.usefixtures("filled")
def test_a_file_does_not_allow_builds(cli: Cli) -> None:
    project('[tool.compatlock]\nallow-builds = ["a"]\n')
    run = cli("lock", "pyproject.toml", "-o", "-")
    assert run.code == 0
    assert "tool.compatlock.allow-builds is not read; builds run code of packages" in run.err


def test_two_projects_that_disagree(cli: Cli, index: IndexServer) -> None:
    index.add("a", "1.0")
    for name, mode in (("x", "allow"), ("y", "disallow")):
        Path(name).mkdir()
        text = f'[project]\nname = "{name}"\nversion = "1"\ndependencies = ["a"]\n'
        text += f'[tool.compatlock]\nprerelease = "{mode}"\n'
        Path(name, "pyproject.toml").write_text(text, encoding="utf-8")
    run = cli("lock", "x/pyproject.toml", "y/pyproject.toml", *OUT)
    assert run.code == 2
    assert "have different prerelease\nhint: decide with `--prerelease`" in run.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--exclude-newer", "a="), "`a=` does not say which package has which TIME"),
        (("--exclude-newer", "=2026-01-01"), "does not say which package has which TIME"),
        (("--exclude-newer", "a=soon"), "`soon` is no point in time"),
        (("--prerelease", "a=maybe"), "unknown pre-release mode `maybe`"),
        (("--prerelease", "a b=allow"), "`a b=allow` does not say which package has which MODE"),
        (("--allow-yanked", "a>1"), "`--allow-yanked a>1` names no package"),
        (("--allow-builds", "r.in"), "`--allow-builds r.in` names no package"),
        (("--allow-builds", "a", "--only-binary", "a"), "builds what `--only-binary` refuses"),
    ],
)
def test_what_cannot_be_used(cli: Cli, arguments: tuple[str, ...], message: str) -> None:
    run = cli("lock", "-r", "a", *arguments)
    assert run.code == 2
    assert message in run.err


# Ways out, check


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize(
    ("cuts", "accept"),
    [
        (("a=2026-01-15",), "--exclude-newer a=none"),
        (("2026-01-15", "a=2026-01-20"), "--exclude-newer a=none"),
        (("2026-01-15", "b=2026-01-20"), "--exclude-newer 2026-02-01"),
        (("2026-01-15",), "--exclude-newer 2026-02-01"),
    ],
)
def test_newer_releases_of_one_package_are_a_way_out(cli: Cli, cuts: tuple[str, ...], accept: str) -> None:
    words = [word for cut in cuts for word in ("--exclude-newer", cut)]
    run = cli("lock", "-r", "a>1", "-r", "b", *words, "--json", "-o", "out.lock")
    assert run.code == 1
    assert accept in [way["accept"] for way in json.loads(run.out)["error"]["ways_out"]]
    # Of two values for the same packages the last one counts.
    assert cli("lock", "-r", "a>1", "-r", "b", *words, *accept.split(), *OUT).pins["a"] == "2.0"


@pytest.mark.usefixtures("filled")
def test_a_check_under_policies(cli: Cli) -> None:
    Path("requirements.lock").write_text("a==3.0\nb==4.0rc1\n", encoding="utf-8")
    assert cli("check", "requirements.lock").code == 0
    run = cli("check", "requirements.lock", "--no-yanked", "--prerelease", "b=disallow")
    assert run.code == 1
    assert "a 3.0 is yanked, which the policy (`no-yanked`) rules out" in run.out
    assert "b 4.0rc1 is a pre-release, which the policy (`prerelease`) rules out" in run.out
    assert cli("check", "requirements.lock", "--no-yanked", "--allow-yanked", "a").code == 0
    # A project's policies count, but for its cut in time: what somebody has is there.
    project('[tool.compatlock]\nexclude-newer = "2026-01-15"\nprerelease = "disallow"\n')
    run = cli("check", "pyproject.toml", "requirements.lock")
    assert "b 4.0rc1 is a pre-release" in run.out
    assert "a 3.0" not in run.out
