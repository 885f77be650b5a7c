"""Wheel tags of targets, compared with `packaging` and with wheels that are known to install or not."""

from __future__ import annotations

import packaging.tags
import pytest

from compatlock.index.tags import TagRanks, build_number, platform_tags
from compatlock.model.platforms import parse_platform
from compatlock.model.target import Target


def ranks(python: str = "3.12", platform: str = "x86_64-manylinux_2_28") -> TagRanks:
    return TagRanks(Target(python, platform).resolved())


# Platforms


@pytest.mark.parametrize("machine", ["x86_64", "aarch64", "i686", "ppc64le", "s390x", "riscv64", "armv7l"])
@pytest.mark.parametrize("glibc", [(2, 17), (2, 28), (2, 41)])
def test_manylinux_tags_are_those_of_packaging(
    machine: str, glibc: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    from packaging import _manylinux

    monkeypatch.setattr(_manylinux, "_have_compatible_abi", lambda _path, _archs: True)
    monkeypatch.setattr(_manylinux, "_get_glibc_version", lambda: glibc)
    monkeypatch.setattr(_manylinux, "_is_compatible", lambda _arch, _version: True)
    expected = [*_manylinux.platform_tags([machine]), f"linux_{machine}"]
    assert platform_tags(parse_platform(f"{machine}-manylinux_2_{glibc[1]}")) == expected


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize("minor", [0, 1, 2])
def test_musllinux_tags_are_those_of_packaging(
    machine: str, minor: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from packaging import _musllinux

    musl = _musllinux._MuslVersion(1, minor)
    monkeypatch.setattr(_musllinux, "_get_musl_version", lambda _path: musl)
    expected = [*_musllinux.platform_tags([machine]), f"linux_{machine}"]
    assert platform_tags(parse_platform(f"{machine}-musllinux_1_{minor}")) == expected


@pytest.mark.parametrize(
    ("platform", "first", "last", "absent"),
    [
        ("macos", "macosx_13_0_arm64", "macosx_10_4_universal2", "macosx_14_0_arm64"),
        ("x86_64-apple-darwin-14.6", "macosx_14_0_x86_64", "macosx_10_4_universal", "macosx_14_0_arm64"),
        ("x86_64-apple-darwin-10.12", "macosx_10_12_x86_64", "macosx_10_4_universal", "macosx_10_13_x86_64"),
        ("aarch64-apple-darwin-26.1", "macosx_26_0_arm64", "macosx_10_4_universal2", "macosx_10_9_arm64"),
    ],
)
def test_macos_tags(platform: str, first: str, last: str, absent: str) -> None:
    tags = platform_tags(parse_platform(platform))
    assert (tags[0], tags[-1]) == (first, last)
    assert absent not in tags


@pytest.mark.parametrize(
    ("platform", "tags"),
    [
        ("windows", ["win_amd64"]),
        ("aarch64-pc-windows-msvc", ["win_arm64"]),
        ("i686-pc-windows-msvc", ["win32"]),
    ],
)
def test_windows_has_one_tag_a_machine(platform: str, tags: list[str]) -> None:
    assert platform_tags(parse_platform(platform)) == tags


# Order and fit


@pytest.mark.parametrize("minor", [10, 12, 14])
def test_the_order_of_all_tags_is_that_of_packaging(minor: int) -> None:
    platforms = platform_tags(parse_platform("x86_64-manylinux_2_28"))
    interpreter = f"cp3{minor}"
    expected = [
        *packaging.tags.cpython_tags((3, minor), [interpreter], platforms),
        *packaging.tags.compatible_tags((3, minor), interpreter, platforms),
    ]
    found = ranks(f"3.{minor}")
    measured = [found.rank(tag.interpreter, tag.abi, tag.platform) for tag in expected]
    assert None not in measured
    assert measured == sorted(measured, key=lambda rank: -1 if rank is None else rank)
    assert len(set(measured)) == len(expected)


# Real file names, and whether uv and pip install them on CPython 3.12 with glibc 2.28, x86_64.
KNOWN_WHEELS = [
    ("numpy-2.3.0-cp312-cp312-manylinux_2_28_x86_64.whl", True),
    ("numpy-2.3.0-cp312-cp312-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl", True),
    ("numpy-2.3.0-cp313-cp313-manylinux_2_28_x86_64.whl", False),
    ("numpy-2.3.0-cp312-cp312-musllinux_1_2_x86_64.whl", False),
    ("numpy-2.3.0-cp312-cp312-manylinux_2_28_aarch64.whl", False),
    ("numpy-2.3.0-cp313-cp313t-manylinux_2_28_x86_64.whl", False),
    ("llguidance-1.7.0-cp39-abi3-manylinux_2_31_x86_64.whl", False),
    ("llguidance-1.6.0-cp39-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", True),
    ("vllm-0.30.0-cp38-abi3-manylinux1_x86_64.whl", True),
    ("vllm-0.30.0-cp38-abi3-manylinux_2_31_x86_64.whl", False),
    ("cryptography-46.0.0-cp314-abi3-manylinux_2_28_x86_64.whl", False),
    ("six-1.17.0-py2.py3-none-any.whl", True),
    ("old-1.0-py2-none-any.whl", False),
    ("triton-3.5.0-cp312-cp312-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl", True),
    ("nvidia_nccl_cu12-2.27.5-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl", True),
    ("nvidia_nccl_cu12-2.27.5-py3-none-win_amd64.whl", False),
    ("ninja-1.13.0-py3-none-manylinux_2_12_x86_64.manylinux2010_x86_64.whl", True),
    ("plain-1.0-cp312-cp312-linux_x86_64.whl", True),
    ("later-1.0-py312-none-any.whl", True),
    ("later-1.0-py313-none-any.whl", False),
    ("exact-1.0-cp312-none-any.whl", True),
    ("upper-1.0-CP312-CP312-Manylinux_2_28_X86_64.whl", True),
    ("built-1.0-2-py3-none-any.whl", True),
    ("broken.whl", False),
]


@pytest.mark.parametrize(("filename", "fits"), KNOWN_WHEELS)
def test_known_wheels(filename: str, fits: bool) -> None:
    assert (ranks().rank_of_wheel(filename) is not None) == fits


def test_a_wheel_is_as_good_as_its_best_tag() -> None:
    found = ranks()
    both = found.rank("cp312", "cp312", "manylinux_2_5_x86_64.manylinux_2_28_x86_64")
    assert both == found.rank("cp312", "cp312", "manylinux_2_28_x86_64") == 0


# Build tags


def test_build_numbers_compare_as_numbers_then_as_text() -> None:
    order = ["a-1-py3-none-any.whl", "a-1-0-py3-none-any.whl", "a-1-1-py3-none-any.whl"]
    order += ["a-1-2-py3-none-any.whl", "a-1-2a-py3-none-any.whl", "a-1-2b-py3-none-any.whl"]
    order += ["a-1-10-py3-none-any.whl"]
    order.reverse()
    assert sorted(order, key=build_number) == order[::-1]
