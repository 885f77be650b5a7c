"""One CUDA major in a set, and one that the target can run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from compatlock.audit.binaries import FULL, START, read_binaries
from compatlock.audit.cuda import check_cuda, cuda_facts
from compatlock.audit.cuda_names import library_major, package_major, path_major, requirement_major
from compatlock.audit.cuda_use import cuda_major_of, cuda_majors_of, cuda_uses
from compatlock.model.artefact import Artefact
from compatlock.model.fact import FactBound
from compatlock.model.finding import CERTAIN, LIKELY, POSSIBLE, UNREAD, Finding
from tests.support.elf_writer import shared_object
from tests.support.memory_wheels import MemoryObservations, MemoryWheels, artefact

TORCH = artefact("torch", "2.10.0", ["nvidia-cuda-runtime-cu12==12.8.90"])
AUDIO = artefact("torchaudio", "2.11.0")
RUNTIME = artefact("nvidia-cuda-runtime-cu12", "12.8.90")

TORCH_12 = {
    "torch/lib/libc10_cuda.so": shared_object(needed=["libc10.so", "libcudart.so.12"]),
    "torch/lib/libc10.so": shared_object(soname="libc10.so", needed=["libc.so.6"]),
}
AUDIO_13 = {"torchaudio/lib/libtorchaudio.so": shared_object(needed=["libtorch.so", "libcudart.so.13"])}
RUNTIME_12 = {"nvidia/cuda_runtime/lib/libcudart.so.12": b"\x7fELF never read"}


def _wheels(
    content: Mapping[Artefact, Mapping[str, bytes]], broken: Sequence[str] = ()
) -> tuple[list[Artefact], MemoryWheels]:
    return list(content), MemoryWheels({a.file.filename: m for a, m in content.items()}, broken)


def _check(
    content: Mapping[Artefact, Mapping[str, bytes]],
    allowed: frozenset[int] | None = None,
    broken: Sequence[str] = (),
) -> list[Finding]:
    artefacts, reader = _wheels(content, broken)
    return check_cuda(artefacts, reader, MemoryObservations(), allowed=allowed)


def _major(content: Mapping[str, bytes], package: str = "thing", requires: Sequence[str] = ()) -> int | None:
    one = artefact(package, "1.0", requires)
    return cuda_major_of(one, MemoryWheels({one.file.filename: content}), MemoryObservations())


def test_a_wheel_for_another_cuda_than_torch() -> None:
    [finding] = _check({TORCH: TORCH_12, AUDIO: AUDIO_13, RUNTIME: RUNTIME_12})
    assert (finding.check, finding.package, finding.on, finding.certainty) == (
        "cuda",
        "torchaudio",
        "torch",
        CERTAIN,
    )
    assert finding.summary == (
        "torchaudio 2.11.0 is built for CUDA 13, but torch 2.10.0 is built for CUDA 12: nothing in the lock "
        "installs libcudart.so.13, so that torchaudio/lib/libtorchaudio.so cannot be loaded"
    )
    assert [(p.package, p.file, p.member) for p in finding.places] == [
        ("torchaudio", AUDIO.file.filename, "torchaudio/lib/libtorchaudio.so"),
        ("torch", TORCH.file.filename, "torch/lib/libc10_cuda.so"),
    ]
    assert finding.details == (
        "torchaudio/lib/libtorchaudio.so needs libcudart.so.13",
        "torch/lib/libc10_cuda.so needs libcudart.so.12",
    )
    fact = finding.fact
    assert fact
    assert (fact.package, fact.kind, fact.on) == ("torchaudio", "cuda", "__cuda")
    assert fact.bounds == (FactBound("==2.11.0", "==13.*"),)


def test_the_same_cuda_is_fine() -> None:
    audio = {"torchaudio/lib/libtorchaudio.so": shared_object(needed=["libtorch.so", "libcudart.so.12"])}
    assert not _check({TORCH: TORCH_12, AUDIO: audio, RUNTIME: RUNTIME_12})


def test_libraries_without_a_cuda_of_their_own_say_nothing() -> None:
    """cuDNN, NCCL, cuRAND and libcusparse.so.12 exist for two CUDA majors."""
    needed = ["libcudnn.so.9", "libnccl.so.2", "libcurand.so.10", "libcusparse.so.12", "libcuda.so.1"]
    thing = {"thing/_C.so": shared_object(needed=needed)}
    assert not _check({TORCH: TORCH_12, AUDIO: thing}, allowed=frozenset({12}))
    assert _major(thing) is None


def test_two_runtimes_in_the_lock_are_likely_trouble() -> None:
    runtime = artefact("nvidia-cuda-runtime", "13.0.96")
    content = {"nvidia/cu13/lib/libcudart.so.13": b""}
    [finding] = _check({TORCH: TORCH_12, AUDIO: AUDIO_13, runtime: content})
    assert finding.certainty == LIKELY
    assert finding.summary.endswith("two CUDA runtimes in one process do not see each other's data")


def test_a_wheel_with_a_runtime_of_its_own_is_fine_unless_the_driver_is_too_old() -> None:
    bundling = {
        "thing/_C.so": shared_object(needed=["libcudart-0a1b2c3d.so.13"]),
        "thing.libs/libcudart-0a1b2c3d.so.13": shared_object(soname="libcudart.so.13"),
    }
    assert not _check({TORCH: TORCH_12, AUDIO: bundling})
    [finding] = _check({AUDIO: bundling}, allowed=frozenset({12}))
    assert finding.certainty == LIKELY


def test_a_wheel_with_a_library_for_each_cuda_serves_all() -> None:
    both = {
        f"thing/libthing_cuda{tag}.so": shared_object(needed=[f"libcudart.so.{tag[:2]}"])
        for tag in ("118", "126", "130")
    }
    assert not _check({TORCH: TORCH_12, AUDIO: both}, allowed=frozenset({12}))
    one = artefact("thing", "1.0")
    reader = MemoryWheels({one.file.filename: both})
    assert cuda_majors_of(one, reader, MemoryObservations()) == {11, 12, 13}
    assert _major(both) is None
    [finding] = _check({AUDIO: both}, allowed=frozenset({14}))
    assert "built for CUDA 11 or 12 or 13" in finding.summary
    assert finding.fact is None


def test_what_the_target_cannot_run() -> None:
    [finding] = _check({TORCH: TORCH_12}, allowed=frozenset({13}))
    assert (finding.package, finding.on, finding.certainty) == ("torch", "__cuda", CERTAIN)
    assert finding.summary == (
        "torch 2.10.0 is built for CUDA 12, but the target runs CUDA 13: what it does on the GPU fails"
    )
    assert not _check({TORCH: TORCH_12}, allowed=frozenset({12, 13}))
    [finding] = _check({TORCH: TORCH_12}, allowed=frozenset())
    assert "the target runs no CUDA" in finding.summary


def test_torch_says_its_cuda_by_its_metadata_too() -> None:
    """Where the wheel cannot be read, or is a stub."""
    [finding] = _check({TORCH: {}, AUDIO: AUDIO_13})
    assert finding.package == "torchaudio"
    newer = artefact("torch", "2.14.0", ["cuda-toolkit[cublas]==13.0.2; sys_platform == 'linux'"])
    assert not _check({newer: {}, AUDIO: AUDIO_13})


def test_without_torch_most_wheels_decide() -> None:
    def thing(major: int) -> dict[str, bytes]:
        return {"thing/_C.so": shared_object(needed=[f"libcublas.so.{major}"])}

    a, b, c = (artefact(name, "1.0") for name in "abc")
    [finding] = _check({a: thing(12), b: thing(13), c: thing(13)})
    assert (finding.package, finding.on) == ("a", "__cuda")
    assert [f.package for f in _check({a: thing(12), b: thing(13), c: thing(13)}, frozenset({12}))] == [
        "b",
        "c",
    ]


def test_libraries_of_another_cuda_that_metadata_brings_are_possible_trouble() -> None:
    boost = artefact("xgboost", "3.0", ["nvidia-nccl-cu13"])
    [finding] = _check(
        {TORCH: TORCH_12, boost: {"xgboost/lib/libxgboost.so": shared_object(needed=["libc.so.6"])}}
    )
    assert (finding.package, finding.certainty, finding.fails) == ("xgboost", POSSIBLE, False)
    either = artefact("xgboost", "3.0", ["nvidia-nccl-cu12", "nvidia-nccl-cu13"])
    assert not _check({TORCH: TORCH_12, either: {}})


def test_what_could_not_be_read_is_told() -> None:
    findings = _check({TORCH: TORCH_12, AUDIO: AUDIO_13}, broken=["torchaudio/lib/libtorchaudio.so"])
    assert [(f.package, f.certainty) for f in findings] == [("torchaudio", UNREAD)]
    assert "the connection broke" in findings[0].summary
    [finding] = _check({TORCH: TORCH_12, AUDIO: AUDIO_13}, broken=[AUDIO.file.filename])
    assert "there is no such file" in finding.summary
    damaged = {"torchaudio/lib/libtorchaudio.so": AUDIO_13["torchaudio/lib/libtorchaudio.so"][:100]}
    [finding] = _check({TORCH: TORCH_12, AUDIO: damaged})
    assert finding.certainty == UNREAD


def test_order_of_artefacts_does_not_matter() -> None:
    content = {TORCH: TORCH_12, AUDIO: AUDIO_13, RUNTIME: RUNTIME_12}
    assert _check(content) == _check(dict(reversed(content.items())))


def test_facts_of_both_sides() -> None:
    artefacts, reader = _wheels({TORCH: TORCH_12, AUDIO: AUDIO_13, RUNTIME: RUNTIME_12})
    uses = cuda_uses(artefacts, read_binaries(artefacts, reader, MemoryObservations()))
    assert {(f.package, f.bounds[0]) for f in cuda_facts(uses)} == {
        ("torch", FactBound("==2.10.0", "==12.*")),
        ("torchaudio", FactBound("==2.11.0", "==13.*")),
    }


def test_one_release_is_read_no_further_than_it_takes() -> None:
    small = {f"thing/a{i}.so": shared_object(needed=["libcudart.so.13"], code=i) for i in range(9)}
    one = artefact("thing", "1.0")
    reader = MemoryWheels({one.file.filename: small})
    assert cuda_major_of(one, reader, MemoryObservations()) == 13
    assert len(reader.reads) == 3
    late = {f"thing/a{i}.so": shared_object(needed=["libc.so.6"], code=i) for i in range(9)}
    late["thing/z.so"] = shared_object(needed=["libcudart.so.12"], code=500)
    assert _major(late) == 12


def test_of_large_members_the_start_is_read() -> None:
    large = {"thing/_C_cuda.so": shared_object(needed=["libtorch.so", "libcudart.so.13"], code=FULL)}
    artefacts, reader = _wheels({TORCH: TORCH_12, AUDIO: large})
    observations = MemoryObservations()
    [finding] = check_cuda(artefacts, reader, observations)
    assert (AUDIO.file.filename, "thing/_C_cuda.so", START) in reader.reads
    # Its names are no proof of what it needs.
    assert finding.certainty == LIKELY
    assert finding.details[0] == "thing/_C_cuda.so needs libcudart.so.13 (by its names)"
    reader.reads.clear()
    assert check_cuda(artefacts, reader, observations) == [finding]
    assert not reader.reads


def test_a_glance_at_the_largest_member_leads_to_more() -> None:
    content = {f"thing/a{i}.so": shared_object(needed=["libc.so.6"], code=i) for i in range(5)}
    content["thing/engine.so"] = shared_object(needed=["libcudart.so.13"], code=300_000)
    [finding] = _check({TORCH: TORCH_12, AUDIO: content})
    assert [p.member for p in finding.places] == ["thing/engine.so", "torch/lib/libc10_cuda.so"]
    assert finding.certainty == CERTAIN


def test_what_is_no_elf_file_is_remembered_too() -> None:
    artefacts, reader = _wheels({TORCH: TORCH_12, AUDIO: {"torchaudio/libcuda.so": b"INPUT ( libx.so )"}})
    observations = MemoryObservations()
    assert not check_cuda(artefacts, reader, observations)
    reader.reads.clear()
    assert not check_cuda(artefacts, reader, observations)
    assert not reader.reads


@pytest.mark.parametrize(
    ("name", "major"),
    [
        ("libcudart.so.13", 13),
        ("libcudart.faf08d9a.so.13", 13),
        ("libcudart-9f0a1c11.so.12.8.90", 12),
        ("libnvjpeg-1a359ba7.so.13.0.1.86", 13),
        ("libcublasLt.so.12", 12),
        ("libnppicc.so.13", 13),
        ("libcufft.so.12", 13),
        ("libcufft.so.11", 12),
        ("libcusolver.so.12", 13),
        ("libcusolver.so.11", None),
        ("libcusparse.so.12", None),
        ("libcudnn.so.9", None),
        ("libcudart.so", None),
        ("libcudart.so.99", None),
    ],
)
def test_majors_of_libraries(name: str, major: int | None) -> None:
    assert library_major(name) == major


def test_majors_of_packages_paths_and_requirements() -> None:
    assert package_major("nvidia-nccl-cu12") == 12
    assert package_major("cupy-cuda13x") == 13
    assert package_major("nvidia-cublas") is None
    assert path_major("bitsandbytes/libbitsandbytes_cuda128.so") == 12
    assert path_major("nvidia/cu13/lib/libcublas.so.13") == 13
    assert path_major("thing/_ir.cu13.cpython-312.so") == 13
    assert path_major("accuracy/cu/lib.so.12") is None
    assert requirement_major('nvidia_cublas_cu12==12.8.4.1; platform_system == "Linux"') == 12
    assert requirement_major("cuda-toolkit[cudart]==13.0.2") == 13
    assert requirement_major("cuda-toolkit>=12") is None
    assert requirement_major("cuda-bindings==12.9.4") is None
