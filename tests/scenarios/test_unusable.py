"""What an index has and nobody can use is passed over; `-v`, `--json` and explanations tell the reason."""

from __future__ import annotations

import json

import pytest

from tests.support.command import Cli
from tests.support.index_server import IndexServer

TARGET = ("--python-version", "3.12", "--python-platform", "x86_64-manylinux_2_34")
BROKEN = "invalid dependency `lib~=`: "


@pytest.fixture(autouse=True)
def releases(index: IndexServer) -> None:
    index.add("app", "1.0", requires=["lib"])
    index.add("app", "2.0", requires=["lib~="])
    index.add("lib", "1.0")
    for name in (
        "lib-0.1.win32-py2.7.exe",
        "lib-0.2.win32-py2.7.exe",
        "lib-0.9-py2.7.egg",
        "lib-2.x-py3.egg",
    ):
        index.add_file("lib", name, b"")
    index.add_file("app", "app-1.0-final_2.zip", b"")
    index.add("other", "1.0")
    index.add_file("other", "other-1.0.msi", b"")


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("unusable: ")]


def test_verbose_tells_of_the_packages_of_the_lock(cli: Cli) -> None:
    run = cli("lock", "-r", "app", "-v", "-o", "-", *TARGET)
    assert run.pins == {"app": "1.0", "lib": "1.0"}
    told = lines(run.err)
    assert told[0].startswith(f"unusable: app 2.0: {BROKEN}")
    assert told[1:] == [
        "unusable: app-1.0-final_2.zip of app: `1.0-final_2` is not a valid version (PEP 440)",
        "unusable: lib-0.1.win32-py2.7.exe, lib-0.2.win32-py2.7.exe of lib: .exe files are not supported",
        "unusable: lib-0.9-py2.7.egg, lib-2.x-py3.egg of lib: .egg files are not supported",
    ]
    assert lines(cli("lock", "-r", "app", "-o", "-", *TARGET).err) == []


def test_json_has_all_of_it_warm_and_cold(cli: Cli) -> None:
    cold = cli("lock", "-r", "app", "--json", "-q", *TARGET)
    value = json.loads(cold.out)
    assert value["version"] == 1
    release, *files = value["unusable"]
    assert release.pop("reason").startswith(BROKEN)
    assert release == {"package": "app", "version": "2.0", "filename": ""}
    assert [(each["package"], each["version"], each["filename"]) for each in files] == [
        ("app", "", "app-1.0-final_2.zip"),
        ("lib", "", "lib-0.1.win32-py2.7.exe"),
        ("lib", "", "lib-0.2.win32-py2.7.exe"),
        ("lib", "", "lib-0.9-py2.7.egg"),
        ("lib", "", "lib-2.x-py3.egg"),
    ]
    assert files[-1]["reason"] == ".egg files are not supported"
    assert cli("lock", "-r", "app", "--json", "-q", "--offline", *TARGET).out == cold.out


def test_an_explanation_names_a_release_that_would_fit(cli: Cli) -> None:
    run = cli("lock", "-r", "lib<1.0,>=0.9", "--json", *TARGET)
    assert run.code == 1
    assert "lib 0.9 cannot be used: .egg files are not supported" in run.err
    assert "0.1" not in run.err
    unusable = json.loads(run.out)["error"]["unusable"]
    assert [each["filename"] for each in unusable if each["package"] == "lib"][2] == "lib-0.9-py2.7.egg"
    assert {each["package"] for each in unusable} == {"lib"}


def test_an_explanation_is_verbose_when_asked(cli: Cli) -> None:
    words = ("lock", "-r", "app>=2", *TARGET)
    quiet, verbose = cli(*words).err, cli(*words, "-v").err
    assert f"app 2.0 cannot be used: {BROKEN}" in quiet
    assert lines(quiet) == []
    assert len(lines(verbose)) == 2
    assert lines(verbose)[0].startswith(f"unusable: app 2.0: {BROKEN}")
    assert lines(verbose)[1].startswith("unusable: app-1.0-final_2.zip of app: ")


def test_a_project_in_quarantine(cli: Cli, index: IndexServer) -> None:
    index.status["lib"] = "quarantined"
    run = cli("lock", "-r", "lib", *TARGET)
    assert run.code == 1
    assert "lib 1.0 cannot be used: the index holds the project in quarantine" in run.err


@pytest.mark.parametrize(
    ("filename", "version"),
    [
        ("my.lib-3.1-cp27-none-win32.wheel", "3.1"),
        ("my_lib-3.1-py2.py3-none.whl", "3.1"),
        ("My.Lib-3.1rc1.win-amd64-py2.7.msi", "3.1rc1"),
        ("my-lib-3.1-1.noarch.rpm", "3.1"),
        ("my-lib-3.1.tar.xz", "3.1"),
        ("my-lib-3.1.linux-x86_64.tar.z", "3.1"),
        ("my-lib-latest.tar.gz", ""),
        ("lib-3.1.tar.xz", ""),
    ],
)
def test_versions_in_names_of_unusable_files(
    cli: Cli, index: IndexServer, filename: str, version: str
) -> None:
    index.add("my-lib", "1.0")
    index.add_file("my-lib", filename, b"")
    err = cli("lock", "-r", "my-lib>=3.1.dev0", *TARGET).err
    told = [line for line in err.splitlines() if line.startswith("  my-lib ") and "cannot be used" in line]
    assert [line.split()[1] for line in told] == ([version] if version else [])
