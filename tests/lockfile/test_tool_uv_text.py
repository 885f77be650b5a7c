"""Entries of [tool.uv] in texts that people wrote."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compatlock.errors import InputError
from compatlock.lockfile.tool_uv import UvEntries, UvIndex
from compatlock.lockfile.tool_uv_text import render_entries, with_entries
from compatlock.model.own_lines import MARK
from compatlock.model.toml import parse_toml

COMMAND = "compatlock lock pyproject.toml --write-pyproject"
ENTRIES = UvEntries(
    (
        ("environments", ("python_version == '3.12'",)),
        ("constraint-dependencies", ("a==1 ; sys_platform == 'linux'", "b==2")),
        ("override-dependencies", ({"package": {"name": "a", "version": "1"}, "dependencies": ["b[x]"]},)),
    ),
    (("exclude-newer", "2026-01-01T00:00:00Z"), ("exclude-newer-package", {"a": False})),
    (
        UvIndex("cu", "https://index.example/cu/", explicit=True),
        UvIndex("all", "https://index.example/", default=True),
    ),
    (("a", "cu"),),
)
WRITTEN = {
    "environments": ["python_version == '3.12'"],
    "constraint-dependencies": ["a==1 ; sys_platform == 'linux'", "b==2"],
    "override-dependencies": [{"package": {"name": "a", "version": "1"}, "dependencies": ["b[x]"]}],
    "exclude-newer": "2026-01-01T00:00:00Z",
    "exclude-newer-package": {"a": False},
    "index": [
        {"name": "cu", "url": "https://index.example/cu/", "explicit": True},
        {"name": "all", "url": "https://index.example/", "default": True},
    ],
    "sources": {"a": {"index": "cu"}},
}
PROJECT = '# top\n[project]\nname = "demo"  # a name\n'


def uv_of(text: str) -> object:
    return parse_toml(text, "pyproject.toml")["tool"]["uv"]


def test_a_project_without_the_table() -> None:
    text, notes = with_entries(PROJECT, ENTRIES, COMMAND)
    assert text.startswith(
        f"{PROJECT}\n[tool.uv]\nenvironments = [\n    # Targets of the lock, written by `{COMMAND}`"
    )
    assert uv_of(text) == WRITTEN
    assert notes == ()
    assert text == PROJECT + "\n" + render_entries(ENTRIES, COMMAND)


def test_what_is_the_users_stays() -> None:
    before = """\
[tool.uv] # mine
package = false
constraint-dependencies = ["c<3"] # bound
override-dependencies = [
    "d", # why
    # and that is all
]

[tool.uv.sources]
k = { index = "z" }

[[tool.uv.index]]
name = "z"
url = "https://z.example/"

# linting
[tool.ruff]
line-length = 100
"""
    text, notes = with_entries(before, ENTRIES, COMMAND)
    assert notes == ()
    kept = [line for line in text.split("\n") if not line.endswith(MARK)]
    # The user's lines in their order; a closing bracket may have its own line, new arrays have two.
    for line in before.split("\n"):
        assert line.replace('["c<3"] # bound', '["c<3",') in kept
    assert "    # and that is all\n    # Bounds" in text
    assert text.endswith(f"default = true {MARK}\n\n# linting\n[tool.ruff]\nline-length = 100\n")
    found = uv_of(text)
    assert found == {
        "package": False,
        **WRITTEN,
        "constraint-dependencies": ["c<3", *WRITTEN["constraint-dependencies"]],  # type: ignore[misc]
        "override-dependencies": ["d", *WRITTEN["override-dependencies"]],  # type: ignore[misc]
        "sources": {"k": {"index": "z"}, "a": {"index": "cu"}},
        "index": [{"name": "z", "url": "https://z.example/"}, *WRITTEN["index"]],  # type: ignore[misc]
    }


def test_own_values_stand() -> None:
    before = """\
[tool.uv]
environments = ["sys_platform == 'linux'"]
exclude-newer = "2025-01-01T00:00:00Z"
constraint-dependencies = ["b==2"]
index = [{ url = "https://index.example", default = true }]

[tool.uv.sources]
a = { index = "mine" }
"""
    text, notes = with_entries(before, ENTRIES, COMMAND)
    assert notes == (
        "tool.uv.environments stays as you wrote it; the lock is for python_version == '3.12'",
        "tool.uv.exclude-newer stays as you wrote it; the lock was made with 2026-01-01T00:00:00Z",
    )
    assert uv_of(text) == {
        **WRITTEN,
        "environments": ["sys_platform == 'linux'"],
        "exclude-newer": "2025-01-01T00:00:00Z",
        "constraint-dependencies": ["b==2", "a==1 ; sys_platform == 'linux'"],
        "index": [
            {"url": "https://index.example", "default": True},
            {"name": "cu", "url": "https://index.example/cu/", "explicit": True},
        ],
        "sources": {"a": {"index": "mine"}},
    }


def test_another_default_index_stands() -> None:
    before = '[[tool.uv.index]]\nurl = "https://other.example/"\ndefault = true\n'
    text, notes = with_entries(before, UvEntries(indexes=ENTRIES.indexes), COMMAND)
    assert notes == ("the default index of tool.uv stays as you wrote it; the lock was made with another",)
    assert text.count("default = true") == 1


@pytest.mark.parametrize(
    "before",
    [
        "[tool]\nuv = { package = false }\n",
        "tool.uv.package = false\n",
        "[tool]\nuv.package = false\n",
        '[tool.uv]\nconstraint-dependencies = "c"\n',
    ],
)
def test_where_nothing_can_be_added(before: str) -> None:
    with pytest.raises(InputError, match=r"p\.toml: \[tool\.uv\] is written in a way") as error:
        with_entries(before, ENTRIES, COMMAND, "p.toml")
    assert "`--show-tool-uv` prints what belongs there" in error.value.hints


def test_a_command_stays_in_its_comment() -> None:
    command = "compatlock lock 'a\nx = 1\x1b/pyproject.toml' --write-pyproject"
    text, _ = with_entries(PROJECT, ENTRIES, command)
    assert "`compatlock lock 'a x = 1\\x1b/pyproject.toml' --write-pyproject`" in text
    assert uv_of(text) == WRITTEN


def test_no_table() -> None:
    with pytest.raises(InputError, match=r"tool\.uv: must be a table"):
        with_entries("[tool]\nuv = 1\n", ENTRIES, COMMAND)
    with pytest.raises(InputError, match="not valid TOML"):
        with_entries("[tool\n", ENTRIES, COMMAND)


def test_the_line_ends_of_windows_stay() -> None:
    before = (PROJECT + "\n[tool.uv]\npackage = false\n").replace("\n", "\r\n")
    text, _ = with_entries(before, ENTRIES, COMMAND)
    assert text.count("\n") == text.count("\r\n")
    assert text.startswith(before)
    assert with_entries(text, ENTRIES, COMMAND)[0] == text


PIECES = (
    PROJECT,
    '[project.optional-dependencies]\nx = ["y"]\n',
    "[build-system]\nrequires = []\n",
    "[tool.a]\nx = [\n  [1],\n  [2]\n]\n",
    "# about b\n[tool.b]\ny = 2",
    "[tool.uv.pip]\nno-cache = true\n",
    "[tool.uv]\npackage = false\nconflicts = [\n    [\n        { extra = 'x' },\n    ],\n]\n",
    '[[tool.uv.index]]\nname = "z"\nurl = "https://z.example/"\n',
    "[tool.uv.sources] # mine\nk = { index = 'z' }\n# end\n",
    '[dependency-groups]\ndev = ["d"]\n',
)


@settings(deadline=None, max_examples=60)
@given(
    st.permutations(PIECES).flatmap(
        lambda pieces: st.sampled_from([pieces[:n] for n in range(len(PIECES) + 1)])
    ),
    st.sampled_from(["\n", "\n\n", "\n\n\n"]),
    st.lists(st.booleans(), min_size=3, max_size=3),
)
def test_any_order_of_tables(pieces: list[str], gap: str, kept: list[bool]) -> None:
    """What is added is read back, nothing else changes, and writing again or less is as at first."""
    before = gap.join(pieces)
    text, _ = with_entries(before, ENTRIES, COMMAND)
    assert with_entries(text, ENTRIES, COMMAND)[0] == text
    some = UvEntries(
        ENTRIES.lists if kept[0] else (),
        ENTRIES.values if kept[1] else (),
        *((ENTRIES.indexes, ENTRIES.sources) if kept[2] else ()),
    )
    less, _ = with_entries(text, some, COMMAND)
    at_once, _ = with_entries(before, some, COMMAND)
    wanted = parse_toml(at_once, "p")
    found = parse_toml(less, "p")
    for values in (wanted, found):
        values.setdefault("tool", {}).setdefault("uv", {}).setdefault("sources", {})
    assert found == wanted
    # Own lines, and what opens and closes their arrays and tables, are all that is new.
    new = {"[tool.uv]", "[tool.uv.sources]", "]", "", *(f"{key} = [" for key, _ in ENTRIES.lists)}
    rest = iter(line for line in text.split("\n") if not line.endswith(MARK))
    for line in before.split("\n"):
        assert next((other for other in rest if other == line or other not in new), None) == line


def test_sources_on_one_line() -> None:
    with pytest.raises(InputError, match="is written in a way that nothing can be added to"):
        with_entries("[tool.uv]\nsources = { k = { index = 'z' } }\n", ENTRIES, COMMAND)
