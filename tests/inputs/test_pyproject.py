"""pyproject.toml as an input: what is taken of it, and what is said about what is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packaging.dependency_groups import resolve_dependency_groups
from packaging.requirements import Requirement

import compatlock
from compatlock.errors import InputError
from compatlock.inputs.file_settings import Assigned, FileSettings
from compatlock.inputs.pyproject import python_problems, read_pyproject
from compatlock.inputs.requirements_file import RequirementsFile
from compatlock.lockfile.toml_text import table_lines

TEXT = """\
[project]
name = "My.App"
version = "1"
requires-python = ">= 3.10, <4"
dependencies = [
    "click>=8",
    'tomli ; python_version < "3.11"',
]

[project.optional-dependencies]
Fast_IO = ["uvloop"]
docs = [
    "sphinx",
    "my-app[fast-io]; sys_platform != 'win32'",
]
all = ["my_app[docs,Fast.IO]", "rich"]

[dependency-groups]
Test = ["pytest", {include-group = "types"}]
types = ["mypy"]
dev = [{ include-group = "test" }, { include-group = "TYPES" }, "my-app[fast_io]", "ruff"]
"""


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(text: str, path: str = "pyproject.toml") -> str:
    Path(path).write_text(text, encoding="utf-8")
    return path


def texts(**wanted: Any) -> list[str]:
    return [text for text, _ in read_pyproject("pyproject.toml", **wanted).lines]


def message(text: str, **wanted: Any) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_pyproject(write(text), **wanted)
    return caught.value.message.splitlines()


def test_dependencies_of_the_project() -> None:
    assert read_pyproject(write(TEXT)) == RequirementsFile(
        lines=(
            ("click>=8", "pyproject.toml:6"),
            ('tomli ; python_version < "3.11"', "pyproject.toml:7"),
        ),
        files=("pyproject.toml",),
        requires_python=(("<4,>=3.10", "pyproject.toml:4"),),
    )


OWN = ["click>=8", 'tomli ; python_version < "3.11"']


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"extras": ["fast_io"]}, [*OWN, "uvloop"]),
        ({"extras": ["FAST.io", "fast-io"]}, [*OWN, "uvloop"]),
        ({"extras": ["docs"]}, [*OWN, "sphinx", 'uvloop; sys_platform != "win32"']),
        ({"extras": ["all"]}, [*OWN, "sphinx", 'uvloop; sys_platform != "win32"', "uvloop", "rich"]),
        ({"all_extras": True}, [*OWN, "sphinx", 'uvloop; sys_platform != "win32"', "uvloop", "rich"]),
        ({"groups": ["types"]}, [*OWN, "mypy"]),
        ({"groups": ["test"]}, [*OWN, "pytest", "mypy"]),
        ({"groups": ["dev"]}, [*OWN, "pytest", "mypy", "uvloop", "ruff"]),
        ({"all_groups": True}, [*OWN, "pytest", "mypy", "uvloop", "ruff"]),
        ({"groups": ["test"], "only_groups": True}, ["pytest", "mypy"]),
        # A group that asks for the project itself asks for what that depends on.
        ({"groups": ["dev"], "only_groups": True}, ["pytest", "mypy", *OWN, "uvloop", "ruff"]),
    ],
)
def test_extras_and_groups(wanted: dict[str, Any], expected: list[str]) -> None:
    write(TEXT)
    assert texts(**wanted) == expected


def test_origins_of_what_an_extra_of_its_own_stands_for() -> None:
    lines = dict(read_pyproject(write(TEXT), extras=["all"], groups=["dev"]).lines)
    assert lines["uvloop"] == "pyproject.toml:11 (extra fast-io)"
    assert lines["rich"] == "pyproject.toml:16 (extra all)"
    assert lines["mypy"] == "pyproject.toml:20 (group types)"


def test_extras_that_ask_for_each_other() -> None:
    write(
        '[project]\nname = "a"\n'
        '[project.optional-dependencies]\nx = ["a[y]; os_name == \'nt\'", "one"]\ny = ["a[x]", "two"]\n'
    )
    assert texts(extras=["x"]) == ['two; os_name == "nt"', "one"]
    assert texts(extras=["y"]) == ["one", "two"]
    write(
        '[project]\nname = "a"\n[project.optional-dependencies]\n'
        "x = [\"a[y]; os_name == 'nt'\"]\ny = [\"two; python_version < '3.11' or extra == 'z'\"]\n"
    )
    (line,) = texts(extras=["x"])
    assert line == 'two; os_name == "nt" and (python_version < "3.11" or extra == "z")'


def test_without_a_name_nothing_is_the_project_itself() -> None:
    write('[project]\n[project.optional-dependencies]\nx = ["app[y]"]\n')
    assert texts(extras=["x"]) == ["app[y]"]


def test_groups_without_a_project() -> None:
    write('[dependency-groups]\ntest = ["pytest"]\n')
    assert texts(groups=["test"]) == ["pytest"]
    assert texts(groups=["test"], only_groups=True) == ["pytest"]


def test_dynamic_fields_that_are_not_wanted() -> None:
    write(
        '[project]\nname = "a"\ndynamic = ["version", "dependencies", "optional-dependencies"]\n'
        '[dependency-groups]\ntest = ["pytest"]\n'
    )
    assert texts(groups=["test"], only_groups=True) == ["pytest"]


def test_white_space_around_a_requirement_is_none_of_it() -> None:
    path = write(
        '[project]\nname = "a"\ndependencies = ["\u2028rich ", " a[x]"]\n'
        "[project.optional-dependencies]\nx = []\n"
    )
    assert read_pyproject(path).lines == (("rich", "pyproject.toml:3"),)


def test_what_uv_is_told_and_what_is_passed_over() -> None:
    path = write(
        '[project]\nname = "a"\ndependencies = ["Torch", "rich", "mine"]\n'
        '[tool.uv]\nconstraint-dependencies = ["rich<9"]\noverride-dependencies = []\n'
        'resolution = "lowest"\n'
        '[tool.uv.sources]\ntorch = { index = "gpu" }\nother = { path = "../other" }\n'
        'mine = { git = "https://git.example/mine" }\n'
    )
    found = read_pyproject(path)
    assert found.constraints == (("rich<9", "pyproject.toml:5"),)
    assert found.settings == FileSettings(assigned=(Assigned("torch", "gpu", "pyproject.toml:9"),))
    assert found.notes == (
        "pyproject.toml:8: tool.uv.sources is not read: mine comes from the index",
        "pyproject.toml:7: tool.uv.resolution is not read; give `--resolution` on the command line",
    )


# The memo


def test_memo_gives_the_same_without_the_heavy_imports() -> None:
    path = write(TEXT)
    memo: dict[str, str] = {}
    first = read_pyproject(path, extras=["docs"], groups=["Test"], memo=memo)
    assert read_pyproject(path, extras=["docs"], groups=["Test"], memo=memo) == first
    assert read_pyproject(path, extras=["DOCS"], groups=["test"], memo=memo) == first
    assert len(memo) == 1
    assert python_problems(first.requires_python, "3.12.0", memo) == ()
    code = (
        "import sys; from compatlock.inputs.pyproject import read_pyproject, python_problems\n"
        f"memo = {memo!r}\n"
        "found = read_pyproject('pyproject.toml', extras=['docs'], groups=['test'], memo=memo)\n"
        "python_problems(found.requires_python, '3.12.0', memo)\n"
        "print(len(found.lines), {'packaging', 'tomllib', 'tomli', 'dataclasses'} & set(sys.modules))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(compatlock.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{len(first.lines)} set()\n"


def test_memo_goes_by_content_and_by_what_is_wanted() -> None:
    memo: dict[str, str] = {}
    read_pyproject(write(TEXT), memo=memo)
    assert len(read_pyproject("pyproject.toml", extras=["docs"], memo=memo).lines) == 4
    assert read_pyproject(write(TEXT.replace("click>=8", "click>=9")), memo=memo).lines[0][0] == "click>=9"
    other = read_pyproject(write(TEXT, "other.toml"), memo=memo)
    assert other.lines[0] == ("click>=8", "other.toml:6")


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", "[1,2,3]", '[[["a",1]],[["b","1"]],[]]', "[" * 100_000, '[[["a",true]],[],[]]']
)
def test_a_damaged_memo_counts_as_none(damage: str) -> None:
    path = write(TEXT)
    memo: dict[str, str] = {}
    expected = read_pyproject(path, memo=memo)
    (key,) = memo
    memo[key] = damage
    assert read_pyproject(path, memo=memo) == expected
    assert memo[key] != damage


# What is wrong, in words


def test_all_that_is_wrong_is_said_at_once() -> None:
    assert message(
        "[project]\n"
        'name = "a"\n'
        'requires-python = "3.10 or so"\n'
        "dependencies = [\n"
        '    "click>",\n'
        '    "fine",\n'
        '    "torch @ https://me:secret@index.example/torch.whl",\n'
        "    8,\n"
        "]\n"
        "[project.optional-dependencies]\n"
        'x = ["-e .", "a[nothing]"]\n'
        'y = "z"\n'
        'unwanted = ["also wrong>"]\n'
        "[dependency-groups]\n"
        'g = [{include-group = "h"}, {include-group = "tset"}, {include = "x"}, 1]\n'
        'h = [{include-group = "g"}, "=1"]\n'
        "test = []\n"
        "Test = []\n",
        extras=["x", "y", "unwnted"],
        groups=["g", "nothing"],
    ) == [
        "pyproject.toml:3: project.requires-python: `3.10 or so` is no version specifier (like `>=3.10`)",
        "pyproject.toml:5: project.dependencies: click>: no version follows `>`",
        "pyproject.toml:7: project.dependencies: torch @ https://****@index.example/torch.whl: a root URL is "
        "not supported yet; name a release instead, torch==VERSION",
        "pyproject.toml:7: project.dependencies: an item must be a text",
        "pyproject.toml:11: project.optional-dependencies.x: -e .: an editable requirement is not supported "
        "yet; list the project's dependencies instead",
        "pyproject.toml:11: project.optional-dependencies.x: a[nothing]: there is no extra `nothing`; "
        "the project has unwanted, x, y",
        "pyproject.toml:12: project.optional-dependencies.y: must be an array of requirements",
        "pyproject.toml:15: dependency-groups.g: there is no group `tset` (did you mean `test`?); "
        "the project has g, h, test",
        "pyproject.toml:15: dependency-groups.g: an item must be a requirement or "
        '`{ include-group = "NAME" }`',
        "pyproject.toml:16: dependency-groups.h: the group includes itself (g -> h -> g); "
        "remove one of these",
        "pyproject.toml:16: dependency-groups.h: =1: it does not start with a project name (letters, digits, "
        "`-`, `_`, `.`)",
        "pyproject.toml:18: dependency-groups.Test: the same name as `test` (PEP 503); rename one of them",
        "pyproject.toml: there is no extra `unwnted` (did you mean `unwanted`?); "
        "the project has unwanted, x, y",
        "pyproject.toml: there is no group `nothing`; the project has g, h, test",
    ]


@pytest.mark.parametrize(
    ("text", "wanted", "expected"),
    [
        (
            '[project]\nname = "a"\ndynamic = ["dependencies"]\n',
            {},
            "pyproject.toml:3: project.dynamic: the dependencies are dynamic: only building the project, "
            "which is not done, would tell; list them in [project], or lock a requirements file",
        ),
        (
            '[project]\nname = "a"\ndynamic = ["dependencies"]\n'
            '[tool.setuptools.dynamic]\ndependencies = { file = ["requirements.txt", "more.txt"] }\n',
            {},
            "pyproject.toml:3: project.dynamic: the dependencies are dynamic: only building the project, "
            "which is not done, would tell; lock requirements.txt, more.txt instead, where "
            "tool.setuptools.dynamic takes them from",
        ),
        (
            '[project]\nname = "a"\ndynamic = ["optional-dependencies"]\n',
            {"all_extras": True},
            "pyproject.toml:3: project.dynamic: the optional-dependencies are dynamic: only building the "
            "project, which is not done, would tell; list them in [project], or lock a requirements file",
        ),
        (
            "[build-system]\nrequires = []\n",
            {},
            "pyproject.toml: there is no [project] table, so there are no dependencies to read",
        ),
        (
            '[tool.poetry.dependencies]\npython = "^3.10"\n',
            {},
            "pyproject.toml: there is no [project] table, so there are no dependencies to read; Poetry's own "
            "tables are not read, but it takes [project] too",
        ),
        (
            '[project]\nname = "a"\n',
            {"extras": ["x"]},
            "pyproject.toml: there is no extra `x`; the project has no extras",
        ),
        (
            '[project]\nname = "a"\n',
            {"groups": ["x"]},
            "pyproject.toml: there is no group `x`; the project has no groups",
        ),
        ("project = 1\n", {}, "pyproject.toml:1: project: must be a table"),
        (
            "[project]\noptional-dependencies = 1\n",
            {},
            "pyproject.toml:2: project.optional-dependencies: must be a table",
        ),
        (
            "[project]\nrequires-python = 3\n",
            {},
            "pyproject.toml:2: project.requires-python: `3` is no version specifier (like `>=3.10`)",
        ),
        (
            "[project]\nname = \n",
            {},
            "pyproject.toml:2: not valid TOML: Invalid value",
        ),
    ],
)
def test_says_what_is_wrong(text: str, wanted: dict[str, Any], expected: str) -> None:
    assert message(text, **wanted) == [expected]


def test_files_that_cannot_be_read() -> None:
    Path("folder").mkdir()
    for path, expected in (
        ("nothing/pyproject.toml", "there is no file nothing/pyproject.toml"),
        ("folder", "folder is a directory, not a pyproject.toml"),
    ):
        with pytest.raises(InputError) as caught:
            read_pyproject(path)
        assert caught.value.message == expected


def test_a_python_that_the_project_does_not_want() -> None:
    found = read_pyproject(write(TEXT)).requires_python
    assert python_problems(found, "3.14.0") == ()
    assert python_problems((*found, (">=3.12.3", "b/pyproject.toml:2")), "3.9.1") == (
        "pyproject.toml:4: the project needs Python <4,>=3.10, the target is 3.9.1",
        "b/pyproject.toml:2: the project needs Python >=3.12.3, the target is 3.9.1",
    )


# Against the standard's own code

_items = st.sampled_from(["one", "two>=1", "three[x]", "four; os_name == 'nt'"])
_group_names = st.sampled_from(["a", "B_b", "c.c", "d"])


@st.composite
def _groups(draw: st.DrawFn) -> dict[str, list[Any]]:
    names = draw(st.lists(_group_names, unique=True, min_size=1))
    groups: dict[str, list[Any]] = {}
    for place, name in enumerate(names):
        include = (
            st.sampled_from(names[:place]).map(lambda n: {"include-group": n.upper()}) if place else _items
        )
        groups[name] = draw(st.lists(_items | include, max_size=4))
    return groups


@given(_groups(), st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_groups_are_those_of_packaging(groups: dict[str, list[Any]], data: st.DataObject) -> None:
    path = write("[dependency-groups]\n" + "\n".join(table_lines(groups)))
    wanted = data.draw(st.lists(st.sampled_from(sorted(groups))))
    ours = read_pyproject(path, groups=wanted, only_groups=True).lines
    assert {str(Requirement(text)) for text, _ in ours} == set(resolve_dependency_groups(groups, *wanted))


_values = st.recursive(
    st.booleans() | st.integers(0, 9) | st.sampled_from(["a", "a[x]; os_name == 'nt'", "b>=1", ">", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["x", "y", "include-group", "uv", "sources"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(["name", "dependencies", "optional-dependencies", "dynamic", "requires-python"]),
        _values,
    ),
    _values,
    _values,
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=200)
def test_any_values_are_read_or_refused(project: dict[str, Any], groups: Any, tool: Any) -> None:
    values = {"project": {"name": "a", **project}, "dependency-groups": groups, "tool": tool}
    path = write("\n".join(table_lines(values)))
    try:
        found = read_pyproject(path, extras=["x"], all_groups=True)
    except InputError:
        return
    assert {Requirement(text).name for text, _ in found.lines} <= {"a", "b"}


def test_own_profiles_are_not_in_the_way_of_the_project() -> None:
    write(
        TEXT
        + '[tool.compatlock]\nprerelease = "allow"\n'
        + '[tool.compatlock.profiles.mine]\nroots = ["rich"]\n'
    )
    assert texts() == ["click>=8", 'tomli ; python_version < "3.11"']
    write(TEXT + '[tool.compatlock]\nprofile = "mine"\n')
    with pytest.raises(InputError, match=r"tool\.compatlock\.profile: unknown key; did you mean `profiles`"):
        texts()
