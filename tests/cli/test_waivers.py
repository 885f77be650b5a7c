"""Waivers, overrides, exclusions, and the ways out that lead to them, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command import Cli
from tests.support.index_server import IndexServer

TARGET = ("--python-version", "3.12", "--python-platform", "x86_64-manylinux_2_34", "--no-shipped-facts")
DAY = "2026-01-{:02}T00:00:00Z"


@pytest.fixture(autouse=True)
def projects(index: IndexServer) -> None:
    """trainer 1.0 forbids the array 2 that engine needs; trainer 2.0 lifts that, and wants another tokens."""

    def add(name: str, version: str, day: int, *requires: str) -> None:
        index.add(name, version, requires=requires, upload_time=DAY.format(day))

    add("trainer", "1.0", 5, "array<2")
    add("trainer", "2.0", 20, "array>=2", "tokens<3")
    add("engine", "1.0", 6, "array>=2", "kernel")
    add("kernel", "1.0", 6, "array<2.3")
    for day, version in enumerate(("1.5", "2.0", "2.2", "2.5"), 7):
        add("array", version, day)
    add("tokens", "2.0", 1)
    add("tokens", "3.0", 2)


ASKED = ("-r", "trainer<3", "-r", "engine", "-r", "tokens>=3")

WAYS_OUT = """\
error: `engine`, `tokens>=3` and `trainer<3` cannot be satisfied together for CPython 3.12.0 on \
x86_64-manylinux_2_34:
  --requirement asks for engine
  --requirement asks for tokens>=3
  --requirement asks for trainer<3
  engine 1.0 needs array>=2
  trainer 1.0 needs array<2
  trainer 2.0 needs tokens<3
ways out, the best first:
  1. write `tokens>=2.0` instead of `tokens>=3`
     gives engine 1.0, tokens 2.0, trainer 2.0 and array 2.2 (a root is 1 day behind)
  2. `--waive 'trainer -> array'`
     gives engine 1.0, tokens 3.0, trainer 1.0 and array 2.2 (a root is 15 days behind)
     breaks trainer 1.0 needs array<2, gets 2.2
       trainer 2.0 lifts it: it needs array>=2
  3. `--waive 'trainer -> tokens'`, without evidence
     gives engine 1.0, tokens 3.0, trainer 2.0 and array 2.2
     breaks trainer 2.0 needs tokens<3, gets 3.0
  4. `--waive 'engine -> array'`, without evidence
     gives engine 1.0, tokens 3.0, trainer 1.0 and array 1.5 (a root is 15 days behind)
     breaks engine 1.0 needs array>=2, gets 1.5
"""


def test_ways_out_in_words(cli: Cli) -> None:
    assert cli("lock", *ASKED, *TARGET) == (1, "", WAYS_OUT)


def test_ways_out_that_take_too_much_are_named(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compatlock.api.why.ways_out._EACH", 0)
    run = cli("lock", *ASKED, *TARGET)
    reasons = WAYS_OUT.partition("ways out")[0]
    assert (run.code, run.out) == (1, "")
    assert run.err == reasons + (
        "hint: loosen `tokens>=3` (--requirement) or `trainer<3` (--requirement)\n"
        "hint: whether these help was not found out with a reasonable effort: "
        "another bound than `tokens>=3`, another bound than `trainer<3`, "
        "`--waive 'engine -> array'`, `--waive 'trainer -> array'` and 5 more\n"
    )


def test_ways_out_as_data(cli: Cli) -> None:
    run = cli("lock", *ASKED, *TARGET, "--json")
    told = json.loads(run.out)
    assert (run.code, told["version"], told["error"]["kind"]) == (1, 1, "NoSolution")
    assert {edge["kind"] for edge in told["error"]["core"]} == {"root", "edge"}
    move, waive, *_ = told["error"]["ways_out"]
    assert (move["kind"], move["accept"], move["replaces"]) == ("move", "tokens>=2.0", "tokens>=3")
    assert waive["accept"] == "--waive 'trainer -> array'"
    assert (waive["cost"], waive["has_evidence"], waive["smallest"]) == (2, True, False)
    assert waive["pins"] == {"engine": "1.0", "tokens": "3.0", "trainer": "1.0", "array": "2.2"}
    (broken,) = waive["breaks"]
    assert (broken["package"], broken["on"], broken["side"], broken["pinned"]) == (
        "trainer", "array", "upper", "2.2",
    )  # fmt: skip
    assert [evidence["kind"] for evidence in broken["evidence"]] == ["lifted"]


def test_each_way_out_does_what_it_says(cli: Cli) -> None:
    told = json.loads(cli("lock", *ASKED, *TARGET, "--json").out)["error"]["ways_out"]
    assert len(told) == 4
    for way in told:
        if way["kind"] == "move":
            asked = tuple(way["accept"] if word == way["replaces"] else word for word in ASKED)
            options: tuple[str, ...] = ()
        else:
            asked, (edge,) = ASKED, way["waivers"]
            options = ("--waive", f"{edge['package']} -> {edge['on']}")
        run = cli("lock", *asked, *TARGET, *options, "-o", "-")
        assert run.code == 0, run.err
        assert way["pins"].items() <= run.pins.items()


def test_a_waiver_stands_in_the_lock(cli: Cli) -> None:
    run = cli("lock", *ASKED, *TARGET, "--waive", "trainer->array")
    assert run.code == 0
    assert "warning: waiver spent: trainer -> array (--waive)\n" in run.err
    lock = Path("requirements.lock").read_text()
    assert "# Waivers spent:\n#   trainer -> array (--waive)\n" in lock
    assert "--waive 'trainer->array'" in lock
    assert "array==2.2" in lock
    assert "    # waived: trainer -> array<2\n" in lock


def test_a_waiver_that_is_not_needed_is_not_spent(cli: Cli) -> None:
    run = cli("lock", "-r", "trainer", "-r", "engine", *TARGET, "--waive", "trainer -> tokens", "-o", "-")
    assert "Waivers spent" not in run.out
    assert run.pins["tokens"] == "2.0"


@pytest.mark.parametrize(
    ("waiver", "array"),
    [("trainer -> array>=2.2", "2.2"), ("trainer -> array<2.1", "2.0"), ("Trainer -> Array!=2.2", "2.0")],
)
def test_a_bound_instead_of_the_waived_one(cli: Cli, waiver: str, array: str) -> None:
    run = cli("lock", *ASKED, *TARGET, "--waive", waiver, "-o", "-")
    assert run.code == 0, run.err
    assert run.pins["array"] == array


def test_a_bound_instead_that_does_not_help(cli: Cli) -> None:
    run = cli("lock", *ASKED, *TARGET, "--waive", "trainer -> array<1.9")
    assert run.code == 1
    assert "cannot be satisfied together" in run.err


def test_the_cheapest_with_evidence_is_waived_on_request(cli: Cli) -> None:
    run = cli("lock", *ASKED, *TARGET, "--auto-waive", "-o", "-")
    assert run.code == 0
    assert "#   trainer -> array (trainer 2.0 lifts it: it needs array>=2)\n" in run.out
    assert run.pins["trainer"] == "1.0"


def test_nothing_is_waived_without_evidence(cli: Cli) -> None:
    run = cli("lock", "-r", "engine", "-r", "array<2", *TARGET, "--auto-waive")
    assert run.code == 1
    assert "`--auto-waive` waives nothing here: no way out rests on evidence" in run.err


def test_two_waivers_with_evidence_are_cheaper_than_one_without(cli: Cli, index: IndexServer) -> None:
    for name in ("left", "right"):
        index.add(name, "1.0", requires=["base<2"], upload_time=DAY.format(1))
        index.add(name, "2.0", requires=["base"], upload_time=DAY.format(2))
    index.add("base", "1.0", upload_time=DAY.format(1))
    index.add("base", "2.0", upload_time=DAY.format(2))
    index.add("top", "1.0", requires=["base>=2"], upload_time=DAY.format(2))
    run = cli("lock", "-r", "left==1.0", "-r", "right==1.0", "-r", "top", *TARGET, "--json")
    ways = json.loads(run.out)["error"]["ways_out"]
    sets = [(way["accept"], way["cost"], way["smallest"]) for way in ways if way["kind"] == "waive"]
    assert sets == [
        ("--waive 'left -> base' --waive 'right -> base'", 4, True),
        ("--waive 'top -> base'", 32, False),
    ]
    assert "proved: nothing cheaper suffices\n" in run.err


def test_an_override_says_what_it_broke_needlessly(cli: Cli) -> None:
    run = cli("lock", *ASKED, *TARGET, "--override", "array>=2")
    assert run.code == 0
    note = (
        "note: the override array>=2 breaks 2 declared bounds: kernel 1.0 needs array<2.3, trainer 1.0 needs "
        "array<2; waivers instead would keep 1 of them\n"
    )
    assert note in run.err
    lock = Path("requirements.lock").read_text()
    assert "array==2.5" in lock
    assert "#   the override array>=2 breaks 2 declared bounds" in lock


def test_a_bound_of_an_override_is_not_said_to_be_the_packages_own(cli: Cli) -> None:
    run = cli("lock", "-r", "trainer<2", *TARGET, "--override", "array>=9")
    assert run.code == 1
    assert "\n  trainer 1.0 needs array, of which an override of yours allows only array>=9\n" in run.err


HARD = """
[[fact]]
id = "kernel-array"
package = "kernel"
versions = "{versions}"
kind = "hard"
on = "array"
summary = "kernel refuses an array that is newer than it declares"
source = "a run"
evidence = [{{ type = "executed", cmd = "import kernel", expect = "ImportError" }}]
"""


@pytest.mark.parametrize("versions", ["*", "<1"])
def test_an_override_that_breaks_a_hard_bound_is_singled_out(cli: Cli, versions: str) -> None:
    Path("mine.toml").write_text(HARD.format(versions=versions))
    run = cli("lock", *ASKED, *TARGET, "--override", "array>=2", "--facts", "mine.toml")
    assert run.code == 0
    warning = (
        "\nwarning: the override array>=2 breaks a bound that must hold, kernel 1.0 needs array<2.3: kernel "
        "refuses an array that is newer than it declares (known fact `kernel-array`)\n"
    )
    assert (warning in run.err) == (versions == "*")
    assert run.err.count("must hold") == (versions == "*")
    assert ("a bound that must hold" in Path("requirements.lock").read_text()) == (versions == "*")


def test_an_excluded_dependency_is_gone(cli: Cli) -> None:
    run = cli("lock", "-r", "engine", *TARGET, "--exclude-dependency", "engine -> kernel", "-o", "-")
    assert run.pins == {"array": "2.5", "engine": "1.0"}


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--waive", "array", "--waive 'array' names no edge"),
        ("--waive", "a -> a", "--waive 'a -> a': what a package asks of itself cannot be waived"),
        ("--waive", "a -> b[x]", "--waive 'a -> b[x]': extras and markers have no place behind the arrow"),
        ("--waive", "a -> b>=", "--waive: b>=: no version follows `>=`"),
        ("--override", "a[x]>=1", "--override 'a[x]>=1': an override is about versions, the extras stay"),
        ("--exclude-dependency", "a -> b>1", "--exclude-dependency 'a -> b>1': a dependency is left out"),
        ("--max-lag", "soon", "--max-lag soon: not a number of days"),
    ],
)
def test_bad_options(cli: Cli, option: str, value: str, message: str) -> None:
    run = cli("lock", "-r", "engine", *TARGET, option, value)
    assert run.code == 2
    assert run.err.startswith(f"error: {message}")


def test_no_waivers_and_waive_contradict_each_other(cli: Cli) -> None:
    run = cli("lock", "-r", "engine", *TARGET, "--no-waivers", "--waive", "a -> b")
    assert (run.code, run.err.splitlines()[0]) == (2, "error: `--waive` permits what `--no-waivers` refuses")


# Old answers


@pytest.fixture
def old(index: IndexServer) -> None:
    """Recent releases of left and right exclude each other."""
    index.add("left", "1.0", requires=["base"], upload_time="2024-01-01T00:00:00Z")
    index.add("left", "2.0", requires=["base<2"], upload_time="2026-01-01T00:00:00Z")
    index.add("right", "1.0", requires=["base>=2"], upload_time="2026-01-01T00:00:00Z")
    index.add("base", "1.0", upload_time=DAY.format(1))
    index.add("base", "2.0", upload_time=DAY.format(2))


@pytest.mark.usefixtures("old")
def test_an_old_answer_is_an_error_with_ways_out(cli: Cli) -> None:
    run = cli("lock", "-r", "left", "-r", "right", *TARGET)
    assert run.code == 1
    assert run.err.startswith(
        "error: recent releases (--max-lag 365d) of `left` and `right` exclude each other"
    )
    assert "  --max-lag 365d allows only left>=2.0\n" in run.err
    assert (
        "ways out, the best first:\n"
        "  1. lock `left` and `right` apart, for an environment each\n"
        "     gives left 2.0 and right 1.0\n"
        "  2. `--max-lag left=731d` (accepts how old it is; `--max-lag none` accepts any age)\n"
        "     gives left 1.0"
    ) in run.err
    assert "`--waive 'left -> base'`, without evidence" in run.err


def test_what_needs_the_other_is_not_locked_apart(cli: Cli, index: IndexServer) -> None:
    index.add("whole", "1.0", upload_time="2024-01-01T00:00:00Z")
    index.add("whole", "2.0", requires=["part<2"], upload_time="2026-01-01T00:00:00Z")
    index.add("part", "1.0", upload_time="2024-01-01T00:00:00Z")
    index.add("part", "2.0", upload_time="2026-01-01T00:00:00Z")
    run = cli("lock", "-r", "whole", "-r", "part", *TARGET)
    assert run.code == 1
    assert "apart" not in run.err


@pytest.mark.usefixtures("old")
@pytest.mark.parametrize("limit", ["none", "left=none", "left=731d", "105w"])
def test_an_old_answer_that_is_accepted(cli: Cli, limit: str) -> None:
    run = cli("lock", "-r", "left", "-r", "right", *TARGET, "--max-lag", limit)
    assert run.code == 0
    assert "  left 1.0 (731 days behind 2.0, held back: left 2.0 needs base<2)\n" in run.err


@pytest.mark.usefixtures("old")
@pytest.mark.parametrize("pins", [("left<2", "right"), ("left", "right", "base==2.0")])
def test_what_the_user_holds_back_is_only_reported(cli: Cli, pins: tuple[str, ...]) -> None:
    asked = [word for pin in pins for word in ("-r", pin)]
    assert cli("lock", *asked, *TARGET).code == 0


# What pip would choose, within the same limits


@pytest.mark.usefixtures("old")
def test_the_greedy_strategy_keeps_to_the_guard(cli: Cli) -> None:
    asked = ("lock", "-r", "left", "-r", "right", *TARGET)
    greedy = cli(*asked, "--strategy", "greedy")
    assert greedy == cli(*asked)
    assert greedy.code == 1
    accepted = cli(*asked, "--strategy", "greedy", "--max-lag", "none")
    assert accepted.code == 0
    assert "  left 1.0" in accepted.err


@pytest.mark.usefixtures("old")
def test_the_greedy_strategy_spends_waivers(cli: Cli) -> None:
    asked = ("lock", "-r", "left", "-r", "right", *TARGET, "--strategy", "greedy", "-o", "-")
    run = cli(*asked, "--waive", "left -> base", "--waive", "right -> base", "--max-lag", "none")
    assert "left==1.0" in run.out
    assert "waive" not in run.err
    run = cli(*asked, "--waive", "left -> base", "-r", "left>=2")
    assert "left==2.0" in run.out
    assert "base==2.0" in run.out
    assert "waived" in run.out


@pytest.mark.parametrize(
    ("waiver", "why"),
    [
        (
            "trainer -> arry",
            "no release of trainer that was read needs arry here; did you mean `trainer -> array`?",
        ),
        (
            "trainer[x] -> array>=1",
            "no release of trainer[x] that was read needs array here; did you mean `trainer -> array>=1`?",
        ),
        ("trianer -> array", "nothing here needs trianer; did you mean `trainer -> array`?"),
        ("another -> unlike", "nothing here needs another"),
    ],
)
def test_a_waiver_that_names_no_edge_is_told(cli: Cli, waiver: str, why: str) -> None:
    told = f"the waiver `{waiver}` has no effect: {why}\n"
    assert f"hint: {told}" in cli("lock", *ASKED, "--waive", waiver, *TARGET).err
    run = cli("lock", "-r", "trainer", "--waive", waiver, *TARGET)
    assert (run.code, f"note: {told}" in run.err) == (0, True)


def test_a_waiver_of_an_edge_that_is_not_needed_is_no_news(cli: Cli) -> None:
    assert "no effect" not in cli("lock", "-r", "trainer", "--waive", "trainer -> array", *TARGET).err


def test_a_waiver_of_a_pin_between_compiled_wheels_is_told(cli: Cli, index: IndexServer) -> None:
    compiled = ("cp312-cp312-manylinux_2_28_x86_64",)
    index.add("server", "1.0", requires=["tensor==1.0"], tags=compiled, upload_time=DAY.format(3))
    for version in ("1.0", "2.0"):
        index.add("tensor", version, tags=compiled, upload_time=DAY.format(3))
    run = cli("lock", "-r", "server", "-r", "tensor==2.0", "--waive", "server -> tensor", *TARGET)
    assert run.code == 1
    assert (
        "hint: the waiver `server -> tensor` has no effect: server is built for one release of tensor and "
        "pins it; such a pin is never waived\n"
    ) in run.err


def test_a_line_is_moved_to_the_newest_that_fits_whatever_an_older_lock_has(cli: Cli) -> None:
    assert cli("lock", "-r", "kernel", "-r", "array<2", *TARGET).code == 0
    run = cli("lock", "-r", "kernel", "-r", "array==2.5", *TARGET)
    assert "write `array==2.2` instead of `array==2.5`\n" in run.err


@pytest.mark.parametrize(
    ("exclusion", "why"),
    [
        (
            "trainer -> arry",
            "no release of trainer that was read needs arry here; did you mean `trainer -> array`?",
        ),
        ("trianer -> array", "nothing here needs trianer; did you mean `trainer -> array`?"),
        ("trainer -> array", ""),
    ],
)
def test_an_exclusion_that_takes_nothing_away_is_told(cli: Cli, exclusion: str, why: str) -> None:
    told = f"note: the exclusion `{exclusion}` has no effect: {why}\n"
    run = cli("lock", "-r", "trainer", "--exclude-dependency", exclusion, *TARGET)
    assert (run.code, told in run.err, "no effect" in run.err) == (0, bool(why), bool(why))
    impossible = cli("lock", *ASKED, "--exclude-dependency", exclusion, *TARGET)
    assert (told.replace("note", "hint") in impossible.err) == bool(why)
