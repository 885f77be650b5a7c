"""Options that decide what may be chosen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import Cli
from tests.support.index_server import IndexServer

OUT = ("-o", "-", "-q")


def day(month: int) -> str:
    return f"2026-{month:02}-01T00:00:00Z"


def versions(cli: Cli, *arguments: str) -> dict[str, str]:
    run = cli("lock", *arguments, *OUT)
    assert run.code == 0, run.err
    return run.pins


# Files


def test_no_binary_and_only_binary(cli: Cli, index: IndexServer) -> None:
    index.add("a", "3.0", tags=(), sdist=True)
    index.add("a", "2.0", sdist=True)
    index.add("a", "1.0")
    index.add("b", "2.0", requires=["a"], tags=(), sdist=True)
    index.add("b", "1.0", requires=["a"])
    assert versions(cli, "-r", "b") == {"a": "3.0", "b": "2.0"}
    assert versions(cli, "-r", "b", "--only-binary", "A") == {"a": "2.0", "b": "2.0"}
    assert versions(cli, "-r", "b", "--only-binary", ":all:") == {"a": "2.0", "b": "1.0"}
    assert versions(cli, "-r", "a<3", "--no-binary", "a") == {"a": "2.0"}
    run = cli("lock", "-r", "a<3", "--no-binary", "a", *OUT)
    assert run.out.count("--hash=") == 1
    assert index.sha256("a-2.0.tar.gz") in run.out
    assert cli("lock", "-r", "a<2", "--no-binary", ":all:", *OUT).code == 1
    assert cli("lock", "-r", "a==3", "--only-binary", ":all:", *OUT).code == 1


def test_all_files_of_the_target_are_hashed(cli: Cli, index: IndexServer) -> None:
    tags = ("cp312-cp312-manylinux_2_17_x86_64", "cp312-cp312-win_amd64", "py3-none-any")
    index.add("a", "1.0", tags=tags, sdist=True)
    run = cli("lock", "-r", "a", "--python-version", "3.12", "--python-platform", "linux", *OUT)
    files = [f"a-1.0-{tag}.whl" for tag in tags] + ["a-1.0.tar.gz"]
    assert [index.sha256(f) in run.out for f in files] == [True, False, True, True]


# Target


@pytest.mark.parametrize(
    ("platform", "expected"),
    [
        ("x86_64-manylinux_2_28", "1.0"),
        ("linux", "1.0"),
        ("x86_64-manylinux_2_34", "2.0"),
        ("x86_64-manylinux_2_40", "2.0"),
        ("x86_64-manylinux2014", "0.5"),
        ("aarch64-manylinux_2_34", "0.1"),
        ("macos", "3.0"),
        ("windows", "0.1"),
    ],
)
def test_floors_of_wheels(cli: Cli, index: IndexServer, platform: str, expected: str) -> None:
    index.add("a", "3.0", tags=("cp312-cp312-macosx_11_0_arm64",))
    index.add("a", "2.0", tags=("cp312-cp312-manylinux_2_34_x86_64",))
    index.add("a", "1.0", tags=("cp312-cp312-manylinux_2_28_x86_64",))
    index.add("a", "0.5", tags=("cp39-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64",))
    index.add("a", "0.1")
    target = ("--python-version", "3.12", "--python-platform", platform)
    assert versions(cli, "-r", "a", *target) == {"a": expected}


def test_what_the_target_hides_is_said(cli: Cli, index: IndexServer) -> None:
    index.add("a", "2.0", tags=("cp312-cp312-manylinux_2_34_x86_64",))
    index.add("a", "1.0")
    target = ("--python-version", "3.12", "--python-platform", "linux")
    run = cli("lock", "-r", "a", *target)
    note = (
        "the newer 2.0 is hidden: its wheels need x86_64-manylinux_2_34 (glibc 2.34), the target is "
        "x86_64-manylinux_2_28"
    )
    assert f"note: a 1.0: {note}\n" in run.err
    assert f"    # note: {note}\n" in Path("requirements.lock").read_text()
    index.add("b", "2.0", tags=("py3-none-win_amd64",), sdist=True)
    index.add("b", "1.0")
    index.add("c", "2.0", requires_python=">=3.13")
    index.add("c", "1.0")
    run = cli("lock", "-r", "b", "-r", "c", *target)
    assert (
        "note: b 1.0: the newer 2.0 is hidden: its wheels are only for Windows x86_64, the target is "
        "x86_64-manylinux_2_28 (or it would have to be built from source)\n"
        "note: c 1.0: the newer 2.0 is hidden: it needs Python >=3.13, the target is 3.12.0\n"
    ) in run.err
    run = cli("lock", "-r", "a>=2", *target)
    assert run.code == 1
    assert "manylinux_2_34" in run.err


def test_python_version(cli: Cli, index: IndexServer) -> None:
    index.add("a", "3.0", requires_python=">=3.12.4")
    index.add("a", "2.0", requires_python=">=3.12")
    index.add("a", "1.0", requires_python="<3.12", requires=["b ; python_full_version < '3.11.5'"])
    index.add("b", "1.0")
    assert versions(cli, "-r", "a", "--python-version", "3.12") == {"a": "2.0"}
    assert versions(cli, "-r", "a", "--python-version", "3.12.4") == {"a": "3.0"}
    assert versions(cli, "-r", "a", "--python-version", "3.11") == {"a": "1.0", "b": "1.0"}
    assert versions(cli, "-r", "a", "--python-version", "3.11.9") == {"a": "1.0"}


# Pre-releases


@pytest.fixture
def prereleases(index: IndexServer) -> None:
    """`a` has finals and a pre-release, `only` only pre-releases, `asks` names one of `a`."""
    index.add("a", "1.0")
    index.add("a", "2.0rc1")
    index.add("only", "1.0a1")
    index.add("only", "1.0a2")
    index.add("asks", "1.0", requires=["a>=2.0rc1"])
    index.add("range", "1.0", requires=["a>1.5"])


@pytest.mark.usefixtures("prereleases")
@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("if-necessary-or-explicit", ("1.0", "1.0a2", "2.0rc1", "2.0rc1")),
        ("if-necessary", ("1.0", "1.0a2", "2.0rc1", "2.0rc1")),
        ("explicit", ("1.0", "", "2.0rc1", "")),
        ("allow", ("2.0rc1", "1.0a2", "2.0rc1", "2.0rc1")),
        ("disallow", ("1.0", "", "", "")),
    ],
)
def test_pre_release_modes(cli: Cli, mode: str, expected: tuple[str, ...]) -> None:
    found = []
    for root, name in (("a", "a"), ("only", "only"), ("asks", "a"), ("range", "a")):
        run = cli("lock", "-r", root, "--prerelease", mode, *OUT)
        assert run.code == (0 if run.pins else 1)
        found.append(run.pins.get(name, ""))
    assert tuple(found) == expected


@pytest.mark.usefixtures("prereleases")
def test_a_pre_release_is_noted(cli: Cli) -> None:
    run = cli("lock", "-r", "asks")
    assert "note: a 2.0rc1: pre-release\n" in run.err


# Yanked releases


def test_yanked_releases_need_an_exact_pin(cli: Cli, index: IndexServer) -> None:
    index.add("a", "1.0")
    index.add("a", "2.0", yanked="it ate my homework")
    index.add("b", "1.0", requires=["a==2.0"])
    assert versions(cli, "-r", "a") == {"a": "1.0"}
    assert versions(cli, "-r", "b") == {"a": "2.0", "b": "1.0"}
    run = cli("lock", "-r", "a==2.0")
    assert "note: a 2.0: yanked: it ate my homework\n" in run.err
    assert "    # note: yanked: it ate my homework\n" in Path("requirements.lock").read_text()
    run = cli("lock", "-r", "a>1", "-o", "-")
    assert run.code == 1
    assert "it was yanked (it ate my homework)" in run.err


# Dates


def test_exclude_newer(cli: Cli, index: IndexServer) -> None:
    index.add("a", "1.0", upload_time=day(1))
    index.add("a", "2.0", upload_time=day(2))
    index.add("a", "3.0")
    assert versions(cli, "-r", "a") == {"a": "3.0"}
    assert versions(cli, "-r", "a", "--exclude-newer", "2026-02-01") == {"a": "2.0"}
    assert versions(cli, "-r", "a", "--exclude-newer", "2026-02-01T00:00:00Z") == {"a": "2.0"}
    assert versions(cli, "-r", "a", "--exclude-newer", "2026-02-01T01:00:00+02:00") == {"a": "1.0"}
    run = cli("lock", "-r", "a", "--exclude-newer", "2026-01-31")
    assert "index as of 2026-01-31T23:59:59Z\n" in run.err
    assert cli("lock", "-r", "a", "--exclude-newer", "2025-12-31").code == 1


# What goes first


def test_prefer_puts_a_package_before_the_others(cli: Cli, index: IndexServer) -> None:
    """Either `a` or `b` can be new, not both; `b` would be further behind."""
    for number, month in ((1, 1), (2, 2), (3, 3)):
        index.add("a", f"{number}.0", requires=["c==1"] if number == 3 else [], upload_time=day(month))
    index.add("b", "1.0", upload_time=day(1))
    index.add("b", "2.0", requires=["c==2"], upload_time=day(6))
    index.add("c", "1.0")
    index.add("c", "2.0")
    assert versions(cli, "-r", "a", "-r", "b") == {"a": "2.0", "b": "2.0", "c": "2.0"}
    assert versions(cli, "-r", "a", "-r", "b", "--prefer", "A") == {"a": "3.0", "b": "1.0", "c": "1.0"}


# Facts


OWN_FACTS = """
[[fact]]
id = "a-b"
package = "a"
versions = ">=2"
kind = "overlap"
on = "b"
bound = ">=2"
{severity}
summary = "a and b write the same files"
source = "seen"
evidence = [ {{ type = "url", url = "https://index.example/1" }} ]
"""


@pytest.fixture
def pair(index: IndexServer) -> None:
    for name in ("a", "b"):
        index.add(name, "1.0", upload_time=day(1))
        index.add(name, "2.0", upload_time="2026-01-31T00:00:00Z")


@pytest.mark.usefixtures("pair")
def test_a_facts_file_forbids_a_pair(cli: Cli) -> None:
    Path("facts.toml").write_text(OWN_FACTS.format(severity=""))
    roots = ("-r", "a", "-r", "b")
    assert versions(cli, *roots) == {"a": "2.0", "b": "2.0"}
    found = versions(cli, *roots, "--facts", "facts.toml")
    assert sorted(found.values()) == ["1.0", "2.0"]
    run = cli("lock", "-r", "a==2", "-r", "b==2", "--facts", "facts.toml")
    assert run.code == 1
    assert "a and b write the same files (known fact `a-b`)" in run.err


@pytest.mark.usefixtures("pair")
def test_a_soft_fact_is_weighed(cli: Cli) -> None:
    """Broken, it counts 60 days; keeping it costs 30."""
    Path("facts.toml").write_text(OWN_FACTS.format(severity='severity = "warning"'))
    roots = ("-r", "a", "-r", "b", "--facts", "facts.toml")
    assert sorted(versions(cli, *roots).values()) == ["1.0", "2.0"]
    assert versions(cli, *roots, "--no-soft-facts") == {"a": "2.0", "b": "2.0"}
    run = cli("lock", "-r", "a==2", "-r", "b==2", "--facts", "facts.toml")
    assert run.code == 0
    assert "warning: a and b write the same files (soft fact a-b)\n" in run.err
    assert "#   a-b: a and b write the same files (counts 60 days)\n" in Path("requirements.lock").read_text()


def test_shipped_facts_can_be_left_out(cli: Cli, index: IndexServer) -> None:
    index.add("cuda-python", "12.6.1")
    index.add("cuda-bindings", "13.5.0")
    roots = ("-r", "cuda-python", "-r", "cuda-bindings")
    assert cli("lock", *roots, *OUT).code == 1
    assert len(versions(cli, *roots, "--no-shipped-facts")) == 2


# Strategies


def test_greedy_is_what_pip_would_choose(cli: Cli, index: IndexServer) -> None:
    """`a` comes first in the alphabet: its newest release drags `b` down to an ancient one, which only
    `--max-lag none` lets through."""
    index.add("a", "1.0", upload_time=day(5))
    index.add("a", "2.0", requires=["b<2"], upload_time=day(6))
    index.add("b", "1.0", upload_time="2020-01-01T00:00:00Z")
    index.add("b", "2.0", upload_time=day(6))
    roots = ("-r", "a", "-r", "b")
    assert versions(cli, *roots) == {"a": "1.0", "b": "2.0"}
    assert versions(cli, *roots, "--strategy", "greedy") == {"a": "1.0", "b": "2.0"}
    run = cli("lock", *roots, "--strategy", "greedy", "--max-lag", "none", "-o", "-")
    assert run.code == 0, run.err
    assert run.pins == {"a": "2.0", "b": "1.0"}
    assert "#   strategy: greedy (nothing is proved)\n" in run.out
    assert "# Objective" not in run.out


def test_greedy_without_a_solution(cli: Cli, index: IndexServer) -> None:
    index.add("a", "1.0", requires=["b>1"])
    index.add("b", "1.0")
    run = cli("lock", "-r", "a", "--strategy", "greedy")
    assert run.code == 1
    assert "a 1.0 needs b>1\n" in run.err


def test_a_preference_that_nothing_asks_for_is_told(cli: Cli, index: IndexServer) -> None:
    index.add("numpy", "1.0", requires=["b"])
    index.add("b", "1.0")
    run = cli("lock", "-r", "numpy", "--prefer", "nunpy", "--prefer", "b", "--prefer", "zzz")
    assert run.code == 0
    assert (
        "note: `--prefer nunpy` has no effect: nothing here needs nunpy; did you mean `numpy`?\n"
        "note: `--prefer zzz` has no effect: nothing here needs zzz\n" in run.err
    )
    assert "--prefer b" not in run.err


@pytest.mark.parametrize(
    ("options", "written"),
    [
        ([], "requirements.lock"),
        (["--format", "requirements"], "requirements.lock"),
        (["--format", "pylock"], "pylock.toml"),
        (["--format", "json"], "lock.json"),
    ],
)
def test_a_format_has_its_own_default_name(
    cli: Cli, index: IndexServer, options: list[str], written: str
) -> None:
    index.add("a", "1.0")
    run = cli("lock", "-r", "a", *options)
    assert run.code == 0
    assert f"wrote {written}\n" in run.err
    assert Path(written).is_file()
