"""Shipped facts against the real index: what was found in wheels is still there."""

from __future__ import annotations

from pathlib import Path

import pytest

from compatlock.api.audit.verify_facts import verify_facts
from compatlock.api.options import LockOptions
from compatlock.knowledge.documented import DocumentedFact, documented_facts
from compatlock.model.evidence import CONFIRMED, REFUTED
from tests.support.real_index import DATE

pytestmark = pytest.mark.network

IDS = ("cuda-python-monolith", "vllm-cuda", "peft-pre018-transformers5", "trinity060-sglang-impossible")


def facts() -> list[DocumentedFact]:
    return [item for item in documented_facts() if item.fact.id in IDS]


def test_shipped_facts_are_confirmed(real_cache: Path) -> None:
    options = LockOptions(cache_dir=str(real_cache), exclude_newer=DATE)
    report = verify_facts(options, facts())
    assert {fact.id: fact.verdict for fact in report.facts} == dict.fromkeys(IDS, CONFIRMED)
    for fact, item in zip(report.facts, facts(), strict=True):
        told = [p.verdict for p, e in zip(fact.pieces, item.evidence, strict=True) if e.type == "overlap"]
        assert told == [CONFIRMED] * len(told)
    again = verify_facts(options._replace(offline=True), facts())
    assert [fact.verdict for fact in again.facts] == [CONFIRMED] * len(IDS)
    assert again.requests == 0


def test_a_wrong_fact_is_refuted(real_cache: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(
        """
[[fact]]
id = "wrong"
package = "vllm"
kind = "api"
versions = "*"
on = "torch"
bound = ">=2"
summary = "vllm had pack_tensors before 0.22.0"
source = "nobody"
evidence = [
  { type = "member_symbol", package = "vllm", member = "vllm/distributed/weight_transfer/packed_tensor.py", \
symbol = "pack_tensors", present = ">=0.20.0" },
]
""",
        encoding="utf-8",
    )
    options = LockOptions(cache_dir=str(real_cache), exclude_newer=DATE)
    report = verify_facts(options, documented_facts([wrong], shipped=False))
    (piece,) = report.facts[0].pieces
    assert (piece.verdict, piece.correction) == (REFUTED, "present: >=0.22.0")
