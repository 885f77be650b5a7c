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
    only = "there is no other contradiction\n"
    assert only in explained.out
    assert locked.err.removeprefix("error: ") == explained.out.replace(only, "")
    assert "1. write `lib>=1.0` instead of `lib>=3`" in explained.out


def test_all_contradictions_are_told(cli: Cli, index: IndexServer) -> None:
    index.add("both", "1.0", requires=["lib>=3", "other>=2"], upload_time=DAY.format(1))
    asked = ("-r", "app", "-r", "both", *TARGET)
    told = (
        "error: `both` cannot be satisfied for CPython 3.12.0 on x86_64-manylinux_2_28:\n"
        "  --requirement asks for both\n"
        "  both 1.0 needs other>=2\n"
        "  no release of other is >=2; the newest is 1.0\n"
        "a further contradiction:\n"
        "  2. --requirement asks for app\n"
        "     app 2.0 needs lib<2\n"
        "     app 1.0 needs lib<3\n"
        "     both 1.0 needs lib>=3\n"
        "     together with a statement above\n"
    )
    assert cli("lock", *asked).err.partition("ways out")[0].partition("a way out")[0] == told
    assert cli("explain", *asked).out.startswith(told.removeprefix("error: "))
    error = json.loads(cli("explain", *asked, "--json").out)["error"]
    assert [len(core["core"]) for core in error["cores"]] == [2, 5]
    assert error["cores"][0]["core"] == error["core"]
    assert error["all_cores"] is True


def test_many_contradictions_are_counted(cli: Cli, index: IndexServer) -> None:
    needs = [f"part{number}>=2" for number in range(9)]
    index.add("odd", "1.0", requires=needs, upload_time=DAY.format(1))
    for need in needs:
        index.add(need.partition(">")[0], "1.0", upload_time=DAY.format(1))
    locked, explained = cli("lock", "-r", "odd", *TARGET), cli("explain", "-r", "odd", *TARGET)
    count = "at least 5 further contradictions"
    assert f"\nthere are {count}; `compatlock explain` tells them\n" in locked.err
    assert f"\n{count}:\n" in explained.out
    verbose = cli("lock", "-r", "odd", "-v", *TARGET)
    for text in (explained.out, verbose.err):
        assert len([line for line in text.splitlines() if line.endswith(">=2") and "odd 1.0" in line]) == 6


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


OWN_FACT = """
[[fact]]
id = "app-lib"
package = "app"
versions = ">=3"
kind = "overlap"
on = "extra-tool"
bound = ""
severity = "degraded"
summary = "app and extra-tool write the same files"
source = "seen"
evidence = [ { type = "url", url = "https://index.example/1" } ]
"""


def test_a_soft_fact_that_another_version_breaks_is_told(cli: Cli, index: IndexServer) -> None:
    """Broken it counts as 120 days, which is more than app 2.0 is behind."""
    Path("facts.toml").write_text(OWN_FACT)
    index.add("app", "3.0", upload_time="2026-02-01T00:00:00Z")
    index.add("extra-tool", "1.0", upload_time=DAY.format(1))
    asked = ("-r", "app", "-r", "extra-tool", "--facts", "facts.toml", *TARGET)
    locked = cli("lock", *asked, "-o", "-")
    assert locked.pins == {"app": "2.0", "extra-tool": "1.0", "lib": "1.0"}
    # No edge holds it back; what does is told by:
    assert "note: `compatlock explain ... app` tells what newer releases of app would cost\n" in locked.err
    run = cli("explain", *asked, "app")
    assert run.out == (
        "app 2.0, 1 release and 23 days behind 3.0\n"
        "  needed by\n"
        "    --requirement asks for app\n"
        "  app 3.0 is possible and changes 1 other package\n"
        "    it is worse in worst root lag (days): 120 instead of 23\n"
        "    it breaks a soft fact: app and extra-tool write the same files (`app-lib`, which counts as "
        "120 days)\n"
    )
    (price,) = json.loads(cli("explain", *asked, "app", "--json").out)["answers"][0]["newer"]
    assert [(fact["id"], fact["days"]) for fact in price["breaks"]] == [("app-lib", 120)]


def test_edges_that_lead_to_a_package_have_their_extras(cli: Cli, index: IndexServer) -> None:
    index.add("tool", "1.0", extras={"fast": ["app"]}, upload_time=DAY.format(1))
    run = cli("explain", "-r", "tool[fast]", "app", "tool", *TARGET)
    assert "  needed by\n    tool[fast] 1.0 needs app\n" in run.out
    assert "  needed by\n    --requirement asks for tool[fast]\n" in run.out


def test_a_question_about_a_project_that_there_is_not(cli: Cli) -> None:
    run = cli("explain", "-r", "app", "libb", "--why", "other", *TARGET)
    assert (run.code, run.out) == (
        0,
        "libb is no part of the best answer: the index has no release of it; did you mean `lib`?\n"
        "other is no part of the best answer: nothing in it needs other\n",
    )


def test_a_version_is_told_as_the_index_has_it(cli: Cli) -> None:
    assert (
        "  lib 2.0 is possible and changes app 2.0 to 1.0\n"
        in cli("explain", "-r", "app", "lib==2", *TARGET).out
    )


def test_what_nothing_fits_in_further_contradictions(cli: Cli, index: IndexServer) -> None:
    index.add("first", "1.0", requires=["lib>=9"], upload_time=DAY.format(1))
    index.add("second", "1.0", requires=["other>=2"], upload_time=DAY.format(1))
    index.add("third", "1.0", requires=["nowhere"], upload_time=DAY.format(1))
    told = cli("explain", "-r", "first", "-r", "second", "-r", "third", *TARGET).out
    for line in (
        "no usable release of other is >=2; the newest usable one is 1.0",
        "the index has no project `nowhere`",
    ):
        assert f"\n     {line}\n" in told
