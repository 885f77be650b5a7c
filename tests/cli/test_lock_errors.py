"""What is said when it does not work, and the exit codes: 1 no solution, 2 bad input, 3 index or network."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command import SOURCE, Cli, run_apart
from tests.support.index_server import IndexServer

TARGET = ("--python-version", "3.12", "--python-platform", "linux")


@pytest.fixture(autouse=True)
def projects(index: IndexServer) -> None:
    index.add("app", "1.0", requires=["lib>=2"], upload_time="2026-01-01T00:00:00Z")
    index.add("lib", "1.0", upload_time="2026-01-01T00:00:00Z")
    index.add("lib", "2.0", extras={"fast": []}, upload_time="2026-01-01T00:00:00Z")


# Bad input: 2


def test_bad_lines_are_all_named(cli: Cli) -> None:
    Path("r.in").write_text("app\nlib>=2.*\nlib==1 ==2\n-e .\n")
    run = cli("lock", "r.in")
    assert run.code == 2
    assert run.err == (
        "error: r.in:2: lib>=2.*: only `==` and `!=` take a wildcard; write `lib>=2`\n"
        "r.in:3: lib==1 ==2: bounds are joined by a comma; write `lib==1,==2`\n"
        "r.in:4: an editable project is not resolved; for what it needs name its pyproject.toml on the "
        "command line (pyproject.toml), and remove this line\n"
    )


def test_a_bad_requirement_option(cli: Cli) -> None:
    assert cli("lock", "-r", "lib>=", "-r", "app", "-r", "app!") == (
        2,
        "",
        "error: --requirement: lib>=: no version follows `>=`\n"
        "--requirement: app!: not a valid requirement (expected semicolon (after name with no version "
        "specifier) or end)\n",
    )


@pytest.mark.parametrize("arguments", [("no.in",), ("-c", "no.in", "-r", "app")])
def test_a_missing_file(cli: Cli, arguments: tuple[str, ...]) -> None:
    assert cli("lock", *arguments) == (2, "", "error: there is no file no.in\n")


def test_a_file_that_a_file_names_is_missing(cli: Cli) -> None:
    Path("r.in").write_text("app\n-r no.in\n")
    assert cli("lock", "r.in") == (2, "", "error: r.in:2: there is no file no.in\n")


@pytest.mark.parametrize("path", [".", "../work"])
def test_a_directory_as_input(cli: Cli, path: str) -> None:
    assert cli("lock", path) == (2, "", f"error: {path} is a directory, not a requirements file\n")


def test_binary_input(cli: Cli) -> None:
    run = cli("lock", "-", stdin=b"\x89PNG\x00\xff\xfe\x00")
    assert run.code == 2
    assert run.err.startswith("error: <stdin>")


def test_nothing_to_lock(cli: Cli) -> None:
    expected = (
        2,
        "",
        "error: nothing to lock: no requirement was given\n"
        "hint: name a requirements file, `--requirement 'vllm>=0.22'` or `--profile async-grpo`\n",
    )
    assert cli("lock") == expected
    assert cli("lock", "-", stdin=b"# empty\n") == expected


def test_an_unknown_profile(cli: Cli) -> None:
    run = cli("lock", "--profile", "async-grp")
    assert run.code == 2
    assert run.err.startswith(
        "error: unknown profile `async-grp`\n"
        "hint: did you mean `async-grpo`?\n"
        "hint: known profiles: async-grpo, "
    )


def test_an_unknown_option(cli: Cli) -> None:
    run = cli("lock", "--index-url", "x")
    assert (run.code, run.out) == (2, "")
    assert "No such option" in run.err
    assert "--index-url" in run.err


def test_an_unknown_command(cli: Cli) -> None:
    run = cli("look")
    assert run.code == 2
    assert "No such command 'look'" in run.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--prerelease", "maybe"),
            "unknown pre-release mode `maybe`\nhint: known: if-necessary-or-explicit, ",
        ),
        (("--strategy", "lucky"), "'lucky' is not one of 'optimal', 'greedy'."),
    ],
)
def test_an_unknown_choice(cli: Cli, arguments: tuple[str, str], message: str) -> None:
    run = cli("lock", "-r", "app", *arguments)
    assert run.code == 2
    assert message in run.err


def test_an_unknown_platform(cli: Cli) -> None:
    run = cli("lock", "-r", "app", "--python-platform", "amiga")
    assert run.code == 2
    assert run.err.startswith("error: unknown platform `amiga`\nhint: known: linux, windows, macos, ")


@pytest.mark.parametrize("version", ["4.0", "2.7", "three", "3.12rc1"])
def test_an_unknown_python(cli: Cli, version: str) -> None:
    assert cli("lock", "-r", "app", "--python-version", version) == (
        2,
        "",
        f"error: `{version}` is no Python version that can be locked for\n"
        "hint: write 3.X or 3.X.Y, such as `--python-version 3.12`\n",
    )


@pytest.mark.parametrize("text", ["yesterday", "2026-13-01", "2026-02-30", "2026-01-01T25:00:00Z", "2026"])
def test_a_bad_time(cli: Cli, text: str) -> None:
    assert cli("lock", "-r", "app", "--exclude-newer", text) == (
        2,
        "",
        f"error: `{text}` is no point in time\n"
        "hint: write a date such as 2026-05-30 or a timestamp such as 2026-05-30T14:00:00Z\n",
    )


def test_a_bad_facts_file(cli: Cli) -> None:
    Path("facts.toml").write_text("[[fact]]\nid = 3\n")
    run = cli("lock", "-r", "app", "--facts", "facts.toml")
    assert run.code == 2
    assert run.err.startswith("error: facts.toml")
    assert cli("lock", "-r", "app", "--facts", "no.toml").code == 2


@pytest.mark.parametrize("url", ["ftp://index.example/simple/", "index.example", "https://"])
def test_a_bad_index_url(cli: Cli, url: str) -> None:
    assert cli("lock", "-r", "app", "--default-index", url) == (
        2,
        "",
        f"error: `{url}` (from --default-index) is not the URL of an index: it must begin with https:// or http://\n"
        "hint: give the root of a Simple index, such as https://index.example/simple/\n",
    )


def test_a_lock_that_cannot_be_written(cli: Cli) -> None:
    assert cli("lock", "-r", "app", "-q", "-o", "no/where.lock") == (
        2,
        "",
        "error: no/where.lock cannot be written: there is no such directory\n",
    )
    Path("folder").mkdir()
    run = cli("lock", "-r", "app", "-q", "-o", "folder")
    assert run == (2, "", "error: folder cannot be read: Is a directory\n")
    Path("file").write_text("")
    run = cli("lock", "-r", "app", "-q", "-o", "file/x.lock")
    assert run == (2, "", "error: file/x.lock cannot be read: Not a directory\n")
    assert sorted(path.name for path in Path().iterdir()) == ["file", "folder"]


def test_the_input_is_not_overwritten(cli: Cli) -> None:
    for name in ("r.in", "c.txt"):
        Path("r.in").write_text("app\n")
        Path("c.txt").write_text("app\n")
        run = cli("lock", "r.in", "-c", "c.txt", "-o", f"./{name}")
        assert run == (
            2,
            "",
            f"error: ./{name} is read and would be overwritten\n"
            "hint: name another file with `--output-file`\n",
        )
        assert Path(name).read_text() == "app\n"


def test_a_cache_that_cannot_be(cli: Cli) -> None:
    Path("file").write_text("")
    run = cli("lock", "-r", "app", "--cache-dir", "file/cache")
    assert run.code == 2
    assert run.err == (
        "error: the cache directory file/cache cannot be used: a part of its path is a file\n"
        "hint: name another with `--cache-dir`, or use `--no-cache`\n"
    )
    run = cli("lock", "-r", "app", "--cache-dir", "file")
    assert run.code == 2
    assert run.err.startswith("error: the cache directory file cannot be used: it is not a directory\n")
    assert cli("lock", "-r", "app", "--cache-dir", "file/cache", "--no-cache").code == 0


@pytest.mark.skipif(sys.platform == "win32" or os.access("/", os.W_OK), reason="root may read everything")
@pytest.mark.parametrize("path", ["folder", "folder/cache"])
def test_a_cache_that_must_not_be_read(cli: Cli, path: str) -> None:
    Path("folder").mkdir(mode=0)
    run = cli("lock", "-r", "app", "--cache-dir", path)
    Path("folder").chmod(0o700)
    assert run.code == 2
    assert run.err.lower().startswith(
        f"error: the cache directory {path} cannot be used: permission denied\n"
    )


# No solution: 1


def test_no_solution(cli: Cli) -> None:
    run = cli("lock", "-r", "app", "-r", "lib<2", *TARGET)
    assert (run.code, run.out) == (1, "")
    assert run.err.startswith(
        "error: `app` and `lib<2` cannot be satisfied together for CPython 3.12.0 on "
        "x86_64-manylinux_2_28:\n"
        "  --requirement asks for app\n"
        "  --requirement asks for lib<2\n"
        "  app 1.0 needs lib>=2\n"
    )
    assert list(Path().iterdir()) == []


def test_an_unknown_project(cli: Cli) -> None:
    run = cli("lock", "-r", "nowhere", *TARGET)
    assert run.code == 1
    assert "\n  the index has no project `nowhere`\n" in run.err
    assert "hint: check the spelling of `nowhere`" in run.err


def test_an_extra_that_nothing_has(cli: Cli) -> None:
    run = cli("lock", "-r", "lib[fats]", *TARGET)
    assert run.code == 1
    assert "have no extra `fats`; 2.0 has fast\n" in run.err
    assert "hint: did you mean `lib[fast]`?\n" in run.err


def test_a_release_that_only_another_python_has(cli: Cli, index: IndexServer) -> None:
    index.add("old", "1.0", requires_python="<3.10")
    run = cli("lock", "-r", "old", *TARGET)
    assert run.code == 1
    assert "no release of old can be used for CPython 3.12.0" in run.err
    assert "<3.10" in run.err


# Index or network: 3


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_an_index_that_is_down(cli: Cli) -> None:
    url = f"http://user:secret@127.0.0.1:{free_port()}/simple/"
    run = cli("lock", "-r", "app", "--default-index", url)
    assert run.code == 3
    assert run.err == (
        f"error: `{url.replace('user:secret@', '')}app/` could not be read: Connection refused\n"
        "hint: check the network and the index URL (--default-index), or try again later\n"
    )


def test_an_index_that_fails(cli: Cli, index: IndexServer) -> None:
    index.fail("/simple/lib/", status=503, times=99)
    run = cli("lock", "-r", "app")
    assert run.code == 3
    assert run.err == (
        f"error: `{index.url}lib/` could not be read: the server answered 503\n"
        "hint: check the network and the index URL (--default-index), or try again later\n"
    )
    assert list(Path().iterdir()) == []


def test_an_index_that_is_something_else(cli: Cli, index: IndexServer) -> None:
    index.replace("/simple/app/", b'{"hello": "world"}', times=9)
    run = cli("lock", "-r", "app")
    assert run.code == 3
    assert "should list the files of `app`" in run.err


def test_offline_with_an_empty_cache(cli: Cli, index: IndexServer) -> None:
    assert cli("lock", "-r", "app", "--offline") == (
        3,
        "",
        "error: offline, and the cache holds nothing about app\n"
        "hint: run once without `--offline`, with the same target and index\n",
    )
    assert index.count() == 0


# Processes


def test_the_exit_code_of_the_process(index: IndexServer, tmp_path: Path) -> None:
    common = ("--default-index", index.url, "--cache-dir", str(tmp_path / "cache"))
    run = run_apart("lock", "-r", "app", *common, cwd=tmp_path)
    assert (run.code, run.out) == (0, "")
    run = run_apart("lock", "-r", "app>9", *common, cwd=tmp_path)
    assert run.code == 1
    assert run.err.startswith("error: ")
    assert run_apart("lock", "nothing.in", *common, cwd=tmp_path).code == 2
    assert run_apart("lock", "-r", "app", "--offline", "--no-cache", *common, cwd=tmp_path).code == 3


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX pipe")
def test_a_reader_that_goes_away(index: IndexServer, tmp_path: Path) -> None:
    words = [
        sys.executable,
        "-m",
        "compatlock",
        "lock",
        "-r",
        "app",
        "--default-index",
        index.url,
        "--no-cache",
    ]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*words, "-o", "-", "-q"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writer)
    assert done.stderr == b""


@pytest.mark.parametrize(
    "option", ["--profile", "--facts", "--constraint", "--older", "--exclude-newer", "--cuda"]
)
def test_a_url_in_the_wrong_place_shows_no_credentials(cli: Cli, option: str) -> None:
    run = cli("lock", "--requirement", "app", option, "https://user:hunter2@index.example/x", "--json")
    assert run.code == 2
    assert "hunter2" not in run.err + run.out
    assert "https://****@index.example/x" in run.err
    assert "https://****@index.example/x" in run.out
