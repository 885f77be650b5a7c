"""uv.lock as an input."""

from __future__ import annotations

from pathlib import Path

import pytest

from compatlock.errors import InputError
from compatlock.lockfile.formats import UV, format_of, read_pins_of, render_as
from compatlock.lockfile.uv_lock_read import read_uv_lock, requires_python_of
from compatlock.model.lock import LockedFile, OlderPin

TEXT = (Path(__file__).parent / "data" / "uv.lock").read_text(encoding="utf-8")


def test_each_package_has_the_marker_under_which_the_project_reaches_it() -> None:
    lock = read_uv_lock(TEXT)
    assert [(pin.name, pin.version, pin.marker) for pin in lock.pins] == [
        ("lib", "1.0", "python_full_version < '3.12'"),
        ("lib", "2.0", "python_full_version >= '3.12'"),
        (
            "shared",
            "1.0",
            "(sys_platform == 'linux' or sys_platform == 'darwin')"
            " or python_full_version < '3.13' and sys_platform == 'win32'",
        ),
        ("speed", "1.0", ""),
        ("tool", "3.0", ""),
        ("win", "1.0", "sys_platform == 'win32'"),
    ]
    assert lock.roots == ("lib", "tool", "win")
    assert lock.pins[4].extras == ("fast",)
    name = "lib-1.0-py3-none-any.whl"
    assert lock.pins[0].files == (LockedFile(name, "aa", 5, None, f"https://index.example/files/{name}"),)
    assert lock.pins[1].files[0].filename == "lib-2.0.tar.gz"
    assert lock.notes == (
        "it requires Python >=3.11",
        "uv.lock: check is not a release from an index, and is left out",
    )
    assert ("tool", "speed", "fast") in {(e.package, e.on, e.extra) for e in lock.edges}
    assert [e.specifier for e in lock.edges if not e.package and e.on == "lib"] == [">=1"]


def test_it_is_an_older_lock_but_never_an_output() -> None:
    assert format_of("some/uv.lock") == UV
    plain = read_uv_lock(TEXT).older_pins
    more = set(read_pins_of("uv.lock", TEXT)) - set(plain)
    assert set(plain) <= set(read_pins_of("uv.lock", TEXT))
    # What an extra alone needs: it may be asked for now.
    assert more == {OlderPin("unused", "1.0")}
    assert len([pin for pin in read_pins_of("uv.lock", TEXT) if pin.name == "lib" and pin.marker]) == 2
    with pytest.raises(InputError, match=r"a uv\.lock is written by uv"):
        render_as(UV, read_uv_lock(TEXT), "1", "uv.lock")


def test_an_extra_that_needs_another_version_leaves_the_older_lock_as_it_was() -> None:
    lines = ["version = 1"]
    for version in ("1", "2"):
        lines += ["[[package]]", "name = 'lib'", f"version = '{version}'", "source = { registry = 'r' }"]
    lines += ["[[package]]", "name = 'demo'", "version = '0'", "source = { virtual = '.' }"]
    lines += ["dependencies = [{ name = 'lib', version = '1' }]", "[package.optional-dependencies]"]
    lines += ["new = [{ name = 'lib', version = '2' }]"]
    assert read_pins_of("uv.lock", "\n".join(lines)) == (OlderPin("lib", "1"),)


def test_the_pythons_that_it_is_for() -> None:
    assert requires_python_of(TEXT) == ">=3.11"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a = ", r"uv\.lock: not valid TOML"),
        ("version = 9", r"a uv\.lock of version 9; this compatlock reads 1"),
        ("version = 1\npackage = 3", "`package` is expected to be a list"),
        ("version = 1\n[[package]]\nversion = '1'", "`name` is expected to be text"),
    ],
)
def test_what_is_no_uv_lock(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read_uv_lock(text)
