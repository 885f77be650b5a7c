"""`compatlock conflicts`: what it prints, and where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compatlock.knowledge.load import load_facts
from tests.support.command import Cli

FACTS = """
[[fact]]
id = "a-b"
package = "a"
kind = "abi"
on = "b"
bounds = [
  { versions = ["==1.*", ">=3,<4"], bound = ">=2,!=2.5,<3" },
  { versions = "<1", bound = "" },
]
when = { present = ["c", "d"], extra = "fast", feature = "a.speed" }
severity = "degraded"
summary = "a needs b"
source = "somebody"
evidence = [
  { type = "metadata", package = "a", version = "1", requires = "b>=2; extra == 'x'" },
  { type = "lint", cmd = "ruff check a", expect = "clean" },
  { type = "executed", cmd = "import a", expect = "ImportError" },
  { type = "url", url = "https://github.com/a/b" },
  { type = "member_import", wheel = "a-1-py3-none-any.whl", member = "a.py", imports = "b:c,d" },
  { type = "member_symbol", package = "b", member = "b.py", symbol = "c", present = ">=2", absent = "<2" },
  { type = "member_regex", package = "b", version = "2", member = "b.py", regex = "c+" },
  { type = "elf_needed", package = "a", version = "1", member = "a.so", needed = "libc.so.6" },
  { type = "elf_undefined", wheel = "a.whl", member = "a.so", symbol_regex = "c", min_count = 3 },
  { type = "elf_undefined", wheel = "a.whl", member = "a.so", symbol = "s" },
  { type = "elf_undefined", wheel = "a.whl", member = "a.so", symbol = "s", provider = PROVIDER },
  { type = "overlap", a = "a-1.whl", b = "b-2.whl", files = 2, differ = 1 },
]

[[fact]]
id = "bad"
package = "e"
versions = "*"
kind = "known-bad"
summary = "e is broken"
source = "s"
evidence = [{ type = "url", url = "https://github.com/a/b" }]

[[fact]]
id = "both"
package = "e"
versions = "<3"
kind = "overlap"
on = "f"
bound = ""
summary = "e and f share files"
source = "s"
evidence = [{ type = "url", url = "https://github.com/a/b" }]

[[fact]]
id = "never"
package = "f"
versions = ">=2"
kind = "hard"
on = "g"
summary = "f means it"
source = "s"
evidence = [{ type = "url", url = "https://github.com/a/b" }]
""".replace("PROVIDER", '{ package = "b", member = "b.so", present = ">=2", absent = "<2" }')

MINE = ("--no-shipped-facts", "--facts", "mine.toml")


@pytest.fixture
def mine(cli: Cli) -> Cli:
    """The command line in a folder that has a facts file."""
    Path("mine.toml").write_text(FACTS, encoding="utf-8")
    return cli


def test_list(mine: Cli) -> None:
    run = mine("conflicts", "list", *MINE)
    assert (run.code, run.err) == (0, "")
    assert (
        run.out
        == """\
a-b    abi        degraded  a needs b
bad    known-bad  error     e is broken
both   overlap    error     e and f share files
never  hard       -         f means it
"""
    )


def test_list_of_packages(mine: Cli) -> None:
    run = mine("conflicts", "list", "D", "g", *MINE)
    assert (run.code, run.err) == (0, "")
    assert [line.split()[0] for line in run.out.splitlines()] == ["a-b", "never"]


def test_list_of_packages_that_no_fact_speaks_of(cli: Cli) -> None:
    run = cli("conflicts", "list", "left-pad", "Tranformers")
    assert (run.code, run.out) == (0, "")
    assert run.err == (
        "no fact speaks of left-pad\nno fact speaks of Tranformers; did you mean `transformers`?\n"
    )
    run = cli("conflicts", "list", "left-pad", "--json")
    assert json.loads(run.out) == {"version": 1, "facts": []}


def test_list_has_the_shipped_facts(cli: Cli) -> None:
    run = cli("conflicts", "list")
    assert [line.split()[0] for line in run.out.splitlines()] == [fact.id for fact in load_facts()]


def test_list_as_json(mine: Cli) -> None:
    value = json.loads(mine("conflicts", "list", "f", "--json", *MINE).out)
    assert value == {
        "version": 1,
        "facts": [
            {
                "id": "both",
                "kind": "overlap",
                "severity": "error",
                "package": "e",
                "on": "f",
                "summary": "e and f share files",
            },
            {
                "id": "never",
                "kind": "hard",
                "severity": None,
                "package": "f",
                "on": "g",
                "summary": "f means it",
            },
        ],
    }


def test_show(mine: Cli) -> None:
    run = mine("conflicts", "show", "a-b", *MINE)
    assert (run.code, run.err) == (0, "")
    assert (
        run.out
        == """\
fact:      a-b
summary:   a needs b
kind:      abi: binary interfaces do not fit, which nothing declares
severity:  degraded: counts as 120 days behind when broken
package:   a
on:        b
when:      c is there
           d is there
           a[fast] is asked for
           a profile names the feature a.speed
bounds:    a ==1.*: b !=2.5,>=2,<3
           a >=3,<4: b !=2.5,>=2,<3
           a <1: b (any release)
evidence:  declared: a 1 requires b>=2; extra == "x"
           checked: ruff check a -> clean
           executed: import a -> ImportError
           reported: https://github.com/a/b
           read: a.py of a-1-py3-none-any.whl imports b:c,d
           read: b.py of b defines c in >=2, not in <2
           read: b.py of b 2 has `c+`
           read: a.so of a 1 needs libc.so.6
           read: a.so of a.whl leaves at least 3 symbols that match `c` undefined
           read: a.so of a.whl leaves s undefined
           read: a.so of a.whl leaves s (in b.so of b >=2, not <2) undefined
           files: a-1.whl and b-2.whl share 2 paths, 1 with different content
source:    somebody
file:      mine.toml
"""
    )


@pytest.mark.parametrize(
    ("id", "lines"),
    [
        ("bad", ["severity:  error", "releases:  e (every release)"]),
        (
            "both",
            ["kind:      overlap: both own the same files", "bounds:    e <3: not with f (any release)"],
        ),
        ("never", ["bounds:    f >=2: g as declared"]),
    ],
)
def test_show_other_kinds(mine: Cli, id: str, lines: list[str]) -> None:
    shown = mine("conflicts", "show", id, *MINE).out.splitlines()
    assert [line for line in lines if line not in shown] == []


def test_show_as_json(mine: Cli) -> None:
    value = json.loads(mine("conflicts", "show", "a-b", "--json", *MINE).out)
    fact = value["fact"]
    assert value["version"] == 1
    assert (fact["kind"], fact["applied_as"], fact["severity"]) == ("abi", "too-loose", "degraded")
    assert fact["bounds"] == [
        {"versions": "==1.*", "bound": "!=2.5,<3,>=2"},
        {"versions": "<4,>=3", "bound": "!=2.5,<3,>=2"},
        {"versions": "<1", "bound": ""},
    ]
    assert fact["when"] == {"present": ["c", "d"], "extra": "fast", "feature": "a.speed"}
    assert fact["evidence"][3] == {"type": "url", "url": "https://github.com/a/b"}
    assert fact["evidence"][4] == {
        "type": "member_import",
        "wheel": "a-1-py3-none-any.whl",
        "member": "a.py",
        "imports": "b:c,d",
    }
    assert (fact["source"], fact["origin"]) == ("somebody", "mine.toml")


def test_every_shipped_fact_can_be_shown(cli: Cli) -> None:
    for fact in load_facts():
        run = cli("conflicts", "show", fact.id)
        assert (run.code, run.err) == (0, "")
        assert fact.summary in run.out


def test_an_unknown_id(mine: Cli) -> None:
    run = mine("conflicts", "show", "nevr", *MINE)
    assert (run.code, run.out) == (2, "")
    assert run.err == (
        "error: unknown fact `nevr`\n"
        "hint: did you mean `never`?\n"
        "hint: `compatlock conflicts list` lists them all\n"
    )


def test_a_package_is_no_id(mine: Cli) -> None:
    run = mine("conflicts", "show", "f", *MINE)
    assert run.code == 2
    assert run.err.splitlines()[1] == "hint: facts that speak of f: both, never"


def test_a_wrong_facts_file(cli: Cli) -> None:
    Path("mine.toml").write_text("[[fact]]\n", encoding="utf-8")
    run = cli("conflicts", "list", "--facts", "mine.toml")
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("error: mine.toml:1: fact number 1: id: missing\n")
