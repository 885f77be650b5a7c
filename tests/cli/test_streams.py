"""Standard streams and outputs that are closed, full or no files."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from compatlock.cli.messages import out
from tests.support.command import SOURCE, Cli, pins_of
from tests.support.index_server import IndexServer

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")

needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
DONE = (0, "")


@pytest.fixture(autouse=True)
def app(index: IndexServer) -> None:
    index.add("app", "1.0", upload_time="2026-01-01T00:00:00Z")


def shell(words: str, index: IndexServer, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run `compatlock WORDS` with the redirections in them."""
    return subprocess.run(
        ["sh", "-c", f'"$PYTHON" -m compatlock {words}'],
        cwd=folder,
        env={
            **os.environ,
            "PYTHON": sys.executable,
            "PYTHONPATH": str(SOURCE),
            "COMPATLOCK_DEFAULT_INDEX": index.url,
            "COMPATLOCK_CACHE_DIR": str(folder / "cache"),
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@needs_full
@pytest.mark.parametrize(
    "words", ["lock -r app -q -o -", "lock -r app -q --json", "profiles list", "--version"]
)
def test_standard_output_is_full(words: str, index: IndexServer, tmp_path: Path) -> None:
    run = shell(f"{words} >/dev/full", index, tmp_path)
    assert run.returncode == 2
    assert run.stderr.startswith("error: ")
    assert run.stderr.endswith("No space left on device\n")
    assert run.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    ["lock -r app -q -o -", "lock -r app -q --json", "config", "profiles list", "conflicts list --json"],
)
def test_standard_output_is_closed(words: str, index: IndexServer, tmp_path: Path) -> None:
    run = shell(f"{words} >&-", index, tmp_path)
    assert run.returncode == 2
    assert run.stderr.startswith("error: standard output cannot be written: it is closed\n")


@pytest.mark.parametrize(
    "closed", [">&-", "2>&-", ">&- 2>&-", "<&-", pytest.param("2>/dev/full", marks=needs_full)]
)
def test_a_stream_that_is_not_needed(closed: str, index: IndexServer, tmp_path: Path) -> None:
    run = shell(f"lock -r app -o app.lock {closed}", index, tmp_path)
    assert (run.returncode, run.stdout) == DONE
    assert "Traceback" not in run.stderr
    assert pins_of((tmp_path / "app.lock").read_text()) == {"app": "1.0"}


@pytest.mark.parametrize("closed", ["2>&-", pytest.param("2>/dev/full", marks=needs_full)])
@pytest.mark.parametrize(("words", "code"), [("-r 'app>9'", 1), ("no.in", 2), ("--no-such-option", 2)])
def test_an_error_that_nobody_hears(
    closed: str, words: str, code: int, index: IndexServer, tmp_path: Path
) -> None:
    run = shell(f"lock {words} {closed}", index, tmp_path)
    assert (run.returncode, run.stdout) == (code, "")


def test_standard_input_is_closed(index: IndexServer, tmp_path: Path) -> None:
    run = shell("lock - <&-", index, tmp_path)
    assert run.returncode == 2
    assert run.stderr == "error: <stdin> cannot be read: standard input is closed\n"


# Outputs that are no files


def test_a_pipe_is_no_older_lock(index: IndexServer, tmp_path: Path) -> None:
    run = shell("lock -r app -q -o /dev/stdout | cat", index, tmp_path)
    assert pins_of(run.stdout) == {"app": "1.0"}
    assert run.stderr == ""


def test_a_named_pipe(cli: Cli) -> None:
    os.mkfifo("pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(Path("pipe").read_text()), daemon=True)
    reader.start()
    assert cli("lock", "-r", "app", "-q", "-o", "pipe") == (0, "", "")
    reader.join(30)
    assert [pins_of(text) for text in read] == [{"app": "1.0"}]


def test_locked_compares_with_no_pipe(cli: Cli) -> None:
    os.mkfifo("pipe")
    assert cli("lock", "-r", "app", "--locked", "-o", "pipe") == (
        2,
        "",
        "error: `--locked` compares with a file, and pipe is none\n"
        "hint: name the lock with `--output-file`\n",
    )


# Errors as data


@pytest.mark.parametrize(
    ("words", "message"),
    [(("no.in",), "there is no file no.in"), (("--strategy", "lucky"), "'lucky' is not one of")],
)
def test_wrong_usage_as_json(cli: Cli, words: tuple[str, ...], message: str) -> None:
    run = cli("lock", *words, "--json")
    assert run.code == 2
    error = json.loads(run.out)["error"]
    assert (error["kind"], error["exit_code"]) == ("InputError", 2)
    assert message in error["message"]
    assert message in run.err


@pytest.mark.parametrize(
    "words",
    ["lock -r app -q -o -", "matrix app app2 -q", "matrix app app2 -q --json", "conflicts list", "--help"],
)
def test_a_reader_that_has_gone_is_no_failure(words: str, index: IndexServer, tmp_path: Path) -> None:
    index.add("app2", "1.0", upload_time="2026-01-01T00:00:00Z")
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.run(
        [sys.executable, "-m", "compatlock", *words.split()],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": str(SOURCE),
            "COMPATLOCK_DEFAULT_INDEX": index.url,
            "COMPATLOCK_CACHE_DIR": str(tmp_path / "cache"),
        },
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(writer)
    assert (process.returncode, process.stderr) == DONE


def test_characters_that_a_stream_cannot_take(
    index: IndexServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.add("lib", "1.0", requires=["app<1"], upload_time="2026-01-01T00:00:00Z")
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    monkeypatch.setenv("LC_ALL", "C")
    run = shell("matrix app lib -q", index, tmp_path)
    assert (run.returncode, run.stderr) == DONE
    assert run.stdout.startswith("app x lib\n")
    assert "Traceback" not in run.stdout
    shown = shell("matrix app lib -q --json -o m.json", index, tmp_path)
    assert (shown.returncode, shown.stderr) == DONE
    assert json.loads(shown.stdout) == json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))


def test_what_stands_for_characters_that_an_encoding_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    def written(text: str, encoding: str, *, is_json: bool = False) -> str:
        stream = io.TextIOWrapper(io.BytesIO(), encoding)
        monkeypatch.setattr(sys, "stdout", stream)
        out(text, is_json=is_json)
        return stream.buffer.getvalue().decode(encoding)

    text = "a × b ✓ ◐ é 💥"
    assert written(text, "ascii") == "a x b + ~ ? ?"
    assert written(text, "latin-1") == "a × b + ~ é ?"
    assert written(text, "utf-8") == text
    quoted = json.dumps(text, ensure_ascii=False)
    assert written(quoted, "ascii", is_json=True) == json.dumps(text)
    assert json.loads(written(quoted, "latin-1", is_json=True)) == text


@pytest.mark.parametrize("command", ["matrix", "explain"])
def test_the_help_says_what_is_printed_as_json(cli: Cli, command: str) -> None:
    said = " ".join(cli(command, "--help").out.split())
    what = {"matrix": "matrices", "explain": "explanation"}[command]
    assert f"--json Print the {what} as JSON on standard output." in said
