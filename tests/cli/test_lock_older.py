"""An existing output file is the older lock."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.command import Cli, pins_of
from tests.support.index_server import IndexServer

LOCK = Path("requirements.lock")


@pytest.fixture(autouse=True)
def projects(index: IndexServer) -> None:
    for number, month in ((1, "01"), (2, "02"), (3, "03")):
        day = f"2026-{month}-01T00:00:00Z"
        index.add("app", f"{number}.0", requires=["lib", "tool"], upload_time=day)
        index.add("lib", f"{number}.0", upload_time=day)
        index.add("tool", f"{number}.0", upload_time=day)


def locked() -> dict[str, str]:
    return pins_of(LOCK.read_text())


def pins(app: int, lib: int, tool: int) -> dict[str, str]:
    return {"app": f"{app}.0", "lib": f"{lib}.0", "tool": f"{tool}.0"}


@pytest.fixture
def old(cli: Cli) -> None:
    assert cli("lock", "-r", "app<2", "-r", "lib<2", "-r", "tool<2").code == 0
    assert locked() == pins(1, 1, 1)


@pytest.mark.usefixtures("old")
def test_what_still_holds_is_kept(cli: Cli) -> None:
    run = cli("lock", "-r", "app")
    assert run.code == 0
    assert locked() == pins(1, 1, 1)
    assert "  app 1.0 (59 days behind 3.0)\n" in run.err


@pytest.mark.usefixtures("old")
def test_only_what_must_change_does(cli: Cli) -> None:
    run = cli("lock", "-r", "app", "-r", "lib>=2")
    assert locked() == pins(1, 3, 1)
    assert "1 changed\n  changed lib 1.0 -> 3.0\nwrote requirements.lock\n" in run.err


@pytest.mark.usefixtures("old")
@pytest.mark.parametrize("option", ["-U", "--upgrade"])
def test_upgrade_lets_go_of_all(cli: Cli, option: str) -> None:
    assert cli("lock", "-r", "app", option).code == 0
    assert locked() == pins(3, 3, 3)


@pytest.mark.usefixtures("old")
def test_upgrade_of_some(cli: Cli) -> None:
    assert cli("lock", "-r", "app", "-P", "LIB").code == 0
    assert locked() == pins(1, 3, 1)
    assert cli("lock", "-r", "app", "--upgrade-package", "tool", "-P", "app").code == 0
    assert locked() == pins(3, 3, 3)


@pytest.mark.usefixtures("old")
def test_a_pin_that_is_gone_or_no_longer_needed(cli: Cli, index: IndexServer) -> None:
    index.remove("lib-1.0-py3-none-any.whl")
    index.add("app", "1.0.1", requires=["lib"])
    run = cli("lock", "-r", "app>1", "--no-cache")
    assert run.code == 0
    assert "added" not in run.err
    LOCK.write_text("gone==1.0\nlib==1.0\ntool==1.0\n")
    run = cli("lock", "-r", "lib", "-r", "tool", "--no-cache")
    assert locked() == {"lib": "3.0", "tool": "1.0"}
    assert "1 changed, 1 removed\n  removed gone 1.0\n  changed lib 1.0 -> 3.0\n" in run.err


@pytest.mark.usefixtures("old")
def test_a_lock_that_does_not_change_is_not_touched(cli: Cli) -> None:
    arguments = ("lock", "-r", "app<2", "-r", "lib<2", "-r", "tool<2")
    os.utime(LOCK, (1, 1))
    run = cli(*arguments)
    assert LOCK.stat().st_mtime == 1
    assert run.err.endswith("unchanged: requirements.lock\n")


@pytest.mark.usefixtures("old")
def test_the_lock_does_not_depend_on_how_the_older_one_was_written(cli: Cli) -> None:
    kept = cli("lock", "-r", "app").code, LOCK.read_text()
    LOCK.write_text(
        "# by hand\r\nTool == 1.0\r\napp[x]==1.0 ; python_version > '3'\r\nlib==1.0 --hash=sha256:00\r\n"
    )
    assert (cli("lock", "-r", "app").code, LOCK.read_text()) == kept


def test_without_an_older_lock_everything_is_new(cli: Cli) -> None:
    run = cli("lock", "-r", "app")
    assert locked() == pins(3, 3, 3)
    assert "added" not in run.err


@pytest.mark.usefixtures("old")
def test_standard_output_has_no_older_lock(cli: Cli) -> None:
    assert cli("lock", "-r", "app", "-o", "-").pins == pins(3, 3, 3)
    assert locked() == pins(1, 1, 1)


# --locked


@pytest.mark.usefixtures("old")
def test_locked_is_silent_when_nothing_would_change(cli: Cli) -> None:
    before = LOCK.read_bytes()
    os.utime(LOCK, (1, 1))
    run = cli("lock", "-r", "app<2", "-r", "lib<2", "-r", "tool<2", "--locked", "-q")
    assert run == (0, "", "")
    run = cli("lock", "-r", "app<2", "-r", "lib<2", "-r", "tool<2", "--locked")
    assert (run.code, run.out) == (0, "")
    assert run.err.endswith("unchanged: requirements.lock\n")
    assert (LOCK.read_bytes(), LOCK.stat().st_mtime) == (before, 1)


@pytest.mark.usefixtures("old")
def test_locked_shows_what_would_change(cli: Cli) -> None:
    before = LOCK.read_bytes()
    run = cli("lock", "-r", "app>=2", "-r", "lib", "--locked")
    assert run == (
        1,
        "",
        "error: requirements.lock would change:\n"
        "Major steps:\n"
        "  app 1.0 -> 3.0 (asked for)\n"
        "1 changed\n"
        "hint: run the same command without `--locked` to update requirements.lock\n",
    )
    assert LOCK.read_bytes() == before


@pytest.mark.usefixtures("old")
def test_locked_sees_a_change_without_one_of_pins(cli: Cli) -> None:
    run = cli("lock", "-r", "app<2", "-r", "lib<2", "--locked")
    assert run == (
        1,
        "",
        "error: requirements.lock would change, though no pin does\n"
        "hint: run the same command without `--locked` to update requirements.lock\n",
    )


def test_locked_without_a_lock(cli: Cli) -> None:
    run = cli("lock", "-r", "app", "--locked", "-o", "some/where.lock")
    assert run == (
        1,
        "",
        "error: some/where.lock does not exist\nhint: run the same command without `--locked` to make it\n",
    )
    assert list(Path().iterdir()) == []


def test_locked_needs_a_file(cli: Cli) -> None:
    run = cli("lock", "-r", "app", "--locked", "-o", "-")
    assert run == (
        2,
        "",
        "error: `--locked` compares with a file, and standard output is none\n"
        "hint: name the lock with `--output-file`\n",
    )


@pytest.mark.parametrize("output", ["requirements.lock", "pylock.toml", "lock.json"])
def test_locked_does_not_mind_what_newer_uploads_change_in_comments(
    cli: Cli, index: IndexServer, output: str
) -> None:
    assert cli("lock", "-r", "app<3", "-o", output).code == 0
    index.add("app", "2.9.1", upload_time="2026-06-01T00:00:00Z", requires=["lib>=4"])
    index.add("lib", "4.0", upload_time="2026-06-01T00:00:00Z", requires=["nowhere"])
    run = cli("lock", "-r", "app<3", "-o", output, "--locked", "--no-cache")
    assert (run.code, run.out) == (0, "")
    assert run.err.endswith(f"unchanged: {output}\n")


def test_an_older_pin_that_holds_is_kept_however_old_it_is(cli: Cli, index: IndexServer) -> None:
    index.add("aged", "1.0", upload_time="2020-01-01T00:00:00Z")
    index.add("aged", "2.0", upload_time="2026-03-01T00:00:00Z")
    LOCK.write_text("aged==1.0\n")
    run = cli("lock", "-r", "aged")
    assert run.code == 0
    assert locked() == {"aged": "1.0"}
    assert "aged 1.0 (2251 days behind 2.0" in run.err
    assert cli("lock", "-r", "aged", "-U").code == 0
    assert locked() == {"aged": "2.0"}


# Older locks of every kind, and for several targets

FREEZE = "app==1.0\nlib==2.0\n-e git+https://git.example/x@1#egg=x\nTool @ file:///tool.whl\ntool==1.0\n"
PYLOCK = """\
lock-version = "1.0"
created-by = "another"

[[packages]]
name = "app"
version = "1.0"

[[packages]]
name = "lib"
version = "2.0"
"""
UV_LOCK = """\
version = 1
revision = 3
requires-python = ">=3.10"

[[package]]
name = "p"
version = "0"
source = { virtual = "." }
dependencies = [{ name = "app" }]

[[package]]
name = "app"
version = "1.0"
source = { registry = "https://index.example/simple" }
dependencies = [
    { name = "lib", version = "2.0", source = { registry = "https://index.example/simple" } },
]

[[package]]
name = "lib"
version = "2.0"
source = { registry = "https://index.example/simple" }
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("frozen.txt", FREEZE),
        ("pylock.toml", PYLOCK),
        ("uv.lock", UV_LOCK),
        (
            "requirements.txt",
            "app==1.0 \\\n    --hash=sha256:00\n    # via x\nlib==2.0 ; python_version > '3'\n",
        ),
    ],
)
def test_any_lock_is_an_older_lock(cli: Cli, name: str, text: str) -> None:
    Path(name).write_text(text)
    run = cli("lock", "-r", "app", "--older", name)
    assert run.code == 0
    assert locked() == {"app": "1.0", "lib": "2.0", "tool": "1.0" if name == "frozen.txt" else "3.0"}
    assert Path(name).read_text() == text
    assert cli("lock", "-r", "app", "--older", name, "-P", "lib", "-o", "-").pins["lib"] == "3.0"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "there is no older lock older.txt"),
        ("lib>=1\n", "older.txt pins nothing"),
    ],
)
def test_an_older_lock_that_is_none(cli: Cli, text: str | None, problem: str) -> None:
    if text is not None:
        Path("older.txt").write_text(text)
    run = cli("lock", "-r", "app", "--older", "older.txt")
    assert (run.code, run.err.splitlines()[0]) == (2, f"error: {problem}")


TARGETS = ("--target", "3.12@linux", "--target", "3.12@windows")


@pytest.mark.parametrize("name", ["requirements.lock", "pylock.toml", "lock.json"])
def test_each_target_keeps_its_own_pins(cli: Cli, name: str) -> None:
    split = ("lib<2 ; sys_platform == 'linux'", "lib<3 ; sys_platform == 'win32'")
    lines = [word for line in ("app<2", *split) for word in ("-r", line)]
    assert cli("lock", *lines, *TARGETS, "-o", name).code == 0
    run = cli("lock", "-r", "app", "-r", "lib", *TARGETS, "-o", name)
    assert (run.code, "added" in run.err, "changed" in run.err) == (0, False, False)
    run = cli("lock", "-r", "app", "-r", "lib", *TARGETS, "-o", name, "--locked")
    assert run.code == 0
    run = cli("lock", "-r", "app", "-r", "lib", "--python-platform", "windows", "--older", name, "-o", "-")
    assert run.pins == {"app": "1.0", "lib": "2.0", "tool": "3.0"}
    run = cli("lock", "-r", "app", "-r", "lib", *TARGETS, "-P", "lib", "-o", name)
    assert "1 changed\n  changed lib 1.0, 2.0 -> 3.0\n" in run.err


def test_a_lock_that_is_made_again_stays_as_it_is(cli: Cli, index: IndexServer) -> None:
    # A newer release of the root itself holds it back, which a run that keeps the pins has no need to read.
    for number in range(4, 9):
        index.add("app", f"{number}.0", requires=["lib<2"], upload_time=f"2026-0{number}-01T00:00:00Z")
    index.add("top", "1.0", requires=["lib>=2"], upload_time="2026-04-01T00:00:00Z")
    wanted = ("lock", "-r", "app", "-r", "top")
    assert cli(*wanted).code == 0
    first = LOCK.read_text()
    assert "held back by app 4.0 needs lib<2" in first
    run = cli(*wanted)
    assert LOCK.read_text() == first
    assert "unchanged: requirements.lock" in run.err
