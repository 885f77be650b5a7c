"""`compatlock lock --write-pyproject`: entries of [tool.uv], and what the real uv makes of them."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from compatlock.api.uv import run as uv_run
from compatlock.environment import uv as environment_uv
from compatlock.environment.uv import find_uv
from compatlock.errors import InputError
from compatlock.lockfile.uv_lock_pins import Chosen, UvLock
from compatlock.model.target import Target
from tests.support.command import Cli, Run
from tests.support.index_server import IndexServer
from tests.support.world import fill

LINUX = "cp312-cp312-manylinux_2_17_x86_64"
MAC = "cp312-cp312-macosx_11_0_arm64"
HERE = "{}.{}".format(*sys.version_info[:2])
PROJECT = """\
# A project.
[project]
name = "demo"
version = "0"
requires-python = ">=3.10"
dependencies = [{}]
"""
APP = PROJECT.format('"app"')


class Project:
    """A project in the current folder, which asks for packages of `index`, with the real uv."""

    def __init__(self, cli: Cli, index: IndexServer, uv: str) -> None:
        self.cli = cli
        self.index = index
        self._uv = uv

    def lock(self, requirements: str, *options: str, more: str = "") -> Run:
        """Lock it; at first it is written, with these requirements and more tables."""
        path = Path("pyproject.toml")
        if not path.exists():
            path.write_text(PROJECT.format(requirements) + more, encoding="utf-8")
        return self.cli("lock", "pyproject.toml", "--write-pyproject", "--no-shipped-facts", *options)

    def uv(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run uv as its user would."""
        return subprocess.run(
            [self._uv, *arguments, "--no-python-downloads"],
            env={**os.environ, "UV_PYTHON": sys.executable},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def installed(self, *options: str) -> dict[str, str]:
        """What `uv sync --locked` installs."""
        done = self.uv("sync", "--locked", *options)
        assert done.returncode == 0, done.stderr
        frozen = self.uv("pip", "freeze", "--python", ".venv")
        return dict(line.split("==") for line in frozen.stdout.split())

    @staticmethod
    def locked(target: str) -> dict[str, str]:
        """What uv.lock has for a target."""
        python, _, platform = target.partition("@")
        uv_lock = UvLock(Path("uv.lock").read_text(encoding="utf-8"))
        found = uv_lock.installed(Target(python, platform).resolved(), Chosen())
        return {name: package.version for name, package in found.items()}


@pytest.fixture
def world(index: IndexServer) -> IndexServer:
    """`app` needs an old `lib`, `helper` on Linux only and `win` on Windows only; `fast` is an extra."""
    for version in ("1.0", "1.1"):
        index.add(
            "app",
            version,
            requires=["lib<2", "helper; sys_platform == 'linux'", "win; sys_platform == 'win32'"],
            extras={"fast": ["speed>=1"]},
        )
    for version in ("1.0", "1.5", "2.0", "2.1"):
        index.add("lib", version, requires=["base"])
    for name in ("base", "helper", "win", "speed"):
        for version in ("1", "2"):
            index.add(name, version)
    return index


@pytest.fixture
def project(cli: Cli, world: IndexServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    try:
        return Project(cli, world, find_uv())
    except InputError as error:
        pytest.skip(error.message)


def test_uv_installs_exactly_the_pins(project: Project) -> None:
    run = project.lock('"app"')
    assert run.code == 0, run.err
    assert "wrote pyproject.toml\nwrote uv.lock\n" in run.err
    assert f"note: install it with `uv sync --locked --python {HERE}`" in run.err
    assert not Path("requirements.lock").exists()
    check = project.uv("lock", "--check")
    assert check.returncode == 0, check.stderr
    pins = {"app": "1.1", "base": "2", "helper": "2", "lib": "1.5"}
    assert project.installed() == pins
    # Newer releases change nothing of that.
    project.index.add("lib", "1.9", requires=["base"])
    assert project.uv("lock", "--check", "--refresh").returncode == 0
    assert project.installed() == pins


def test_locking_again_changes_nothing_and_upgrading_does(project: Project) -> None:
    project.lock('"app"')
    before = Path("pyproject.toml").read_bytes(), Path("uv.lock").read_bytes()
    project.index.add("lib", "1.9", requires=["base"])
    # What was asked within this second counts as fresh, so that another cache it is.
    again = project.lock("", "--cache-dir", "other")
    assert again.code == 0, again.err
    assert "unchanged: pyproject.toml\nunchanged: uv.lock\n" in again.err
    assert (Path("pyproject.toml").read_bytes(), Path("uv.lock").read_bytes()) == before
    upgraded = project.lock("", "-P", "lib", "--cache-dir", "other")
    assert upgraded.code == 0, upgraded.err
    assert "1 changed\n  changed lib 1.5 -> 1.9" in upgraded.err
    assert '"lib==1.9", # by compatlock' in Path("pyproject.toml").read_text(encoding="utf-8")
    assert project.installed()["lib"] == "1.9"


def test_a_waiver_is_an_override_of_that_edge(project: Project) -> None:
    refused = project.lock('"app", "lib>=2"')
    assert refused.code == 1
    assert "tool.uv" not in Path("pyproject.toml").read_text(encoding="utf-8")
    run = project.lock('"app", "lib>=2"', "--waive", "app -> lib>=1.5")
    assert run.code == 0, run.err
    text = Path("pyproject.toml").read_text(encoding="utf-8")
    assert (
        '{ package = { name = "app", version = "1.1" }, dependencies = ["lib>=1.5"] }, # by compatlock'
        in text
    )
    assert "compatlock lock pyproject.toml --waive 'app -> lib>=1.5'" in text
    assert text.startswith(PROJECT.format('"app", "lib>=2"'))
    assert project.installed() == {"app": "1.1", "base": "2", "helper": "2", "lib": "2.1"}


def test_a_transitive_waiver(project: Project) -> None:
    project.index.add("top", "1", requires=["middle[x]", "base>=2"])
    project.index.add("middle", "1", extras={"x": ["base<2", "speed"]})
    run = project.lock('"top"', "--waive", "middle[x] -> base")
    assert run.code == 0, run.err
    assert project.installed() == {"top": "1", "middle": "1", "base": "2", "speed": "2"}


def test_what_differs_between_targets_has_markers(project: Project) -> None:
    project.index.add("tool", "1.0", requires=["base", "helper ; sys_platform == 'linux'", "part"])
    project.index.add("part", "1.0", tags=[LINUX, MAC])
    project.index.add("part", "2.0", tags=[LINUX], requires=["speed"])
    targets = ("3.12@linux", "3.12@macos", "3.13@windows")
    project.index.add("part", "1.5", tags=["cp313-cp313-win_amd64"], requires=["win<2"])
    run = project.lock('"tool", "part"', *(word for target in targets for word in ("--target", target)))
    assert run.code == 0, run.err
    assert project.uv("lock", "--check").returncode == 0
    text = Path("pyproject.toml").read_text(encoding="utf-8")
    assert text.count('"part==') == 3
    assert '"speed==2", # by compatlock' in text
    common = {"tool": "1.0", "base": "2"}
    assert project.locked("3.12@linux") == {**common, "helper": "2", "part": "2.0", "speed": "2"}
    assert project.locked("3.12@macos") == {**common, "part": "1.0"}
    assert project.locked("3.13@windows") == {**common, "part": "1.5", "win": "1"}
    assert not UvLock(Path("uv.lock").read_text()).supports(Target("3.13", "linux").resolved())
    again = project.lock("", *(word for target in targets for word in ("--target", target)), "--locked")
    assert again.code == 0, again.err


def test_pythons_that_differ(project: Project) -> None:
    project.index.add("part", "1.0")
    project.index.add("part", "2.0", requires_python=">=3.12", requires=["speed; python_version >= '3.13'"])
    more = "[tool.uv]\npackage = false # mine\n"
    run = project.lock('"app", "part"', "--universal", more=more)
    assert run.code == 0, run.err
    assert run.err.startswith("7 packages for 20 targets together")
    assert project.uv("lock", "--check").returncode == 0
    assert project.locked("3.11@linux")["part"] == "1.0"
    assert project.locked("3.12@macos") == {"app": "1.1", "base": "2", "lib": "1.5", "part": "2.0"}
    assert project.locked("3.14@windows") == {
        "app": "1.1", "base": "2", "lib": "1.5", "part": "2.0", "speed": "2", "win": "2"
    }  # fmt: skip
    text = Path("pyproject.toml").read_text(encoding="utf-8")
    # Pythons with the same pins are one environment, of four platforms.
    assert text.count("python_version >= '3.13' and python_version < '3.15'") == 4
    assert "package = false # mine\n" in text


def test_a_waiver_on_some_targets_only(project: Project) -> None:
    project.index.add("pack", "1", requires=["lib<2; sys_platform == 'linux'"])
    targets = ("--target", "3.12@linux", "--target", "3.12@macos")
    run = project.lock('"pack", "lib>=2; sys_platform == \'linux\'"', *targets, "--waive", "pack -> lib")
    assert run.code == 0, run.err
    text = Path("pyproject.toml").read_text(encoding="utf-8")
    assert "dependencies = [\"lib ; sys_platform == 'linux'\"]" in text
    assert project.locked("3.12@linux") == {"pack": "1", "lib": "2.1", "base": "2"}
    assert project.locked("3.12@macos") == {"pack": "1"}


def test_overrides_and_exclusions(project: Project) -> None:
    run = project.lock('"app[fast]"', "--override", "lib>=2", "--exclude-dependency", "app -> helper")
    assert run.code == 0, run.err
    text = Path("pyproject.toml").read_text(encoding="utf-8")
    assert '"lib>=2", # by compatlock' in text
    assert '{ package = { name = "app" }, dependencies = ["helper"] }, # by compatlock' in text
    assert project.installed() == {"app": "1.1", "base": "2", "lib": "2.1", "speed": "2"}


def test_an_override_keeps_extras(project: Project) -> None:
    project.index.add("top", "1", requires=["app[fast]<1.1", "lib<2"])
    run = project.lock('"top"', "--override", "app>=1.1")
    assert run.code == 0, run.err
    assert project.installed() == {
        "app": "1.1",
        "base": "2",
        "helper": "2",
        "lib": "1.5",
        "speed": "2",
        "top": "1",
    }


def test_an_undeclared_dependency(project: Project, tmp_path: Path) -> None:
    facts = tmp_path / "facts.toml"
    facts.write_text(
        """
[[fact]]
id = "base-needs-speed"
package = "base"
versions = ">=2"
kind = "undeclared"
on = "speed"
bound = "<2"
summary = "base imports speed"
source = "its code"
evidence = [{ type = "url", url = "https://source.example/" }]
""",
        encoding="utf-8",
    )
    run = project.lock('"base"', "--facts", str(facts))
    assert run.code == 0, run.err
    assert project.installed() == {"base": "2", "speed": "1"}


def test_a_prerelease_that_is_pinned(project: Project) -> None:
    project.index.add("early", "2.0rc1")
    project.index.add("early", "1.0")
    project.index.add("user", "1.0", requires=["early>=2.0rc1"])
    run = project.lock('"user"')
    assert run.code == 0, run.err
    assert project.installed() == {"early": "2.0rc1", "user": "1.0"}


def test_a_local_build_beside_what_is_pinned(project: Project) -> None:
    """`==` admits it, and uv takes it: so `===` has to be written, when that is found out."""
    project.index.add("build", "2.0")
    project.index.add("build", "2.0+cu128")
    project.index.add("user", "1.0", requires=["build"])
    options = ("-c", "constraints.txt")
    Path("constraints.txt").write_text("build!=2.0+cu128\n", encoding="utf-8")
    run = project.lock('"user"', *options)
    assert run.code == 0, run.err
    assert '"build===2.0", # by compatlock' in Path("pyproject.toml").read_text(encoding="utf-8")
    assert project.installed() == {"user": "1.0", "build": "2.0"}
    assert "unchanged: pyproject.toml\nunchanged: uv.lock" in project.lock("", *options).err
    assert project.lock("", *options, "--locked").code == 0


def test_extras_and_groups(project: Project) -> None:
    more = (
        '[project.optional-dependencies]\nquick = ["app[fast]"]\n'
        '[dependency-groups]\ntest = ["win"]\ndev = ["helper"]\n'
    )
    run = project.lock('"base"', "--extra", "quick", "--group", "test", more=more)
    assert run.code == 0, run.err
    command = f"uv sync --locked --extra quick --no-default-groups --group test --python {HERE}"
    assert f"note: install it with `{command}`" in run.err
    pins = {"app": "1.1", "base": "2", "helper": "2", "lib": "1.5", "speed": "2", "win": "2"}
    assert project.installed(*command.split()[3:]) == pins
    # What only extras and groups need is kept like the rest.
    project.index.add("win", "3")
    project.index.add("speed", "3")
    again = project.lock("", "--extra", "quick", "--group", "test", "--cache-dir", "other")
    assert again.code == 0, again.err
    assert "unchanged: uv.lock" in again.err
    more_locked = project.lock("", "--all-extras", "--all-groups")
    assert more_locked.code == 0, more_locked.err
    assert "`uv sync --locked --all-extras --all-groups" in more_locked.err
    assert project.installed("--all-extras", "--all-groups") == pins


def test_extras_that_were_not_locked_are_told(project: Project) -> None:
    more = '[project.optional-dependencies]\nquick = ["speed"]\n'
    run = project.lock('"base"', more=more)
    assert run.code == 0, run.err
    assert (
        "uv.lock also has packages of the extra quick, which were not locked, as uv chose them: speed 2"
        in run.err
    )
    assert project.installed() == {"base": "2"}
    # They are still there, and nothing says that they were removed.
    for options in ((), ("--locked",)):
        again = project.lock("", *options)
        assert again.code == 0, again.err
        assert "unchanged: uv.lock" in again.err
        assert "removed" not in again.err


def test_extras_that_contradict_the_pins_are_told(project: Project) -> None:
    more = '[project.optional-dependencies]\nold = ["lib<2"]\nnew = ["lib>=2"]\n'
    run = project.lock('"base"', "--extra", "new", more=more)
    assert run.code == 1
    assert "uv could not lock pyproject.toml" in run.err
    assert "the extra old needs lib<2, and lib 2.1 is pinned" in run.err
    assert "hint: uv locks all extras and groups of a project together, the extra old too" in run.err
    assert Path("pyproject.toml").read_text(encoding="utf-8") == PROJECT.format('"base"') + more
    assert not Path("uv.lock").exists()


def test_extras_that_exclude_each_other(project: Project) -> None:
    """uv locks them apart when `conflicts` says so, as long as no pin is in the way of one."""
    more = (
        '[project.optional-dependencies]\nold = ["lib<2"]\nnew = ["lib>=2"]\n'
        '[tool.uv]\nconflicts = [[{ extra = "old" }, { extra = "new" }]]\n'
    )
    run = project.lock('"base"', more=more)
    assert run.code == 0, run.err
    assert (
        "of the extra new, the extra old, which were not locked, as uv chose them: lib 1.5, lib 2.1"
        in run.err
    )
    assert project.installed() == {"base": "2"}
    refused = project.lock("", "--extra", "new")
    assert refused.code == 1
    assert "the extra old needs lib<2, and lib 2.1 is pinned" in refused.err
    assert "not even by `conflicts`" in refused.err
    assert project.installed() == {"base": "2"}


def test_a_lock_that_uv_refuses_leaves_all_as_before(project: Project) -> None:
    run = project.lock('"base"')
    assert run.code == 0
    before = Path("pyproject.toml").read_bytes(), Path("uv.lock").read_bytes()
    text = Path("pyproject.toml").read_text(encoding="utf-8")
    Path("pyproject.toml").write_text(
        text.replace("[tool.uv]\n", '[tool.uv]\nconflicts = "all"\n'), encoding="utf-8"
    )
    changed = Path("pyproject.toml").read_bytes()
    refused = project.lock("", "-U", "--exclude-dependency", "lib -> base")
    assert refused.code == 1
    assert "uv could not lock pyproject.toml:\n" in refused.err
    assert (Path("pyproject.toml").read_bytes(), Path("uv.lock").read_bytes()) == (changed, before[1])


def test_what_uv_locks_otherwise_is_named(project: Project) -> None:
    folder = Path("base-here")
    folder.mkdir()
    (folder / "pyproject.toml").write_text('[project]\nname = "base"\nversion = "2"\n', encoding="utf-8")
    more = '[tool.uv.sources]\nbase = { path = "base-here" }\n'
    run = project.lock('"base"', more=more)
    assert run.code == 1
    assert "uv locked something else with these pins" in run.err
    assert "base 2 is not in uv.lock" in run.err
    assert Path("pyproject.toml").read_text(encoding="utf-8") == PROJECT.format('"base"') + more
    assert not Path("uv.lock").exists()


def test_an_index_for_some_packages(project: Project) -> None:
    with IndexServer() as other:
        other.add("lib", "9.0", requires=["base"])
        other.add("base", "7")
        run = project.lock(
            '"app"', "--index", f"cu={other.url}", "--index-for", "lib=cu", "--waive", "app -> lib"
        )
        assert run.code == 0, run.err
        assert project.installed() == {"app": "1.1", "base": "2", "helper": "2", "lib": "9.0"}
        text = Path("pyproject.toml").read_text(encoding="utf-8")
        assert 'lib = { index = "cu" } # by compatlock' in text
        again = project.lock(
            "", "--index", f"cu={other.url}", "--index-for", "lib=cu", "--waive", "app -> lib"
        )
        assert "unchanged: pyproject.toml" in again.err


def test_an_index_that_wants_a_login(project: Project) -> None:
    with IndexServer(login="me:s3cret") as other:
        other.add("base", "7")
        run = project.lock('"lib"', "--index", other.url.replace("://", "://me:s3cret@"))
        assert run.code == 0, run.err
        assert project.locked(f"{HERE}@linux") == {"lib": "2.1", "base": "7"}
        for name in ("pyproject.toml", "uv.lock"):
            assert "s3cret" not in Path(name).read_text(encoding="utf-8")
        assert "s3cret" not in run.err


def test_policies(project: Project) -> None:
    project.index.add("dated", "1", upload_time="2026-01-01T00:00:00Z")
    project.index.add("dated", "2", upload_time="2026-03-01T00:00:00Z")
    project.index.add("fresh", "1", upload_time="2026-01-01T00:00:00Z")
    project.index.add("fresh", "2", upload_time="2026-03-01T00:00:00Z")
    options = ("--exclude-newer", "2026-02-01", "--exclude-newer", "fresh=none", "--prerelease", "disallow")
    run = project.lock('"dated", "fresh"', *options)
    assert run.code == 0, run.err
    text = Path("pyproject.toml").read_text(encoding="utf-8")
    assert 'exclude-newer = "2026-02-01T23:59:59Z" # by compatlock\n' in text
    assert "exclude-newer-package = { fresh = false } # by compatlock\n" in text
    assert 'prerelease = "disallow" # by compatlock\n' in text
    assert project.installed() == {"dated": "1", "fresh": "2"}
    # They are what the run said, not what the project says: without the option they go.
    again = project.lock("", "-U")
    assert again.code == 0, again.err
    assert "exclude-newer" not in Path("pyproject.toml").read_text(encoding="utf-8")
    assert project.installed() == {"dated": "2", "fresh": "2"}


@pytest.mark.usefixtures("world")
def test_entries_are_shown(cli: Cli) -> None:
    Path("pyproject.toml").write_text(APP, encoding="utf-8")
    run = cli("lock", "pyproject.toml", "--show-tool-uv", "--no-shipped-facts", "--target", "3.12@linux")
    assert run.code == 0
    assert run.out.startswith("[tool.uv]\nenvironments = [\n")
    assert '    "lib==1.5", # by compatlock\n' in run.out
    assert sorted(path.name for path in Path().iterdir()) == ["pyproject.toml"]


def test_own_entries_stay(project: Project) -> None:
    more = """
[tool.uv]  # how uv works
constraint-dependencies = ["speed<9"] # mine
environments = ["sys_platform == 'linux'", "sys_platform == 'darwin'"]

[tool.other]
x = 1
"""
    run = project.lock('"app"', more=more)
    assert run.code == 0, run.err
    assert "note: tool.uv.environments stays as you wrote it; the lock is for python_version ==" in run.err
    text = Path("pyproject.toml").read_text(encoding="utf-8")
    assert 'constraint-dependencies = ["speed<9",\n    # Pins, written by' in text
    assert text.endswith("\n[tool.other]\nx = 1\n")
    assert "unchanged: pyproject.toml" in project.lock("").err
    assert project.installed()["lib"] == "1.5"


def test_locked_tells_what_is_out_of_date(project: Project, cli: Cli) -> None:
    missing = project.lock('"app"', "--locked")
    assert missing.code == 1
    assert "uv.lock does not exist" in missing.err
    assert project.lock("").code == 0
    fine = cli("lock", "pyproject.toml", "-o", "uv.lock", "--locked", "--no-shipped-facts")
    assert fine.code == 0, fine.err
    assert fine.err.endswith("unchanged: uv.lock\n")
    text = Path("pyproject.toml").read_text(encoding="utf-8")
    Path("pyproject.toml").write_text(
        text.replace('["app"]', '["app", "lib<1.5", "speed"]'), encoding="utf-8"
    )
    stale = cli("lock", "pyproject.toml", "-o", "uv.lock", "--locked", "--no-shipped-facts")
    assert stale.code == 1
    assert (
        "uv.lock is out of date:\n  lib is 1.0, and 1.5 in uv.lock\n  speed 2 is not in uv.lock\n"
        in stale.err
    )
    assert project.lock("").code == 0
    assert project.installed() == {"app": "1.1", "base": "2", "helper": "2", "lib": "1.0", "speed": "2"}


def test_json(project: Project) -> None:
    run = project.lock('"app"', "--json", "-o", "requirements.lock")
    assert run.code == 0
    assert len(json.loads(run.out)["pins"]) == 4
    assert Path("requirements.lock").exists()
    assert Path("uv.lock").exists()


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        (APP, ["-r", "speed"], "--requirement asks for speed, and the project does not"),
        (APP.replace("requires-python", "#"), [], "has no `requires-python`"),
        (APP, ["-o", "elsewhere/uv.lock"], "uv writes its lock beside the pyproject"),
        (APP + "[tool]\nuv = { package = false }\n", [], "in a way that nothing can be"),
    ],
)  # fmt: skip
def test_wrong_input(cli: Cli, text: str, arguments: list[str], words: str) -> None:
    Path("pyproject.toml").write_text(text, encoding="utf-8")
    run = cli("lock", "pyproject.toml", "--write-pyproject", "--no-shipped-facts", *arguments)
    assert run.code == 2
    assert words in run.err
    assert Path("pyproject.toml").read_text(encoding="utf-8") == text


def test_without_a_project(cli: Cli) -> None:
    run = cli("lock", "-r", "app", "--write-pyproject")
    assert run.code == 2
    assert "uv locks what a pyproject.toml asks for, and one was not given" in run.err


def test_uv_lock_as_an_output_only(cli: Cli) -> None:
    Path("pyproject.toml").write_text(APP, encoding="utf-8")
    run = cli("lock", "pyproject.toml", "-o", "uv.lock")
    assert run.code == 2
    assert "`--write-pyproject` writes what it has to say, and runs uv" in run.err


def test_without_uv(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise InputError("the `uv` program is not there")

    monkeypatch.setattr(uv_run, "find_uv", missing)
    run = project.lock('"app"')
    assert run.code == 2
    assert "the `uv` program is not there" in run.err
    assert Path("pyproject.toml").read_text(encoding="utf-8") == APP


def test_offline_without_what_uv_needs(project: Project) -> None:
    assert project.lock('"app"').code == 0
    Path("uv.lock").unlink()
    os.environ["UV_CACHE_DIR"] += "-other"
    run = project.lock("", "--offline")
    assert run.code == 3
    assert not Path("uv.lock").exists()


@pytest.mark.parametrize("seed", [1, 6])
def test_made_up_worlds(index: IndexServer, project: Project, seed: int) -> None:
    """Extras, markers, ranges, pre-releases, yanks and waivers: uv agrees for every target."""
    fill(index, seed=seed)
    source = random.Random(seed)
    bounds = ("<0.3", "<0.2", ">=0.6", "==0.6")
    more = [f"p{number:02}{source.choice(bounds)}" for number in source.sample(range(2, 24), 10)]
    edges = [f"p{a:02} -> p{b:02}" for a in range(24) for b in range(a + 1, 24)]
    run = project.lock(
        ", ".join(f'"{root}"' for root in ("p00", "p01[more]", *more)),
        *("--universal", "--max-lag", "none"),
        *(word for edge in edges for word in ("--waive", edge)),
    )
    assert run.code == 0, run.err
    assert run.err.count("warning: waiver spent: ") > 1
    assert " for 20 targets together" in run.err
    assert project.uv("lock", "--check").returncode == 0


def test_an_old_uv(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Overrides of one package's needs are refused before anything is written; all else works."""
    run_uv = environment_uv.run_uv

    def old(program: str, arguments: list[str], *rest: object, **named: object) -> str:
        if arguments == ["--version"]:
            return "uv 0.11.9 (x86_64)\n"
        return run_uv(program, arguments, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(uv_run, "run_uv", old)
    run = project.lock('"app", "lib>=2"', "--waive", "app -> lib")
    assert run.code == 2
    assert "is uv 0.11.9 (x86_64), and overrides of one package's needs came with 0.12" in run.err
    assert "tool.uv" not in Path("pyproject.toml").read_text(encoding="utf-8")
    Path("pyproject.toml").unlink()
    assert project.lock('"app"').code == 0


def test_the_project_in_another_folder(project: Project) -> None:
    Path("there").mkdir()
    Path("there/pyproject.toml").write_bytes(b"\xef\xbb\xbf" + APP.replace("\n", "\r\n").encode())
    run = project.cli(
        "lock", "there/pyproject.toml", "--write-pyproject", "--no-shipped-facts", "--auto-waive"
    )
    assert run.code == 0, run.err
    assert f"`uv sync --locked --project there --python {HERE}`" in run.err
    data = Path("there/pyproject.toml").read_bytes()
    assert data.startswith(b"\xef\xbb\xbf" + APP.replace("\n", "\r\n").encode())
    assert data.count(b"\n") == data.count(b"\r\n")
    assert project.uv("lock", "--check", "--project", "there").returncode == 0


MEMBER = """[project]
name = "member"
version = "0"
requires-python = ">=3.10"
dependencies = ["speed<2"]
"""


def test_workspaces(project: Project) -> None:
    Path("packages/member").mkdir(parents=True)
    Path("packages/member/pyproject.toml").write_text(MEMBER, encoding="utf-8")
    more = '[tool.uv.workspace]\nmembers = ["packages/*"]\n'
    alone = project.cli("lock", "packages/member/pyproject.toml", "--write-pyproject")
    assert alone.code == 0, alone.err
    Path("packages/member/uv.lock").unlink()
    Path("packages/member/pyproject.toml").write_text(MEMBER, encoding="utf-8")
    both = project.lock('"base"', "packages/member/pyproject.toml", more=more)
    assert both.code == 0, both.err
    assert f"`uv sync --locked --all-packages --python {HERE}`" in both.err
    assert Path("packages/member/pyproject.toml").read_text(encoding="utf-8") == MEMBER
    assert project.installed("--all-packages") == {"base": "2", "speed": "1"}
    member = project.cli("lock", "packages/member/pyproject.toml", "--write-pyproject")
    assert member.code == 2
    assert "is of a member of the workspace of pyproject.toml, whose uv.lock is for all members" in member.err
