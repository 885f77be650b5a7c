"""Real reports of requirements that contradict each other: why, the ways out, and what is not offered."""

from __future__ import annotations

from pathlib import Path

import pytest

import compatlock
from tests.scenarios.cases import CASES, broken, edges, holds, waived


def ways(error: compatlock.NoSolution) -> list[str]:
    return [way.accept for way in error.ways_out]


# tf217-protobuf5


def test_tensorflow_and_protobuf(tmp_path: Path) -> None:
    """The report names waiving `root -> protobuf` (dropping the user's pin) as a second way out. It is none:
    grpcio-tools 1.64.0, which the user pins as well, needs protobuf>=5.26.1; see the next test."""
    error = CASES["tf217-protobuf5"].refused(tmp_path)
    declared = "<5.0.0dev,!=4.21.0,!=4.21.1,!=4.21.2,!=4.21.3,!=4.21.4,!=4.21.5,>=3.20.3"
    found = {(package, on): specifier for package, on, specifier in edges(error)}
    assert {*found} == {("", "protobuf"), ("", "tensorflow"), ("tensorflow", "protobuf")}
    assert {*found["tensorflow", "protobuf"].split(",")} == {*declared.split(",")}
    assert found["", "protobuf"] == "==5.27.2"
    # A newer tensorflow beats the waiver, and there is no smaller set of waivers than the one.
    first, *others = error.ways_out
    assert (first.kind, first.replaces) == ("move", "tensorflow==2.17.0")
    assert first.accept.startswith("tensorflow==2.1")
    assert dict(first.pins)["protobuf"] == "5.27.2"
    assert waived(error) == [(("tensorflow", "protobuf"),)]
    assert [way.kind for way in others] == ["waive"]
    assert len(others[0].breaks) == 1


def test_dropping_the_pin_on_protobuf_is_no_way_out(tmp_path: Path) -> None:
    case = CASES["tf217-protobuf5"]
    without = case._replace(files={"requirements.in": "tensorflow==2.17.0\ngrpcio-tools==1.64.0\n"})
    assert ("grpcio-tools", "protobuf") in {(p, on) for p, on, _ in edges(without.refused(tmp_path))}


def test_holes_are_no_alternatives(tmp_path: Path) -> None:
    """The bound is told as it is declared, on one line, and not as the seven ranges between its holes."""
    error = CASES["tf217-protobuf5"].refused(tmp_path)
    (line,) = (line for line in error.message.splitlines() if "tensorflow 2.17.0 needs" in line)
    assert line.count("protobuf") == 1
    assert " or " not in line
    assert ">4.21" not in error.message


def test_the_waiver_for_tensorflow_breaks_one_edge(tmp_path: Path) -> None:
    lock = CASES["tf217-protobuf5"].lock(tmp_path, waive=("tensorflow -> protobuf",))
    assert lock.versions["tensorflow"] == "2.17.0"
    assert lock.versions["protobuf"] == "5.27.2"
    assert broken(lock) == [("tensorflow", "protobuf")]


def test_when_only_a_pre_release_fitted(tmp_path: Path) -> None:
    case = CASES["tf217-protobuf5"]
    error = case.refused(tmp_path, "requirements-unpinned.in", exclude_newer="2024-10-02")
    assert "tensorflow 2.18.0rc0 is left out: it is a pre-release" in error.message
    assert any("tensorflow>=2.18.0rc0" in hint for hint in error.hints)
    admitted = case.lock(tmp_path, "requirements-unpinned.in", exclude_newer="2024-10-02", prerelease="allow")
    assert admitted.versions["tensorflow"] == "2.18.0rc0"


# ttnn-vllm-numpy


def test_a_runtime_of_a_vendor_and_vllm(tmp_path: Path) -> None:
    error = CASES["ttnn-vllm-numpy"].refused(tmp_path)
    assert error.core is not None
    assert sorted((e.package, e.on) for e in error.core.edges if e.kind == "edge") == [
        ("opencv-python-headless", "numpy"),
        ("ttnn", "numpy"),
        ("vllm", "opencv-python-headless"),
    ]
    assert {edge.kind for edge in error.core.edges} == {"root", "edge"}
    assert {*waived(error)} == {
        (("ttnn", "numpy"),),
        (("vllm", "opencv-python-headless"),),
        (("opencv-python-headless", "numpy"),),
    }
    assert all(len(way.breaks) == 1 for way in error.ways_out if way.kind == "waive")


@pytest.mark.parametrize(
    ("waiver", "wanted"),
    [
        ("ttnn -> numpy", ["numpy>=2,<2.4"]),
        ("vllm -> opencv-python-headless", ["opencv-python-headless==4.11.0.86", "numpy<2"]),
        (
            "opencv-python-headless -> numpy",
            ["numpy==1.26.4", "pandas==3.0.*", "contourpy==1.3.*", "ml-dtypes==0.5.*"],
        ),
    ],
)
def test_each_waiver_breaks_one_edge_and_keeps_all_others(
    tmp_path: Path, waiver: str, wanted: list[str]
) -> None:
    lock = CASES["ttnn-vllm-numpy"].lock(tmp_path, waive=(waiver,))
    assert broken(lock) == [tuple(waiver.split(" -> "))]
    assert lock.versions["vllm"] == "0.24.0"
    assert lock.versions["ttnn"] == "0.74.0"
    assert [requirement for requirement in wanted if not holds(requirement, lock)] == []


# unsloth-torch211


def test_a_newer_release_lifts_the_bound(tmp_path: Path) -> None:
    error = CASES["unsloth-torch211"].refused(tmp_path)
    assert edges(error) == {
        ("", "torch", "==2.11.0"),
        ("", "unsloth", "==2026.6.8"),
        ("unsloth", "torch", "<2.11.0,>=2.4.0"),
    }
    assert (error.ways_out[0].kind, error.ways_out[0].replaces) == ("move", "unsloth==2026.6.8")
    assert error.ways_out[0].accept.startswith("unsloth==2026.")
    assert waived(error) == [(("unsloth", "torch"),)]
    assert error.ways_out[-1].kind == "waive"


# datasets-fsspec-downgrade


def test_a_floor_without_a_solution(tmp_path: Path) -> None:
    error = CASES["datasets-fsspec-downgrade"].refused(tmp_path, "requirements-floor.in")
    assert {(package, on) for package, on, _ in edges(error)} == {
        ("", "datasets"),
        ("", "fsspec"),
        ("datasets", "fsspec"),
    }
    assert "datasets 4.0.0 needs fsspec[http]>=2023.1.0,<=2025.3.0" in error.message
    assert waived(error) == [(("datasets", "fsspec"),)]


def test_the_waiver_for_datasets(tmp_path: Path) -> None:
    lock = CASES["datasets-fsspec-downgrade"].lock(tmp_path, waive=("datasets -> fsspec",))
    assert lock.versions["datasets"] == "4.0.0"
    assert broken(lock) == [("datasets", "fsspec")]


# vllm0171-transformers5


def test_a_bound_that_is_too_strict(tmp_path: Path) -> None:
    case = CASES["vllm0171-transformers5"]
    error = case.refused(tmp_path)
    assert edges(error) == {
        ("", "transformers", ">=5.0.0"),
        ("", "vllm", ">=0.17.1"),
        ("vllm", "transformers", "<5,>=4.56.0"),
    }
    assert waived(error) == [(("vllm", "transformers"),)]
    lock = case.lock(tmp_path, waive=("vllm -> transformers",))
    assert broken(lock) == [("vllm", "transformers")]
    assert lock.versions["vllm"] == "0.17.1"


def test_an_old_release_without_the_bound_is_no_way_out(tmp_path: Path) -> None:
    case = CASES["vllm0171-transformers5"]
    error = case.refused(tmp_path, "requirements-open.in")
    assert ("vllm", "transformers", "vllm-pre012-transformers5") in edges(error)
    assert waived(error)[0] == (("vllm", "transformers"),)
    for way in error.ways_out:
        assert dict(way.pins)["vllm"] != "0.11.0"
    (first, *_) = (way for way in error.ways_out if way.kind == "waive")
    assert dict(first.pins)["vllm"] == "0.17.1"
    assert first.has_evidence
    assert holds("vllm<0.12", case.lock(tmp_path, "requirements-open.in", shipped_facts=False))


# pandas211-numpy2, numba-numpy25-ancient: what is compiled


def test_a_compiled_interface_is_never_waived(tmp_path: Path) -> None:
    case = CASES["pandas211-numpy2"]
    error = case.refused(tmp_path)
    assert edges(error) == {
        ("", "numpy", ">=2"),
        ("", "pandas", "<2.2,>=2.1"),
        ("pandas", "numpy", "pandas-pre222-numpy2"),
    }
    assert waived(error) == []
    moved = {way.replaces.split(">")[0].split("<")[0]: way for way in error.ways_out if way.kind == "move"}
    assert dict(moved["pandas"].pins)["pandas"] == "2.2.2"
    assert dict(moved["numpy"].pins)["numpy"] == "1.26.4"
    assert not any(text.startswith("--waive") for text in ways(error))
    declared_only = case.lock(tmp_path, shipped_facts=False)
    assert (declared_only.versions["pandas"], declared_only.versions["numpy"]) == ("2.1.1", "2.0.0")


def test_requires_python_has_two_ends(tmp_path: Path) -> None:
    """Without facts what remains is a source release older than every bound, and far behind: 0.53.1 and all
    that declare an end of their Pythons are left out."""
    lock = CASES["numba-numpy25-ancient"].lock(tmp_path, shipped_facts=False)
    assert not holds("numba==0.53.1", lock)
    assert not holds("numba==0.51.2", lock)
    assert not holds("llvmlite==0.36.0", lock)
    (numba,) = (pin for pin in lock.pins if pin.name == "numba")
    assert numba.lag_days > 1000
    assert "sdist metadata, unverified" in numba.notes


def test_no_numba_takes_the_newest_numpy(tmp_path: Path) -> None:
    """The report lists waiving `numba -> numpy`, as unsafe: numba refuses to import then, so it is refused
    and not only ranked last."""
    case = CASES["numba-numpy25-ancient"]
    error = case.refused(tmp_path)
    assert ("numba", "numpy", "numba-pre060-numpy2") in edges(error)
    assert ("", "numpy", "==2.5.0") in edges(error)
    assert {(package, on) for package, on, _ in edges(error)} == {
        ("", "numba"),
        ("", "numpy"),
        ("numba", "numpy"),
    }
    assert waived(error) == []
    with pytest.raises(compatlock.InputError) as caught:
        case.lock(tmp_path, waive=("numba -> numpy",))
    assert "numba-numpy-hard" in caught.value.message
    # Nor is it offered to take the bound away altogether.
    assert [way.kind for way in error.ways_out] == ["move", "newer"]
