"""The conflicts that this is about, on the real index: what is offered, what it gives, and that it locks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

import compatlock
from tests.support.real_index import DATE

pytestmark = [pytest.mark.network, pytest.mark.timeout(300)]

TARGET = compatlock.Target("3.12", "x86_64-manylinux_2_34")
TRINITY = ["trinity-rft[vllm]==0.6.0"]


def lock(cache: Path, requirements: list[str], **options: Any) -> compatlock.Lock:
    given = {"target": TARGET, "exclude_newer": DATE, "cache_dir": cache, **options}
    return compatlock.lock(requirements, **given)


def refused(cache: Path, requirements: list[str], **options: Any) -> compatlock.NoSolution:
    with pytest.raises(compatlock.NoSolution) as caught:
        lock(cache, requirements, **options)
    return caught.value


def waivers(error: compatlock.NoSolution) -> list[compatlock.WayOut]:
    return [way for way in error.ways_out if way.kind == "waive"]


@pytest.mark.parametrize("shipped_facts", [True, False])
def test_trinity(real_cache: Path, shipped_facts: bool) -> None:
    error = refused(real_cache, TRINITY, shipped_facts=shipped_facts)
    assert error.core is not None
    assert len([edge for edge in error.core.edges if edge.kind == "edge"]) == 7
    ways = waivers(error)
    assert [str(waiver) for waiver in ways[0].waivers] == ["verl -> numpy"]
    (broken,) = ways[0].breaks
    assert ("lifted", "0.9.0") in {(e.kind, e.version) for e in broken.evidence}
    pins = dict(ways[0].pins)
    assert (pins["vllm"], pins["verl"]) == ("0.23.0", "0.8.0")
    assert pins["numpy"].startswith("2.3.")
    assert {way.waivers[0].package for way in ways} >= {
        "verl",
        "opencv-python-headless",
        "vllm",
        "trinity-rft",
    }
    assert all(way.has_evidence for way in ways[:1])


def test_trinity_on_a_driver_for_cuda_12(real_cache: Path) -> None:
    """CUDA 12 ends at vllm 0.19.1, what trinity imports begins at 0.22.0, and it declares up to 0.23.0."""
    error = refused(real_cache, TRINITY, target=TARGET._replace(driver="570"))
    assert error.core is not None
    assert [(edge.kind, edge.package, edge.on) for edge in error.core.edges] == [
        ("root", "", "trinity-rft"),
        ("edge", "trinity-rft", "vllm"),
        ("fact", "trinity-rft", "vllm"),
        ("fact", "vllm", "__cuda"),
        ("target", "", "__cuda"),
    ]
    ways = {way.kind: way for way in error.ways_out}
    assert ways["move"].accept == "trinity-rft[vllm]==0.5.1"
    assert ways["move"].breaks == ()
    assert ways["target"].accept == "--driver 580 --waive 'verl -> numpy'"
    assert dict(ways["target"].pins)["vllm"] in ("0.22.0", "0.22.1", "0.23.0")
    assert "waive" not in ways


def test_trinity_on_a_newer_driver(real_cache: Path) -> None:
    found = lock(real_cache, TRINITY, target=TARGET._replace(driver="580"), waivers=["verl -> numpy"])
    assert found.versions["vllm"] in ("0.22.0", "0.22.1", "0.23.0")
    assert found.cuda == "CUDA 13 (driver 580)"


def test_companions_of_a_torch_for_cuda_12(real_cache: Path) -> None:
    """Declared metadata alone gives torchaudio 2.11, torchcodec 0.17 and torchao 0.18, CUDA 13 builds."""
    found = lock(real_cache, ["torch==2.10.0", "torchaudio", "torchcodec", "torchao"])
    versions = found.versions
    assert (versions["torchaudio"], versions["torchcodec"]) == ("2.10.0", "0.10.0")
    assert Version(versions["torchao"]) < Version("0.17")
    assert found.cuda == "CUDA 12 (free)"
    assert all(tier.proved for tier in found.objective)


def test_the_waiver_for_trinity_locks_and_keeps_the_bounds_of_numba(real_cache: Path) -> None:
    found = lock(real_cache, TRINITY, waivers=["verl -> numpy"])
    broken = [(edge.package, edge.on) for edge in found.edges if edge.waived]
    assert broken == [("verl", "numpy")]
    numba = [e.specifier for e in found.edges if (e.package, e.on) == ("numba", "numpy")]
    assert numba
    assert all(SpecifierSet(specifier).contains(found.versions["numpy"]) for specifier in numba)
    assert lock(real_cache, TRINITY, auto_waive=True).versions == found.versions


def test_an_override_breaks_what_a_waiver_keeps(real_cache: Path) -> None:
    found = lock(real_cache, TRINITY, overrides=["numpy>=2"])
    broken = {edge.package for edge in found.edges if edge.waived}
    assert {"verl", "numba"} <= broken
    assert any("waivers instead would keep" in note for note in found.notes)


def test_verl_and_vllm_alone(real_cache: Path) -> None:
    error = refused(real_cache, ["verl==0.8.0", "vllm==0.19.1"])
    assert error.core is not None
    assert len([edge for edge in error.core.edges if edge.kind == "edge"]) == 3
    assert [str(waiver) for waiver in waivers(error)[0].waivers] == ["verl -> numpy"]


def test_async_grpo_when_the_documented_waiver_was_needed(real_cache: Path) -> None:
    asked = ["trl", "vllm>=0.17.1", "transformers>=5.2.0"]
    error = refused(real_cache, asked, exclude_newer="2026-03-21")
    assert {(w.package, w.on) for way in waivers(error) for w in way.waivers} == {("vllm", "transformers")}
    found = lock(real_cache, asked, exclude_newer="2026-03-21", waivers=["vllm -> transformers"])
    assert {(e.package, e.on) for e in found.edges if e.waived} == {("vllm", "transformers")}
    assert Version(found.versions["huggingface-hub"]) >= Version("1.3.0")
    assert lock(real_cache, ["trl", "vllm>=0.22.0", "transformers>=5.2.0"], exclude_newer="2026-05-30")


@pytest.mark.parametrize(
    ("asked", "accept"),
    [
        (["vllm", "sglang"], ["lock `sglang` and `vllm` apart", "--max-lag sglang=413d"]),
        (["trl>=1.0", "ms-swift"], ["--max-lag ms-swift=1041d"]),
    ],
)
def test_recent_releases_that_exclude_each_other(
    real_cache: Path, asked: list[str], accept: list[str]
) -> None:
    error = refused(real_cache, asked)
    assert error.message.startswith("recent releases (--max-lag 365d) of ")
    accepting = [way.accept.partition(",")[0] for way in error.ways_out]
    assert accepting[: len(accept)] == accept


def test_what_is_old_but_not_too_old_is_reported(real_cache: Path) -> None:
    found = lock(real_cache, ["trl", "llamafactory"])
    (trl,) = (pin for pin in found.pins if pin.name == "trl")
    assert trl.lag_days == 364
    assert trl.held_by == ("llamafactory 0.9.5 needs trl<=0.24.0,>=0.18.0",)


def test_an_old_pin_of_the_users_own(real_cache: Path) -> None:
    assert lock(real_cache, ["trl[vllm]==0.24.0"]).versions["vllm"] == "0.10.2"
