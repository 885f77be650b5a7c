"""Facts and profile files: what is accepted, and the words of every refusal."""

from __future__ import annotations

import pytest

from compatlock.errors import FactError
from compatlock.knowledge.parse import parse_facts, parse_profile, read_facts_file
from compatlock.model.fact import Fact, FactBound
from compatlock.model.requirement import Requirement
from compatlock.model.waiver import Waiver

FULL = b"""
[[fact]]
id = "a-b"
package = "A_Package"
kind = "abi"
on = "B.Package"
bounds = [
  { versions = ["==1.0", " >=1.2 , <2"], bound = ">=2,!=2.5" },
  { versions = "*", bound = "" },
]
when = { present = ["Z", "y_y"], extra = "Fast_Math", feature = "a.b" }
severity = "degraded"
summary = "  a needs b "
source = "somebody"
evidence = [
  { type = "metadata", package = "a", version = "1", requires = "b>=2; extra == 'x'" },
  { type = "lint", cmd = "ruff", expect = "clean" },
  { type = "executed", cmd = "import a", expect = "ok" },
  { type = "url", url = "https://github.com/a/b" },
  { type = "member_import", wheel = "a-1-py3-none-any.whl", member = "a.py", imports = "b:c,d" },
  { type = "member_symbol", package = "b", member = "b.py", symbol = "c", present = ">=2", absent = "<2" },
  { type = "member_regex", package = "b", version = "2", member = "b.py", regex = "c+" },
  { type = "elf_needed", package = "a", version = "1", member = "a.so", needed = "libc.so.6" },
  { type = "elf_undefined", wheel = "a.whl", member = "a.so", symbol_regex = "c", min_count = 3 },
  { type = "elf_undefined", wheel = "a.whl", member = "a.so", symbol = "s", provider = PROVIDER },
  { type = "overlap", a = "a-1-py3-none-any.whl", b = "b-2-py3-none-any.whl", files = 2, differ = 1 },
]
""".replace(b"PROVIDER", b'{ package = "b", member = "b.so", present = ">=2", absent = "<2" }')

ONE = """
[[fact]]
id = "f"
package = "a"
{body}
summary = "s"
source = "s"
evidence = [{evidence}]
"""

URL = '{ type = "url", url = "https://github.com/a/b" }'


def one(body: str, evidence: str = URL) -> bytes:
    return ONE.format(body=body, evidence=evidence).encode()


def refusal(content: bytes) -> str:
    with pytest.raises(FactError) as caught:
        parse_facts(content, "facts.toml")
    return caught.value.message


def test_a_full_fact_is_normalised() -> None:
    assert parse_facts(FULL, "facts.toml") == (
        Fact(
            id="a-b",
            package="a-package",
            kind="too-loose",
            bounds=(
                FactBound("==1.0", "!=2.5,>=2"),
                FactBound("<2,>=1.2", "!=2.5,>=2"),
                FactBound("", ""),
            ),
            on="b-package",
            present=("y-y", "z"),
            extra="fast-math",
            feature="a.b",
            severity="degraded",
            summary="a needs b",
            source="somebody",
            origin="facts.toml",
            evidence=(
                "elf_needed",
                "elf_undefined",
                "executed",
                "lint",
                "member_import",
                "member_regex",
                "member_symbol",
                "metadata",
                "overlap",
                "url",
            ),
        ),
    )


def test_evidence_is_kept_for_verification() -> None:
    (entry,) = read_facts_file(FULL, "facts.toml").fact
    undefined = entry.evidence[9]
    assert undefined.type == "elf_undefined"
    assert undefined.provider is not None
    assert (undefined.provider.package, undefined.provider.absent) == ("b", "<2")


@pytest.mark.parametrize(
    ("body", "kind", "bounds"),
    [
        ('kind = "known-bad"\nversions = ["==1", "==2"]', "known-bad", [("==1", ""), ("==2", "")]),
        ('kind = "hard"\non = "b"\nversions = "*"', "hard", [("", "")]),
        ('kind = "overlap"\non = "b"\nversions = "<2"', "overlap", [("<2", "")]),
        ('kind = "too-strict"\non = "b"\nversions = ""\nbound = ""', "too-strict", [("", "")]),
        ('kind = "undeclared"\non = "b"\nversions = "*"', "undeclared", [("", "")]),
        ('kind = "api"\non = "b"\nversions = "*"\nbound = "<3"', "too-loose", [("", "<3")]),
        ('kind = "policy"\nversions = "*"', "policy", [("", "")]),
    ],
)
def test_what_each_kind_needs(body: str, kind: str, bounds: list[tuple[str, str]]) -> None:
    (fact,) = parse_facts(one(body), "facts.toml")
    assert (fact.kind, list(fact.bounds)) == (kind, [FactBound(*row) for row in bounds])


def test_all_problems_of_a_file_are_reported_at_once() -> None:
    content = b"""# a comment
[[fact]]
id = "trl-x"
package = "trl"
kind = "to-loose"
on = "v llm"
bound = ">>1"
versions = 3
summary = "a\\nb"
source = " "
severty = "warning"
evidence = [
  { type = "urll", url = "x" },
  { url = "x" },
  { type = "url", url = "http://x" },
  { type = "executed", cmd = 3 },
]

[[fact]]
kind = "hard"
package = "b"
on = "c"
versions = "*"
when = { present = "x", feature = "a b" }
summary = "s"
source = "s"
evidence = []
"""
    assert refusal(content).splitlines() == [
        'facts.toml:2: fact "trl-x": kind: `to-loose` is not one of too-strict, too-loose, undeclared, '
        "overlap, known-bad, hard, cuda, abi, api, declared-unsat, policy; did you mean `too-loose`?",
        'facts.toml:2: fact "trl-x": summary: must be one line',
        'facts.toml:2: fact "trl-x": source: must not be empty',
        'facts.toml:2: fact "trl-x": evidence 1: unknown type `urll`; known: metadata, lint, executed, url, '
        "member_import, member_symbol, member_regex, elf_needed, elf_undefined, overlap",
        'facts.toml:2: fact "trl-x": evidence 2: type: missing',
        'facts.toml:2: fact "trl-x": evidence 3: url: `http://x` is not an https:// address',
        'facts.toml:2: fact "trl-x": evidence 4: cmd: must be a string',
        'facts.toml:2: fact "trl-x": evidence 4: expect: missing',
        'facts.toml:2: fact "trl-x": versions: must be a specifier or an array of specifiers',
        'facts.toml:2: fact "trl-x": on: `v llm` is not a package name',
        'facts.toml:2: fact "trl-x": bound: `>>1` is not a version specifier (like `>=1.0,<2`)',
        'facts.toml:2: fact "trl-x": severty: unknown key; did you mean `severity`?',
        "facts.toml:19: fact number 2: id: missing",
        "facts.toml:19: fact number 2: evidence: must not be empty",
        "facts.toml:19: fact number 2: when: present: must be an array",
        "facts.toml:19: fact number 2: when: feature: `a b` is not a dotted name (like `package.module`)",
    ]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('kind = "hard"\non = "b"', 'versions: missing ("*" is every release), or bounds'),
        ('kind = "hard"\nversions = "*"', "on: missing; a hard fact is about an edge"),
        (
            'kind = "hard"\non = "b"\nversions = "*"\nbound = ">1"',
            "bound: a hard fact has none, the declared one counts",
        ),
        ('kind = "too-loose"\non = "b"\nversions = "*"', "bound: missing; a too-loose fact adds one"),
        (
            'kind = "too-loose"\non = "b"\nbounds = [{ versions = "*", bound = "" }]',
            "bound: missing; a too-loose fact adds one",
        ),
        (
            'kind = "known-bad"\non = "b"\nversions = "*"',
            "on: a known-bad release has none; packages that it fails with are when.present",
        ),
        (
            'kind = "too-loose"\non = "b"\nversions = "*"\nbounds = [{ versions = "*", bound = ">1" }]',
            "versions: the rows of bounds say it already; leave it out",
        ),
        (
            'kind = "too-strict"\non = "b"\nversions = "*"\nseverity = "warning"',
            "severity: a too-strict fact forbids nothing, so it cannot be a warning",
        ),
        (
            'kind = "too-loose"\non = "b"\nbounds = [{ versions = "*", bound = "*" }]',
            'bounds 1: bound: `*` bounds nothing; leave it out, or write ""',
        ),
    ],
)
def test_fields_that_do_not_go_together(body: str, message: str) -> None:
    assert refusal(one(body)) == f'facts.toml:2: fact "f": {message}'


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        (
            '{ type = "elf_needed", member = "a.so", needed = "b" }',
            "wheel: missing (or give package and version)",
        ),
        (
            '{ type = "member_symbol", package = "a", member = "a.py", symbol = "b" }',
            "version: give it, or present and absent, not both",
        ),
        (
            '{ type = "member_symbol", wheel = "w", package = "a", member = "a.py", symbol = "b" }',
            "wheel: names one file; leave out package, version, present and absent",
        ),
        (
            '{ type = "elf_undefined", wheel = "w", member = "a.so" }',
            "symbol: give it, or symbol_regex, not both",
        ),
        (
            '{ type = "member_regex", wheel = "w", member = "a", regex = "(" }',
            "regex: `(` is not a regular expression: missing ), unterminated subpattern at position 0",
        ),
        (
            '{ type = "metadata", package = "a", version = "1", requires = "b @ https://c.example/b.whl" }',
            "requires: `b` names a URL; a profile can only name packages of the index",
        ),
    ],
)
def test_evidence_that_could_not_be_run_again(evidence: str, message: str) -> None:
    content = one('kind = "known-bad"\nversions = "*"', evidence)
    assert refusal(content) == f'facts.toml:2: fact "f": evidence 1: {message}'


def test_an_id_stands_for_one_fact() -> None:
    fact = one('kind = "known-bad"\nversions = "*"')
    assert refusal(fact + fact) == 'facts.toml:11: fact "f": id: used by an earlier fact of the file'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'\n[[fact]]\nid = "a\n', "facts.toml:3: not valid TOML: Illegal character '\\n'"),
        (b"a = 1\nb = '\xff'", "facts.toml:2: not UTF-8 text; TOML must be"),
        (b"fact = 3", "facts.toml: fact: must be an array"),
        (b"fact = [3]", "facts.toml: fact number 1: must be a table"),
        (b'[index]\nurl = "https://index.example/simple"', "facts.toml: index: unknown key"),
    ],
)
def test_files_that_are_no_facts_files(content: bytes, message: str) -> None:
    assert refusal(content) == message


def test_a_byte_order_mark_is_passed_over() -> None:
    fact = one('kind = "known-bad"\nversions = "*"')
    assert parse_facts(b"\xef\xbb\xbf" + fact, "facts.toml") == parse_facts(fact, "facts.toml")
    wrong = fact.replace(b"known-bad", b"known-bd").lstrip()
    assert refusal(b"\xef\xbb\xbf" + wrong).startswith('facts.toml:1: fact "f": kind: ')


def test_no_header_is_mistaken_for_a_fact() -> None:
    content = (
        one('kind = "known-bd"\nversions = "*"').decode().replace('"s"\nsource', '"""\n[[fact]]"""\nsource')
    )
    assert refusal(content.encode()).startswith('facts.toml: fact "f": kind: `known-bd` is not one of')


PROFILE = b"""
name = "mine"
description = "d"
roots = ["Trl[VLLM,peft]>=1.0,<2 ; python_version >= '3.10'", "vllm"]
features = ["trl.experimental"]
imports = ["trl", "vllm.v1"]
source = "s"
waivers = [{ edge = "Vllm[x] -> Transformers_", reason = "r", source = "docs" }]
target = { python = "3.12", platform = "linux" }
"""


def test_a_profile_is_normalised() -> None:
    profile = parse_profile(PROFILE.replace(b"Transformers_", b"Trans_formers"), "mine.toml")
    assert profile.roots == (
        Requirement("trl", "<2,>=1.0", ("peft", "vllm"), 'python_version >= "3.10"', origin="profile mine"),
        Requirement("vllm", origin="profile mine"),
    )
    assert profile.waivers == (Waiver("vllm", "trans-formers", "x", "r", "profile mine (docs)"),)
    assert profile.features == ("trl.experimental",)
    assert profile.imports == ("trl", "vllm.v1")
    assert (profile.python, profile.platform) == ("3.12", "x86_64-manylinux_2_28")
    assert (profile.description, profile.source, profile.origin) == ("d", "s", "mine.toml")


def test_a_profile_cannot_name_files_or_indexes() -> None:
    content = b"""
name = "x y"
roots = ["a @ https://files.example/a.whl", "b>>1", "-e .", "c_", "d[e_]"]
description = "d"
index-url = "https://index.example/simple"
waivers = [{ edge = "a => b", reason = "r", source = "s" }]
[target]
python = "3.x"
platform = "x86"
"""
    with pytest.raises(FactError) as caught:
        parse_profile(content, "p.toml")
    assert caught.value.message.splitlines() == [
        "p.toml: name: `x y` is not an id (lower-case letters, digits, `-`, `_`, `.`)",
        "p.toml: roots 1: `a` names a URL; a profile can only name packages of the index",
        "p.toml: roots 2: `b>>1` is not a requirement: expected semicolon (after name with no version "
        "specifier) or end",
        "p.toml: roots 3: `-e .` is not a requirement: expected package name at the start of dependency "
        "specifier",
        "p.toml: roots 4: `c_` is not a package name",
        "p.toml: roots 5: `e_` is not a package name",
        "p.toml: source: missing",
        "p.toml: waivers 1: edge: `a => b` is not an edge; write `package -> dependency` or "
        "`package[extra] -> dependency`",
        "p.toml: target: python: `3.x` is not a Python version (like `3.12`)",
        "p.toml: target: platform: unknown platform `x86`",
        "p.toml: index-url: unknown key",
    ]
