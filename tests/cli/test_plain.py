"""Plain command lines are read as click reads them; all others are left to click."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compatlock.cli.lock import lock
from compatlock.cli.lock_options import FILES, OPTIONS
from compatlock.cli.option import FLAG, Option
from compatlock.cli.plain import parse_plainly

VALUE = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)


def _given(option: Option) -> st.SearchStrategy[list[str]]:
    name = st.sampled_from(option.names)
    if option.kind == FLAG:
        return name.map(lambda n: [n])
    value = st.sampled_from(option.choices) if option.choices else VALUE
    apart = st.tuples(name, value).map(list)
    joined = st.tuples(name.filter(lambda n: n.startswith("--")), value).map(lambda pair: ["=".join(pair)])
    return apart | joined if any(n.startswith("--") for n in option.names) else apart


WORDS = st.lists(st.sampled_from(OPTIONS).flatmap(_given) | VALUE.map(lambda v: [v]), max_size=6)


def by_click(words: list[str]) -> dict[str, object]:
    """What click makes of the words."""
    with lock.make_context("lock", list(words)) as context:
        return {name: "" if value is None else value for name, value in context.params.items()}


@given(WORDS)
def test_plain_words_mean_what_they_mean_to_click(groups: list[list[str]]) -> None:
    words = [word for group in groups for word in group]
    values = parse_plainly(words, OPTIONS, FILES)
    if values is not None:
        assert values == by_click(words)


def test_common_command_lines_are_plain() -> None:
    words = [
        "a.in",
        "-",
        "--profile",
        "x",
        "-r",
        "b>=1",
        "--requirement=c",
        "-o",
        "-",
        "-U",
        "--prerelease",
        "allow",
    ]
    values = parse_plainly(words, OPTIONS, FILES)
    assert values == by_click(words)
    assert values is not None
    assert values[FILES] == ("a.in", "-")
    assert values["requirements"] == ("b>=1", "c")
    assert values["outputs"] == ("-",)
    assert values["upgrade"] is True
    assert values["strategy"] == "optimal"


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["-h"],
        ["--"],
        ["--", "file"],
        ["--prof", "x"],
        ["--unknown"],
        ["-qv"],
        ["-ra"],
        ["--offline=yes"],
        ["--strategy", "never"],
        ["--allow-builds"],
        ["--allow-builds", "-q"],
        ["--profile"],
        ["-r", "--offline"],
        ["-x"],
        [""],
        ["-r", ""],
        ["--default-index="],
        ["--exclude-newer", " "],
    ],
)
def test_what_is_left_to_click(words: list[str]) -> None:
    assert parse_plainly(words, OPTIONS, FILES) is None
