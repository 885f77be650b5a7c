"""What stands in the way of hidden releases."""

from __future__ import annotations

import pytest

from compatlock.api.obstacles import obstacles, wheels_fit
from compatlock.index.store import Store
from compatlock.index.supply import Supply
from compatlock.index.view import Hidden
from compatlock.model.listing import File, Listing, Release
from compatlock.model.policy import Policy
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


def wheel(version: str, tag: str, **fields: object) -> File:
    name = f"a-{version}-{tag}.whl"
    file = File(name, f"https://index.example/{name}", upload_time=1_000_000)
    return file._replace(**fields)  # type: ignore[arg-type]


LISTING = Listing(
    "a",
    (
        Release("7.0", (wheel("7.0", "py3-none-any", upload_time=86_400 * 20_000),)),
        Release("6.0", (wheel("6.0", "py3-none-any", requires_python=">=3.13"),)),
        Release(
            "5.0",
            (
                wheel("5.0", "cp312-cp312-manylinux_2_34_x86_64"),
                File("a-5.0.tar.gz", "https://index.example/a-5.0.tar.gz", upload_time=1_000_000),
            ),
        ),
        Release(
            "4.0",
            (
                wheel("4.0", "cp312-cp312-manylinux_2_31_x86_64", requires_python=">=3.13"),
                wheel("4.0", "cp312-cp312-manylinux_2_39_x86_64"),
            ),
        ),
        Release(
            "3.0", (wheel("3.0", "py3-none-any", yanked=""), wheel("3.0", "py2-none-any", yanked="oops"))
        ),
        Release("2.0", (wheel("2.0", "py3-none-any"),)),
        Release("1.0", (wheel("1.0", "cp312-cp312-win_amd64", yanked="late"),)),
    ),
    digest="d",
)


def supply() -> Supply:
    store = Store(None)
    supply = Supply(store, "memory", LINUX, Policy(exclude_newer=86_400 * 10_000), None)
    store.put_listing(supply.source, LISTING, "", 0)
    store.flush()
    return supply


def test_hidden_releases_with_what_can_be_done() -> None:
    assert [(h.version, h.reason, h.detail) for h in obstacles(supply(), "a")] == [
        ("7.0", "date", "2024-10-04"),
        ("6.0", "python", ">=3.13"),
        ("5.0", "native", "x86_64-manylinux_2_34"),
        ("4.0", "tags", "x86_64-manylinux_2_39"),
        ("3.0", "yanked", "oops"),
        ("1.0", "tags", "only for Windows x86_64"),
    ]


def test_a_project_that_nothing_is_known_of() -> None:
    assert obstacles(supply(), "b") == ()


def test_details_are_texts_of_hidden() -> None:
    assert all(isinstance(h, Hidden) for h in obstacles(supply(), "a"))
