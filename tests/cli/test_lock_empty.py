"""Empty words, as a shell makes them of unset variables, and words that are no package names."""

from __future__ import annotations

from pathlib import Path

import pytest

from compatlock.cli.lock_options import OPTIONS
from compatlock.cli.option import FLAG
from tests.support.command import Cli
from tests.support.index_server import IndexServer

HINT = "hint: is a variable of the shell not set? Leave the option out if the default is meant\n"


@pytest.fixture(autouse=True)
def app(index: IndexServer) -> None:
    index.add("app", "1.0", upload_time="2026-01-01T00:00:00Z")


@pytest.mark.parametrize("name", [max(o.names, key=len) for o in OPTIONS if o.kind != FLAG and not o.choices])
@pytest.mark.parametrize("apart", [True, False])
def test_an_empty_value(cli: Cli, name: str, apart: bool) -> None:
    words = (name, "") if apart else (f"{name}=",)
    expected = (2, "", f"error: the value of `{name}` is empty\n{HINT}")
    assert cli("lock", "-r", "app", *words) == expected
    assert not Path("requirements.lock").exists()


@pytest.mark.parametrize("words", [("-r", ""), ("-r", "app", "-r", " ")])
def test_one_empty_value_of_several(cli: Cli, words: tuple[str, ...]) -> None:
    assert cli("lock", *words) == (2, "", f"error: the value of `--requirement` is empty\n{HINT}")


@pytest.mark.parametrize("command", ["lock", "explain", "check"])
def test_an_empty_file_name(cli: Cli, command: str) -> None:
    """To a check it would mean the running environment."""
    run = cli(*command.split(), "", "-r", "app")
    assert run == (
        2,
        "",
        "error: a FILE or name is an empty word\nhint: is a variable of the shell not set?\n",
    )


def test_an_empty_environment(cli: Cli) -> None:
    assert cli("check", "--env", "") == (2, "", f"error: the value of `--env` is empty\n{HINT}")


@pytest.mark.parametrize("command", ["config", "explain"])
def test_an_empty_index_of_other_commands(cli: Cli, command: str) -> None:
    run = cli(command, "--default-index", "")
    assert run == (2, "", f"error: the value of `--default-index` is empty\n{HINT}")


def test_config_without_options_has_no_empty_ones(cli: Cli) -> None:
    assert cli("config").code == 0


# --upgrade-package


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("app==3.0", "hint: use `--requirement 'app==3.0'` with `-P app`\n"),
        ("app[x] >= 3", "hint: use `--requirement 'app[x] >= 3'` with `-P app`\n"),
        ("app lib", "hint: name one with each option: -P app -P lib\n"),
        ("app,lib", "hint: name one with each option: -P app -P lib\n"),
        ("./app", ""),
    ],
)
def test_no_package_name(cli: Cli, text: str, hint: str) -> None:
    assert cli("lock", "-r", "app", "-P", text) == (2, "", f"error: `{text}` is no package name\n{hint}")
    assert not Path("requirements.lock").exists()


def test_a_package_that_is_not_locked(cli: Cli) -> None:
    assert cli("lock", "-r", "app", "-q").code == 0
    run = cli("lock", "-r", "app", "-P", "App", "-P", "No_such-package")
    assert run.code == 0
    assert "note: No_such-package is not in requirements.lock\n" in run.err
    assert run.err.count("note:") == 1
