"""`compatlock profiles`: what it prints, and where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compatlock.knowledge.load import profile_names
from tests.support.command import Cli
from tests.support.index_server import IndexServer

OWN = """
[profiles.trl]
description = "Ours"
roots = ["trl>=1,<2", "vllm"]
features = ["trl.experimental.async_grpo"]
imports = ["trl"]
source = "our handbook"
waivers = [{ edge = "vllm[x] -> transformers", reason = "tried (twice)", source = "handbook (page 3)" }]
target = { python = "3.12" }

[profiles.bare]
roots = ["six"]
"""

SHADOWED = "profile trl is the one of compatlock.toml, which hides the shipped one"


def own(text: str = OWN) -> None:
    Path("compatlock.toml").write_text(text, encoding="utf-8")


def test_list_names_every_profile(cli: Cli) -> None:
    run = cli("profiles", "list")
    assert (run.code, run.err) == (0, "")
    assert [line.split()[0] for line in run.out.splitlines()[::2]] == list(profile_names())
    assert run.out.startswith(
        "async-grpo        trl>=1.0, vllm>=0.22.0, transformers>=5.2.0\n"
        "                  Asynchronous GRPO training with TRL, rollouts by vLLM\n"
    )


def test_list_has_own_profiles_and_says_what_they_hide(cli: Cli) -> None:
    own()
    run = cli("profiles", "list")
    assert run.code == 0
    assert "\nbare              six\nllamafactory      llamafactory\n" in run.out
    assert "\ntrl               trl<2,>=1, vllm\n                  Ours\n" in run.out
    assert run.err == f"note: {SHADOWED}\n"


def test_list_as_json(cli: Cli) -> None:
    own()
    value = json.loads(cli("profiles", "list", "--json").out)
    assert value["version"] == 1
    assert [row["name"] for row in value["profiles"]] == sorted([*profile_names(), "bare"])
    assert value["profiles"][0] == {
        "name": "async-grpo",
        "description": "Asynchronous GRPO training with TRL, rollouts by vLLM",
        "roots": ["trl>=1.0", "vllm>=0.22.0", "transformers>=5.2.0"],
        "origin": "profiles/async-grpo.toml",
    }


def test_show(cli: Cli) -> None:
    own()
    run = cli("profiles", "show", "trl")
    assert run.err == f"note: {SHADOWED}\n"
    assert (
        run.out
        == """\
profile:        trl
description:    Ours
roots:          trl<2,>=1
                vllm
target:         Python 3.12
features:       trl.experimental.async_grpo
facts of them:  trl-async-grpo-floor
                trl-async-grpo-first-release
imports:        trl
may be waived:  vllm[x] -> transformers
                  tried (twice)
                  handbook (page 3)
source:         our handbook
file:           compatlock.toml
"""
    )


def test_show_leaves_out_what_is_not_there(cli: Cli) -> None:
    own()
    run = cli("profiles", "show", "bare")
    assert (run.code, run.err) == (0, "")
    assert (
        run.out
        == """\
profile:  bare
roots:    six
target:   the running interpreter and platform
file:     compatlock.toml
"""
    )


def test_show_as_json(cli: Cli) -> None:
    own()
    assert json.loads(cli("profiles", "show", "--json", "trl").out) == {
        "version": 1,
        "profile": {
            "name": "trl",
            "description": "Ours",
            "roots": ["trl<2,>=1", "vllm"],
            "target": {"python": "3.12", "platform": None, "cuda": None, "driver": None},
            "features": ["trl.experimental.async_grpo"],
            "facts": ["trl-async-grpo-floor", "trl-async-grpo-first-release"],
            "imports": ["trl"],
            "waivers": [
                {
                    "edge": "vllm[x] -> transformers",
                    "reason": "tried (twice)",
                    "source": "handbook (page 3)",
                }
            ],
            "source": "our handbook",
            "origin": "compatlock.toml",
        },
    }


def test_show_takes_a_file(cli: Cli) -> None:
    Path("mine.toml").write_text(
        'name = "mine"\ndescription = "d"\nroots = ["six"]\nsource = "s"\n', encoding="utf-8"
    )
    run = cli("profiles", "show", "mine.toml")
    assert run.code == 0
    assert run.out.splitlines()[-1] == "file:         mine.toml"


def test_an_unknown_name(cli: Cli) -> None:
    run = cli("profiles", "show", "lamafactory")
    assert (run.code, run.out) == (2, "")
    lines = run.err.splitlines()
    assert lines[:2] == ["error: unknown profile `lamafactory`", "hint: did you mean `llamafactory`?"]
    assert lines[2].startswith("hint: known profiles: async-grpo, axolotl, ")


def test_a_wrong_file_of_the_users(cli: Cli) -> None:
    own("[profiles.mine]\nroots = []\n")
    for command in (("list",), ("show", "trl")):
        run = cli("profiles", *command)
        assert (run.code, run.out) == (2, "")
        assert run.err == "error: compatlock.toml:1: profile mine: roots: must not be empty\n"


@pytest.mark.parametrize("command", ["lock", "check"])
def test_a_lock_and_a_check_say_which_profile_was_meant(cli: Cli, index: IndexServer, command: str) -> None:
    own("[profiles.trl]\nroots = ['six']\n\n[profiles.bare]\nroots = ['six']\n")
    index.add("six", "1.17.0")
    Path("freeze.txt").write_text("six==1.17.0\n", encoding="utf-8")
    given = ["freeze.txt"] if command == "check" else ["-o", "-"]
    run = cli(command, *given, "--profile", "trl", "--python-version", "3.12")
    assert run.code == 0, run.err
    assert f"note: {SHADOWED}" in run.err.splitlines()
    if command == "lock":
        assert f"#   {SHADOWED}" in run.out.splitlines()
    assert "hides" not in cli(command, *given, "--profile", "bare", "--python-version", "3.12").err
