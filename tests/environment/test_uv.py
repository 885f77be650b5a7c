"""Running uv: where it is found, what it is told, and how its failures are told."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from compatlock.environment.uv import Planned, UvSettings, environment_of, find_uv, planned, run_uv
from compatlock.errors import IndexUnavailable, InputError, InstallFailed
from compatlock.model.index import Indexes, parse_indexes

posix = pytest.mark.skipif(os.name != "posix", reason="a script stands for uv")


def script(folder: Path, body: str) -> str:
    path = folder / "uv"
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def test_the_package_has_it() -> None:
    assert Path(find_uv()).name.startswith("uv")


@posix
def test_without_the_package_it_is_looked_for_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "uv", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="the `uv` program is not there") as caught:
        find_uv()
    assert caught.value.exit_code == 2
    path = script(tmp_path, "exit 0")
    assert find_uv() == path


def test_what_would_change_the_installation_is_put_aside() -> None:
    given = {
        "UV_OVERRIDE": "o.txt",
        "UV_INDEX": "https://other.example/",
        "UV_LINK_MODE": "copy",
        "PATH": "p",
    }
    assert environment_of(UvSettings(Indexes()), given) == {
        "UV_LINK_MODE": "copy",
        "PATH": "p",
        "UV_PREVIEW_FEATURES": "pylock",
    }
    indexes = parse_indexes(
        "https://me:secret@index.example/simple/",
        ["cu=https://cu.example/"],
        ["torch=cu", "x=https://x.example/"],
    )
    values = environment_of(UvSettings(indexes, cert="ca.pem"), {"UV_PREVIEW_FEATURES": "format"})
    assert values == {
        "UV_DEFAULT_INDEX": "https://me:secret@index.example/simple/",
        "UV_INDEX": "https://cu.example/ https://x.example/",
        "SSL_CERT_FILE": "ca.pem",
        "UV_PREVIEW_FEATURES": "format,pylock",
    }


@posix
def test_flags_are_passed_on(tmp_path: Path) -> None:
    program = script(tmp_path, 'echo "$@"')
    settings = UvSettings(Indexes(), offline=True, cache_dir="/c", cache=False)
    said = run_uv(program, ["pip", "sync"], settings, asked="install")
    assert (
        said
        == "pip sync --no-config --no-python-downloads --color never --offline --no-cache --cache-dir /c\n"
    )


@posix
def test_what_is_shown_goes_to_standard_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = script(tmp_path, "echo one\necho two >&2\nexit 3")
    with pytest.raises(InstallFailed, match=r"uv could not install it \(exit code 3\)"):
        run_uv(program, [], UvSettings(Indexes()), asked="install it", shown=True)
    assert capfd.readouterr() == ("", "one\ntwo\n")


@posix
@pytest.mark.parametrize(
    ("words", "kind", "code"),
    [
        ("cause: error sending request for url (https://me:pw@index.example/)", IndexUnavailable, 3),
        ("hint: Packages were unavailable because the network was disabled.", IndexUnavailable, 3),
        ("cause: Hash mismatch for `app==1.0`", InstallFailed, 1),
        ("error: something else", InstallFailed, 1),
    ],
)
def test_failures(tmp_path: Path, words: str, kind: type[InstallFailed], code: int) -> None:
    program = script(tmp_path, f"cat >&2 <<'END'\n{words}\nEND\nexit 1")
    with pytest.raises(kind, match="uv could not install it") as caught:
        run_uv(program, [], UvSettings(Indexes()), asked="install it")
    assert caught.value.exit_code == code
    assert words.replace("me:pw", "****") in caught.value.message
    assert bool(caught.value.hints) is ("Hash" in words)


def test_a_program_that_cannot_be_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be run"):
        run_uv(str(tmp_path / "gone"), [], UvSettings(Indexes()), asked="install it")


def test_a_plan_is_read() -> None:
    said = "Would install 2 packages\n + app==1.0\n - extra==1.0\n - lib==1.0\n + lib==2.0\n ~ same==3\n"
    assert planned(said) == Planned({"app": "1.0", "lib": "2.0", "same": "3"}, {"extra": "1.0", "lib": "1.0"})
