"""The data that is shipped: complete, consistent, and about releases that exist."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

import compatlock.knowledge.load as load
from compatlock.knowledge.apply import FactIndex, is_hardware
from compatlock.knowledge.check import unmatched_versions
from compatlock.knowledge.load import load_facts, load_profile, profile_names
from compatlock.knowledge.parse import read_facts_file
from compatlock.model.fact import Fact

DATA = Path(load.__file__).parent.parent / "data"
FACTS = {fact.id: fact for fact in load_facts()}

# Releases of trl from the first that checks vllm on, with the range that its code warns outside of.
TRL = {
    "0.24.0": ("0.10.2", "0.10.2"),
    "0.25.1": ("0.10.2", "0.10.2"),
    "0.26.2": ("0.10.2", "0.11.2"),
    "0.29.1": ("0.10.2", "0.12.0"),
    "1.0.0rc1": ("0.10.2", "0.17.1"),
    "1.0.0": ("0.10.2", "0.17.1"),
    "1.5.1": ("0.12.0", "0.18.0"),
    "1.7.1": ("0.14.0", "0.23.0"),
    "1.9.2": ("0.17.0", "0.25.1"),
    "1.13.0": ("0.19.1", "0.28.0"),
    "1.14.2": ("0.20.0", "0.30.0"),
    "1.16.0": ("0.22.0", "0.31.0"),
    "2.0.0": ("0.22.0", "0.31.0"),
}


def bounds_for(fact: Fact, version: str) -> list[str]:
    """The bounds that hold for one release of the fact's package."""
    return [
        row.bound for row in fact.bounds if SpecifierSet(row.versions).contains(version, prereleases=True)
    ]


def allows(fact: Fact, version: str, on: str) -> bool:
    return all(SpecifierSet(bound).contains(on, prereleases=True) for bound in bounds_for(fact, version))


def test_every_fact_has_what_a_reader_needs() -> None:
    content = (DATA / "known_conflicts.toml").read_bytes()
    entries = read_facts_file(content, "known_conflicts.toml").fact
    assert len(entries) == len(FACTS) >= 20
    for entry in entries:
        assert entry.evidence, entry.id
        assert entry.source, entry.id
        assert len(entry.summary) <= 120, entry.id


def test_nothing_shipped_names_an_index() -> None:
    host = "py" + "pi.org"
    for path in DATA.rglob("*.toml"):
        assert host not in path.read_text(encoding="utf-8"), path


@pytest.mark.parametrize("version", TRL)
def test_each_trl_has_one_vllm_range(version: str) -> None:
    low, high = TRL[version]
    assert len(bounds_for(FACTS["trl-vllm-supported-range"], version)) == 1
    assert allows(FACTS["trl-vllm-supported-range"], version, low)
    assert allows(FACTS["trl-vllm-supported-range"], version, high)
    assert allows(FACTS["trl-vllm-supported-range"], version, f"{high}+cu130")
    assert not allows(FACTS["trl-vllm-supported-range"], version, "0.10.1")
    assert not allows(FACTS["trl-vllm-supported-range"], version, "0.33.0")


@pytest.mark.parametrize(
    ("id", "version", "on", "allowed"),
    [
        ("torchaudio-2110-torch", "2.11.0", "2.10.0", False),
        ("torchaudio-2110-torch", "2.11.0", "2.14.0", True),
        ("torchaudio-2111-torch", "2.11.1", "2.12.1", False),
        ("torchaudio-2110-torch", "2.10.0", "2.10.0", True),
        ("torchcodec-torch", "0.10.0", "2.10.0", True),
        ("torchcodec-torch", "0.9.1", "2.10.0", False),
        ("torchcodec-torch", "0.17.0", "2.10.0", False),
        ("torchcodec-torch", "0.13.0", "2.15.0", True),
        ("torchao-torch", "0.16.0", "2.11.0", False),
        ("torchao-torch", "0.18.0", "2.13.0", True),
        ("trinity060-vllm-floor", "0.6.0", "0.21.0", False),
        ("trinity060-vllm-floor", "0.6.0", "0.22.1", True),
        ("transformers-510-deepspeed", "0.19.8", "5.1.0", False),
        ("transformers-510-deepspeed", "0.19.8", "5.2.0", True),
        ("vllm-transformers-50x", "0.23.0", "5.5.0", False),
        ("vllm-transformers-50x", "0.23.0", "5.5.1", True),
        ("vllm-transformers-50x", "0.16.0", "5.3.0", False),
        ("vllm-transformers-50x", "0.24.0", "5.3.0", True),
        ("vllm-pre012-transformers5", "0.11.0", "5.3.0", False),
        ("peft-pre018-transformers5", "0.17.1", "5.0.0", False),
        ("numba-pre060-numpy2", "0.34.0", "2.0.0", False),
        ("numba-pre060-numpy2", "0.59.1", "1.26.4", True),
        ("numba-pre060-numpy2", "0.60.0", "2.0.0", True),
        ("pandas-pre222-numpy2", "2.1.1", "2.0.0", False),
        ("pandas-pre222-numpy2", "2.2.2", "2.0.0", True),
        ("datasets-pre2147-pyarrow21", "2.14.6", "21.0.0", False),
        ("datasets-pre2147-pyarrow21", "2.14.6", "20.0.0", True),
        ("datasets-pre2147-pyarrow21", "2.14.7", "21.0.0", True),
        ("openai-pre1553-httpx028", "1.55.2", "0.28.0", False),
        ("openai-pre1553-httpx028", "1.55.3", "0.28.1", True),
        ("openai-pre1553-httpx028", "0.28.1", "0.28.1", True),
        ("trl-async-grpo-floor", "1.6.0", "0.17.1", True),
        ("trl-async-grpo-floor", "1.7.0", "0.21.0", False),
        ("trl-liger-floor", "1.11.0", "0.8.1", False),
        ("trl-liger-floor", "1.10.0", "0.8.1", True),
        ("transformers-kernels-015", "5.9.0", "0.17.2", False),
        ("transformers-kernels-015", "5.12.1", "0.14.1", True),
        ("transformers-kernels-015", "5.13.0", "0.15.2", True),
        ("verl-main-ppo-transferqueue", "0.9.1", "0.1.9", False),
        ("verl-main-ppo-transferqueue", "0.8.0", "0.1.9", True),
    ],
)
def test_pairs_that_are_known(id: str, version: str, on: str, allowed: bool) -> None:
    assert FACTS[id].kind in ("too-loose", "undeclared")
    assert allows(FACTS[id], version, on) is allowed


@pytest.mark.parametrize(
    ("version", "bindings", "collide"),
    [
        ("12.6.2", "13.5.0", True),
        ("12.6.2.post1", "12.8.0", True),
        ("11.8.5.post1", "13.5.0", True),
        ("12.6.0", "13.5.0", False),
        ("12.6.0", "12.9.10", True),
        ("11.8.3", "12.8.0", True),
        ("12.8.0", "12.8.0", False),
        ("13.4.4", "13.4.4", False),
        ("11.8.7", "11.8.7", False),
    ],
)
def test_cuda_python_overlaps(version: str, bindings: str, collide: bool) -> None:
    overlaps = [fact for fact in FactIndex(load_facts()).of("cuda-python") if fact.kind == "overlap"]
    found = [bound for fact in overlaps for bound in bounds_for(fact, version)]
    assert any(SpecifierSet(bound).contains(bindings) for bound in found) is collide


def test_kinds_and_severities() -> None:
    assert {fact.id for fact in FACTS.values() if fact.kind == "hard"} == {
        "no-deps-transformers5-needs-hub1",
        "numba-numpy-hard",
    }
    assert {fact.id: fact.broken_days for fact in FACTS.values() if fact.is_soft} == {
        "trl-vllm-supported-range": 60,
        "trl-liger-floor": 120,
        "torchao-torch": 120,
        "xformers-0035-cuda12": 120,
        "vllm-transformers-50x": 120,
        "flash-attn-cute-files": 120,
    }
    assert FACTS["liger-081"].present == ("trl",)
    assert {fact.package for fact in FACTS.values() if fact.kind == "too-strict"} == {
        "verl",
        "opencv-python-headless",
        "vllm",
        "compressed-tensors",
        "sglang",
    }


def test_dependencies_that_nothing_declares() -> None:
    undeclared = {(fact.package, fact.on) for fact in FACTS.values() if fact.kind == "undeclared"}
    assert undeclared == {
        ("torchaudio", "torch"),
        ("torchcodec", "torch"),
        ("torchao", "torch"),
        ("verl", "transferqueue"),
    }


def test_features_of_facts_are_named_by_a_profile() -> None:
    named = {feature for name in profile_names() for feature in load_profile(name).features}
    software = {fact.feature for fact in FACTS.values() if fact.feature and not is_hardware(fact.feature)}
    assert software <= named


def test_no_shipped_profile_knows_the_hardware() -> None:
    named = {feature for name in profile_names() for feature in load_profile(name).features}
    assert FACTS["liger-081"].feature == "gpu.below_compute_capability_8_0"
    assert not any(map(is_hardware, named))


def test_async_grpo() -> None:
    profile = load_profile("async-grpo")
    assert [str(root) for root in profile.roots] == ["trl>=1.0", "vllm>=0.22.0", "transformers>=5.2.0"]
    assert [str(waiver) for waiver in profile.waivers] == ["vllm -> transformers"]
    assert (profile.python, profile.platform) == ("3.12", "x86_64-manylinux_2_34")


@pytest.mark.parametrize("name", profile_names())
def test_every_profile_has_what_a_reader_needs(name: str) -> None:
    profile = load_profile(name)
    assert profile.source.startswith("https://")
    assert profile.imports
    if name != "trl":
        assert (profile.python, profile.platform) == ("3.12", "x86_64-manylinux_2_34")


@pytest.mark.parametrize(
    ("name", "roots"),
    [
        ("trl-peft", ["trl[peft]"]),
        ("axolotl", ["axolotl[deepspeed]"]),
        ("verl-sglang", ["verl[sglang]>=0.9.1"]),
        ("trinity-rft", ["trinity-rft[vllm]==0.6.0"]),
    ],
)
def test_roots_of_profiles(name: str, roots: list[str]) -> None:
    assert [str(root) for root in load_profile(name).roots] == roots


@pytest.mark.network
def test_facts_concern_releases_of_the_real_index() -> None:
    import httpx
    from packaging.version import InvalidVersion, Version
    from pypi_simple import PYPI_SIMPLE_ENDPOINT

    accept = {"Accept": "application/vnd.pypi.simple.v1+json"}

    @cache
    def versions_of(project: str) -> Sequence[str]:
        answer = client.get(f"{PYPI_SIMPLE_ENDPOINT.rstrip('/')}/{project}/")
        if answer.status_code == 404:
            return []
        answer.raise_for_status()
        valid = []
        for text in answer.json()["versions"]:
            try:
                valid.append(str(Version(text)))
            except InvalidVersion:
                continue
        return valid

    try:
        with httpx.Client(headers=accept, timeout=30, follow_redirects=True) as client:
            problems = unmatched_versions(load_facts(), versions_of)
    except httpx.HTTPError as error:
        pytest.skip(f"the package index cannot be reached: {type(error).__name__}")
    assert problems == []
