"""TOML text: what is written is what is read, and how it looks."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compatlock.lockfile.toml_text import table_lines
from compatlock.model.toml import parse_toml

_scalars = (
    st.text()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.datetimes(timezones=st.just(timezone.utc)).map(lambda time: time.replace(microsecond=0))
)
_values = st.recursive(
    _scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10
)


@given(st.dictionaries(st.text(), _values))
def test_what_is_written_is_read(values: dict[str, Any]) -> None:
    assert parse_toml("\n".join(table_lines(values)), "values.toml") == values


def test_layout() -> None:
    values = {
        "lock-version": "1.0",
        "a key": 'quote " \\ \n\x7f',
        "hour": datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=2))),
        "short": ["a", "b"],
        "none": [],
        "long": ["x" * 60, "y" * 60],
        "tables": [{"name": "a"}, {}],
        "flag": True,
        "surrogate": "\udc80",
    }
    assert list(table_lines(values)) == [
        'lock-version = "1.0"',
        '"a key" = "quote \\" \\\\ \\n\\u007f"',
        "hour = 2025-12-31T23:00:00Z",
        'short = ["a", "b"]',
        "none = []",
        "long = [",
        f'    "{"x" * 60}",',
        f'    "{"y" * 60}",',
        "]",
        "tables = [",
        '    { name = "a" },',
        "    {},",
        "]",
        "flag = true",
        'surrogate = "?"',
    ]


def test_other_values_are_a_mistake_of_the_program() -> None:
    with pytest.raises(TypeError, match="no TOML value: float"):
        list(table_lines({"a": 1.5}))
