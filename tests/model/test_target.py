"""Targets and platform names."""

from __future__ import annotations

import sys

import pytest

from compatlock.errors import InputError
from compatlock.model.platforms import parse_platform
from compatlock.model.target import Target, target_in_words


def test_a_minor_version_means_its_first_patch() -> None:
    assert Target("3.12", "linux").resolved() == Target("3.12.0", "x86_64-manylinux_2_28")
    assert Target("3.12.4", "linux").resolved().python == "3.12.4"


def test_the_default_is_the_running_interpreter_with_its_patch() -> None:
    target = Target().resolved()
    assert target.python == "{}.{}.{}".format(*sys.version_info[:3])
    assert parse_platform(target.platform).markers["sys_platform"] == sys.platform


def test_marker_environment_is_complete_and_free_of_the_machine() -> None:
    environment = Target("3.11", "aarch64-apple-darwin").resolved().marker_environment
    assert environment == {
        "implementation_name": "cpython",
        "implementation_version": "3.11.0",
        "os_name": "posix",
        "platform_machine": "arm64",
        "platform_python_implementation": "CPython",
        "platform_release": "",
        "platform_system": "Darwin",
        "platform_version": "",
        "python_full_version": "3.11.0",
        "python_version": "3.11",
        "sys_platform": "darwin",
    }


@pytest.mark.parametrize("python", ["2.7", "3", "3.x", "3.12.0.1", "3.12rc1", "python3.12"])
def test_an_unknown_python_is_an_input_error(python: str) -> None:
    with pytest.raises(InputError, match="no Python version"):
        Target(python, "linux").resolved()


@pytest.mark.parametrize(
    ("name", "family", "machine", "floor"),
    [
        ("linux", "manylinux", "x86_64", (2, 28)),
        ("x86_64-unknown-linux-gnu", "manylinux", "x86_64", (2, 28)),
        ("x86_64-manylinux2014", "manylinux", "x86_64", (2, 17)),
        ("aarch64-manylinux_2_35", "manylinux", "aarch64", (2, 35)),
        ("aarch64-unknown-linux-musl", "musllinux", "aarch64", (1, 2)),
        ("macos", "macos", "arm64", (13, 0)),
        ("x86_64-apple-darwin", "macos", "x86_64", (13, 0)),
        ("windows", "windows", "AMD64", (0, 0)),
        ("aarch64-pc-windows-msvc", "windows", "ARM64", (0, 0)),
    ],
)
def test_platform_names(name: str, family: str, machine: str, floor: tuple[int, int]) -> None:
    platform = parse_platform(name)
    assert (platform.family, platform.machine, platform.floor) == (family, machine, floor)


def test_an_unknown_platform_is_an_input_error_that_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="unknown platform `amiga`") as caught:
        parse_platform("amiga")
    assert "x86_64-manylinux_2_28" in caught.value.hints[0]


@pytest.mark.parametrize("target", [Target("3.12", "linux"), Target("3.10.4", "macos"), Target()])
def test_words_of_a_target_are_read_back(target: Target) -> None:
    resolved = target.resolved()
    assert target_in_words(str(resolved)) == resolved


@pytest.mark.parametrize(
    "text",
    ["", "CPython 3.12.0", "CPython 3.12 on linux", "CPython 3.12.0 on mars", "x on y", "CPython  on "],
)
def test_other_words_are_no_target(text: str) -> None:
    assert target_in_words(text) is None


def test_cuda_and_driver_are_told_and_read_back() -> None:
    for target in (
        Target("3.12", "linux", driver="570.133.20"),
        Target("3.12", "linux", cuda="12.8"),
        Target("3.12", "linux", cuda="12.8", driver="580"),
        Target("3.12", "windows"),
    ):
        resolved = target.resolved()
        assert target_in_words(str(resolved)) == resolved
    assert str(Target("3.12", "linux", "12.8", "580").resolved()) == (
        "CPython 3.12.0 on x86_64-manylinux_2_28, driver 580, CUDA 12.8"
    )
    assert target_in_words("CPython 3.12.0 on x86_64-manylinux_2_28, driver 57") is None


def test_what_a_target_demands_of_cuda() -> None:
    linux = Target("3.12.0", "x86_64-manylinux_2_28")
    assert (linux.cuda_majors, linux.cuda_bound, linux.cuda_origin) == (("13", "12", "11"), "", "")
    for target in (
        linux._replace(cuda="12.8"),
        linux._replace(driver="570"),
        linux._replace(cuda="12", driver="580"),
    ):
        assert (target.cuda_majors, target.cuda_bound) == (("12", "11"), ">=11,<=12")
    assert linux._replace(driver="580").cuda_bound == ""


def test_caches_know_nothing_of_cuda() -> None:
    linux = Target("3.12.0", "x86_64-manylinux_2_28")
    assert linux._replace(driver="570").key == linux.key


def test_one_target_completes_another() -> None:
    lock = Target("3.11", "linux", driver="570")
    assert Target().or_else(lock) == lock
    assert Target("3.12", cuda="13").or_else(lock) == Target("3.12", "linux", "13", "")
