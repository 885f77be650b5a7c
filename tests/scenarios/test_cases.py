"""Real reports of conflicts, odd metadata and odd files, as far as a lock for one target answers them."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import compatlock
from compatlock.inputs.requirements_file import read_requirements
from compatlock.model.core import Core
from compatlock.model.names import normalise
from compatlock.model.target import Target
from tests.support.real_index import DATE
from tests.support.shared import needed

tomllib: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

CASES = needed("cases")
network = pytest.mark.network


class Case(NamedTuple):
    """One case: its folder, and what its case.toml says."""

    folder: Path
    data: dict[str, Any]

    @property
    def expect(self) -> dict[str, Any]:
        expect: dict[str, Any] = self.data["expect"]
        return expect

    def lock(self, cache: Path, name: str = "requirements.in", **options: Any) -> compatlock.Lock:
        constraints = [self.folder / f for f in self.data["inputs"] if f.startswith("constraints")]
        date = self.data.get("exclude_newer", DATE)
        target = Target(self.data["python"], self.data["platform"])
        chosen = {"target": target, "exclude_newer": date, "cache_dir": cache, **options}
        return compatlock.lock(files=[self.folder / name], constraints=constraints, **chosen)

    def no_solution(self, cache: Path, name: str = "requirements.in") -> tuple[Core, str]:
        """The core of a contradiction, and the message."""
        with pytest.raises(compatlock.NoSolution) as caught:
            self.lock(cache, name)
        assert caught.value.core is not None
        return caught.value.core, caught.value.message


def case(name: str) -> Case:
    return Case(CASES / name, tomllib.loads((CASES / name / "case.toml").read_text(encoding="utf-8")))


def holds(requirement: str, versions: dict[str, str]) -> bool:
    """Whether the pins include something within a requirement."""
    wanted = Requirement(requirement)
    version = versions.get(normalise(wanted.name))
    return version is not None and wanted.specifier.contains(version, prereleases=True)


def assert_expected(of: Case, lock: compatlock.Lock) -> None:
    """`pins`, `must_not_pick`, `must_not_add` and `without_waivers` of a case."""
    for name, specifier in of.expect.get("pins", {}).items():
        assert SpecifierSet(specifier).contains(lock.versions[name], prereleases=True), lock.versions[name]
    for requirement in of.expect.get("must_not_pick", ()):
        assert not holds(requirement, lock.versions)
    assert not set(of.expect.get("must_not_add", ())) & set(lock.versions)
    assert lock.waivers == ()


def assert_core(of: Case, core: Core) -> None:
    """Every edge of the case's core, `a==1 -> b<2` (`root -> ...` is a line of the user's), is in ours, and
    ours has no others but for the user's lines that lead there."""
    found = {(edge.package, edge.on) for edge in core.edges if edge.kind in ("edge", "root")}
    expected = set()
    for text in of.expect["core"]:
        left, right = text.split(" -> ")
        parent = "" if left == "root" else normalise(Requirement(left).name)
        expected.add((parent, normalise(Requirement(right.replace("..5", "")).name)))
    assert expected <= found
    assert len({edge for edge in found if edge[0]} - expected) == 0


# Input files


def test_a_wildcard_line() -> None:
    of = case("req-wildcard-line")
    with pytest.raises(compatlock.InputError) as caught:
        compatlock.lock(files=[of.folder / "requirements.in"], cache=False)
    path = of.folder / of.expect["file"]
    assert [f"{path}:{line}:" in caught.value.message for line in of.expect["lines"]] == [True, True]
    for text in of.expect["message_must_contain"]:
        assert text in caught.value.message


def test_two_encodings() -> None:
    of = case("req-utf16")
    utf16, utf8 = (
        [text for text, _ in read_requirements(str(of.folder / name)).lines] for name in of.data["inputs"]
    )
    assert utf16 == utf8 == ["click==8.1.7", "idna==3.10"]


@network
@pytest.mark.parametrize("name", ["requirements.in", "requirements-bom.in"])
def test_encodings_lock_alike(real_cache: Path, name: str) -> None:
    of = case("req-utf16")
    assert_expected(of, of.lock(real_cache, name))


@network
def test_constraints_with_extras(real_cache: Path) -> None:
    of = case("constraints-with-extras")
    lock = of.lock(real_cache)
    assert_expected(of, lock)
    assert any("extras of requests[security] are ignored" in note for note in lock.notes)


# Pre-releases, yanks, Requires-Python, tags


@network
def test_a_dependency_with_pre_releases_only(real_cache: Path) -> None:
    of = case("sglang-prerelease")
    lock = of.lock(real_cache)
    assert_expected(of, lock)
    gated = {pin.name for pin in lock.pins if "pre-release" in pin.notes}
    assert gated >= {"flash-attn-4"}


@network
def test_a_pin_on_a_yanked_release(real_cache: Path) -> None:
    of = case("transformers4570-yanked")
    lock = of.lock(real_cache)
    assert_expected(of, lock)
    (pin,) = (pin for pin in lock.pins if pin.name == "transformers")
    assert pin.notes == ("yanked: Error in the setup causing installation issues",)
    assert pin.notes[0] in compatlock.render(lock)
    with pytest.raises(compatlock.NoSolution) as caught:
        of.lock(real_cache, "requirements-range.in")
    assert "4.57.0 is left out: it was yanked (Error in the setup" in caught.value.message
    assert "transformers==4.57.0" in "\n".join([caught.value.message, *caught.value.hints])


@network
def test_requires_python_has_two_ends(real_cache: Path) -> None:
    """What remains is older than every bound; it is far behind and says so, until there is a lag guard."""
    of = case("numba-numpy25-ancient")
    lock = of.lock(real_cache)
    for requirement in of.expect["must_not_pick"]:
        assert not holds(requirement, lock.versions)
    (numba,) = (pin for pin in lock.pins if pin.name == "numba")
    assert numba.lag_days > 1000
    assert "sdist metadata, unverified" in numba.notes
    with pytest.raises(compatlock.NoSolution):
        of.lock(real_cache, only_binary=[":all:"])


@network
def test_an_old_glibc_hides_newer_releases(real_cache: Path) -> None:
    of = case("sglang-glibc")
    lock = of.lock(real_cache)
    assert lock.versions["sglang"] == of.expect["declared_only_result"]["sglang"]
    (pin,) = (pin for pin in lock.pins if pin.name == "sglang")
    for text in of.expect["message_must_contain"]:
        assert any("is hidden: " in note and text in note for note in pin.notes)


# Declared contradictions


@network
@pytest.mark.parametrize("name", ["tf217-protobuf5", "ttnn-vllm-numpy", "unsloth-torch211"])
def test_a_minimal_core(real_cache: Path, name: str) -> None:
    of = case(name)
    assert_core(of, of.no_solution(real_cache)[0])


@network
def test_a_floor_without_a_solution(real_cache: Path) -> None:
    of = case("datasets-fsspec-downgrade")
    core, message = of.no_solution(real_cache, "requirements-floor.in")
    assert {(edge.package, edge.on) for edge in core.edges} == {
        ("", "datasets"),
        ("", "fsspec"),
        ("datasets", "fsspec"),
    }
    assert "datasets 4.0.0 needs fsspec[http]>=2023.1.0,<=2025.3.0" in message


@network
def test_a_relaxed_pin(real_cache: Path) -> None:
    of = case("unsloth-torch211")
    lock = of.lock(real_cache, "requirements-relaxed.in")
    assert all(holds(requirement, lock.versions) for requirement in of.expect["relaxed_requires"])


@network
def test_a_pin_that_need_not_be(real_cache: Path) -> None:
    of = case("tf217-protobuf5")
    lock = of.lock(real_cache, "requirements-unpinned.in")
    assert holds("tensorflow>=2.18", lock.versions)
    (pin,) = (pin for pin in lock.pins if pin.name == "tensorflow")
    assert "pre-release" not in pin.notes


@network
def test_a_downgrade_is_shown_with_what_causes_it(real_cache: Path) -> None:
    of = case("datasets-fsspec-downgrade")
    core, message = of.no_solution(real_cache)
    assert "recent releases (--max-lag 365d)" in message
    assert ("datasets", "fsspec") in {(edge.package, edge.on) for edge in core.edges}
    (pin,) = (pin for pin in of.lock(real_cache, max_lag=("none",)).pins if pin.name == "datasets")
    assert pin.lag_days > 365
    assert any("fsspec" in reason for reason in pin.held_by)


# What metadata does not say: shipped facts, or the user's own


@network
@pytest.mark.parametrize("name", ["peft0171-transformers5", "torchaudio-unpinned"])
def test_shipped_facts(real_cache: Path, name: str) -> None:
    of = case(name)
    assert_expected(of, of.lock(real_cache))


@network
def test_a_shipped_fact_keeps_an_ancient_release_from_being_a_magnet(real_cache: Path) -> None:
    of = case("vllm0171-transformers5")
    assert_core(of, of.no_solution(real_cache)[0])
    core, message = of.no_solution(real_cache, "requirements-open.in")
    assert "vllm-pre012-transformers5" in message
    assert {edge.kind for edge in core.edges} == {"root", "edge", "fact"}
    chosen = of.lock(real_cache, "requirements-open.in", shipped_facts=False)
    assert holds("vllm<0.12", chosen.versions)


OWN_FACT = """
[[fact]]
id = "own"
package = "{package}"
versions = "{versions}"
kind = "too-loose"
on = "{on}"
bound = "{bound}"
summary = "the case's known constraint"
source = "{source}"
evidence = [ {{ type = "url", url = "https://index.example/report" }} ]
"""


@network
def test_the_users_own_facts_file(real_cache: Path, tmp_path: Path) -> None:
    of = case("openai-httpx028")
    left, right = (Requirement(text) for text in of.expect["known_constraint"].split(" -> "))
    path = tmp_path / "facts.toml"
    path.write_text(
        OWN_FACT.format(
            package=left.name,
            versions=left.specifier,
            on=right.name,
            bound=right.specifier,
            source=of.data["source"],
        )
    )
    assert_expected(of, of.lock(real_cache, facts=[path]))
    without = of.lock(real_cache, shipped_facts=False)
    for name, version in of.expect["declared_only_result"].items():
        assert without.versions[name] == version
