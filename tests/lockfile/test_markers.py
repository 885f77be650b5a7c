from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.markers import Marker

from compatlock.errors import InputError
from compatlock.lockfile.markers import marker_of, refuse_indistinct
from compatlock.model.target import Target

PLATFORMS = ("linux", "aarch64-manylinux_2_28", "macos", "windows", "aarch64-pc-windows-msvc")
ALL = [Target(f"3.{minor}", platform).resolved() for minor in range(10, 14) for platform in PLATFORMS]
LINUX_ARM = Target("3.12", "aarch64-manylinux_2_28").resolved()


def holds(marker: str, target: Target) -> bool:
    return not marker or Marker(marker).evaluate({**target.marker_environment, "extra": ""})


@given(st.lists(st.sampled_from(ALL), unique=True, min_size=1), st.randoms(use_true_random=False))
def test_a_marker_holds_for_the_targets_meant_and_no_other(targets: list[Target], rng: object) -> None:
    wanted = [t for t in targets if rng.random() < 0.5]  # type: ignore[attr-defined]
    if wanted:
        marker = marker_of(wanted, targets)
        assert [t for t in targets if holds(marker, t)] == wanted
        assert (marker == "") == (len(wanted) == len(targets))


def on(*platforms: str, python: str = "3.12") -> list[Target]:
    return [Target(python, platform).resolved() for platform in platforms]


FOUR = on("linux", "aarch64-manylinux_2_28", "macos", "windows")


@pytest.mark.parametrize(
    ("wanted", "targets", "marker"),
    [
        (FOUR, FOUR, ""),
        (FOUR[:2], FOUR, 'sys_platform == "linux"'),
        (FOUR[:3], FOUR, 'sys_platform != "win32"'),
        (FOUR[:1], FOUR, 'platform_machine == "x86_64"'),
        (FOUR[1:], FOUR, 'platform_machine != "x86_64"'),
        (FOUR[::2], FOUR, 'platform_machine == "arm64" or platform_machine == "x86_64"'),
        (FOUR[:1], FOUR[:2], 'platform_machine == "x86_64"'),
        (on("linux"), [*on("linux"), *on("linux", python="3.11")], 'python_version >= "3.12"'),
        (on("linux", python="3.11"), [*on("linux"), *on("linux", python="3.11")], 'python_version < "3.12"'),
        (
            on("linux", python="3.11"),
            [t for minor in (10, 11, 12) for t in on("linux", "macos", python=f"3.{minor}")],
            'sys_platform == "linux" and python_version == "3.11"',
        ),
    ],
)
def test_markers_are_short(wanted: list[Target], targets: list[Target], marker: str) -> None:
    assert marker_of(wanted, targets) == marker


def test_targets_that_no_marker_tells_apart() -> None:
    refuse_indistinct(ALL)
    with pytest.raises(InputError, match=r"no marker tells CPython 3\.12\.0 on x86_64-manylinux_2_28 from"):
        refuse_indistinct(on("linux", "x86_64-manylinux_2_34"))
