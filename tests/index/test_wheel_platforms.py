"""Where wheels fit that do not fit the target."""

from __future__ import annotations

import pytest

from compatlock.index.wheel_platforms import wheels_fit
from compatlock.model.target import Target

LINUX = Target("3.12.0", "x86_64-manylinux_2_28")
MAC = Target("3.12.0", "aarch64-apple-darwin")
WINDOWS = Target("3.12.0", "x86_64-pc-windows-msvc")
MUSL = Target("3.12.0", "x86_64-unknown-linux-musl")


@pytest.mark.parametrize(
    ("target", "tags", "expected"),
    [
        (LINUX, ["cp312-cp312-manylinux_2_34_x86_64"], "x86_64-manylinux_2_34"),
        (
            LINUX,
            ["cp38-abi3-manylinux_2_39_x86_64", "cp312-cp312-manylinux_2_31_x86_64"],
            "x86_64-manylinux_2_31",
        ),
        (LINUX, ["py3-none-manylinux_2_35_x86_64.manylinux_2_36_x86_64"], "x86_64-manylinux_2_35"),
        (LINUX, ["cp312-cp312-manylinux_2_34_aarch64"], "only for Linux aarch64"),
        (LINUX, ["cp312-cp312-win_amd64", "cp312-cp312-win32"], "only for Windows x86 and Windows x86_64"),
        (LINUX, ["cp312-cp312-macosx_11_0_universal2"], "only for macOS x86_64 and arm64"),
        (LINUX, ["cp312-cp312-musllinux_1_2_x86_64"], "only for musl Linux x86_64"),
        (
            LINUX,
            ["cp39-cp39-manylinux2014_x86_64", "cp310-cp310-manylinux2014_x86_64", "cp312-cp312-win_amd64"],
            "only for cp39 and cp310",
        ),
        (LINUX, ["cp310.cp311-none-any"], "only for cp310 and cp311"),
        (LINUX, [], ""),
        (
            MAC,
            ["cp312-cp312-macosx_14_0_arm64", "cp312-cp312-macosx_15_0_arm64"],
            "aarch64-apple-darwin-14.0",
        ),
        (MAC, ["cp312-cp312-manylinux2014_x86_64"], "only for Linux x86_64"),
        (MUSL, ["cp312-cp312-musllinux_1_3_x86_64"], "x86_64-musllinux_1_3"),
        (
            WINDOWS,
            ["cp312-cp312-win_arm64", "cp312-cp312-linux_x86_64"],
            "only for Linux x86_64 and Windows arm64",
        ),
    ],
)
def test_where_wheels_fit(target: Target, tags: list[str], expected: str) -> None:
    names = [f"a-1.0-{tag}.whl" for tag in tags]
    assert wheels_fit(names, target) == expected
    if expected and " " not in expected:
        target._replace(platform=expected).resolved()
