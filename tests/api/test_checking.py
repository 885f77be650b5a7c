"""Checks of pins and environments: what is found, what facts and waivers say of it, and what pip finds."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import compatlock
from compatlock.model.names import normalise
from compatlock.model.report import (
    DUPLICATE,
    ERROR,
    FACT,
    MISSING,
    PLATFORM,
    PYTHON,
    VERSION,
    WAIVED,
    WARNING,
)
from tests.support.index_server import IndexServer
from tests.support.site_packages import install, virtual_environment

LINUX = compatlock.Target("3.12", "linux")
FACTS = """
[[fact]]
id = "app-strict"
package = "app"
versions = "<=1.0"
kind = "too-strict"
on = "lib"
bound = "<4"
summary = "app works with lib 3"
source = "a test"
evidence = [{ type = "executed", cmd = "app", expect = "ok" }]
"""


def fact(**fields: str) -> str:
    """A facts file of one entry."""
    entry = {
        "id": "known",
        "package": "app",
        "versions": "*",
        "summary": "it breaks",
        "source": "a test",
        **fields,
    }
    rows = "\n".join(f'{key.replace("_", "-")} = "{value}"' for key, value in entry.items())
    evidence = 'evidence = [{ type = "executed", cmd = "app", expect = "ok" }]'
    return f"[[fact]]\n{rows}\n{evidence}\n"


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def projects(index: IndexServer) -> IndexServer:
    index.add("app", "1.0", requires=["lib<3", "win; sys_platform == 'win32'"], extras={"fast": ["speed"]})
    for version in ("1.0", "2.0", "3.0"):
        index.add("lib", version)
    index.add("speed", "1.0")
    index.add("old", "1.0", requires_python="<3.9")
    index.add("built", "1.0", tags=("cp312-cp312-win_amd64",))
    index.add("user", "1.0", requires=["app[fast]"])
    return index


def check(index: IndexServer, cache: Path, pins: object, **options: object) -> compatlock.Report:
    given = {"target": LINUX, "shipped_facts": False, **options}
    return compatlock.check(pins, index_url=index.url, cache_dir=cache, **given)  # type: ignore[arg-type]


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_everything_fits(projects: IndexServer, cache: Path) -> None:
    report = check(projects, cache, {"app": "1.0", "Lib": "2.0.0"})
    assert report.is_clean
    assert (report.findings, report.checked) == ((), 2)
    assert report.notes == ()
    assert report.target == "CPython 3.12.0 on x86_64-manylinux_2_28"


def test_a_wrong_version_and_what_is_missing(projects: IndexServer, cache: Path) -> None:
    report = check(projects, cache, {"app": "1.0", "lib": "3.0", "user": "1.0"})
    assert [(f.kind, f.severity, f.text) for f in report.findings] == [
        (VERSION, ERROR, "app 1.0 needs lib<3, but lib is 3.0"),
        (MISSING, ERROR, "app[fast] 1.0 needs speed, which is missing"),
    ]
    assert report.findings[0].hints == (
        "`compatlock explain -r app==1.0 -r lib==3.0 --python-version 3.12.0 "
        "--python-platform x86_64-manylinux_2_28` looks for ways out",
    )


def test_a_bound_that_is_known_to_be_too_strict(projects: IndexServer, cache: Path, tmp_path: Path) -> None:
    facts = write(tmp_path / "facts.toml", FACTS)
    pins = {"app": "1.0", "lib": "3.0"}
    (found,) = check(projects, cache, pins, facts=[facts]).errors
    assert found.facts == ("app-strict",)
    assert found.remarks == ("the bound is known to be too strict: app works with lib 3 (fact app-strict)",)
    assert found.hints[0] == "`--waive 'app -> lib<4'` accepts it"
    report = check(projects, cache, pins, facts=[facts], waivers=["app -> lib<4"])
    assert report.is_clean
    assert [(f.severity, f.remarks[0]) for f in report.findings] == [(WAIVED, "waived by --waive")]
    assert not check(projects, cache, pins, waivers=["app -> lib<3"]).is_clean


def test_an_edge_that_must_not_be_waived(projects: IndexServer, cache: Path, tmp_path: Path) -> None:
    facts = write(tmp_path / "facts.toml", fact(kind="hard", on="lib", versions="*"))
    (found,) = check(projects, cache, {"app": "1.0", "lib": "3.0"}, facts=[facts]).errors
    assert found.remarks == ("the bound must never be waived: it breaks (fact known)",)
    assert not any("--waive" in hint for hint in found.hints)


@pytest.mark.parametrize(
    ("fields", "lib", "kind", "severity", "text"),
    [
        (
            {"kind": "too-loose", "on": "lib", "bound": ">=2"},
            "1.0",
            FACT,
            ERROR,
            "really needs lib>=2, but lib",
        ),
        (
            {"kind": "too-loose", "on": "lib", "bound": ">=2", "severity": "degraded"},
            "1.0",
            FACT,
            WARNING,
            "but",
        ),
        (
            {"kind": "overlap", "on": "lib", "bound": "<2"},
            "1.0",
            FACT,
            ERROR,
            "app 1.0 and lib 1.0 do not go",
        ),
        ({"kind": "known-bad", "versions": "==1.0"}, "1.0", FACT, ERROR, "app 1.0 is known to be bad"),
        (
            {"kind": "undeclared", "on": "speed", "bound": ">=1"},
            "1.0",
            MISSING,
            ERROR,
            "needs speed>=1, though",
        ),
    ],
)
def test_broken_facts(
    projects: IndexServer,
    cache: Path,
    tmp_path: Path,
    fields: dict[str, str],
    lib: str,
    kind: str,
    severity: str,
    text: str,
) -> None:
    facts = write(tmp_path / "facts.toml", fact(**fields))
    report = check(projects, cache, {"app": "1.0", "lib": lib}, facts=[facts])
    assert [(f.kind, f.severity, f.facts) for f in report.findings] == [(kind, severity, ("known",))]
    assert text in report.findings[0].text
    assert report.is_clean is (severity == WARNING)


def test_a_fact_that_holds_or_is_about_others_says_nothing(
    projects: IndexServer, cache: Path, tmp_path: Path
) -> None:
    loose = write(tmp_path / "loose.toml", fact(kind="too-loose", on="lib", bound=">=2"))
    assert check(projects, cache, {"app": "1.0", "lib": "2.0"}, facts=[loose]).findings == ()
    extra = write(
        tmp_path / "extra.toml", fact(kind="too-loose", on="lib", bound=">2") + 'when = { extra = "fast" }\n'
    )
    pins = {"app": "1.0", "lib": "2.0", "speed": "1.0"}
    assert check(projects, cache, pins, facts=[extra]).is_clean
    assert not check(projects, cache, pins, facts=[extra], requirements=["app[fast]"]).is_clean


def test_releases_that_are_not_for_the_target(projects: IndexServer, cache: Path) -> None:
    report = check(projects, cache, {"old": "1.0", "built": "1.0"})
    assert [(f.kind, f.text) for f in report.findings] == [
        (PLATFORM, "built 1.0 has no file for CPython 3.12.0 on x86_64-manylinux_2_28"),
        (PYTHON, "old 1.0 requires Python <3.9, which 3.12.0 is not"),
    ]


def test_what_the_index_does_not_know_is_said(projects: IndexServer, cache: Path) -> None:
    report = check(projects, cache, {"private": "1.0", "lib": "9.9", "app": "1.0+cu124"})
    assert report.notes == (
        "app 1.0+cu124 is not on the index; what it needs is taken from 1.0",
        "private 1.0 is not on the index, and what it needs is not known",
        "lib 9.9 is not on the index, and what it needs is not known",
    )
    assert [f.text for f in report.findings] == ["app 1.0+cu124 needs lib<3, but lib is 9.9"]


def test_a_pin_that_is_there_twice(projects: IndexServer, cache: Path, tmp_path: Path) -> None:
    freeze = write(
        tmp_path / "f.txt", "lib==1.0\nlib==2.0\nspeed==1.0\nspeed==1\nlib==9 ; sys_platform=='win32'\n"
    )
    (found,) = check(projects, cache, freeze).findings
    assert (found.kind, found.severity) == (DUPLICATE, ERROR)
    assert found.text == f"lib is pinned twice: 1.0 ({freeze}:1) and 2.0 ({freeze}:2)"


@pytest.mark.parametrize("name", ["requirements.lock", "pylock.toml", "lock.json"])
def test_a_lock_of_ours_fits_with_the_bounds_that_it_waived(
    projects: IndexServer, cache: Path, tmp_path: Path, name: str
) -> None:
    lock = compatlock.lock(
        ["app", "lib>=3"],
        waivers=["app -> lib"],
        index_url=projects.url,
        target=LINUX,
        shipped_facts=False,
        cache_dir=cache,
    )
    compatlock.write(lock, tmp_path / name)
    other = compatlock.Target(platform="macos")
    for given in (lock, tmp_path / name):
        report = check(projects, cache, given, target=None)
        assert report.target == lock.target
        assert [(f.severity, f.on) for f in report.findings] == [(WAIVED, "lib")]
        assert "aarch64-apple-darwin" in check(projects, cache, given, target=other).target


@pytest.mark.parametrize("name", ["requirements.lock", "lock.json"])
def test_a_lock_of_ours_fits_without_the_edges_that_it_left_out(
    projects: IndexServer, cache: Path, tmp_path: Path, name: str
) -> None:
    without = ["app -> lib"]
    lock = compatlock.lock(
        ["app"], exclude_dependencies=without, index_url=projects.url, target=LINUX, cache_dir=cache
    )
    compatlock.write(lock, tmp_path / name)
    assert check(projects, cache, tmp_path / name).findings == ()
    assert check(projects, cache, {"app": "1.0"}, exclude_dependencies=without).findings == ()
    assert not check(projects, cache, {"app": "1.0"}).is_clean


def test_an_environment(tmp_path: Path, cache: Path) -> None:
    site = virtual_environment(tmp_path / "venv", "3.12.4")
    install(site, "app", "1.0", requires=["lib<3", "gone", "win; sys_platform == 'win32'"])
    install(site, "lib", "3.0", requires_python=">=3.12.9")
    install(site, "built", "1.0", tag="cp312-cp312-win_amd64")
    install(site, "twice", "1.0")
    install(site, "twice", "2.0")
    report = compatlock.check(
        env=tmp_path / "venv",
        target=compatlock.Target(platform="linux"),
        cache_dir=cache,
        shipped_facts=False,
    )
    assert report.checked == 4
    assert report.target.startswith("CPython 3.12.4 on ")
    assert sorted((f.kind, f.package, f.on) for f in report.errors) == [
        (DUPLICATE, "twice", ""),
        (MISSING, "app", "gone"),
        (PLATFORM, "built", ""),
        (PYTHON, "lib", "python"),
        (VERSION, "app", "lib"),
    ]
    assert not any("explain" in hint for finding in report.findings for hint in finding.hints)


def test_a_python_whose_patch_release_is_not_known_gets_the_benefit_of_the_doubt(
    tmp_path: Path, cache: Path
) -> None:
    site = virtual_environment(tmp_path / "venv")
    (tmp_path / "venv" / "pyvenv.cfg").unlink()
    install(site, "late", "1.0", requires_python=">=3.12.9")
    install(site, "later", "1.0", requires_python=">=3.13")
    report = compatlock.check(env=tmp_path / "venv", cache_dir=cache, shipped_facts=False)
    assert [finding.package for finding in report.findings] == ["later"]


def test_what_a_profile_asks_for_has_to_be_there(tmp_path: Path, cache: Path) -> None:
    install(virtual_environment(tmp_path / "venv"), "app", "1.0")
    report = compatlock.check(
        env=tmp_path / "venv", requirements=["app>=2", "lib"], cache_dir=cache, shipped_facts=False
    )
    assert [finding.text for finding in report.findings] == [
        "--requirement asks for app>=2, but app is 1.0",
        "--requirement asks for lib, which is missing",
    ]


def test_pip_finds_nothing_that_is_not_found_here(tmp_path: Path, cache: Path) -> None:
    """The running Python's pip over a folder of made-up distributions (`pip check` has no option for one)."""
    pytest.importorskip("pip")
    folder = tmp_path / "site-packages"
    install(folder, "app", "1.0", requires=["lib<3", "gone>=1", "pre>=1", "never; python_version < '3'"])
    install(folder, "lib", "3.0", requires=["app==1.0.*", "Under_Score"])
    install(folder, "pre", "1.1rc1", requires=["lib!=3.0"])
    install(folder, "built", "1.0", tag="cp27-cp27m-win32")
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "check"],
        env={"PYTHONPATH": str(folder), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    told = re.findall(r"^(\S+) (?:\S+) (?:requires|has requirement) ([A-Za-z_-]+)", done.stdout, re.MULTILINE)
    pairs = {(package, normalise(on)) for package, on in told}
    pairs |= {(name, "") for name in re.findall(r"^(\S+) \S+ is not supported on", done.stdout, re.MULTILINE)}
    expected = {("app", "lib"), ("app", "gone"), ("lib", "under-score"), ("pre", "lib"), ("built", "")}
    report = compatlock.check(env=folder, cache_dir=cache, shipped_facts=False)
    assert {(finding.package, finding.on) for finding in report.errors} == expected
    assert pairs >= expected - {("built", "")}, done.stdout
    assert {pair for pair in pairs if pair[0] in ("app", "lib", "pre", "built")} <= expected
