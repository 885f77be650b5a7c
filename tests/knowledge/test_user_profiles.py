"""Profiles of the user's own: where they are looked for, what shadows what, and every refusal's words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from compatlock.errors import FactError, InputError
from compatlock.knowledge.load import all_profiles, load_profile, profile_names, shadowing_note
from compatlock.knowledge.user_profiles import find_user_profiles
from compatlock.model.waiver import Waiver

MINIMAL = '[profiles.mine]\nroots = ["b>=1", "a[x]"]\n'

FULL = """
[project]
name = "p"

[tool.compatlock.profiles.train]
description = "Training here"
roots = ["trl[vllm]>=1.0"]
features = ["trl.experimental.async_grpo"]
imports = ["trl"]
source = "our handbook"
target = { python = "3.12", platform = "x86_64-manylinux_2_34" }

[[tool.compatlock.profiles.train.waivers]]
edge = "vllm -> transformers"
reason = "tried"
source = "our handbook"

[tool.compatlock.profiles.serve]
roots = ["vllm"]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder two levels below an empty one, made the current one."""
    below = tmp_path / "project" / "src"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    return below


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def refusal(folder: Path) -> list[str]:
    with pytest.raises(FactError) as caught:
        find_user_profiles(folder)
    return caught.value.message.replace(str(folder) + os.sep, "").splitlines()


def test_profiles_of_a_pyproject(folder: Path) -> None:
    write(folder / "pyproject.toml", FULL)
    profiles = find_user_profiles()
    assert sorted(profiles) == ["serve", "train"]
    train = profiles["train"]
    assert [str(root) for root in train.roots] == ["trl[vllm]>=1.0"]
    assert train.roots[0].origin == "profile train"
    assert train.waivers == (Waiver("vllm", "transformers", "", "tried", "profile train (our handbook)"),)
    assert (train.name, train.description, train.source) == ("train", "Training here", "our handbook")
    assert (train.features, train.imports) == (("trl.experimental.async_grpo",), ("trl",))
    assert (train.python, train.platform) == ("3.12", "x86_64-manylinux_2_34")
    assert train.origin == "pyproject.toml"
    assert (profiles["serve"].description, profiles["serve"].source) == ("", "")


def test_the_nearest_folder_counts(folder: Path) -> None:
    write(folder.parent / "compatlock.toml", MINIMAL)
    write(folder.parent.parent / "compatlock.toml", MINIMAL.replace("mine", "far"))
    write(folder / "pyproject.toml", '[project]\nname = "compatlock-profile-of-nobody"\n')
    assert {name: p.origin for name, p in find_user_profiles().items()} == {"mine": "../compatlock.toml"}
    write(folder / "compatlock.toml", "")  # an empty file ends the search
    assert find_user_profiles() == {}


def test_both_files_of_a_folder_count(folder: Path) -> None:
    write(folder / "compatlock.toml", MINIMAL)
    write(folder / "pyproject.toml", FULL)
    assert sorted(find_user_profiles()) == ["mine", "serve", "train"]
    write(folder / "compatlock.toml", MINIMAL.replace("mine", "train"))
    assert refusal(folder) == ["pyproject.toml: profile train: also in compatlock.toml; choose another name"]


def test_a_start_elsewhere(folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "compatlock.toml", MINIMAL)
    (profile,) = find_user_profiles("..").values()
    assert profile.origin == "../../compatlock.toml"
    (profile,) = find_user_profiles(folder).values()
    assert Path(profile.origin).resolve() == tmp_path / "compatlock.toml"


def test_a_current_folder_that_was_removed(folder: Path) -> None:
    folder.rmdir()
    assert find_user_profiles() == {}
    assert load_profile("trl").name == "trl"


def test_a_pyproject_that_does_not_concern_us_may_be_broken(folder: Path) -> None:
    write(folder / "pyproject.toml", "[project\n")
    assert find_user_profiles() == {}


def test_own_profiles_shadow_shipped_ones_and_say_so(folder: Path) -> None:
    shipped = load_profile("trl")
    write(folder / "compatlock.toml", MINIMAL.replace("mine", "trl"))
    own = load_profile("trl")
    assert (own.origin, [str(root) for root in own.roots]) == ("compatlock.toml", ["b>=1", "a[x]"])
    assert shadowing_note(own) == "profile trl is the one of compatlock.toml, which hides the shipped one"
    assert shadowing_note(shipped) == ""
    assert shadowing_note(load_profile("trl-peft")) == ""
    assert {p.name for p in all_profiles()} == set(profile_names())
    assert [p.origin for p in all_profiles() if p.name == "trl"] == ["compatlock.toml"]


def test_own_profiles_are_among_the_known_ones(folder: Path) -> None:
    write(folder / "compatlock.toml", MINIMAL)
    assert load_profile("mine").name == "mine"
    with pytest.raises(InputError) as caught:
        load_profile("mien")
    assert caught.value.hints[0] == "did you mean `mine`?"
    assert "llamafactory, mine, ms-swift" in caught.value.hints[1]


def test_memoised_profiles_equal_parsed_ones(folder: Path) -> None:
    write(folder / "pyproject.toml", FULL)
    memo: dict[str, str] = {}
    cold = find_user_profiles(memo=memo)
    assert len(memo) == 1
    warm = find_user_profiles(memo=memo)
    assert repr(warm) == repr(cold)
    for key in memo:
        memo[key] = "[[3]]"
    assert find_user_profiles(memo=memo) == cold
    # The same tables mean something else in the other file.
    write(folder / "compatlock.toml", FULL)
    (folder / "pyproject.toml").unlink()
    assert find_user_profiles(memo=memo) == {}


def test_a_warm_run_imports_nothing_heavy(folder: Path) -> None:
    write(folder / "pyproject.toml", FULL)
    memo: dict[str, str] = {}
    load_profile("train", memo=memo)
    script = """
import json, sys
from compatlock.knowledge.load import load_profile
memo = json.load(sys.stdin)
load_profile("train", memo=memo)
heavy = {"pydantic", "tomllib", "tomli", "packaging", "dataclasses", "pathlib", "inspect"}
print(sorted(heavy & set(sys.modules)), len(memo))
"""
    done = subprocess.run(
        [sys.executable, "-S", "-c", script],
        input=json.dumps(memo),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert (done.stdout.strip(), done.stderr) == ("[] 1", "")


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("[profiles.mine]\n", ["compatlock.toml:1: profile mine: roots: missing"]),
        (
            '\n[profiles.mine]\nroots = ["a>>1"]\nindex = "x"\n[profiles."b c"]\nroots = ["a"]\n',
            [
                "compatlock.toml:5: profile b c: `b c` is not an id "
                "(lower-case letters, digits, `-`, `_`, `.`)",
                "compatlock.toml:2: profile mine: roots 1: `a>>1` is not a requirement: expected semicolon "
                "(after name with no version specifier) or end",
                "compatlock.toml:2: profile mine: index: unknown key",
            ],
        ),
        (
            '[profiles]\nmine = { root = ["a"] }\n',
            [
                "compatlock.toml: profile mine: roots: missing",
                "compatlock.toml: profile mine: root: unknown key; did you mean `roots`?",
            ],
        ),
        ("profiles = 3", ["compatlock.toml: profiles: must be a table"]),
        ("[profiles]\nmine = 3", ["compatlock.toml: profile mine: must be a table"]),
        (
            MINIMAL.replace("profiles", "profile"),
            ["compatlock.toml: profile: unknown key; did you mean `profiles`?"],
        ),
        ("a = ?\n", ["compatlock.toml:1: not valid TOML: Invalid value"]),
    ],
)
def test_refusals(folder: Path, text: str, messages: list[str]) -> None:
    write(folder / "compatlock.toml", text)
    assert refusal(folder) == messages


def test_refusals_below_tool(folder: Path) -> None:
    write(folder / "pyproject.toml", "[tool.compatlock]\nprofile.mine.roots = ['a']\n")
    assert refusal(folder) == [
        "pyproject.toml: tool.compatlock.profile: unknown key; did you mean `profiles`?"
    ]
    write(folder / "pyproject.toml", "tool = 3  # compatlock profiles\n")
    assert refusal(folder) == ["pyproject.toml: tool: must be a table"]
    write(folder / "pyproject.toml", "[ tool . compatlock . 'profiles' . mine ]\nroots = []\n")
    assert refusal(folder) == ["pyproject.toml:1: profile mine: roots: must not be empty"]


def test_a_file_that_cannot_be_read(folder: Path) -> None:
    (folder / "compatlock.toml").mkdir()
    assert refusal(folder) == ["compatlock.toml: cannot be read: Is a directory"]


def test_other_tables_are_left_alone(folder: Path) -> None:
    write(folder / "compatlock.toml", MINIMAL + '[index]\nurl = "https://index.example/simple"\n')
    assert sorted(find_user_profiles()) == ["mine"]
