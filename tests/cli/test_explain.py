"""`compatlock explain`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import compatlock
from tests.support.command import Cli
from tests.support.index_server import IndexServer

TARGET = ("--python-version", "3.12", "--python-platform", "linux", "--no-shipped-facts")
DAY = "2026-01-{:02}T00:00:00Z"


@pytest.fixture(autouse=True)
def projects(index: IndexServer) -> None:
    index.add("app", "1.0", requires=["lib<3"], upload_time=DAY.format(1))
    index.add("app", "2.0", requires=["lib<2"], upload_time=DAY.format(9))
    for version in (1, 2, 3):
        index.add("lib", f"{version}.0", upload_time=DAY.format(version))
    index.add("other", "1.0", upload_time=DAY.format(1))


def test_nothing_is_in_the_way(cli: Cli) -> None:
    assert cli("explain", "-r", "app", *TARGET) == (
        0,
        "there is nothing in the way: 2 packages fit together for CPython 3.12.0 on "
        "x86_64-manylinux_2_28\n  app 2.0, the newest there may be\n",
        "",
    )
    assert not list(Path().iterdir())


def test_a_contradiction(cli: Cli) -> None:
    Path("r.in").write_text("app\nlib>=3\n")
    locked, explained = cli("lock", "r.in", *TARGET), cli("explain", "r.in", *TARGET)
    assert locked.code == explained.code == 1
    assert locked.err.removeprefix("error: ") == explained.out
    assert "1. write `lib>=1.0` instead of `lib>=3`" in explained.out


def test_why_a_package_has_its_version(cli: Cli) -> None:
    assert cli("explain", "-r", "app", "lib", *TARGET).out == (
        "lib 1.0, 2 releases and 2 days behind 3.0: app 2.0 needs lib<2\n"
        "  needed by\n"
        "    app 2.0 needs lib<2\n"
        "  a newer one is held back by\n"
        "    app 2.0 needs lib<2\n"
        "  lib 3.0 is impossible:\n"
        "    --requirement asks for app\n"
        "    the question allows only lib==3.0\n"
        "    app 2.0 needs lib<2\n"
        "    app 1.0 needs lib<3\n"
        "    a way out:\n"
        "      1. `--waive 'app -> lib'`, without evidence\n"
        "         gives app 2.0 and lib 3.0\n"
        "         breaks app 2.0 needs lib<2, gets 3.0\n"
        "  lib 2.0 is possible and changes app 2.0 to 1.0\n"
        "    it is worse in worst root lag (days): 8 instead of 0\n"
    )


def test_why_not_that_version(cli: Cli) -> None:
    run = cli("explain", "-r", "app", "lib==2.0", "--why", "other==1.0", *TARGET, "--json")
    told = json.loads(run.out)
    assert (run.code, told["satisfiable"], told["roots"]) == (0, True, {"app": "2.0"})
    first, second = told["answers"]
    (price,) = first["newer"]
    assert (price["version"], price["possible"], price["pins"]) == ("2.0", True, [["app", "2.0", "1.0"]])
    assert (second["version"], second["newer"][0]["possible"]) == ("", True)


def test_a_question_that_is_none(cli: Cli) -> None:
    run = cli("explain", "-r", "app", "lib>=2", *TARGET)
    assert run.code == 2
    assert run.err.startswith("error: `lib>=2` is no question: ask about a package, or about one version")


def test_from_python(index: IndexServer, tmp_path: Path) -> None:
    explanation = compatlock.explain(
        ["app"], "lib", target=compatlock.Target("3.12", "linux"), index_url=index.url, cache_dir=tmp_path
    )
    (why,) = explanation.answers
    assert (why.version, [price.version for price in why.newer]) == ("1.0", ["3.0", "2.0"])
    assert why.newer[0].error is not None
    assert [way.accept for way in why.newer[0].error.ways_out] == ["--waive 'app -> lib'"]
