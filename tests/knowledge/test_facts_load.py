"""Loading: the memo, several files, and what a warm run imports."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from compatlock.errors import FactError, InputError
from compatlock.knowledge.load import load_facts, load_profile, profile_names
from compatlock.knowledge.memo import SCHEMA_VERSION
from compatlock.model.fact import Fact
from compatlock.model.profile import Profile

FACTS = """
[[fact]]
id = "{id}"
package = "a"
kind = "too-loose"
on = "b"
bounds = [{{ versions = "<2", bound = ">=1" }}, {{ versions = ">=2", bound = ">=3" }}]
when = {{ present = ["c"], extra = "x", feature = "f" }}
summary = "s"
source = "s"
evidence = [{{ type = "url", url = "https://github.com/a/b" }}]
"""

PROFILE = """
name = "p"
description = "d"
roots = ["a[x]>=1", "b"]
imports = ["a"]
features = ["f"]
source = "s"
waivers = [{ edge = "a[x] -> b", reason = "r", source = "s" }]
target = { python = "3.12", platform = "linux" }
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_memoised_values_equal_parsed_ones(tmp_path: Path) -> None:
    path = write(tmp_path / "facts.toml", FACTS.format(id="mine"))
    profile = write(tmp_path / "p.toml", PROFILE)
    memo: dict[str, str] = {}
    cold = load_facts([path], memo=memo), load_profile(str(profile), memo=memo)
    assert len(memo) == 2  # what is shipped is compiled already
    warm = load_facts([path], memo=memo), load_profile(str(profile), memo=memo)
    assert warm == cold == (load_facts([path]), load_profile(str(profile)))
    assert repr(warm) == repr(cold)  # tuples and NamedTuples all the way down, no lists of JSON


def test_the_memo_is_by_content_not_by_name(tmp_path: Path) -> None:
    memo: dict[str, str] = {}
    first = write(tmp_path / "first.toml", FACTS.format(id="mine"))
    second = write(tmp_path / "second.toml", FACTS.format(id="mine"))
    load_facts([first], shipped=False, memo=memo)
    (fact,) = load_facts([second], shipped=False, memo=memo)
    assert len(memo) == 1
    assert fact.origin == str(second)
    write(first, FACTS.format(id="other"))
    (fact,) = load_facts([first], shipped=False, memo=memo)
    assert fact.id == "other"


@pytest.mark.parametrize("damage", ["", "{", "[[1]]", "[3]", '[["a"]]', "null"])
def test_a_damaged_memo_is_made_again(tmp_path: Path, damage: str) -> None:
    path = write(tmp_path / "facts.toml", FACTS.format(id="mine"))
    profile = write(tmp_path / "p.toml", PROFILE)
    memo: dict[str, str] = {}
    cold = load_facts([path], memo=memo), load_profile(str(profile), memo=memo)
    good = dict(memo)
    for key in memo:
        memo[key] = damage
    assert (load_facts([path], memo=memo), load_profile(str(profile), memo=memo)) == cold
    assert memo == good


def test_the_schema_version_goes_with_what_is_memoised() -> None:
    """When this fails, the compiled values have changed: raise SCHEMA_VERSION and record them here."""
    fields = json.dumps([Fact._fields, Profile._fields])
    assert (SCHEMA_VERSION, fields) == (
        "2",
        '[["id", "package", "kind", "bounds", "on", "present", "extra", "feature", "severity", "summary", '
        '"source", "origin", "evidence"], ["name", "description", "roots", "waivers", "features", "imports", '
        '"python", "platform", "cuda", "driver", "source", "origin"]]',
    )


def test_a_warm_run_imports_nothing_heavy(tmp_path: Path) -> None:
    script = """
import json, sys
from compatlock.knowledge.load import load_facts, load_profile
from compatlock.knowledge.apply import FactIndex
memo = json.load(sys.stdin)
before = len(memo)
FactIndex(load_facts([sys.argv[1]], memo=memo), load_profile("async-grpo", memo=memo).features)
assert len(memo) == before
heavy = {"pydantic", "tomllib", "tomli", "packaging", "dataclasses", "importlib.resources", "inspect"}
print(sorted(heavy & set(sys.modules)))
"""
    path = write(tmp_path / "facts.toml", FACTS.format(id="mine"))
    memo: dict[str, str] = {}
    load_facts([path], memo=memo)
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        input=json.dumps(memo),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_problems_of_all_files_are_reported(tmp_path: Path) -> None:
    first = write(tmp_path / "first.toml", FACTS.format(id="mine").replace('on = "b"\n', ""))
    second = write(tmp_path / "second.toml", "fact = 3")
    missing = tmp_path / "missing.toml"
    with pytest.raises(FactError) as caught:
        load_facts([first, second, missing])
    assert caught.value.message.splitlines() == [
        f'{first}:2: fact "mine": on: missing; a too-loose fact is about an edge',
        f"{second}: fact: must be an array",
        f"{missing}: cannot be read: No such file or directory",
    ]


def test_two_files_cannot_use_one_id(tmp_path: Path) -> None:
    mine = write(tmp_path / "mine.toml", FACTS.format(id="liger-081"))
    with pytest.raises(FactError) as caught:
        load_facts([mine])
    assert (
        caught.value.message == f'{mine}: fact "liger-081": id: also in known_conflicts.toml; choose another'
    )
    assert [fact.id for fact in load_facts([mine], shipped=False)] == ["liger-081"]


def test_a_file_given_twice_counts_once(tmp_path: Path) -> None:
    mine = write(tmp_path / "mine.toml", FACTS.format(id="mine"))
    assert len(load_facts([mine, mine], shipped=False)) == 1


def test_an_unknown_profile_is_named_with_the_known_ones() -> None:
    with pytest.raises(InputError) as caught:
        load_profile("async-gpro")
    assert caught.value.message == "unknown profile `async-gpro`"
    assert caught.value.hints == (
        "did you mean `async-grpo`?",
        f"known profiles: {', '.join(profile_names())}; a file is named with its `.toml`",
    )


@pytest.mark.parametrize("name", ["", "..", "nothing-like-it"])
def test_a_name_is_no_way_to_other_files(name: str) -> None:
    with pytest.raises(InputError) as caught:
        load_profile(name)
    assert caught.value.message == f"unknown profile `{name}`"


def test_a_profile_file_that_is_not_there(tmp_path: Path) -> None:
    path = str(tmp_path / "none.toml")
    with pytest.raises(FactError, match="cannot be read: No such file or directory"):
        load_profile(path)


def test_shipped_profiles_are_found_by_name() -> None:
    assert profile_names() == (
        "async-grpo",
        "axolotl",
        "llamafactory",
        "ms-swift",
        "trinity-rft",
        "trl",
        "trl-deepspeed",
        "trl-liger",
        "trl-peft",
        "trl-quantization",
        "trl-vllm",
        "trl-vlm",
        "unsloth",
        "verl",
        "verl-sglang",
        "verl-vllm",
    )
    for name in profile_names():
        assert load_profile(name).name == name
