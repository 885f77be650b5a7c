"""Bounds of neighbouring releases, and of extras that nobody asked for."""

from __future__ import annotations

import pytest

from compatlock.audit.bounds import Declared, check_bounds
from compatlock.model.artefact import Artefact
from compatlock.model.fact import FactBound
from compatlock.model.finding import POSSIBLE
from tests.support.memory_wheels import artefact


def pins(lib: str = "2.0", **others: str) -> list[Artefact]:
    return [artefact("lib", lib), *(artefact(name, version) for name, version in others.items())]


def test_a_bound_that_the_chosen_release_lost() -> None:
    found = check_bounds(pins(dep="5"), [Declared("lib", "1.9", "Dep<5,>=4")])
    assert [(f.check, f.package, f.on, f.certainty) for f in found] == [("bounds", "lib", "dep", POSSIBLE)]
    fact = found[0].fact
    assert fact is not None
    assert (fact.kind, fact.package, fact.on) == ("too-loose", "lib", "dep")
    assert fact.bounds == (FactBound("==2.0", "<5,>=4"),)
    assert found[0].details == ("lib 1.9: Dep<5,>=4",)


def test_an_extra_that_nobody_asked_for() -> None:
    found = check_bounds(pins(dep="5"), [Declared("lib", "2.0", "dep==4", "fast")])
    assert ["its extra [fast]" in f.summary for f in found] == [True]


@pytest.mark.parametrize(
    "line",
    [
        Declared("lib", "1.9", "dep>=4"),  # holds
        Declared("lib", "1.9", "dep"),  # bounds nothing
        Declared("lib", "1.9", "absent<1"),
        Declared("lib", "1.9", "lib[x]<1"),
        Declared("absent", "1.9", "dep<1"),
        Declared("lib", "1.9", "dep==4.2"),  # a pin of another release says nothing
        Declared("lib", "1.9", "dep @ https://files.index.example/dep.whl"),
        Declared("lib", "1.9", "dep<"),
    ],
)
def test_what_says_nothing(line: Declared) -> None:
    assert check_bounds(pins(dep="5"), [line]) == []


def test_a_bound_of_the_chosen_release_counts_before_a_neighbours() -> None:
    lib = artefact("lib", "2.0", ["Dep>=3"])
    assert check_bounds([lib, artefact("dep", "5")], [Declared("lib", "1.9", "dep<5")]) == []
    lib = artefact("lib", "2.0", ["dep"])
    assert len(check_bounds([lib, artefact("dep", "5")], [Declared("lib", "1.9", "dep<5")])) == 1


@pytest.mark.parametrize(("torch", "bounds"), [("2.10.0", [">=2.11.0"]), ("2.11.0", []), ("2.14.0", [])])
def test_releases_in_lockstep(torch: str, bounds: list[str]) -> None:
    """torchaudio 2.10.0 pins torch 2.10.0; 2.11.0 declares none, and works with newer ones."""
    chosen = [artefact("torchaudio", "2.11.0"), artefact("torch", torch)]
    found = check_bounds(chosen, [Declared("torchaudio", "2.10.0", "torch==2.10.0")])
    assert [f.fact.bounds[0].bound for f in found if f.fact] == bounds


def test_order_and_repetition_do_not_matter() -> None:
    declared = [
        Declared("lib", "1.9", "dep<4"),
        Declared("lib", "2.1", "dep<3"),
        Declared("lib", "1.9", "also<4"),
        Declared("lib", "1.9", "dep<4"),
    ]
    found = check_bounds(pins(dep="5", also="5"), declared)
    assert [f.details for f in found] == [
        ("lib 1.9: also<4",),
        ("lib 1.9: dep<4",),
        ("lib 2.1: dep<3",),
    ]
    assert check_bounds(pins(dep="5", also="5")[::-1], declared[::-1]) == found


def test_extras_are_alternatives_or_for_work_on_the_package() -> None:
    mine = pins(dep="5")[0]
    own = [
        Declared("lib", mine.version, "dep<4", "cu12"),
        Declared("lib", mine.version, "dep<4", "all"),
    ]
    found = check_bounds(pins(dep="5"), own)
    assert len(found) == 1
    assert "its extras [all], [cu12] declare dep<4" in found[0].summary
    assert check_bounds(pins(dep="5"), [*own, Declared("lib", mine.version, "dep>=5", "cu13")]) == []
    assert check_bounds(pins(dep="5"), [Declared("lib", mine.version, "dep<4", "docs-build")]) == []
