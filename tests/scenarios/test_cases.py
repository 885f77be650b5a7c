"""Real reports of odd files, odd metadata and bounds that are missing: what is locked, and what is said."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import compatlock
from compatlock.inputs.requirements_file import read_requirements
from tests.scenarios.cases import CASES, MANYLINUX_2_34, edges, holds, pin
from tests.support.shared import FOLDER

tomllib: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

SHARED = FOLDER / "cases"


@pytest.mark.skipif(not SHARED.exists(), reason=f"needs {SHARED}")
@pytest.mark.parametrize("name", CASES)
def test_the_inputs_are_those_of_the_reports(name: str) -> None:
    """The cases here are the shared ones; `requirements-newer.in` is what one of them speaks of in words."""
    shared = tomllib.loads((SHARED / name / "case.toml").read_text(encoding="utf-8"))
    case = CASES[name]
    assert shared["python"] == "3.12"
    assert shared["platform"] == case.platform
    assert shared.get("exclude_newer", case.exclude_newer) == case.exclude_newer
    assert {*shared["inputs"]} == {*case.files} - {"requirements-newer.in"}
    for file in shared["inputs"]:
        assert (SHARED / name / file).read_text(encoding="utf-8") == case.files[file]


# Input files


def test_a_wildcard_line(tmp_path: Path) -> None:
    path = tmp_path / "requirements.in"
    path.write_text("# service\nclick==8.1.7\nidna==3.10\nrequests>=2.32.*\npytz==2011k\n")
    with pytest.raises(compatlock.InputError) as caught:
        compatlock.lock(files=[path], cache=False)
    assert [f"{path}:{line}:" in caught.value.message for line in (1, 2, 3, 4, 5)] == [False] * 3 + [True] * 2
    assert "requests>=2.32.*" in caught.value.message
    assert "`requests>=2.32`" in caught.value.message


def test_two_encodings(tmp_path: Path) -> None:
    (tmp_path / "utf16.in").write_bytes("\ufeffclick==8.1.7\r\nidna==3.10\r\n".encode("utf-16-le"))
    (tmp_path / "bom.in").write_bytes("\ufeffclick==8.1.7\nidna==3.10\n".encode())
    for name in ("utf16.in", "bom.in"):
        lines = [text for text, _ in read_requirements(str(tmp_path / name)).lines]
        assert lines == ["click==8.1.7", "idna==3.10"]


def test_constraints_with_extras(tmp_path: Path) -> None:
    lock = CASES["constraints-with-extras"].lock(tmp_path)
    assert lock.versions["requests"] == "2.31.0"
    assert lock.versions["urllib3"] == "2.2.1"
    assert not {"pyopenssl", "cryptography"} & set(lock.versions)
    assert lock.waivers == ()
    assert any("extras of requests[security] are ignored" in note for note in lock.notes)


# Extras that exclude each other


def test_one_extra_of_a_project(tmp_path: Path) -> None:
    lock = CASES["lf-extras-conflict"].lock(tmp_path, "pyproject.toml", extras=("metrics",))
    assert lock.versions["transformers"] == "4.51.1"
    assert "nltk" in lock.versions
    assert lock.waivers == ()


def test_a_pair_of_extras_that_exclude_each_other(tmp_path: Path) -> None:
    error = CASES["lf-extras-conflict"].refused(tmp_path, "pyproject.toml", all_extras=True)
    assert error.core is not None
    path = tmp_path / "pyproject.toml"
    assert sorted((edge.origin, f"{edge.on}{edge.specifier}") for edge in error.core.edges) == [
        (f"{path}:10 (extra minicpm-v)", "transformers==4.48.3"),
        (f"{path}:9 (extra sglang)", "transformers==4.51.1"),
    ]
    (hint,) = (hint for hint in error.hints if "exclude each other" in hint)
    assert hint == f"extra `minicpm-v` and extra `sglang` of {path} exclude each other: lock them apart"


# Pre-releases, yanks, tags, metadata that only old pip understood


@pytest.mark.parametrize(
    ("date", "sglang", "flash"),
    [("2026-06-29", ">0.5.9", ">=4.0.0b4"), ("2026-06-09", ">0.5.9", "==4.0.0b15")],
)
def test_a_dependency_with_pre_releases_only(tmp_path: Path, date: str, sglang: str, flash: str) -> None:
    lock = CASES["sglang-prerelease"].lock(tmp_path, exclude_newer=date)
    assert holds(f"sglang{sglang}", lock)
    assert holds(f"flash-attn-4{flash}", lock)
    assert [pin.name for pin in lock.pins if "pre-release" in pin.notes] == ["flash-attn-4"]
    assert lock.waivers == ()


def test_a_pin_on_a_yanked_release(tmp_path: Path) -> None:
    lock = CASES["transformers4570-yanked"].lock(tmp_path)
    reason = "yanked: Error in the setup causing installation issues"
    assert holds("transformers==4.57.0", lock)
    assert pin(lock, "transformers").notes == (reason,)
    assert reason in compatlock.render(lock)


def test_a_range_that_holds_only_a_yanked_release(tmp_path: Path) -> None:
    error = CASES["transformers4570-yanked"].refused(tmp_path, "requirements-range.in")
    assert "4.57.0 is left out: it was yanked (Error in the setup" in error.message
    assert "the requirement `transformers==4.57.0` admits the yanked release" in error.hints


def test_an_old_glibc_hides_newer_releases(tmp_path: Path) -> None:
    case = CASES["sglang-glibc"]
    lock = case.lock(tmp_path)
    assert lock.versions["sglang"] == "0.5.10.post1"
    (note,) = (note for note in pin(lock, "sglang").notes if "is hidden: " in note)
    assert "0.5.23" in note
    assert "manylinux_2_34" in note
    assert "glibc" in note
    newer = case._replace(platform=MANYLINUX_2_34).lock(tmp_path)
    assert newer.versions["sglang"] == "0.5.23"
    assert not any("is hidden" in note for note in pin(newer, "sglang").notes)


def test_what_an_old_glibc_hides_is_not_to_be_had(tmp_path: Path) -> None:
    error = CASES["sglang-glibc"].refused(tmp_path, "requirements-newer.in")
    offers = [*error.hints, *(way.accept for way in error.ways_out if way.kind == "target")]
    assert any("--python-platform x86_64-manylinux_2_34" in offer for offer in offers)


def test_bounds_that_only_old_pip_understood(tmp_path: Path) -> None:
    lock = CASES["pl177-legacy-specifier"].lock(tmp_path)
    assert lock.versions["pytorch-lightning"] == "1.7.7"
    assert holds("torch>=1.9", lock)
    assert lock.waivers == ()
    (note,) = pin(lock, "pytorch-lightning").notes
    assert note.startswith("invalid specifier repaired: `torch (>=1.9.*)` is read as `torch>=1.9`")
    assert note.endswith("pip 24.1 and later refuse this release")


# What metadata does not say: known facts


@pytest.mark.parametrize(
    ("name", "wanted", "declared_only"),
    [
        ("openai-httpx028", "httpx<0.28", "httpx==0.28.1"),
        ("peft0171-transformers5", "transformers<5", "transformers==5.24.0"),
        ("torchaudio-unpinned", "torchaudio==2.9.*", "torchaudio==2.11.0"),
    ],
)
def test_bounds_that_are_not_declared(tmp_path: Path, name: str, wanted: str, declared_only: str) -> None:
    """The report on peft says `<0.18`; the wheels say 0.16 and 0.17. The import that fails is not in 0.15.2,
    and no older release imports a name that transformers 5.0.0 lacks."""
    lock = CASES[name].lock(tmp_path)
    assert holds(wanted, lock)
    assert lock.waivers == ()
    assert holds(declared_only, CASES[name].lock(tmp_path, shipped_facts=False))


def test_the_newest_torchaudio_beside_vllm(tmp_path: Path) -> None:
    lock = CASES["torchaudio-unpinned"].lock(tmp_path, "requirements-latest.in")
    assert holds("torchaudio>=2.11", lock)
    assert holds("torch>=2.11", lock)
    assert lock.waivers == ()


OWN_FACT = """
[[fact]]
id = "own"
package = "{package}"
versions = "{versions}"
kind = "too-loose"
on = "{on}"
bound = "{bound}"
summary = "the case's known constraint"
source = "simonw/llm#709"
evidence = [ {{ type = "url", url = "https://index.example/report" }} ]
"""


def test_the_users_own_facts_file(tmp_path: Path) -> None:
    package, on = Requirement("openai<1.55.3"), Requirement("httpx<0.28")
    path = tmp_path / "facts.toml"
    path.write_text(
        OWN_FACT.format(package=package.name, versions=package.specifier, on=on.name, bound=on.specifier)
    )
    case = CASES["openai-httpx028"]
    assert holds(str(on), case.lock(tmp_path, shipped_facts=False, facts=(str(path),)))


# Old releases without bounds, which a search for whatever is declared falls for


def test_a_downgrade_is_shown_with_what_causes_it(tmp_path: Path) -> None:
    case = CASES["datasets-fsspec-downgrade"]
    error = case.refused(tmp_path)
    assert "recent releases (--max-lag 365d)" in error.message
    assert ("datasets", "fsspec") in {(package, on) for package, on, _ in edges(error)}
    (way,) = (way for way in error.ways_out if way.kind == "waive")
    assert [str(waiver) for waiver in way.waivers] == ["datasets -> fsspec"]
    assert ("datasets", "4.0.0") in way.pins


def test_a_downgrade_that_is_accepted(tmp_path: Path) -> None:
    case = CASES["datasets-fsspec-downgrade"]
    accepted = case.lock(tmp_path, max_lag=("none",))
    assert accepted.versions["datasets"] == "2.14.4"
    assert holds("pyarrow<21", accepted)
    assert pin(accepted, "datasets").newest == "4.0.0"
    assert pin(accepted, "datasets").lag_days > 365
    assert any("fsspec" in reason for reason in pin(accepted, "datasets").held_by)
    declared_only = case.lock(tmp_path, max_lag=("none",), shipped_facts=False)
    assert (declared_only.versions["datasets"], declared_only.versions["pyarrow"]) == ("2.14.4", "21.0.0")


def test_a_relaxed_pin(tmp_path: Path) -> None:
    lock = CASES["unsloth-torch211"].lock(tmp_path, "requirements-relaxed.in")
    assert holds("unsloth>2026.6.8", lock)


def test_a_pin_that_need_not_be(tmp_path: Path) -> None:
    lock = CASES["tf217-protobuf5"].lock(tmp_path, "requirements-unpinned.in")
    assert SpecifierSet(">=2.18").contains(lock.versions["tensorflow"])
    assert "pre-release" not in pin(lock, "tensorflow").notes


def test_what_was_too_strict_then_is_lifted_today(tmp_path: Path) -> None:
    case = CASES["vllm0171-transformers5"]
    lock = case.lock(tmp_path, "requirements-open.in", exclude_newer="2026-11-30T14:00:00Z")
    assert holds("vllm>=0.20.0", lock)
    assert holds("transformers>=5.5.1", lock)
    assert lock.waivers == ()
