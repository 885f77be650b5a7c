"""Every shipped profile for every Python, and sets that others answer poorly, over a recorded snapshot: the
same pins, or the same reasons."""

from __future__ import annotations

import lzma
import re
from pathlib import Path

import pytest

from tests.snapshots.replay import DOCUMENT, SETS, answer, asked, expected
from tests.snapshots.replay_cases import DOCUMENT as CASES


@pytest.mark.parametrize("label", asked())
def test_the_recorded_answer(label: str) -> None:
    assert answer(asked()[label]) == expected()[label]


@pytest.mark.parametrize("roots", SETS)
def test_the_recorded_sets_are_as_good_as_can_be(roots: str) -> None:
    assert expected()[roots]["worst root lag"] == SETS[roots]


def test_the_profiles_that_cannot_lock_are_known() -> None:
    impossible = {label.split()[0] for label, value in expected().items() if "impossible" in value}
    assert impossible == {"verl-sglang", "trinity-rft", "axolotl"}
    assert {label for label, value in expected().items() if "impossible" in value and "axolotl" in label} == {
        "axolotl 3.13"
    }


@pytest.mark.parametrize("document", [DOCUMENT, CASES], ids=lambda path: path.name)
def test_the_snapshot_keeps_no_addresses(document: Path) -> None:
    text = lzma.decompress(document.read_bytes()).decode()
    # Addresses occur in yank reasons and in markers of nobody's choosing, but never of files.
    assert not re.search(r"https?://[^\"\s]*\.(whl|tar\.gz|zip)", text)
