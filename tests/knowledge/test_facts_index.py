"""The index of facts in force."""

from __future__ import annotations

import pytest

from compatlock.knowledge.apply import FactIndex
from compatlock.model.fact import Fact, FactBound


def fact(id: str, package: str, kind: str, on: str = "", feature: str = "", versions: str = "") -> Fact:
    return Fact(id, package, kind, (FactBound(versions, ">=1"),), on=on, feature=feature)


def ids(facts: tuple[Fact, ...]) -> list[str]:
    return [fact.id for fact in facts]


FACTS = (
    fact("loose", "a", "too-loose", "b"),
    fact("bad", "a", "known-bad"),
    fact("needs", "a", "undeclared", "c"),
    fact("overlaps", "b", "overlap", "c"),
    fact("feature", "a", "too-loose", "b", feature="f"),
    fact("strict", "a", "too-strict", "b"),
    fact("unsat", "a", "declared-unsat", "b"),
)


def test_facts_are_found_from_both_ends_in_order() -> None:
    index = FactIndex(FACTS)
    assert ids(index.of("a")) == ["loose", "bad", "needs"]
    assert ids(index.of("b")) == ["overlaps"]
    assert ids(index.naming("b")) == ["loose"]
    assert ids(index.naming("c")) == ["needs", "overlaps"]
    assert index.of("c") == index.naming("a") == ()


def test_a_feature_fact_needs_its_feature() -> None:
    index = FactIndex(FACTS, {"f", "g"})
    assert ids(index.of("a")) == ["loose", "bad", "needs", "feature"]
    assert ids(index.naming("b")) == ["loose", "feature"]
    assert ids(FactIndex(FACTS, ["g"]).of("a")) == ["loose", "bad", "needs"]


@pytest.mark.parametrize("kind", ["too-strict", "declared-unsat", "policy", "hard"])
def test_other_kinds_bind_nothing(kind: str) -> None:
    index = FactIndex([fact("x", "a", kind, "b")])
    assert index.of("a") == index.naming("b") == ()


def test_hard_edges() -> None:
    first = fact("first", "a", "hard", "b", versions="<1")
    second = fact("second", "a", "hard", "b", versions=">=2")
    other = fact("other", "a", "hard", "c", feature="f")
    index = FactIndex([first, second, other])
    found = index.hard("a", "b")
    assert found is not None
    assert (found.id, [row.versions for row in found.bounds]) == ("first", ["<1", ">=2"])
    assert index.hard("b", "a") is None
    assert index.hard("a", "c") is None
    assert FactIndex([other], ["f"]).hard("a", "c") == other
