"""The public packse scenarios that are about several targets, locked together for all of them.

uv forks where it meets disjoint markers, and its answers are for all environments that there may be. Here the
targets are known before, so that what can be compared is what is selected for each of them: by the text of
each scenario where it says so. Where uv has no answer only because it did not fork, each target has one here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement

import compatlock
from compatlock.model.target import Target
from tests.support.shared import load_tool, needed

if sys.version_info < (3, 11):
    pytest.skip("the scenarios' own tool needs tomllib", allow_module_level=True)

scenario_index = load_tool("scenario_index")
SCENARIOS = scenario_index.load(needed("scenarios"))

PLATFORMS = (
    "x86_64-manylinux_2_28",
    "aarch64-manylinux_2_28",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
)
PYTHONS = ("3.10", "3.12", "3.13", "3.14")


class Case(NamedTuple):
    """What is selected for a Python and a system (`linux`, `darwin`, `win32`), and which Pythons there are.
    `reason` tells why uv has no answer where there is one."""

    selected: Callable[[str, str], dict[str, str]] | None
    pythons: tuple[str, ...] = ("3.12",)
    reason: str = ""


def on(**by_system: dict[str, str]) -> Callable[[str, str], dict[str, str]]:
    """What is selected on systems; nothing on those that are not named."""
    return lambda _python, system: by_system.get(system, {})


def everywhere(**pins: str) -> Callable[[str, str], dict[str, str]]:
    return lambda _python, _system: {name.replace("_", "-"): version for name, version in pins.items()}


def minor(python: str) -> int:
    return int(python.split(".")[1])


_EACH_BY_ITSELF = (
    "uv avoids the conflict only when it forks, which it does for sibling requirements alone; targets that "
    "are known before have an answer each"
)
_TWO_LISTS = {"linux": {"a": "2.0.0"}, "darwin": {"a": "1.0.0", "b": "2.0.0"}}
_CLEAVER = {"cleaver": "1.0.0", "foo": "1.0.0"}
CASES = {
    "fork-allows-non-conflicting-repeated-dependencies": Case(everywhere(a="1.0.0")),
    "fork-filter-sibling-dependencies": Case(
        on(
            linux={"a": "4.4.0", "b": "1.0.0", "d": "1.0.0"},
            darwin={"a": "4.3.0", "c": "1.0.0", "d": "2.0.0"},
        )
    ),
    "fork-incomplete-markers": Case(
        lambda python, _: (
            {"a": "1.0.0", "b": "1.0.0"}
            if minor(python) < 13
            else {"b": "1.0.0", "c": "1.0.0"}
            if minor(python) == 13
            else {"a": "2.0.0", "b": "1.0.0"}
        ),
        PYTHONS,
    ),
    "fork-marker-disjoint": Case(None),
    "fork-marker-inherit-combined": Case(on(**_TWO_LISTS)),
    # PyPy is no target, so what only it needs is not selected.
    "fork-marker-inherit-combined-allowed": Case(on(**_TWO_LISTS)),
    "fork-marker-inherit-transitive": Case(
        on(linux={"a": "2.0.0"}, darwin={"a": "1.0.0", "b": "1.0.0", "c": "1.0.0"})
    ),
    "fork-marker-selection": Case(
        lambda _, system: {
            "linux": {"a": "0.2.0", "b": "2.0.0"},
            "darwin": {"a": "0.1.0", "b": "1.0.0"},
            "win32": {"a": "0.2.0", "b": "2.0.0"},
        }[system]
    ),
    "fork-non-local-fork-marker-direct": Case(
        on(linux={"a": "1.0.0", "c": "1.0.0"}, darwin={"b": "1.0.0", "c": "2.0.0"}),
        reason=_EACH_BY_ITSELF,
    ),
    "fork-non-local-fork-marker-transitive": Case(
        lambda _, system: {
            "linux": {"a": "1.0.0", "b": "1.0.0", "c": "1.0.0"},
            "darwin": {"a": "1.0.0", "b": "1.0.0", "c": "2.0.0"},
            "win32": {"a": "1.0.0", "b": "1.0.0"},
        }[system],
        reason=_EACH_BY_ITSELF,
    ),
    "fork-overlapping-markers-basic": Case(everywhere(a="1.2.0"), PYTHONS),
    "fork-requires-python-full-prerelease": Case(everywhere(), PYTHONS),
    "fork-requires-python-patch-overlap": Case(
        lambda python, _: {"a": "1.0.0"} if minor(python) == 10 else {}, ("3.10.1", "3.12", "3.14")
    ),
    "preferences-dependent-forking": Case(
        lambda _, system: (
            {**_CLEAVER, "bar": "2.0.0"}
            if system == "linux"
            else {"cleaver": "1.0.0", "foo": "2.0.0", "bar": "1.0.0"}
        )
    ),
    "preferences-dependent-forking-conflicting": Case(
        lambda _, system: (
            {**_CLEAVER, "bar": "2.0.0"}
            if system == "linux"
            else {"cleaver": "1.0.0", "foo": "2.0.0", "bar": "1.0.0"}
        ),
        reason=_EACH_BY_ITSELF,
    ),
    "requires-python-wheels": Case(everywhere(a="1.0.0"), ("3.10", "3.11")),
    "virtual-package-extra-priorities": Case(everywhere(a="1.0.0", b="1.0.0"), ("3.12", "3.13")),
    "wrong-backtracking-basic": Case(everywhere(a="1.0.0", b="2.0.9")),
    # Its text would rather have a 1.0.0 and b-inner 2.0.9; here what is asked for by name goes first.
    "wrong-backtracking-indirect": Case(everywhere(a="2.0.0", b="1.0.0", b_inner="1.0.0", too_old="1.0.0")),
}


def several_targets(scenario: Any) -> bool:
    options = scenario.data.get("resolver_options", {})
    return bool(options.get("universal") or options.get("required_environments"))


def test_all_scenarios_of_several_targets_are_here() -> None:
    assert {name for name, scenario in SCENARIOS.items() if several_targets(scenario)} == set(CASES)


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    server, url, _ = scenario_index.serve(needed("scenarios"))
    yield url
    server.shutdown()
    server.server_close()


def locked(base_url: str, name: str, older: compatlock.Lock | None = None) -> compatlock.Lock | None:
    """The lock of a scenario for all targets, None when there is none."""
    try:
        return compatlock.lock(
            SCENARIOS[name].data["root"]["requires"],
            targets=[f"{python}@{platform}" for python in CASES[name].pythons for platform in PLATFORMS],
            index_url=f"{base_url}/{name}/simple/",
            shipped_facts=False,
            cache=False,
            older=older,
        )
    except compatlock.NoSolution:
        return None


def selected(lock: compatlock.Lock, target: Target) -> dict[str, str]:
    """What an installer takes of a lock: no package twice."""
    environment = target.marker_environment
    pins = [p for p in lock.pins if not p.marker or Marker(p.marker).evaluate(environment)]
    assert len({pin.name for pin in pins}) == len(pins)
    return {pin.name: pin.version for pin in pins}


def holds(scenario: Any, pins: dict[str, str], target: Target) -> bool:
    """Whether pins are just what the scenario's requirements lead to on a target, by packaging."""
    environment = {**target.marker_environment, "extra": ""}
    queue, reached = list(scenario.data["root"]["requires"]), set()
    while queue:
        need = Requirement(queue.pop())
        if need.marker is not None and not need.marker.evaluate(environment):
            continue
        version = pins.get(need.name)
        if version is None or not need.specifier.contains(version, prereleases=True):
            return False
        if need.name not in reached:
            reached.add(need.name)
            queue += scenario.data["packages"][need.name]["versions"][version].get("requires", [])
    return reached == set(pins)


@pytest.mark.parametrize("name", CASES)
def test_each_target_gets_its_own(base_url: str, name: str) -> None:
    case, scenario = CASES[name], SCENARIOS[name]
    lock = locked(base_url, name)
    wanted = scenario.data["expected"]
    assert (lock is not None) == (wanted["satisfiable"] or bool(case.reason)), case.reason
    assert (case.selected is not None) == (lock is not None)
    if lock is None or case.selected is None:
        return
    for python in case.pythons:
        for platform in PLATFORMS:
            target = Target(python, platform).resolved()
            pins = selected(lock, target)
            assert pins == case.selected(python, target.marker_environment["sys_platform"]), str(target)
            assert holds(scenario, pins, target)
            if wanted.get("packages"):
                assert pins == wanted["packages"]


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.selected])
def test_locking_again_changes_nothing(base_url: str, name: str) -> None:
    """What uv's scenarios of preferences are about: the second run has the answer of the first."""
    first = locked(base_url, name)
    assert first is not None
    again = locked(base_url, name, older=first)
    assert again is not None
    assert again.older_pins == first.older_pins
    assert again.objective == first.objective
