"""Core metadata evaluated for a target: markers, extras, lines and fields that cannot be used."""

from __future__ import annotations

from typing import Any

import pytest

from compatlock.index.compile import Compiler
from compatlock.model.metadata import Metadata
from compatlock.model.target import Target


def compiled(
    *lines: str,
    provides: tuple[str, ...] = (),
    requires_python: str = "",
    python: str = "3.12",
    platform: str = "linux",
    problem: str = "",
) -> list[Any]:
    metadata = Metadata(lines, provides, requires_python, "side-file", problem)
    return Compiler(Target(python, platform).resolved()).compile(metadata)


def base(*lines: str, python: str = "3.12", platform: str = "linux") -> list[Any]:
    row = compiled(*lines, python=python, platform=platform)
    assert row[4] == ""
    found: list[Any] = row[0]
    return found


def test_a_dependency_is_as_short_as_it_can_be() -> None:
    assert base("b") == [["b"]]
    assert base("B_c>=1,<2") == [["b-c", "<2,>=1"]]
    assert base("b[Y_y,x]") == [["b", "", ["x", "y-y"]]]
    assert base("b @ https://index.example/b.whl") == [["b", "", [], "https://index.example/b.whl"]]


@pytest.mark.parametrize(
    ("marker", "python", "platform", "expected"),
    [
        ("python_version >= '3.10'", "3.10", "linux", True),
        ("python_version >= '3.10'", "3.9", "linux", False),
        ("python_version < '3.10'", "3.10", "linux", False),
        ("python_full_version < '3.12.1'", "3.12", "linux", True),
        ("python_full_version < '3.12.1'", "3.12.1", "linux", False),
        ("sys_platform == 'linux' and platform_machine == 'x86_64'", "3.12", "linux", True),
        ("sys_platform == 'linux' and platform_machine == 'x86_64'", "3.12", "aarch64-manylinux_2_28", False),
        ("platform_machine == 'arm64'", "3.12", "macos", True),
        ("platform_machine == 'aarch64'", "3.12", "aarch64-manylinux_2_28", True),
        ("platform_machine == 'AMD64' and os_name == 'nt'", "3.12", "windows", True),
        ("platform_system == 'Darwin'", "3.12", "macos", True),
        ("implementation_name == 'pypy'", "3.12", "linux", False),
        ("platform_python_implementation != 'CPython'", "3.12", "linux", False),
        ("sys_platform == 'win32' or python_version >= '3'", "3.12", "linux", True),
        ("extra == 'never' or sys_platform == 'linux'", "3.12", "linux", True),
    ],
)
def test_markers_are_evaluated_for_the_target(
    marker: str, python: str, platform: str, expected: bool
) -> None:
    assert base(f"b ; {marker}", python=python, platform=platform) == ([["b"]] if expected else [])


def test_dependencies_of_extras_stand_apart() -> None:
    row = compiled(
        "b",
        "c>=1 ; extra == 'fast'",
        "d ; python_version < '3' and extra == 'fast'",
        "e ; extra == 'fast' or extra == 'Slow_One'",
        provides=("fast", "Slow_One", "empty"),
    )
    assert row == [
        [["b"]],
        {"fast": [["c", ">=1"], ["e"]], "slow-one": [["e"]]},
        ["fast", "slow-one", "empty"],
        "side-file",
        "",
    ]


def test_an_extra_of_the_package_itself_is_a_dependency_on_it() -> None:
    row = compiled("pkg[fast,slow] ; extra == 'all'", provides=("all", "fast", "slow"))
    assert row[1] == {"all": [["pkg", "", ["fast", "slow"]]]}


def test_an_extra_that_is_declared_twice_counts_once() -> None:
    row = compiled("c ; extra == 'a-b'", provides=("a_b", "A-B"))
    assert row[1] == {"a-b": [["c"]]}
    assert row[2] == ["a-b"]


def test_a_line_for_an_extra_that_is_not_provided_is_nobodys() -> None:
    assert compiled("c ; extra == 'ghost'", provides=("real",))[:3] == [[], {}, ["real"]]


@pytest.mark.parametrize("line", ["b>=1.*", "b >= ", "not a line", "b ; python_version >> '3'", ""])
def test_an_invalid_line_spoils_the_release(line: str) -> None:
    row = compiled("a", line)
    assert row[4].startswith(f"invalid dependency `{line}`: ")
    assert "\n" not in row[4]


@pytest.mark.parametrize(
    ("requires_python", "python", "fits"),
    [
        (">=3.8", "3.12", True),
        (">=3.8,<3.12", "3.12", False),
        ("<3.13", "3.12.9", True),
        (">=3.12.1", "3.12", False),
        (">=3.12.1", "3.12.1", True),
        ("<=3.12", "3.12.1", False),
        ("==3.12.*", "3.12.4", True),
        ("!=3.12.*", "3.12", False),
        ("nonsense", "3.12", True),
        (">=3.*", "3.12", True),
    ],
)
def test_requires_python_holds_at_both_ends(requires_python: str, python: str, fits: bool) -> None:
    problem = compiled(requires_python=requires_python, python=python)[4]
    assert problem == ("" if fits else f"requires Python {requires_python}")


def test_unusable_metadata_has_no_dependencies() -> None:
    assert compiled("b", problem="no METADATA") == [[], {}, [], "side-file", "no METADATA"]
