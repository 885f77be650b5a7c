"""How a target sees a project: candidates, gates, hidden releases with reasons, the file that speaks."""

from __future__ import annotations

import hashlib

import pytest

from compatlock.index.view import Candidate, Viewer, encode_view
from compatlock.model.listing import File, Listing, Release
from compatlock.model.policy import Policy
from compatlock.model.target import Target

LINUX = "manylinux_2_17_x86_64"
DAY = 86_400


def wheel(
    version: str = "1.0",
    tag: str = "py3-none-any",
    *,
    build: str = "",
    yanked: str | None = None,
    python: str = "",
    time: int | None = 0,
) -> File:
    filename = f"a-{version}-{build + '-' if build else ''}{tag}.whl"
    return File(filename, filename, hashed(filename), 1, time, python, yanked)


def sdist(
    version: str = "1.0",
    suffix: str = ".tar.gz",
    *,
    yanked: str | None = None,
    python: str = "",
    time: int | None = 0,
) -> File:
    filename = f"a-{version}{suffix}"
    return File(filename, filename, hashed(filename), 1, time, python, yanked)


def hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def viewer(python: str = "3.12", platform: str = "linux", **policy: object) -> Viewer:
    return Viewer(Target(python, platform).resolved(), Policy(**policy))  # type: ignore[arg-type]


def listing(**releases: list[File]) -> Listing:
    """Releases newest first, `v1_0=[...]`."""
    named = {name[1:].replace("_", "."): files for name, files in releases.items()}
    return Listing("a", tuple(Release(version, tuple(files)) for version, files in named.items()))


def candidates(view_of: Viewer, **releases: list[File]) -> dict[str, Candidate]:
    return {c.version: c for c in view_of.view(listing(**releases)).candidates}


def hidden(view_of: Viewer, **releases: list[File]) -> dict[str, tuple[str, str]]:
    return {h.version: (h.reason, h.detail) for h in view_of.view(listing(**releases)).hidden}


# The file that speaks for a release


@pytest.mark.parametrize(
    ("files", "best"),
    [
        ([sdist(), wheel()], wheel()),
        ([wheel(), wheel(tag=f"cp312-cp312-{LINUX}")], wheel(tag=f"cp312-cp312-{LINUX}")),
        (
            [wheel(tag=f"cp39-abi3-{LINUX}"), wheel(tag=f"cp311-abi3-{LINUX}")],
            wheel(tag=f"cp311-abi3-{LINUX}"),
        ),
        ([wheel(build="2"), wheel(), wheel(build="10")], wheel(build="10")),
        (
            [wheel(build="9"), wheel(tag=f"cp312-cp312-{LINUX}")],
            wheel(tag=f"cp312-cp312-{LINUX}"),
        ),
        (
            [wheel(tag=f"cp312-cp312-{LINUX}"), wheel(tag="cp312-cp312-manylinux_2_28_x86_64")],
            wheel(tag="cp312-cp312-manylinux_2_28_x86_64"),
        ),
        ([sdist(suffix=".zip"), sdist()], sdist()),
        ([wheel(yanked="broken"), wheel(build="1")], wheel(build="1")),
        ([wheel(build="1", yanked="broken"), wheel()], wheel()),
        ([wheel(yanked="broken"), sdist()], sdist()),
        ([wheel(python=">=3.13"), sdist()], sdist()),
        ([wheel(tag="py3-none-win_amd64"), wheel(tag="py3-none-any", build="0")], wheel(build="0")),
    ],
)
def test_highest_tag_then_highest_build_of_what_is_not_yanked(files: list[File], best: File) -> None:
    for given in (files, files[::-1]):
        assert candidates(viewer(), v1_0=given)["1.0"].file == best


def test_all_files_that_could_be_installed_best_first() -> None:
    files = (sdist(), wheel(), wheel(tag=f"cp312-cp312-{LINUX}"), wheel(tag="cp313-cp313-win_amd64"))
    found = candidates(viewer(), v1_0=list(files))["1.0"]
    assert found.files == (files[2], files[1], files[0])


# Yanks (PEP 592), per file


def test_a_release_is_yanked_when_no_other_file_fits() -> None:
    found = candidates(
        viewer(),
        v3_0=[wheel("3.0", yanked="")],
        v2_0=[wheel("2.0", yanked="bad"), wheel("2.0", tag="cp313-cp313-win_amd64")],
        v1_0=[wheel("1.0", yanked="bad"), sdist("1.0")],
    )
    assert {v: c.gate for v, c in found.items()} == {"3.0": "yanked", "2.0": "yanked", "1.0": ""}


def test_a_yanked_pre_release_is_yanked() -> None:
    assert candidates(viewer(), v1_0a1=[wheel("1.0a1", yanked="")])["1.0a1"].gate == "yanked"


def test_a_yanked_native_build_is_no_candidate_either() -> None:
    windows = wheel("2.0", tag="py3-none-win_amd64", yanked="")
    releases = {"v2_0": [windows, sdist("2.0", yanked="")], "v1_0": [wheel()]}
    assert hidden(viewer(), **releases) == {"2.0": ("native", "only for Windows x86_64")}


# Requires-Python


@pytest.mark.parametrize(
    ("requires_python", "python", "fits"),
    [
        (">=3.9", "3.12", True),
        (">=3.9,<3.12", "3.12", False),
        ("<3.12", "3.12", False),
        ("<=3.12", "3.12", True),
        ("<=3.12", "3.12.1", False),
        (">3.12", "3.12.4", True),
        (">3.12", "3.12", False),
        (">=3.12.4", "3.12", False),
        (">=3.12.4", "3.12.4", True),
        ("!=3.12.0", "3.12", False),
        ("~=3.9", "3.12", True),
        ("nonsense", "3.12", True),
    ],
)
def test_requires_python_is_enforced_at_both_ends(requires_python: str, python: str, fits: bool) -> None:
    releases = {"v1_0": [wheel(python=requires_python)]}
    found = viewer(python)
    assert bool(candidates(found, **releases)) == fits
    assert hidden(found, **releases) == ({} if fits else {"1.0": ("python", requires_python)})


# Tags and native builds


def test_a_release_with_wheels_that_do_not_fit_is_no_candidate_while_another_fits() -> None:
    releases = {
        "v3_0": [wheel("3.0", tag="cp312-cp312-manylinux_2_34_x86_64"), sdist("3.0")],
        "v2_0": [wheel("2.0", tag="cp312-cp312-manylinux_2_34_x86_64")],
        "v1_0": [wheel("1.0", tag=f"cp312-cp312-{LINUX}"), sdist("1.0")],
    }
    found = viewer()
    assert list(candidates(found, **releases)) == ["1.0"]
    assert hidden(found, **releases) == {"3.0": ("native", "x86_64-manylinux_2_34"), "2.0": ("tags", "")}
    assert list(candidates(viewer(platform="x86_64-manylinux_2_34"), **releases)) == ["3.0", "2.0", "1.0"]


def test_pure_wheels_for_another_python_are_no_native_build() -> None:
    releases = {
        "v3_0": [wheel("3.0")],
        "v2_0": [wheel("2.0", tag="py2-none-any"), sdist("2.0")],
        "v1_0": [wheel("1.0", tag="py2-none-any")],
    }
    found = viewer()
    assert candidates(found, **releases)["2.0"].file == sdist("2.0")
    assert hidden(found, **releases) == {"1.0": ("tags", "")}


def test_a_project_that_no_wheel_of_fits_is_built() -> None:
    releases = {
        "v2_0": [wheel("2.0", tag="cp312-cp312-win_amd64"), sdist("2.0")],
        "v1_0": [wheel("1.0", tag="cp312-cp312-win_amd64"), sdist("1.0")],
    }
    found = candidates(viewer(), **releases)
    assert {v: (c.file.filename, c.gate) for v, c in found.items()} == {
        "2.0": ("a-2.0.tar.gz", ""),
        "1.0": ("a-1.0.tar.gz", ""),
    }


def test_a_release_without_any_wheel_is_a_candidate() -> None:
    releases = {"v2_0": [sdist("2.0")], "v1_0": [wheel("1.0")]}
    assert list(candidates(viewer(), **releases)) == ["2.0", "1.0"]


# Policies


def test_no_binary_leaves_sdists_even_beside_wheels() -> None:
    releases = {"v2_0": [wheel("2.0")], "v1_0": [wheel("1.0"), sdist("1.0")]}
    for names in (("a",), (":all:",)):
        found = viewer(no_binary=names)
        assert candidates(found, **releases)["1.0"].file == sdist("1.0")
        assert hidden(found, **releases) == {"2.0": ("no-binary", "")}
    assert len(candidates(viewer(no_binary=("b",)), **releases)) == 2


def test_only_binary_leaves_wheels() -> None:
    releases = {"v2_0": [sdist("2.0")], "v1_0": [wheel("1.0"), sdist("1.0")]}
    for names in (("a",), (":all:",)):
        found = viewer(only_binary=names)
        assert list(candidates(found, **releases)) == ["1.0"]
        assert hidden(found, **releases) == {"2.0": ("only-binary", "")}
        assert candidates(found, **releases)["1.0"].files == (wheel("1.0"),)


@pytest.mark.parametrize(
    ("mode", "gates"),
    [
        ("if-necessary-or-explicit", {"2.0rc1": "pre-release", "2.0.dev1": "pre-release", "1.0.post1": ""}),
        ("if-necessary", {"2.0rc1": "pre-release", "2.0.dev1": "pre-release", "1.0.post1": ""}),
        ("explicit", {"2.0rc1": "pre-release", "2.0.dev1": "pre-release", "1.0.post1": ""}),
        ("allow", {"2.0rc1": "", "2.0.dev1": "", "1.0.post1": ""}),
        ("disallow", {"1.0.post1": ""}),
    ],
)
def test_pre_release_modes(mode: str, gates: dict[str, str]) -> None:
    releases = {
        "v2_0rc1": [wheel("2.0rc1")],
        "v2_0_dev1": [wheel("2.0.dev1")],
        "v1_0_post1": [wheel("1.0.post1")],
    }
    found = candidates(viewer(prerelease=mode), **releases)
    assert {v: c.gate for v, c in found.items()} == gates


def test_disallowed_pre_releases_are_hidden_though_yanked() -> None:
    releases = {"v1_0a1": [wheel("1.0a1", yanked="")]}
    assert hidden(viewer(prerelease="disallow"), **releases) == {"1.0a1": ("pre-release", "")}


# Dates


def test_what_was_uploaded_later_does_not_exist() -> None:
    releases = {
        "v3_0": [wheel("3.0", time=3 * DAY)],
        "v2_0": [wheel("2.0", tag=f"cp312-cp312-{LINUX}", time=3 * DAY), wheel("2.0", time=2 * DAY)],
        "v1_0": [wheel("1.0", time=None)],
    }
    found = viewer(exclude_newer=2 * DAY)
    assert candidates(found, **releases)["2.0"].file == wheel("2.0", time=2 * DAY)
    assert hidden(found, **releases) == {"3.0": ("date", ""), "1.0": ("undated", "")}
    assert hidden(viewer(exclude_newer=2 * DAY - 1), **releases)["2.0"] == ("date", "")


def test_the_time_of_a_release_is_its_earliest_upload() -> None:
    files = [wheel(time=3 * DAY), sdist(time=DAY), wheel(tag="py3-none-win_amd64", time=None)]
    assert candidates(viewer(), v1_0=files)["1.0"].time == DAY
    assert candidates(viewer(), v1_0=[wheel(time=None)])["1.0"].time is None


# The stored form


def test_positions_are_those_of_the_full_list() -> None:
    view = viewer().view(
        listing(
            v4_0=[wheel("4.0", python="<3")],
            v3_0=[wheel("3.0", yanked="x")],
            v2_0=[wheel("2.0", tag="py2-none-any")],
            v1_0=[wheel("1.0", time=DAY)],
        )
    )
    assert encode_view(view).split("\n") == [
        '1 2 3 4\t0y\t["4.0", "python", "<3"]',
        "3.0 1.0",
        f"0 {DAY}",
        wheel("3.0").sha256[:20] + wheel("1.0").sha256[:20],
    ]


def test_the_newest_hidden_release_is_a_final_one_that_only_the_target_hides() -> None:
    found = viewer(exclude_newer=2 * DAY).view(
        listing(
            v6_0=[wheel("6.0", time=3 * DAY)],
            v5_0rc1=[wheel("5.0rc1", python="<3")],
            v4_0=[wheel("4.0", tag="py3-none-win_amd64")],
            v3_0=[wheel("3.0", python="<3")],
            v2_0=[wheel("2.0")],
            v1_0=[wheel("1.0", python="<3")],
        )
    )
    newest = found.newest_hidden()
    assert newest is not None
    assert (newest.version, newest.reason) == ("4.0", "tags")
    assert (
        viewer().view(listing(v2_0=[wheel("2.0")], v1_0=[wheel("1.0", python="<3")])).newest_hidden() is None
    )
