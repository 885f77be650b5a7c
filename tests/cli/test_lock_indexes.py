"""Locking from several indexes, with settings from everywhere, and what indexes say of whole projects."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command import Cli
from tests.support.index_server import IndexServer

TARGET = ("--python-version", "3.12", "--python-platform", "linux", "--no-shipped-facts")


@pytest.fixture
def private() -> Iterator[IndexServer]:
    """A second index, which demands a login and knows only HTML."""
    with IndexServer(login="user:hunter2", forms="html") as server:
        server.add("torch", "2.7.0+cu128", requires=["lib"])
        server.add("torch", "2.8.0+cu128", requires=["lib"])
        server.add("mine", "1.0", requires=["torch==2.7.0", "lib"])
        yield server


@pytest.fixture
def url(private: IndexServer, index: IndexServer) -> str:
    index.add("torch", "2.9.0", requires=["lib"])
    index.add("mine", "99.0")
    index.add("lib", "1.0")
    return private.url.replace("://", "://user:hunter2@")


def test_the_first_index_that_has_a_package_wins(
    cli: Cli, index: IndexServer, private: IndexServer, url: str
) -> None:
    run = cli("lock", "-r", "mine", "--index", url, "-o", "-", "--json", *TARGET)
    pins = {pin["name"]: pin for pin in json.loads(run.out)["pins"]}
    assert {name: pin["version"] for name, pin in pins.items()} == {
        "lib": "1.0",
        "mine": "1.0",
        "torch": "2.7.0+cu128",
    }
    assert [pins[name]["index_url"] for name in ("lib", "mine", "torch")] == ["", private.url, private.url]
    # The names of private projects are told to nobody else.
    assert {one.path for one in index.requests if "simple" in one.path} == {"/simple/lib/"}


def test_what_was_found_where_is_remembered(
    cli: Cli, index: IndexServer, private: IndexServer, url: str
) -> None:
    first = cli("lock", "-r", "mine", "--index", url, "-o", "-", "-q", *TARGET)
    asked = index.count() + private.count()
    for more in ((), ("--offline",)):
        assert cli("lock", "-r", "mine", "--index", url, "-o", "-", "-q", *TARGET, *more) == first
    assert index.count() + private.count() == asked
    # The other index alone has another answer, from the same cache.
    assert cli("lock", "-r", "torch", "-o", "-", "-q", *TARGET).pins == {"torch": "2.9.0", "lib": "1.0"}
    assert cli("lock", "-r", "torch", "-o", "-", "-q", "--index", url, *TARGET).pins["torch"] == "2.8.0+cu128"


def test_an_explicit_index_is_asked_for_its_packages_only(
    cli: Cli, index: IndexServer, private: IndexServer, url: str
) -> None:
    options = ("--index", f"cu128={url}", "--index-for", "torch=cu128", *TARGET)
    run = cli("lock", "-r", "mine", "-r", "torch==2.7", "-o", "-", "-q", *options)
    assert run.pins == {"lib": "1.0", "mine": "99.0", "torch": "2.7.0+cu128"}
    assert {one.path for one in private.requests if "simple" in one.path} == {"/simple/torch/"}
    assert index.count("/torch/") == 0
    assert f"--index 'cu128={private.url.replace('://', '://****@')}'" in run.out
    assert "--index-for torch=cu128" in run.out


def test_settings_come_from_variables_and_pips_files(
    cli: Cli, tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = {"torch": "2.8.0+cu128", "lib": "1.0"}
    for variable in ("COMPATLOCK_INDEX", "UV_INDEX", "PIP_EXTRA_INDEX_URL"):
        with monkeypatch.context() as patch:
            patch.setenv(variable, url)
            assert cli("lock", "-r", "torch", "-o", "-", "-q", *TARGET).pins == expected
    path = tmp_path / "pip.conf"
    path.write_text(f"[global]\nextra-index-url = file:///opt/simple\n {url}\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(path))
    run = cli("lock", "-r", "torch", "-o", "-", "-v", *TARGET)
    assert run.pins == expected
    assert "note: `file:///opt/simple` (" in run.err
    monkeypatch.setenv("COMPATLOCK_OFFLINE", "1")
    assert cli("lock", "-r", "torch", "-o", "-", "-q", *TARGET).pins == expected
    assert cli("lock", "-r", "other", "-o", "-", "-q", *TARGET).code == 3


def test_credentials_are_nowhere(cli: Cli, private: IndexServer, url: str, tmp_path: Path) -> None:
    private.add("lib", "1.0")
    shown = ""
    for options in (("-v",), ("--json",), ("-o", "pylock.toml")):
        run = cli("lock", "-r", "mine", "--index", url, "--default-index", url, *options, *TARGET)
        assert run.code == 0
        shown += run.out + run.err
    for folder, _, files in os.walk(tmp_path):
        for file in files:
            shown += (Path(folder) / file).read_bytes().decode("latin-1")
    assert "mine" in shown
    assert "hunter2" not in shown


def test_a_file_that_is_gone_makes_room_for_an_older_release(cli: Cli, index: IndexServer) -> None:
    index.side_files = "none"
    index.add("app", "1.0")
    index.add("app", "2.0")
    lost = index.files.pop("/files/app-2.0-py3-none-any.whl")
    run = cli("lock", "-r", "app", "-o", "-", *TARGET)
    assert run.pins == {"app": "1.0"}
    assert cli("lock", "-r", "app>1", "-o", "-", *TARGET).code == 1
    # It may come back, which only the network can tell.
    assert cli("lock", "-r", "app", "-o", "-", "--offline", *TARGET).pins == {"app": "1.0"}
    index.files["/files/app-2.0-py3-none-any.whl"] = lost
    assert cli("lock", "-r", "app", "-o", "-", *TARGET).pins == {"app": "2.0"}
    assert cli("lock", "-r", "app", "-o", "-", "--offline", *TARGET).pins == {"app": "2.0"}


def test_what_the_index_says_of_a_project_is_noted(cli: Cli, index: IndexServer) -> None:
    index.add("app", "1.0", requires=["bad"])
    index.add("bad", "1.0")
    index.status["app"] = "archived"
    assert "note: app 1.0: the project is archived\n" in cli("lock", "-r", "app", *TARGET).err
    # A warm run knows it too.
    assert "note: app 1.0: the project is archived\n" in cli("lock", "-r", "app", "--offline", *TARGET).err
    index.status["bad"] = "quarantined"
    run = cli("lock", "-r", "app", "--no-cache", *TARGET)
    assert (run.code, "bad" in run.err) == (1, True)


def test_what_an_index_says_cannot_steer_the_terminal(cli: Cli, index: IndexServer) -> None:
    index.add("bad", "1.0", yanked="gone\x1b[31m red\nfake: line")
    run = cli("lock", "-r", "bad==1.0")
    assert "note: bad 1.0: yanked: gone\\x1b[31m red fake: line\n" in run.err
    assert "\x1b" not in Path("requirements.lock").read_text()


def test_a_run_that_fails_says_what_was_left_out(
    cli: Cli, index: IndexServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.add("bad", "1.0")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "file:///mirror/simple")
    run = cli("lock", "-r", "bad>1", "-v")
    assert run.code == 1
    assert "(PIP_EXTRA_INDEX_URL) is left out" in run.err
    assert run.err.index("note: ") < run.err.index("error: ")
