"""Requirement lines: what is read, what is remembered, and what is said about bad ones."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement as Parsed

from compatlock.errors import InputError
from compatlock.inputs.requirement_line import parse_constraints, parse_requirement, parse_requirements
from compatlock.model.requirement import Requirement


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("numpy", Requirement("numpy")),
        ("NumPy >= 1.26, <3", Requirement("numpy", "<3,>=1.26")),
        ("Foo_Bar.baz[Y_z, a,a]~=1.2", Requirement("foo-bar-baz", "~=1.2", ("a", "y-z"))),
        ("trl (>=1.0)", Requirement("trl", ">=1.0")),
        (
            "tomli>=2 ; python_version<'3.11'",
            Requirement("tomli", ">=2", marker='python_version < "3.11"'),
        ),
        ("torch==2.9.0+cu128", Requirement("torch", "==2.9.0+cu128")),
        ("numpy==2.*,", Requirement("numpy", "==2.*")),
    ],
)
def test_reads(text: str, expected: Requirement) -> None:
    assert parse_requirement(text, "r.in:1") == expected._replace(origin="r.in:1")


WILDCARD = "a wildcard can only stand last, as `.*`"
COMMA = "bounds are joined by a comma"
URL = "a root URL is not supported yet; name a release on the index instead, NAME==VERSION"
PATH = "a local path is not supported yet; name a release on the index instead, NAME==VERSION"
EDITABLE = "an editable requirement is not supported yet; list the project's dependencies instead"
BAD_NAME = "it does not start with a project name (letters, digits, `-`, `_`, `.`)"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("numpy==2.*1", f"{WILDCARD}; write `numpy==2.*`"),
        ("numpy!=2.*.1", f"{WILDCARD}; write `numpy!=2.*`"),
        ("numpy==2*", f"{WILDCARD}; write `numpy==2.*`"),
        ("numpy==1.x ; os_name=='nt'", f"{WILDCARD}; write `numpy==1.* ; os_name=='nt'`"),
        ("pkg>=1.0 <2", f"{COMMA}; write `pkg>=1.0,<2`"),
        ("pkg>=1.0 and <2", f"{COMMA}; write `pkg>=1.0,<2`"),
        ("pkg===1.0", "`===` compares versions as text, which is not supported; write `pkg==1.0`"),
        (
            "pkg ; sys_platform === 'linux'",
            '`sys_platform === "linux"` compares what cannot be compared; use `==`, `!=` or `in`',
        ),
        (
            "pkg>=1 ; os_name ~= 'nt'",
            '`os_name ~= "nt"` compares what cannot be compared; use `==`, `!=` or `in`',
        ),
        ("pkg===any", "`any` is not a version (PEP 440)"),
        ("requests>=2.32.*", "only `==` and `!=` take a wildcard; write `requests>=2.32`"),
        ("requests<=2.32.*", "only `==` and `!=` take a wildcard; write `requests<2.33`"),
        ("requests>2.*", "only `==` and `!=` take a wildcard; write `requests>=3`"),
        ("requests~=2.32.*", "only `==` and `!=` take a wildcard; write `requests~=2.32.0`"),
        ("pytz==2011k", "`2011k` is not a version (PEP 440)"),
        ("numpy=1.0", "`=` is no version operator; write `numpy==1.0`"),
        ("numpy=1.0=py39_0", "this is conda's form, with a build string; write `numpy==1.0`"),
        ('numpy = "1.26"', "this is TOML, not a requirements file; write `numpy==1.26`"),
        ('numpy = "*"', "this is TOML, not a requirements file; write `numpy`"),
        ("'numpy>=1'", "a line takes no quotes; write `numpy>=1`"),
        ("foo=>1", "the operators are `>=` and `<=`; write `foo>=1`"),
        ("foo>==1", "the operators are `>=` and `<=`; write `foo>=1`"),
        ("foo<>1", "the operator is `!=`; write `foo!=1`"),
        ("foo~>1.2", "the operator is `~=`; write `foo~=1.2`"),
        ("foo^1.2.3", "`^` is no version operator; write `foo>=1.2.3,<2`"),
        ("foo^0.2.3", "`^` is no version operator; write `foo>=0.2.3,<0.3`"),
        ("foo~1.2.3", "`~` is no version operator; write `foo>=1.2.3,<1.3`"),
        ("foo~=1", "`~=` needs a version of at least two parts; write `foo==1.*`"),
        ("foo==*", "`==*` is any version, which goes without saying; write `foo`"),
        ("foo v1.2", "a version follows an operator; write `foo==1.2`"),
        ("foo@1.2", "`@` is followed by a URL, not a version; write `foo==1.2`"),
        ("foo>=1||<0.5", "a requirement has no alternatives (`|`); write one range"),
        ("numpy pandas>=2", "this is more than one requirement; write one a line"),
        ("*", "a name takes no `*`: every project must be named"),
        ("numpy*", "a name takes no `*`: every project must be named"),
        ("foo>=", "no version follows `>=`"),
        ("foo==latest", "`latest` is not a version (PEP 440)"),
        ("foo;", "no environment marker follows `;`"),
        (
            "foo; python_version>3.8",
            "`python_version>3.8` is not an environment marker (like `python_version < '3.12'`)",
        ),
        ("[project]", BAD_NAME),
        ("\u00e4==1", BAD_NAME),
        (
            "foo[",
            "not a valid requirement (expected matching RIGHT_BRACKET for LEFT_BRACKET, after extras)",
        ),
        ("-e .", EDITABLE),
        ("--editable=../x", EDITABLE),
        ("- numpy", "this is an option or a list item, not a requirement"),
        ("https://index.example/a.whl", URL),
        ("git+ssh://git@index.example/a", None),
        ("./a", PATH),
        ("C:\\a", PATH),
        ("a/b", PATH),
        ("a-1.0-py3-none-any.whl", PATH),
        (
            "foo>=1 \\",
            "a backslash continues the line only as its very last character, without a space after it",
        ),
        ("dev.txt", "this looks like a file; write `-r dev.txt` to include it"),
    ],
)
def test_says_what_is_wrong(text: str, problem: str | None) -> None:
    with pytest.raises(InputError) as caught:
        parse_requirement(text, "r.in:7")
    if problem is None:
        assert caught.value.message == f"r.in:7: git+ssh://****@index.example/a: {URL}"
    else:
        assert caught.value.message == f"r.in:7: {text}: {problem}"


def test_shows_no_credentials_and_no_control_characters() -> None:
    with pytest.raises(InputError) as caught:
        parse_requirements(
            [
                ("pkg @ https://user:secret@index.example/a.whl?token=secret", "a:1"),
                ("a\x1b[31m==1", "a:2"),
                ("", "a:3"),
                ("x" * 5000, "a:4"),
            ]
        )
    assert caught.value.message.splitlines() == [
        "a:1: pkg @ https://****@index.example/a.whl?****: "
        "a root URL is not supported yet; name a release instead, pkg==VERSION",
        "a:2: a\\x1b[31m==1: "
        "not a valid requirement (expected semicolon (after name with no version specifier) or end)",
        "a:3: the requirement is empty",
        f"a:4: {'x' * 57}...: longer than 4000 characters, which is no requirement",
    ]


def test_reports_all_bad_lines_but_not_without_end() -> None:
    with pytest.raises(InputError) as caught:
        parse_requirements([("good", "r.in:1"), *((f"bad{i}=1", f"r.in:{i}") for i in range(2, 40))])
    lines = caught.value.message.splitlines()
    assert lines[0].startswith("r.in:2: bad2=1: ")
    assert len(lines) == 21
    assert lines[-1] == "... and 18 more lines like these"


def test_memo_gives_the_same_with_another_origin() -> None:
    memo: dict[str, str] = {}
    text = " Foo[b,A]>=1,<2 ; os_name=='nt'"
    first = parse_requirements([(text, "a:1")], memo)
    assert list(memo) == [f"requirement:{text}"]
    assert parse_requirements([(text, "b:2")], memo) == (first[0]._replace(origin="b:2"),)


@pytest.mark.parametrize(
    "damaged", ["", "{", "1", "[]", '["a","",["x"],1]', '["a","","xy",""]', '["a","",[1],""]']
)
def test_damaged_memo_is_a_miss(damaged: str) -> None:
    memo = {"requirement:a>=1": damaged}
    assert parse_requirements([("a>=1", "r:1")], memo) == (Requirement("a", ">=1", origin="r:1"),)
    assert memo["requirement:a>=1"] == '["a", ">=1", [], ""]'


def test_remembered_lines_import_no_packaging() -> None:
    code = (
        "import sys\n"
        "from compatlock.inputs.requirement_line import parse_requirements\n"
        "from compatlock.inputs.requirements_file import read_requirements\n"
        """print(parse_requirements([("a>=1", "r:1")], {"requirement:a>=1": '["a",">=1",[],""]'}))\n"""
        "assert not {'packaging', 'dataclasses', 'inspect'} & set(sys.modules), sorted(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "specifier='>=1'" in done.stdout


def test_constraints_lose_their_extras_with_a_note() -> None:
    found = parse_constraints([("requests[security]==2.31.0", "c.txt:1"), ("urllib3==2.2.1", "c.txt:2")])
    assert found.requirements == (
        Requirement("requests", "==2.31.0", origin="c.txt:1"),
        Requirement("urllib3", "==2.2.1", origin="c.txt:2"),
    )
    assert found.notes == (
        "c.txt:1: the extras of requests[security] are ignored: a constraint adds no package",
    )


_WORDS = "a numpy [x] == >= ~= === < != ~ ^ | * .* 1 1.0 2.*1 , ; @ ( ) # ' \" \\ / : - = & and"
_fragments = st.sampled_from(
    [*_WORDS.split(" "), " ", "\t", "\0", "\ud800", "https://u:p@h/", "python_version < '3'"]
)


@given(st.one_of(st.text(), st.lists(_fragments, max_size=12).map("".join)))
def test_arbitrary_text_is_read_or_refused(text: str) -> None:
    try:
        requirement = parse_requirement(text, "r.in:1")
    except InputError as error:
        said = error.message
        assert said.startswith("r.in:1: ")
        assert said.isprintable()
    else:
        again = Parsed(str(requirement))
        assert str(again.specifier) == requirement.specifier
