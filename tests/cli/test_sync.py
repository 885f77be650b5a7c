"""`compatlock sync`: real environments, filled by uv from an index on the loopback interface."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

import compatlock
from tests.support.command import Cli
from tests.support.index_server import IndexServer
from tests.support.real_environment import RealEnvironment

LOCKS = ("requirements.lock", "pylock.toml", "lock.json")


@pytest.fixture
def locks(cli: Cli, index: IndexServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> IndexServer:
    """app and lib locked in all formats; lib 2.0 and extra are on the index too."""
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))
    index.add("app", "1.0", requires=["lib<2", "win; sys_platform == 'win32'"])
    for version in ("1.0", "2.0"):
        index.add("lib", version)
    for name in ("win", "extra"):
        index.add(name, "1.0")
    outputs = [word for name in LOCKS for word in ("-o", name)]
    assert cli("lock", "-r", "app", "--no-shipped-facts", *outputs).code == 0
    index.requests.clear()
    return index


@pytest.fixture
def venv(locks: IndexServer, tmp_path: Path) -> RealEnvironment:
    return RealEnvironment(tmp_path / "venv", locks, tmp_path / "uv-cache")


@pytest.mark.parametrize("lock", LOCKS)
def test_an_environment_is_made_and_has_what_the_lock_pins(cli: Cli, locks: IndexServer, lock: str) -> None:
    minor = "{}.{}".format(*sys.version_info[:2])
    run = cli("sync", lock, "--env", "new")
    assert run.code == 0, run.err
    assert run.err == (
        f"making the environment new with Python {minor}\n"
        "changed in new: 2 added\n  added app 1.0\n  added lib 1.0\n"
    )
    assert run.out.startswith(f"the environment new against {lock}: 2 packages for CPython ")
    assert run.out.endswith(": everything fits\n")
    assert locks.count(".whl", "GET") == 2
    again = cli("sync", lock, "--env", "new", "--offline")
    assert (again.code, again.err) == (0, "changed in new: no changes\n")


def test_versions_are_changed_and_what_is_beside_stays(cli: Cli, venv: RealEnvironment) -> None:
    venv.install("lib==2.0", "extra")
    run = cli("sync", "requirements.lock", "--env", str(venv.root))
    assert run.code == 0
    assert "  added app 1.0\n  changed lib 2.0 -> 1.0\n" in run.err
    assert run.out.startswith("warning: extra 1.0 is installed, and requirements.lock does not have it\n")
    assert venv.freeze() == {"app": "1.0", "extra": "1.0", "lib": "1.0"}


@pytest.mark.parametrize("lock", LOCKS)
def test_exact_removes_what_the_lock_does_not_have_and_says_so_before(
    cli: Cli, venv: RealEnvironment, lock: str
) -> None:
    venv.install("lib==2.0", "extra")
    run = cli("sync", lock, "--env", str(venv.root), "--exact")
    assert run.code == 0
    assert run.err.startswith(f"removing 1 package that {lock} does not have: extra 1.0\n")
    assert venv.freeze() == {"app": "1.0", "lib": "1.0"}


def test_a_dry_run_changes_nothing(cli: Cli, venv: RealEnvironment) -> None:
    venv.install("lib==2.0", "extra")
    before = venv.freeze()
    for options, removed in (((), ""), (("--exact",), "  removed extra 1.0\n")):
        run = cli("sync", "pylock.toml", "--env", str(venv.root), "--dry-run", *options)
        assert (run.code, run.out) == (0, "")
        assert run.err.startswith(f"would change in {venv.root}: 1 changed, 1 added")
        assert run.err.endswith(f"\n  added app 1.0\n{removed}  changed lib 2.0 -> 1.0\n")
    assert venv.freeze() == before
    run = cli("sync", "pylock.toml", "--env", "new", "--dry-run")
    assert "would make the environment new" in run.err
    assert "  added app 1.0\n  added lib 1.0\n" in run.err
    assert not Path("new").exists()


def test_files_that_are_gone_are_installed_again(cli: Cli, venv: RealEnvironment) -> None:
    venv.install("app", "lib==1.0")
    (venv.packages / "lib.py").unlink()
    assert cli("check", "requirements.lock", "--env", str(venv.root)).code == 1
    run = cli("sync", "requirements.lock", "--env", str(venv.root), "--import", "lib")
    assert run.code == 0
    assert "installing again, as files are missing or changed: lib\n" in run.err


def test_the_environment_may_be_named_in_several_ways(
    cli: Cli, venv: RealEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = cli("sync", "requirements.lock")
    assert (refused.code, refused.out) == (2, "")
    assert "it is not said which environment to install into" in refused.err
    for arguments in (("--python", str(venv.python)), ("--env", str(venv.python))):
        assert cli("sync", "requirements.lock", *arguments).code == 0
    monkeypatch.setenv("VIRTUAL_ENV", str(venv.root))
    assert "no changes" in cli("sync", "requirements.lock").err
    monkeypatch.delenv("VIRTUAL_ENV")
    assert cli("sync", "requirements.lock", "--create", "--python", sys.executable).code == 0
    assert Path(".venv/pyvenv.cfg").exists()


def test_json(cli: Cli, venv: RealEnvironment) -> None:
    told = json.loads(cli("sync", "requirements.lock", "--env", str(venv.root), "--json").out)
    assert (told["version"], told["environment"], told["created"]) == (1, str(venv.root), False)
    assert told["changes"] == [
        {"name": "app", "old": "", "new": "1.0"},
        {"name": "lib", "old": "", "new": "1.0"},
    ]
    assert told["check"]["clean"] is True
    failed = cli("sync", "gone.lock", "--env", str(venv.root), "--json")
    assert failed.code == 2
    assert json.loads(failed.out)["error"]


def test_an_import_that_fails_makes_it_fail(cli: Cli, venv: RealEnvironment) -> None:
    run = cli("sync", "requirements.lock", "--env", str(venv.root), "--import", "gone", "-q")
    assert (run.code, run.err) == (1, "")
    assert run.out == "import gone fails: ModuleNotFoundError: No module named 'gone'\n"


def test_a_file_with_another_hash_is_refused(cli: Cli, venv: RealEnvironment, locks: IndexServer) -> None:
    text = Path("requirements.lock").read_text(encoding="utf-8")
    digest = locks.sha256("lib-1.0-py3-none-any.whl")
    Path("requirements.lock").write_text(text.replace(digest, "0" * 64), encoding="utf-8")
    run = cli("sync", "requirements.lock", "--env", str(venv.root))
    assert run.code == 1
    assert "uv could not install requirements.lock" in run.err
    assert "hint: a file is not the one that was locked" in run.err
    assert venv.freeze() == {}


def test_offline_with_an_empty_cache(cli: Cli, venv: RealEnvironment, tmp_path: Path) -> None:
    empty = str(tmp_path / "empty")
    run = cli("sync", "requirements.lock", "--env", str(venv.root), "--offline", "--cache-dir", empty)
    assert run.code == 3
    assert "the network was disabled" in run.err
    assert os.path.isdir(empty)


def test_the_lock_says_where_its_packages_are_from(
    cli: Cli, venv: RealEnvironment, locks: IndexServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COMPATLOCK_DEFAULT_INDEX")
    for lock in ("requirements.lock", "lock.json"):
        run = cli("sync", lock, "--env", str(venv.root), "--no-cache", "--exact")
        assert run.code == 0, run.err
    assert locks.count("/simple/app/")


def test_what_has_no_hash_is_said(cli: Cli, venv: RealEnvironment) -> None:
    Path("freeze.txt").write_text("app==1.0\nlib==1.0\n", encoding="utf-8")
    run = cli("sync", "freeze.txt", "--env", str(venv.root))
    assert run.code == 0
    assert (
        "note: freeze.txt: no package has a hash, so that files are taken as the index has them\n" in run.err
    )
    frozen = cli("sync", "-", "--env", str(venv.root), "--exact", stdin=b"lib==1.0\n")
    assert (frozen.code, venv.freeze()) == (0, {"lib": "1.0"})


def test_settings_of_uv_do_not_change_what_is_installed(
    cli: Cli, venv: RealEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("override.txt").write_text("lib==2.0\n", encoding="utf-8")
    Path("uv.toml").write_text('[pip]\noverride-dependencies = ["lib==2.0"]\n', encoding="utf-8")
    monkeypatch.setenv("UV_OVERRIDE", "override.txt")
    monkeypatch.setenv("UV_EXCLUDE_NEWER", "2000-01-01")
    run = cli("sync", "requirements.lock", "--env", str(venv.root))
    assert (run.code, venv.freeze()["lib"]) == (0, "1.0")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("gone.lock",), "there is no file gone.lock"),
        (("uv.lock",), "uv.lock is uv's own"),
        (("bad.lock",), "bad.lock:2: lib has no hash"),
        (("other.lock",), "other.lock is for CPython 3.12.0 on x86_64-pc-windows-msvc"),
        (("requirements.lock", "--env", sys.prefix), "that compatlock itself runs in"),
    ],
)
def test_what_is_refused_before_anything_is_done(
    cli: Cli, venv: RealEnvironment, arguments: tuple[str, ...], words: str
) -> None:
    project = (
        '[[package]]\nname = "x"\nversion = "1"\nsource = { registry = "https://index.example/simple" }\n'
    )
    root = '[[package]]\nname = "p"\nsource = { virtual = "." }\ndependencies = [{ name = "x" }]\n'
    Path("uv.lock").write_text(f"version = 1\n{project}{root}", encoding="utf-8")
    Path("bad.lock").write_text(f"app==1.0 --hash=sha256:{'0' * 64}\nlib==1.0\n", encoding="utf-8")
    text = Path("requirements.lock").read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if line.startswith("#   target: "))
    other = text.replace(line, "#   target: CPython 3.12.0 on x86_64-pc-windows-msvc")
    Path("other.lock").write_text(other, encoding="utf-8")
    run = cli("sync", *arguments, *(() if "--env" in arguments else ("--env", str(venv.root))))
    assert (run.code, run.out) == (2, "")
    assert words in run.err
    assert venv.freeze() == {}


def test_no_environment_is_made_for_a_lock_that_is_for_others(cli: Cli, locks: IndexServer) -> None:
    other = "3.12" if sys.version_info[:2] != (3, 12) else "3.13"
    assert cli("lock", "-r", "extra", "--python-platform", "windows", "-o", "other.lock").code == 0
    assert locks.count("/simple/extra/") == 1
    for lock, options in (("other.lock", ()), ("requirements.lock", ("--python", other))):
        run = cli("sync", lock, "--env", "new", *options)
        assert (run.code, run.out) == (2, "")
        assert f"{lock} is for CPython " in run.err
        assert not Path("new").exists()


def test_a_lock_for_several_targets(cli: Cli, locks: IndexServer) -> None:
    minor = "{}.{}".format(*sys.version_info[:2])
    other = "3.12" if minor != "3.12" else "3.13"
    targets = [word for target in (minor, f"{other}@linux", "windows") for word in ("--target", target)]
    assert cli("lock", "-r", "app", *targets, "-U", "-o", "requirements.lock", "-o", "pylock.toml").code == 0
    assert 'win==1.0 ; sys_platform == "win32"' in Path("requirements.lock").read_text(encoding="utf-8")
    for lock in ("requirements.lock", "pylock.toml"):
        run = cli("sync", lock, "--env", f"new-{lock}", "--exact")
        assert run.code == 0, run.err
        assert run.err.startswith(f"making the environment new-{lock} with Python {minor}\n")
        assert run.out.endswith(": everything fits\n")
    assert locks.count("/simple/win/") == 1


def test_an_index_with_a_login(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))
    with IndexServer(login="me:secret") as private:
        private.add("app", "1.0")
        monkeypatch.setenv("COMPATLOCK_DEFAULT_INDEX", private.url.replace("://", "://me:secret@"))
        assert cli("lock", "-r", "app").code == 0
        run = cli("sync", "requirements.lock", "--env", "new")
        assert run.code == 0, run.err
        private.login = "me:other"
        failed = cli("sync", "requirements.lock", "--env", "other", "--no-cache")
        assert failed.code in (1, 3)
        assert "secret" not in run.err + run.out + failed.err + failed.out


def test_the_library(venv: RealEnvironment, locks: IndexServer) -> None:
    steps: list[str] = []
    venv.install("extra")
    done = compatlock.sync(
        "requirements.lock",
        venv.root,
        exact=True,
        on_step=steps.append,
        index_url=locks.url,
        shipped_facts=False,
    )
    assert isinstance(done, compatlock.Synced)
    assert [change.name for change in done.changes] == ["app", "extra", "lib"]
    assert done.report is not None
    assert done.report.is_clean
    assert steps == ["removing 1 package that requirements.lock does not have: extra 1.0"]
    with pytest.raises(compatlock.InputError, match="there is no file gone"):
        compatlock.sync("gone.lock", venv.root)
