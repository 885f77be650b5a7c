"""Core metadata evaluated for a target: markers, extras, lines and fields that cannot be used."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compatlock.index.compile import Compiler, _whole
from compatlock.model.dependencies import Dependencies, Dependency
from compatlock.model.metadata import Metadata
from compatlock.model.target import Target


def compiled(
    *lines: str,
    provides: tuple[str, ...] = (),
    requires_python: str = "",
    python: str = "3.12",
    platform: str = "linux",
    problem: str = "",
) -> Dependencies:
    metadata = Metadata(lines, provides, requires_python, "side-file", problem)
    return Compiler(Target(python, platform).resolved()).compile(metadata)


def base(*lines: str, python: str = "3.12", platform: str = "linux") -> list[Dependency]:
    release = compiled(*lines, python=python, platform=platform)
    assert release.problem == ""
    return list(release.base)


def test_dependencies_are_normalised() -> None:
    assert base("b") == [Dependency("b")]
    assert base("B_c>=1,<2") == [Dependency("b-c", "<2,>=1")]
    assert base("b[Y_y,x]") == [Dependency("b", extras=("x", "y-y"))]
    assert base("b @ https://index.example/b.whl") == [Dependency("b", url="https://index.example/b.whl")]


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
        ("sys_platform === 'linux'", "3.12", "linux", False),
    ],
)
def test_markers_are_evaluated_for_the_target(
    marker: str, python: str, platform: str, expected: bool
) -> None:
    assert base(f"b ; {marker}", python=python, platform=platform) == ([Dependency("b")] if expected else [])


def test_dependencies_of_extras_stand_apart() -> None:
    release = compiled(
        "b",
        "c>=1 ; extra == 'fast'",
        "d ; python_version < '3' and extra == 'fast'",
        "e ; extra == 'fast' or extra == 'Slow_One'",
        provides=("fast", "Slow_One", "empty"),
    )
    assert release == Dependencies(
        (Dependency("b"),),
        {"fast": (Dependency("c", ">=1"), Dependency("e")), "slow-one": (Dependency("e"),)},
        ("fast", "slow-one", "empty"),
        "side-file",
    )


@pytest.mark.parametrize(
    ("marker", "expected"),
    [
        ("extra == 'a'", {"a"}),
        ("'A' == extra", {"a"}),
        ("extra == 'extra'", {"extra"}),
        ("extra == 'a' or extra == 'extra'", {"a", "extra"}),
        ("extra != 'a' and extra == 'c_d'", {"c-d"}),
        ("extra == 'c.d' and sys_platform == 'linux'", {"c-d"}),
        ("extra == 'a' and sys_platform == 'win32'", set()),
        ("sys_platform == 'extra'", set()),
        ("extra == 'elsewhere'", set()),
    ],
)
def test_which_extras_a_marker_means(marker: str, expected: set[str]) -> None:
    extras = ("a", "extra", "c-d")
    found = compiled(f"b ; {marker}", provides=extras)
    assert found.base == ()
    assert found.extras == dict.fromkeys((x for x in extras if x in expected), (Dependency("b"),))


def test_an_extra_of_the_package_itself_is_a_dependency_on_it() -> None:
    release = compiled("pkg[fast,slow] ; extra == 'all'", provides=("all", "fast", "slow"))
    assert release.extras == {"all": (Dependency("pkg", extras=("fast", "slow")),)}


def test_an_extra_that_is_declared_twice_counts_once() -> None:
    release = compiled("c ; extra == 'a-b'", provides=("a_b", "A-B"))
    assert release.extras == {"a-b": (Dependency("c"),)}
    assert release.provides == ("a-b",)


def test_a_line_for_an_extra_that_is_not_provided_is_nobodys() -> None:
    assert compiled("c ; extra == 'ghost'", provides=("real",))[:3] == ((), {}, ("real",))


@pytest.mark.parametrize("line", ["b~=1.*", "b >= ", "not a line", "b ; python_version >> '3'", ""])
def test_an_invalid_line_spoils_the_release(line: str) -> None:
    problem = compiled("a", line).problem
    assert problem.startswith(f"invalid dependency `{line}`: ")
    assert "\n" not in problem


@pytest.mark.parametrize(
    ("line", "specifier"),
    [
        ("torch (>=1.9.*)", ">=1.9"),
        ("torch>=1.9.*", ">=1.9"),
        ("torch (<1.9.*)", "<1.9"),
        ("torch (>1.9.*)", ">=1.10"),
        ("torch (<=1.9.*)", "<1.9"),
        ("torch >= 1.9.*, < 2.0.*", "<2.0,>=1.9"),
        ("torch (>=1.9.*,!=1.10*)", "!=1.10.*,>=1.9"),
        ("torch (>=1.9.0<1.13)", "<1.13,>=1.9.0"),
        ("torch (>dev)", ""),
    ],
)
def test_what_only_old_pip_accepted_is_read_as_all_readings_agree(line: str, specifier: str) -> None:
    for marker in ("", " ; python_version >= '3.8'"):
        release = compiled(line + marker)
        assert release.base == (Dependency("torch", specifier),)
        assert release.repaired == (f"{line} -> torch{specifier}",)
        assert release.problem == ""


def test_repairs_of_lines_for_others_are_told_too() -> None:
    """For pip refuses the release for any of them."""
    lines = ("b>=1.* ; python_version < '3'", "c<2.* ; extra == 'fast'", "d>=1")
    release = compiled(*lines, provides=("fast",))
    assert release.base == (Dependency("d", ">=1"),)
    assert release.extras == {"fast": (Dependency("c", "<2"),)}
    assert release.repaired == ("b>=1.* -> b>=1", "c<2.* -> c<2")


def test_a_direct_reference_is_not_repaired() -> None:
    assert compiled("b @ https://index.example/b>=1.*.whl").repaired == ()


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
    problem = compiled(requires_python=requires_python, python=python).problem
    assert problem == ("" if fits else f"requires Python {requires_python}")


def test_unusable_metadata_has_no_dependencies() -> None:
    assert compiled("b", problem="no METADATA") == Dependencies((), {}, (), "side-file", "no METADATA")


WORDS = "a Foo_bar x-y a_ - .b [x] [x,Y_z] [ >=1 <2.0 ==1.* , ; (>=1) ( ~=1.0 ===foo != \xfc os_name 'nt'"
CONDITIONS = ["extra == 'x'", 'extra=="A_b"', "python_version>'3'", " and ", " or ", " in ", " ; "]
PARTS = st.sampled_from([*WORDS.split(), *CONDITIONS, "@ https://x/y;z", "\n", " "])


@given(st.lists(st.lists(PARTS, max_size=7).map("".join), max_size=8))
def test_lines_read_in_parts_are_those_read_at_once(lines: list[str]) -> None:
    compiler = Compiler(Target("3.12", "linux").resolved())
    for line in ("a", "b; extra == 'x'", "c>=1 ; os_name in 'nt'", *lines):
        parsed, whole = compiler._parse(line), _whole(line)
        if isinstance(parsed, str) or isinstance(whole, str):
            assert parsed == whole
        else:
            assert parsed._replace(marker=None) == whole._replace(marker=None)
            assert str(parsed.marker) == str(whole.marker)
