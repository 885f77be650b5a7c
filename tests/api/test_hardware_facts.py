"""Facts about hardware: no lock knows what GPU there will be, so unless a profile says so they are told."""

from __future__ import annotations

from pathlib import Path

import pytest

import compatlock
from compatlock.model.target import Target
from tests.support.index_server import IndexServer

FACTS = """
[[fact]]
id = "old-gpus"
package = "kernels"
versions = "==2.0"
kind = "known-bad"
when = { present = ["trainer"], feature = "gpu.old" }
summary = "kernels 2.0 crashes on old GPUs"
source = "https://index.example/report"
evidence = [ { type = "url", url = "https://index.example/report" } ]
"""
PROFILE = """
name = "old"
description = "Training on old GPUs"
roots = ["kernels"]
features = ["gpu.old"]
source = "https://index.example/report"
"""
NOTE = "kernels 2.0 crashes on old GPUs (known fact `old-gpus`)"


@pytest.fixture(autouse=True)
def files(index: IndexServer, tmp_path: Path) -> None:
    for version in ("1.0", "2.0"):
        index.add("kernels", version)
    index.add("trainer", "1.0", requires=["kernels"])
    (tmp_path / "facts.toml").write_text(FACTS)
    (tmp_path / "old.toml").write_text(PROFILE)


def lock(index: IndexServer, folder: Path, root: str, profile: str = "") -> compatlock.Lock:
    return compatlock.lock(
        [root],
        profile=[str(folder / profile)] if profile else [],
        facts=[folder / "facts.toml"],
        target=Target("3.12", "x86_64-manylinux_2_34"),
        index_url=index.url,
        shipped_facts=False,
        cache=False,
    )


def notes(found: compatlock.Lock) -> tuple[str, ...]:
    (pin,) = (pin for pin in found.pins if pin.name == "kernels")
    return pin.notes


def test_it_is_told_on_the_pin(index: IndexServer, tmp_path: Path) -> None:
    found = lock(index, tmp_path, "trainer")
    assert found.versions["kernels"] == "2.0"
    assert notes(found) == (NOTE,)
    assert f"    # note: {NOTE}" in compatlock.render(found).splitlines()
    assert found.broken_soft_facts == ()


def test_it_is_told_only_where_it_holds(index: IndexServer, tmp_path: Path) -> None:
    assert notes(lock(index, tmp_path, "kernels")) == ()
    older = compatlock.lock(
        ["trainer", "kernels<2"],
        facts=[tmp_path / "facts.toml"],
        index_url=index.url,
        shipped_facts=False,
        cache=False,
    )
    assert notes(older) == ()


def test_a_profile_that_names_the_hardware_excludes_the_release(index: IndexServer, tmp_path: Path) -> None:
    found = lock(index, tmp_path, "trainer", "old.toml")
    assert found.versions["kernels"] == "1.0"
    assert notes(found) == ()
