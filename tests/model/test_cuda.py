"""CUDA majors of bounds, drivers and local versions."""

from __future__ import annotations

import pytest
from packaging.specifiers import SpecifierSet

from compatlock.errors import InputError
from compatlock.model.cuda import (
    CUDA,
    MAJORS,
    CudaRules,
    bound_runs,
    check_cuda,
    check_driver,
    cuda_package,
    exactly,
    knows_files_for,
    local_majors,
    majors_of_cuda,
    majors_of_driver,
    majors_within,
    spoken_of,
)
from compatlock.model.fact import SHIPPED_FACTS, Fact, FactBound
from compatlock.model.names import normalise
from compatlock.model.package import Package
from compatlock.model.platforms import parse_platform


def package(*versions: str) -> Package:
    """A package of which every specifier admits `==` versions only, `""` all."""

    def compute(specifier: str) -> tuple[int, ...]:
        index = versions.index(specifier.removeprefix("=="))
        return (0, index, index + 1)

    count = len(versions)
    return Package(
        "torch", versions, positions=range(count), times=(None,) * count, gates={}, file_keys=("",) * count,
        full_runs={}, compute=compute,
    )  # fmt: skip


def test_no_project_can_have_the_name() -> None:
    assert normalise(CUDA) != CUDA


@pytest.mark.parametrize(
    "bound", ["", "==12.*", "==13", ">=12", "<13", "!=12", ">11,<=13", ">=12,!=13.*", "<11"]
)
def test_bounds_mean_what_specifiers_mean(bound: str) -> None:
    expected = tuple(major for major in MAJORS if SpecifierSet(bound).contains(major))
    assert majors_within(bound) == expected
    cuda = cuda_package()
    assert tuple(cuda.versions[i] for low, high in cuda.runs(bound) for i in range(low, high)) == expected


@pytest.mark.parametrize("bound", ["==12.8", ">=12.*", "~=12.0", "12", "==x", "===12", ">=123"])
def test_other_bounds_are_refused(bound: str) -> None:
    with pytest.raises(ValueError, match="does not bound CUDA majors"):
        majors_within(bound)


@pytest.mark.parametrize("majors", [("13",), ("12", "11"), ("13", "12"), ("11",)])
def test_exactly_is_the_bound_of_majors(majors: tuple[str, ...]) -> None:
    assert majors_within(exactly(majors)) == majors


def test_exactly_none_excludes_all() -> None:
    assert majors_within(exactly(())) == ()


@pytest.mark.parametrize(
    ("driver", "majors"),
    [
        ("450", ("11",)),
        ("450.80.02", ("11",)),
        ("470.256.02", ("11",)),
        ("525", ("12", "11")),
        ("525.60", ("11",)),
        ("525.60.12", ("11",)),
        ("525.60.13", ("12", "11")),
        ("570.133.20", ("12", "11")),
        ("580", MAJORS),
        ("580.65.05", ("12", "11")),
        ("580.65.06", MAJORS),
        ("605.1", MAJORS),
    ],
)
def test_what_a_driver_runs(driver: str, majors: tuple[str, ...]) -> None:
    assert check_driver(driver) == driver
    assert majors_of_driver(driver) == majors


def test_what_a_cuda_runs() -> None:
    assert majors_of_cuda("12.8") == ("12", "11")
    assert majors_of_cuda("13") == MAJORS


@pytest.mark.parametrize("text", ["", "12.", "cu128", "12.8.1", "128", "-1", "12 ", "auto"])
def test_what_is_no_cuda(text: str) -> None:
    with pytest.raises(InputError, match="is no CUDA version") as caught:
        check_cuda(text)
    assert "--cuda 12.8" in caught.value.hints[0]


@pytest.mark.parametrize("text", ["14", "10.2", "99"])
def test_a_cuda_of_which_nothing_is_known(text: str) -> None:
    with pytest.raises(InputError, match=f"nothing is known of CUDA {text}") as caught:
        check_cuda(text)
    assert "11, 12 and 13" in caught.value.hints[0]


@pytest.mark.parametrize("text", ["", "57", "5700", "570.133.20.1", "v570", "570-open", "570."])
def test_what_is_no_driver(text: str) -> None:
    with pytest.raises(InputError, match="is no version of an NVIDIA driver"):
        check_driver(text)


def test_a_driver_that_runs_nothing_known() -> None:
    with pytest.raises(InputError, match="driver 440 runs no CUDA that is known") as caught:
        check_driver("440")
    assert list(caught.value.hints) == ["CUDA 11 needs driver 450.80.02 or newer"]


@pytest.mark.parametrize(
    ("version", "majors"),
    [
        ("2.11.0", None),
        ("2.11.0+cu128", ("12",)),
        ("2.7.0+cu118", ("11",)),
        ("2.12.0+cu130", ("13",)),
        ("2.8.3+cu12torch2.8cxx11abitrue", ("12",)),
        ("0.9+pt210cu129", ("12",)),
        ("2.11.0+cpu", MAJORS),
        ("2.11.0+rocm6.4", MAJORS),
        ("1.0+accu12", MAJORS),
    ],
)
def test_local_versions(version: str, majors: tuple[str, ...] | None) -> None:
    assert local_majors(version) == majors


def test_runs_of_local_versions() -> None:
    torch = package("2.12+cu130", "2.11+cu130", "2.11+cu128", "2.11", "2.10+cpu", "2.10", "2.9+cu128")
    assert list(bound_runs(torch)) == [(("13",), 0, 2), (("12",), 2, 3), (("12",), 6, 7)]
    assert spoken_of(torch, ((0, 7),)) == ((3, 4), (5, 6))
    plain = package("2", "1")
    assert list(bound_runs(plain)) == []
    assert spoken_of(plain, ((0, 1),)) == ((0, 1),)


def test_facts_hold_for_files_of_the_default_index_that_say_nothing_themselves() -> None:
    torch = package("2.11+cu128", "2.11", "2.10")
    facts = (
        Fact(
            "a", "torch", "cuda", (FactBound("==2.11", "==13.*"), FactBound("==2.11+cu128", "==13.*")), CUDA
        ),
        Fact("b", "torch", "too-loose", (FactBound("", ">=1"),), "numpy"),
    )
    rules = CudaRules(facts, lambda _name: False)
    assert [rules.majors(torch, i) for i in range(3)] == [("12",), ("13",), MAJORS]
    elsewhere = CudaRules(facts, lambda _name: True)
    assert [elsewhere.majors(torch, i) for i in range(3)] == [("12",), ("13",), MAJORS]
    shipped = [fact._replace(origin=SHIPPED_FACTS) for fact in facts]
    elsewhere = CudaRules(shipped, lambda _name: True)
    assert [elsewhere.majors(torch, i) for i in range(3)] == [("12",), MAJORS, MAJORS]


@pytest.mark.parametrize(
    ("platform", "known"),
    [
        ("linux", True),
        ("x86_64-unknown-linux-musl", True),
        ("aarch64-manylinux_2_28", False),
        ("macos", False),
        ("windows", False),
    ],
)
def test_facts_are_about_linux_on_x86_64(platform: str, known: bool) -> None:
    assert knows_files_for(parse_platform(platform)) is known
