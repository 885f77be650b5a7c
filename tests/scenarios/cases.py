"""Real reports of conflicts and odd metadata as small inputs, answered over a recorded snapshot of the index.

`python -m tests.snapshots.record_cases` runs the tests on the real index, and records what they read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from packaging.requirements import Requirement

import compatlock
from compatlock.api.options import LockOptions
from compatlock.model.names import normalise
from compatlock.model.target import Target
from tests.snapshots.replay_cases import lock_recorded
from tests.support.real_index import DATE

MANYLINUX_2_34 = "x86_64-manylinux_2_34"
MANYLINUX_2_28 = "x86_64-manylinux_2_28"


class Case(NamedTuple):
    """A case: its input files, and the target and date that it holds for."""

    name: str
    files: dict[str, str]
    exclude_newer: str = DATE
    platform: str = MANYLINUX_2_34

    def lock(self, folder: Path, name: str = "requirements.in", **options: Any) -> compatlock.Lock:
        """Lock one of the files, written into `folder`; others whose names say so are constraints."""
        for file, text in self.files.items():
            (folder / file).write_text(text)
        asked = {
            "files": (str(folder / name),),
            "constraints": tuple(str(folder / file) for file in self.files if file.startswith("constraints")),
            "target": Target("3.12", self.platform),
            "exclude_newer": self.exclude_newer,
            **options,
        }
        return lock_recorded(LockOptions(**asked))

    def refused(self, folder: Path, name: str = "requirements.in", **options: Any) -> compatlock.NoSolution:
        """The error of a file that cannot be locked."""
        with pytest.raises(compatlock.NoSolution) as caught:
            self.lock(folder, name, **options)
        return caught.value


CASES = {
    case.name: case
    for case in (
        Case(
            "constraints-with-extras",
            {
                "requirements.in": "requests\n",
                "constraints.txt": "requests[security]==2.31.0\nurllib3==2.2.1\n",
            },
        ),
        Case(
            "datasets-fsspec-downgrade",
            {
                "requirements.in": "datasets\nfsspec>=2025.6\n",
                "requirements-floor.in": "datasets>=4\nfsspec>=2025.6\n",
            },
            "2025-08-01",
        ),
        Case(
            "lf-extras-conflict",
            {
                "pyproject.toml": """\
[project]
name = "lf-like"
version = "0"
requires-python = ">=3.10,<3.13"
dependencies = ["transformers>=4.45,<=4.51.1"]

[project.optional-dependencies]
metrics = ["nltk"]
sglang = ["transformers==4.51.1"]
minicpm-v = ["transformers==4.48.3"]
"""
            },
        ),
        Case("numba-numpy25-ancient", {"requirements.in": "numba\nnumpy==2.5.0\n"}, "2026-06-25"),
        Case("openai-httpx028", {"requirements.in": "openai==1.55.2\n"}),
        Case("pandas211-numpy2", {"requirements.in": "pandas>=2.1,<2.2\nnumpy>=2\n"}, "2024-06-17"),
        Case("peft0171-transformers5", {"requirements.in": "peft==0.17.1\n"}),
        Case("pl177-legacy-specifier", {"requirements.in": "pytorch-lightning==1.7.7\n"}),
        Case(
            "sglang-glibc",
            {"requirements.in": "sglang\n", "requirements-newer.in": "sglang>=0.5.15\n"},
            platform=MANYLINUX_2_28,
        ),
        Case("sglang-prerelease", {"requirements.in": "sglang\n"}, "2026-06-29"),
        Case(
            "tf217-protobuf5",
            {
                "requirements.in": "tensorflow==2.17.0\nprotobuf==5.27.2\ngrpcio-tools==1.64.0\n",
                "requirements-unpinned.in": "tensorflow\nprotobuf==5.27.2\ngrpcio-tools==1.64.0\n",
            },
        ),
        Case(
            "torchaudio-unpinned",
            {
                "requirements.in": "torch==2.9.1\ntorchaudio\n",
                "requirements-latest.in": "trl[vllm]\ntorchaudio\n",
            },
        ),
        Case(
            "transformers4570-yanked",
            {
                "requirements.in": "transformers==4.57.0\n",
                "requirements-range.in": "transformers>4.56.2,<4.57.1\n",
            },
        ),
        Case("ttnn-vllm-numpy", {"requirements.in": "vllm==0.24.0\nttnn==0.74.0\n"}),
        Case(
            "unsloth-torch211",
            {
                "requirements.in": "unsloth==2026.6.8\ntorch==2.11.0\n",
                "requirements-relaxed.in": "unsloth\nllamafactory\n",
            },
        ),
        Case(
            "vllm0171-transformers5",
            {
                "requirements.in": "vllm>=0.17.1\ntransformers>=5.0.0\n",
                "requirements-open.in": "vllm\ntransformers>=5.0.0\n",
            },
            "2026-03-18",
        ),
    )
}


def holds(requirement: str, lock: compatlock.Lock) -> bool:
    """Whether the pins include something within a requirement."""
    wanted = Requirement(requirement)
    version = lock.versions.get(normalise(wanted.name))
    return version is not None and wanted.specifier.contains(version, prereleases=True)


def pin(lock: compatlock.Lock, name: str) -> compatlock.Pin:
    """The pin of a package."""
    (found,) = (pin for pin in lock.pins if pin.name == name)
    return found


def edges(error: compatlock.NoSolution) -> set[tuple[str, str, str]]:
    """The statements of the core as `(package, on, specifier)`; `""` stands for the user, and a fact has its
    id instead of a specifier."""
    assert error.core is not None
    return {
        (edge.package, edge.on, edge.origin if edge.kind == "fact" else edge.specifier)
        for edge in error.core.edges
    }


def broken(lock: compatlock.Lock) -> list[tuple[str, str]]:
    """The edges that a lock breaks."""
    return sorted({(edge.package, edge.on) for edge in lock.edges if edge.waived})


def waived(error: compatlock.NoSolution) -> list[tuple[tuple[str, str], ...]]:
    """The sets of edges that are offered to be waived, in the order of the ways out."""
    return [
        tuple((waiver.package, waiver.on) for waiver in way.waivers)
        for way in error.ways_out
        if way.kind == "waive"
    ]
