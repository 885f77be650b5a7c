"""JSON read without the package `json`."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compatlock.model.json_text import loads

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_what_json_writes_is_read_as_json_reads_it(value: object) -> None:
    for text in (json.dumps(value), json.dumps(value, separators=(",", ":")), json.dumps(value, indent=1)):
        assert loads(text) == json.loads(text) == value


@pytest.mark.parametrize(
    "text", ["", " ", "[", "[1,", '"a', "[1] 2", "nothing", "{1: 2}", "[1]\n", "\ufeff1"]
)
def test_what_is_no_json(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the scanner has words of its own
        loads(text)


PROGRAM = """
import sys
from compatlock.model.json_text import loads
try:
    print(loads(sys.argv[1]))
except ValueError:
    print("wrong")
print(*sys.modules)
"""


@pytest.mark.parametrize(("text", "value"), [("[1]", "[1]"), ("[1", "wrong"), ('"a', "wrong"), ("", "wrong")])
def test_it_needs_no_other_module(text: str, value: str) -> None:
    run = subprocess.run([sys.executable, "-c", PROGRAM, text], stdout=subprocess.PIPE, text=True, check=True)
    said, modules = run.stdout.splitlines()
    assert said == value
    if value != "wrong":
        assert {"json", "re", "enum"}.isdisjoint(modules.split())
