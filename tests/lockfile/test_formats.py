"""Formats of lock files by their names."""

from __future__ import annotations

import json

import pytest

from compatlock.errors import InputError
from compatlock.lockfile.formats import FORMATS, format_of, read_pins_of, render_as
from compatlock.lockfile.lock_json import from_json
from compatlock.lockfile.origins import without_line_numbers
from compatlock.lockfile.pylock import render_pylock
from compatlock.lockfile.requirements_lock import render
from compatlock.model.lock import Lock, LockedEdge, LockedFile, OlderPin, Pin

LOCK = Lock(
    (Pin("a-b", "1.0", (LockedFile("a_b-1.0.tar.gz", "aa", url="https://index.example/a_b-1.0.tar.gz"),)),),
    (LockedEdge("", "a-b", origin="r.in:3"),),
)


@pytest.mark.parametrize(
    ("path", "asked", "expected"),
    [
        ("requirements.lock", "", "requirements"),
        ("requirements.txt", "", "requirements"),
        ("lock", "", "requirements"),
        ("-", "", "requirements"),
        ("pylock.toml", "", "pylock"),
        ("some where/pylock.gpu-12.toml", "", "pylock"),
        ("C:\\locks\\pylock.toml", "", "pylock"),
        ("lock.json", "", "json"),
        ("LOCK.JSON", "", "json"),
        ("pylock.json", "", "json"),
        ("-", "pylock", "pylock"),
        ("-", "json", "json"),
        ("pylock.toml", "requirements", "requirements"),
        ("lock.json", "requirements", "requirements"),
        ("x.toml", "requirements", "requirements"),
        ("x.txt", "json", "json"),
    ],
)
def test_format_of(path: str, asked: str, expected: str) -> None:
    assert format_of(path, asked) == expected


@pytest.mark.parametrize(
    ("path", "asked", "message", "hints"),
    [
        ("x", "yaml", "unknown format `yaml`", ("known: requirements, pylock, json",)),
        (
            "pyproject.toml",
            "",
            "pyproject.toml: a lock in TOML is named pylock.toml or pylock.NAME.toml (PEP 751)",
            ("for another format under this name, say so: `--format requirements`",),
        ),
        (
            "pylock.a.b.toml",
            "",
            "pylock.a.b.toml: a lock in TOML is named pylock.toml or pylock.NAME.toml (PEP 751)",
            ("for another format under this name, say so: `--format requirements`",),
        ),
        (
            "out/lock.txt",
            "pylock",
            "out/lock.txt: a lock in TOML is named pylock.toml or pylock.NAME.toml (PEP 751)",
            (),
        ),
    ],
)
def test_format_that_cannot_be(path: str, asked: str, message: str, hints: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        format_of(path, asked)
    assert caught.value.message == message
    assert caught.value.hints == hints


def test_text_of_each_format() -> None:
    assert render_as("requirements", LOCK, "1", "x.lock") == render(LOCK, tool_version="1", path="x.lock")
    assert render_as("requirements", LOCK, "1", "-") == render(LOCK, tool_version="1")
    path = "pylock.x.toml"
    assert render_as("pylock", LOCK, "1", path) == render_pylock(LOCK, tool_version="1", path=path)
    assert render_as("pylock", LOCK, "1", "-") == render_pylock(LOCK, tool_version="1")
    text = render_as("json", LOCK, "1", "x.json")
    assert from_json(json.loads(text)) == without_line_numbers(LOCK)
    assert text.endswith("}\n")


@pytest.mark.parametrize("fmt", FORMATS)
def test_pins_come_back_from_each_format(fmt: str) -> None:
    path = {"pylock": "pylock.toml"}.get(fmt, f"lock.{fmt}")
    text = render_as(fmt, LOCK, "1", path)
    assert read_pins_of(path, text) == (OlderPin("a-b", "1.0"),)
    assert read_pins_of("-", text, fmt) == (OlderPin("a-b", "1.0"),)
    assert read_pins_of(path, " \n", fmt) == ()


def test_a_file_that_is_something_else_is_not_taken_for_a_lock() -> None:
    for text, problem in (
        ('{"name": "web"}', "the lock has the form version None; this compatlock reads 1: lock again"),
        ("[1]", "the lock: an object is expected"),
        ("{", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
    ):
        with pytest.raises(InputError) as caught:
            read_pins_of("package.json", text)
        assert caught.value.message == f"package.json is not a lock of compatlock ({problem})"
        assert caught.value.hints == ("write to another file, or remove this one",)
    with pytest.raises(InputError, match=r"^pylock\.toml:1: not valid TOML"):
        read_pins_of("pylock.toml", "a b")
    assert read_pins_of("notes.txt", "anything\nat all") == ()
