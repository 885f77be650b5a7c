"""Lines of keys and array items in TOML text."""

from __future__ import annotations

import pytest

from compatlock.inputs.toml_lines import TomlLines

TEXT = """\
# "click" = 1
[build-system]
requires = ["click"]

[project]  # comment
name = "app"
dependencies = [
    "click",  'idna',
    # "later"
    "tomli; python_version < \\"3.11\\"",

    'later',
    \"\"\"odd
text\"\"\",
    "click",
]
optional-dependencies.dotted = ["one"]

[ project . "optional-dependencies" ]
test = ["pytest",
  "one"]
'quoted.name' = []

[[tool.x]]
dependencies = ["click"]
"""


def test_keys() -> None:
    lines = TomlLines(TEXT)
    assert lines.of_key("build-system", "requires") == 3
    assert lines.of_key("project") == 5
    assert lines.of_key("project", "dependencies") == 7
    assert lines.of_key("project", "optional-dependencies", "dotted") == 17
    assert lines.of_key("project", "optional-dependencies") == 19
    assert lines.of_key("project", "optional-dependencies", "test") == 20
    assert lines.of_key("project", "optional-dependencies", "quoted.name") == 22
    assert lines.of_key("project", "optional-dependencies", "unknown") == 19
    assert lines.of_key("unknown") == 0


def test_items() -> None:
    lines = TomlLines(TEXT)
    items = ["click", "idna", 'tomli; python_version < "3.11"', "later", "odd\ntext", 7, "click"]
    assert lines.of_items(("project", "dependencies"), items) == [8, 8, 10, 12, 13, 13, 15]
    assert lines.of_items(("project", "optional-dependencies", "test"), ["pytest", "one"]) == [20, 21]
    assert lines.of_items(("unknown",), ["nothing"]) == [0]


@pytest.mark.parametrize("text", ["", "\n", "=", "[", "a.=1", '["a" "b"]'])
def test_any_text(text: str) -> None:
    assert TomlLines(text).of_key("b") == 0
