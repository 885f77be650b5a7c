"""Overlaps and imports in real wheels: pairs of releases that are known to break, or to work."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import compatlock
from compatlock.audit.imports import check_imports, lacks
from compatlock.audit.overlap import check_overlap, overlap
from compatlock.index.wheel_reader import RemoteWheels
from compatlock.model.artefact import Artefact
from compatlock.model.finding import CERTAIN
from tests.support.memory_wheels import MemoryObservations
from tests.support.real_index import DATE

pytestmark = pytest.mark.network

TARGET = compatlock.Target("3.12", "x86_64-manylinux_2_34")


@pytest.fixture(scope="module")
def wheels() -> Iterator[RemoteWheels]:
    with RemoteWheels() as reader:
        yield reader


def release(cache: Path, name: str, version: str) -> Artefact:
    """A release's wheel for the target."""
    lock = compatlock.lock(
        [f"{name}=={version}"],
        target=TARGET,
        exclude_newer=DATE,
        shipped_facts=False,
        cache_dir=cache,
        max_lag=["none"],
    )
    (pin,) = (pin for pin in lock.pins if pin.name == name)
    requires = tuple(edge.on + edge.specifier for edge in lock.edges if edge.package == name)
    wheel = next(file for file in pin.files if file.filename.endswith(".whl"))
    return Artefact(name, version, wheel, requires)


@pytest.mark.parametrize(
    ("user", "lib", "name"),
    [
        (("transformers", "5.4.0"), ("huggingface-hub", "0.36.2"), "huggingface_hub.is_offline_mode"),
        (("peft", "0.17.1"), ("transformers", "5.24.0"), "transformers.HybridCache"),
        (("datasets", "2.14.4"), ("pyarrow", "21.0.0"), "pyarrow.PyExtensionType"),
    ],
)
def test_pairs_that_do_not_import(
    real_cache: Path, wheels: RemoteWheels, user: tuple[str, str], lib: tuple[str, str], name: str
) -> None:
    pair = [release(real_cache, *user), release(real_cache, *lib)]
    found = check_imports(pair, wheels, MemoryObservations())
    certain = [f for f in found if f.certainty == CERTAIN]
    assert [(f.package, f.on) for f in certain] == [(user[0], lib[0])]
    assert any(name in detail for detail in certain[0].details)


@pytest.mark.parametrize(
    ("user", "lib"),
    [
        (("transformers", "5.4.0"), ("huggingface-hub", "1.11.0")),
        (("peft", "0.17.1"), ("transformers", "4.56.2")),
        (("datasets", "2.14.4"), ("pyarrow", "20.0.0")),
    ],
)
def test_pairs_that_import(
    real_cache: Path, wheels: RemoteWheels, user: tuple[str, str], lib: tuple[str, str]
) -> None:
    pair = [release(real_cache, *user), release(real_cache, *lib)]
    found = check_imports(pair, wheels, MemoryObservations())
    assert [f.summary for f in found if f.certainty == CERTAIN] == []


def test_names_that_a_lazy_package_offers(real_cache: Path, wheels: RemoteWheels) -> None:
    transformers = release(real_cache, "transformers", "5.24.0")
    observations = MemoryObservations()
    for name, expected in (("HybridCache", True), ("LlamaForCausalLM", False), ("Trainer", False)):
        assert lacks(transformers, "transformers", name, wheels, observations) is expected


def test_cuda_python_and_cuda_bindings(real_cache: Path, wheels: RemoteWheels) -> None:
    old = release(real_cache, "cuda-python", "12.6.2.post1")
    bindings = release(real_cache, "cuda-bindings", "13.5.0")
    observations = MemoryObservations()
    (found,) = check_overlap([old, bindings], wheels, observations)
    assert (found.certainty, found.package, found.on) == (CERTAIN, "cuda-python", "cuda-bindings")
    shared = overlap(old, bindings, wheels, observations)
    assert shared is not None
    assert (shared.common, len(shared.code) + len(shared.data) + len(shared.harmless)) == (28, 25)
    assert len(shared.code) > 10
    newer = release(real_cache, "cuda-python", "13.4.4")
    assert check_overlap([newer, bindings], wheels, observations) == []
