"""A real report (vllm-project/vllm#52300): a wheel that needs a newer CUDA than the machine has."""

from __future__ import annotations

from pathlib import Path

import pytest

import compatlock
from tests.support.index_server import IndexServer

TARGET = compatlock.Target("3.12", "x86_64-manylinux_2_34", cuda="12.6")


@pytest.fixture(autouse=True)
def filled(index: IndexServer) -> None:
    """The releases that the report speaks of."""
    for version, torch, day in (("0.19.1", "2.10.0", "04-18"), ("0.21.0", "2.11.0", "05-15")):
        index.add("vllm", version, requires=[f"torch=={torch}"], upload_time=f"2026-{day}T00:00:00Z")
        index.add("torch", torch, upload_time=f"2026-{day}T00:00:00Z")


def test_a_wheel_for_a_newer_cuda_than_the_target_runs(index: IndexServer, tmp_path: Path) -> None:
    path = tmp_path / "requirements.in"
    path.write_text("vllm==0.21.0\n", encoding="utf-8")
    options = {"index_url": index.url, "cache_dir": tmp_path / "cache", "exclude_newer": "2026-08-20"}
    with pytest.raises(compatlock.NoSolution) as caught:
        compatlock.lock(files=[path], target=TARGET, **options)  # type: ignore[arg-type]
    core = caught.value.core
    assert core is not None
    assert [(edge.kind, edge.package, edge.on) for edge in core.edges] == [
        ("root", "", "vllm"),
        ("fact", "vllm", "__cuda"),
        ("target", "", "__cuda"),
    ]
    assert (
        "the target runs CUDA 12.x at most; CUDA 13 needs driver 580.65.06 or newer" in caught.value.message
    )
    # An older vllm, or a newer driver; nothing is waived.
    assert [(way.kind, way.accept) for way in caught.value.ways_out] == [
        ("move", "vllm==0.19.1"),
        ("target", "--cuda 13"),
    ]


def test_by_declared_metadata_alone_it_would_be_installed(index: IndexServer, tmp_path: Path) -> None:
    lock = compatlock.lock(
        "vllm==0.21.0", target=TARGET, index_url=index.url, cache_dir=tmp_path, shipped_facts=False
    )
    assert lock.versions == {"torch": "2.11.0", "vllm": "0.21.0"}
