"""The driver of the running machine, from a made-up `nvidia-smi` and without any."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from compatlock.environment.cuda import running_driver
from compatlock.errors import InputError

NO_LIBRARY = "libcompatlock-no-such-library.so.1"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="makes shell scripts")


def script(folder: Path, body: str) -> str:
    """A program that stands for `nvidia-smi`."""
    path = folder / "smi"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def test_the_driver_that_the_program_tells(tmp_path: Path) -> None:
    body = (
        '[ "$*" = "--query-gpu=driver_version --format=csv,noheader" ] && printf "570.133.20\\n570.133.20\\n"'
    )
    assert running_driver(script(tmp_path, body), NO_LIBRARY) == "570.133.20"


def test_the_program_is_looked_for_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path, "echo 580.65.06")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert running_driver("smi", NO_LIBRARY) == "580.65.06"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("echo 'No devices were found' >&2; exit 6", "fails (No devices were found)"),
        ("exit 9", "fails (9)"),
        ("echo '[N/A]'", "says `[N/A]`, which is no version"),
        ("true", "names no driver"),
    ],
)
def test_a_program_that_does_not_tell(tmp_path: Path, body: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        running_driver(script(tmp_path, body), NO_LIBRARY)
    assert said in caught.value.message
    assert f"{NO_LIBRARY} cannot be loaded" in caught.value.message


def test_neither_program_nor_library() -> None:
    with pytest.raises(InputError) as caught:
        running_driver("compatlock-no-such-program", NO_LIBRARY)
    assert caught.value.message == (
        "no NVIDIA driver was found on this machine: `compatlock-no-such-program` is not there; "
        f"{NO_LIBRARY} cannot be loaded"
    )
    assert list(caught.value.hints) == ["say what the target runs: `--driver 570` or `--cuda 12.8`"]


def test_a_library_without_the_functions() -> None:
    """Some library that can be loaded, but is not the driver's."""
    library = "libc.so.6" if sys.platform == "linux" else "libSystem.B.dylib"
    with pytest.raises(InputError, match="cannot be loaded"):
        running_driver("compatlock-no-such-program", library)
