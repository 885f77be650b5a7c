"""What is in real wheels: the CUDA that vllm's were built for, and extensions that do not fit a PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from compatlock.api.audit.artefacts import artefacts_of
from compatlock.api.options import LockOptions
from compatlock.api.session import with_supply
from compatlock.audit.cuda import check_cuda
from compatlock.audit.cuda_use import cuda_major_of
from compatlock.audit.symbols import check_symbols
from compatlock.index.wheel_memory import RememberedWheels
from compatlock.index.wheel_reader import RemoteWheels
from compatlock.model.artefact import Artefact
from compatlock.model.target import Target
from tests.support.memory_wheels import MemoryObservations
from tests.support.real_index import DATE

pytestmark = pytest.mark.network

TARGET = Target("3.12", "x86_64-manylinux_2_35").resolved()


class Bench:
    """Real wheels, what is remembered of them, and what it cost to look into them."""

    def __init__(self, cache: Path, remote: RemoteWheels) -> None:
        self._options = LockOptions(target=TARGET, cache_dir=str(cache), exclude_newer=DATE)
        self.remote = remote
        self.observations = MemoryObservations()
        self.reader = RememberedWheels(remote, self.observations)

    def artefacts(self, *pins: str) -> list[Artefact]:
        """The wheels of `name==version` that an installer would pick."""
        versions = dict(pin.split("==") for pin in pins)
        found = with_supply(
            self._options, lambda _, supply: artefacts_of(supply, versions, {}), needs_roots=False
        )
        assert not found.missing
        return list(found.found)

    def cuda(self, *pins: str) -> list[str]:
        """The packages that are bound to another CUDA than the rest."""
        findings = check_cuda(self.artefacts(*pins), self.reader, self.observations)
        return [finding.package for finding in findings if finding.fails]

    def misfits(self, *pins: str) -> dict[str, tuple[str, ...]]:
        """The packages that miss symbols, with what they miss."""
        findings = check_symbols(self.artefacts(*pins), self.reader, self.observations)
        return {finding.package: finding.details for finding in findings if finding.fails}


@pytest.fixture
def bench(real_cache: Path) -> Iterator[Bench]:
    with RemoteWheels() as remote:
        yield Bench(real_cache, remote)


@pytest.mark.parametrize(
    ("version", "major"), [("0.17.0", 12), ("0.19.1", 12), ("0.20.0", 13), ("0.22.0", 13), ("0.33.0", 13)]
)
def test_the_cuda_of_vllm(bench: Bench, version: str, major: int) -> None:
    [vllm] = bench.artefacts(f"vllm=={version}")
    assert cuda_major_of(vllm, bench.reader, bench.observations) == major
    assert bench.remote.bytes_received < 8_000_000


def test_companions_of_an_older_torch_are_of_another_cuda(bench: Bench) -> None:
    torch = "torch==2.10.0"
    assert bench.cuda(torch, "torchaudio==2.11.0", "torchcodec==0.17.0", "torchao==0.18.0") == [
        "torchao",
        "torchaudio",
        "torchcodec",
    ]
    assert bench.cuda(torch, "torchaudio==2.10.0", "torchcodec==0.10.0", "torchao==0.16.0") == []
    assert bench.cuda("torch==2.14.0", "torchaudio==2.11.0", "torchcodec==0.17.0", "torchao==0.18.0") == []
    assert bench.remote.bytes_received < 60_000_000


def test_an_extension_with_a_stable_interface(bench: Bench) -> None:
    """torchaudio 2.11.0 declares no torch; it needs 2.11 or newer."""
    missing = bench.misfits("torch==2.9.1", "torchaudio==2.11.0")["torchaudio"]
    assert any("torch_library_impl (no header has `torch_library_impl`)" in line for line in missing)
    missing = bench.misfits("torch==2.10.0", "torchaudio==2.11.0")["torchaudio"]
    assert any("torch_dtype_float8_e8m0fnu" in line for line in missing)
    for version in ("2.11.0", "2.14.0"):
        assert bench.misfits(f"torch=={version}", "torchaudio==2.11.0") == {}
    assert bench.remote.bytes_received < 80_000_000


def test_an_extension_for_one_torch_alone(bench: Bench) -> None:
    """torchcodec 0.10.0 declares no torch; it is built for 2.10."""
    assert bench.misfits("torch==2.10.0", "torchcodec==0.10.0") == {}
    for version in ("2.9.1", "2.11.0"):
        missing = bench.misfits(f"torch=={version}", "torchcodec==0.10.0")["torchcodec"]
        assert any("c1013MessageLogger" in line and "libc10.so" in line for line in missing)
    assert bench.misfits("torch==2.13.0", "torchvision==0.28.0") == {}
    assert bench.misfits("torch==2.12.0", "torchvision==0.28.0").keys() == {"torchvision"}
    assert bench.remote.bytes_received < 120_000_000
