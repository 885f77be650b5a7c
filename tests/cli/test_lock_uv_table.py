"""[tool.uv] of a pyproject.toml, followed by whole runs; scripts and setup.cfg as inputs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import Cli
from tests.support.index_server import IndexServer


def project(uv: str, dependencies: str = '"app"') -> None:
    head = f'[project]\nname = "p"\nrequires-python = ">=3.10"\ndependencies = [{dependencies}]\n'
    Path("pyproject.toml").write_text(f"{head}[tool.uv]\n{uv}\n")


@pytest.fixture(autouse=True)
def world(index: IndexServer) -> None:
    index.add("app", "1.0", requires=["lib<2", "tool"])
    index.add("app", "2.0", requires=["lib<2", "tool"])
    index.add("tool", "1.0", requires=["lib<3"])
    for version in ("1.0", "1.5", "2.0", "3.0"):
        index.add("lib", version)


def test_constraints(cli: Cli) -> None:
    project('constraint-dependencies = ["lib[x]<1.5", "absent>1"]')
    run = cli("lock", "pyproject.toml", "-o", "-")
    assert run.pins == {"app": "2.0", "lib": "1.0", "tool": "1.0"}
    assert "note: pyproject.toml:6: the extras of lib[x] are ignored: a constraint adds no package" in run.err


def test_an_override_replaces_every_bound(cli: Cli) -> None:
    project(
        "override-dependencies = [\"lib>=2 ; sys_platform == 'linux'\", \"lib>=1 ; sys_platform != 'linux'\"]"
    )
    run = cli("lock", "pyproject.toml", "--python-platform", "linux", "-o", "-")
    assert run.pins == {"app": "2.0", "lib": "3.0", "tool": "1.0"}
    assert "override lib>=2" in run.err
    run = cli("lock", "pyproject.toml", "--python-platform", "linux", "-o", "-", "--override", "lib==1.5")
    assert run.pins["lib"] == "1.5"


def test_an_override_for_other_platforms_drops_the_dependency(cli: Cli) -> None:
    project("override-dependencies = [\"lib>=2 ; sys_platform == 'win32'\"]", '"app", "lib"')
    run = cli("lock", "pyproject.toml", "--python-platform", "linux", "-o", "-")
    assert (run.code, run.pins) == (0, {"app": "2.0", "tool": "1.0"})
    run = cli("lock", "pyproject.toml", "--python-platform", "windows", "-o", "-")
    assert run.pins == {"app": "2.0", "lib": "3.0", "tool": "1.0"}


@pytest.mark.parametrize(
    ("package", "lib"),
    [
        ('{ name = "app" }', "2.0"),  # tool's bound stays
        ('{ name = "App", version = "2" }', "2.0"),
        ('{ name = "app", version = "20" }', "1.5"),
        ('{ name = "app", version = "2.0" }', "2.0"),
        ('{ name = "app", version = "1.0" }', "1.5"),
        ('{ name = "other" }', "1.5"),
    ],
)
def test_an_override_of_one_edge(cli: Cli, package: str, lib: str) -> None:
    project(f'override-dependencies = [{{ package = {package}, dependencies = ["lib>=1"] }}]')
    run = cli("lock", "pyproject.toml", "-o", "-")
    assert (run.code, run.pins) == (0, {"app": "2.0", "lib": lib, "tool": "1.0"})


@pytest.mark.parametrize(
    ("excluded", "pins"),
    [
        ('"lib"', {"app": "2.0", "tool": "1.0"}),
        ('"app"', {"lib": "3.0"}),
        ('{ package = { name = "app" }, dependencies = ["tool", "lib"] }', {"app": "2.0", "lib": "3.0"}),
        (
            '{ package = { name = "app", version = "1.0" }, dependencies = ["tool"] }',
            {"app": "2.0", "lib": "1.5", "tool": "1.0"},
        ),
    ],
)
def test_excluded_dependencies(cli: Cli, excluded: str, pins: dict[str, str]) -> None:
    dependencies = '"app", "lib"' if excluded != '"lib"' else '"app"'
    project(f"exclude-dependencies = [{excluded}]", dependencies)
    run = cli("lock", "pyproject.toml", "-o", "-")
    assert (run.code, run.pins) == (0, pins)


def test_an_explicit_index_is_only_for_what_is_assigned_to_it(cli: Cli) -> None:
    with IndexServer() as other:
        other.add("lib", "0.9")
        other.add("tool", "0.9")
        project(
            f'index = [{{ name = "mine", url = "{other.url}", explicit = true }}]\n'
            "[tool.uv.sources]\n"
            'lib = { index = "mine" }\n'
            """tool = [{ index = "mine", marker = "sys_platform == 'win32'" }]""",
            '"app", "lib", "tool"',
        )
        run = cli("lock", "pyproject.toml", "--python-platform", "linux", "-o", "-")
        assert run.pins == {"app": "2.0", "lib": "0.9", "tool": "1.0"}
        both = ("--target", "3.12@linux", "--target", "3.12@windows")
        run = cli("lock", "pyproject.toml", *both)
        assert run.code == 2
        assert "take packages from other indexes for other targets" in run.err


def test_a_source_of_an_index_that_is_not_there(cli: Cli) -> None:
    project('sources = { app = { index = "mine" } }')
    run = cli("lock", "pyproject.toml")
    assert run.code == 2
    assert "pyproject.toml:6: no index is called `mine`" in run.err


def test_a_script(cli: Cli) -> None:
    Path("job.py").write_text('# /// script\n# dependencies = ["lib<2"]\n# ///\n')
    assert cli("lock", "job.py", "-o", "-").pins == {"lib": "1.5"}
    Path("job.py").write_text('# /// script\n# requires-python = "<3"\n# dependencies = ["lib<2"]\n# ///\n')
    run = cli("lock", "job.py", "--python-version", "3.12")
    assert run.code == 2
    assert "job.py:2: the project needs Python <3, the target is 3.12.0" in run.err


def test_a_setup_cfg_with_an_extra(cli: Cli) -> None:
    Path("setup.cfg").write_text(
        "[options]\ninstall_requires = lib<2\n[options.extras_require]\nmore = tool\n"
    )
    assert cli("lock", "setup.cfg", "-o", "-").pins == {"lib": "1.5"}
    assert cli("lock", "setup.cfg", "--extra", "more", "-o", "-").pins == {"lib": "1.5", "tool": "1.0"}


# What the lock says of it, and a check of the lock


def test_a_check_knows_what_was_left_out_and_replaced(cli: Cli) -> None:
    project(
        'exclude-dependencies = ["tool", { package = { name = "app" }, dependencies = ["lib"] }]\n'
        'override-dependencies = [{ package = { name = "mine" }, dependencies = ["lib>=3"] }]',
        '"app", "mine"',
    )
    mine = IndexServer()
    with mine:
        mine.add("mine", "1.0", requires=["lib<3", "tool"])
        words = ("--index", mine.url)
        for name in ("requirements.lock", "pylock.toml", "lock.json"):
            run = cli("lock", "pyproject.toml", *words, "-o", name)
            assert run.code == 0
            assert "note: left out: lib, needed by app\n" in run.err
            assert "note: left out: tool, needed by app, mine\n" in run.err
            assert "note: the override mine -> lib>=3 breaks mine 1.0 needs lib<3\n" in run.err
            assert cli("check", name).code == 0, name
        assert cli("lock", "pyproject.toml", *words, "--locked").code == 0


def test_a_check_asks_the_indexes_that_files_name(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    with IndexServer() as default, IndexServer() as gpu:
        default.add("torch", "1.0")
        default.add("rest", "1.0", requires=["torch>=2"])
        gpu.add("torch", "2.0")
        monkeypatch.delenv("COMPATLOCK_DEFAULT_INDEX")
        project(
            f'index = [{{ name = "gpu", url = "{gpu.url}", explicit = true }}, '
            f'{{ url = "{default.url}", default = true }}]\nsources = {{ torch = {{ index = "gpu" }} }}',
            '"torch", "rest"',
        )
        run = cli("lock", "pyproject.toml")
        assert run.code == 0, run.err
        text = Path("requirements.lock").read_text()
        assert f"--default-index {default.url} " in text or f"--default-index {default.url}\n" in text
        assert f"--index-for torch=gpu={gpu.url}" in text
        assert cli("check", "requirements.lock", "--no-cache").code == 0
