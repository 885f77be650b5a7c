"""What is shipped is compiled: the same values as parsing gives, and believed only when up to date."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from compatlock.knowledge import load
from compatlock.knowledge.compiled import compile_shipped
from compatlock.knowledge.load import DATA, all_profiles, load_facts
from compatlock.knowledge.memo import COMPILED, read_compiled
from compatlock.knowledge.parse import parse_facts
from compatlock.model.fact import SHIPPED_FACTS


def test_the_compiled_files_are_what_is_shipped() -> None:
    """When this fails, run `python -m compatlock.knowledge.compiled`."""
    made = dict(compile_shipped(DATA))
    assert {path: Path(path).read_text(encoding="ascii") for path in made} == made
    assert sorted(os.listdir(os.path.join(DATA, COMPILED))) == sorted(map(os.path.basename, made))


def test_compiled_values_equal_parsed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = load_facts(), all_profiles()
    monkeypatch.setattr(load, "read_compiled", lambda *_: None)
    assert repr((load_facts(), all_profiles())) == repr(compiled)


def test_facts_that_were_changed_after_compiling_are_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(DATA, tmp_path / "data")
    monkeypatch.setattr(load, "DATA", str(tmp_path / "data"))
    path = tmp_path / "data" / SHIPPED_FACTS
    text = path.read_text(encoding="utf-8").replace("verl-numpy2", "verl-numpy3")
    path.write_text(text, encoding="utf-8")
    facts = load_facts()
    assert facts == parse_facts(text.encode(), SHIPPED_FACTS)
    assert "verl-numpy3" in {fact.id for fact in facts}


@pytest.mark.parametrize("damage", ["", "[", "[3]", "7", '["x", []]', "null"])
def test_damage_counts_as_not_there(tmp_path: Path, damage: str) -> None:
    (tmp_path / COMPILED).mkdir()
    (tmp_path / COMPILED / "known_conflicts.json").write_text(damage, encoding="ascii")
    assert read_compiled(str(tmp_path), SHIPPED_FACTS, b"") is None
    assert read_compiled(str(tmp_path / "nowhere"), SHIPPED_FACTS, b"") is None
