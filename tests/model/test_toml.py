"""TOML text into values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compatlock.errors import InputError
from compatlock.model.toml import parse_toml


def test_values() -> None:
    assert parse_toml('a = "é"\r\n[b]\nc = 1\n', "x.toml") == {"a": "é", "b": {"c": 1}}
    assert parse_toml('\ufeffa = "é"'.encode(), "x.toml") == {"a": "é"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a = 1\na = 2\n", "x.toml:2: not valid TOML: Cannot overwrite a value"),
        ("\n\n[x\n", "x.toml:3: not valid TOML: Expected ']' at the end of a table declaration"),
        (b"a = 1\nb = '\xff'\n", "x.toml:2: not UTF-8 text; TOML must be"),
        (f"a = {'[' * 5000}", "x.toml: not valid TOML: nested too deeply"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(content: str | bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_toml(content, "x.toml")
    assert caught.value.message == message


@given(st.binary() | st.text())
def test_anything_is_read_or_refused(content: bytes | str) -> None:
    try:
        values = parse_toml(content, "x.toml")
    except InputError:
        return
    assert isinstance(values, dict)
