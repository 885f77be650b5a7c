"""The public packse scenarios, each an index of its own: all that are about one target.

Some expect what uv does where the standards say otherwise. These are listed here with the reason, and the
tests assert that exactly they differ, in exactly this way.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

import compatlock
from tests.support.shared import load_tool, needed

if sys.version_info < (3, 11):
    pytest.skip("the scenarios' own tool needs tomllib", allow_module_level=True)

scenario_index = load_tool("scenario_index")
SCENARIOS = scenario_index.load(needed("scenarios"))


class Difference(NamedTuple):
    """What is expected here instead (None: no solution), and why."""

    pins: dict[str, str] | None
    reason: str


_MISSING_EXTRA = (
    "a release that lacks an extra which a root asks for is no candidate: nobody wants `a[x]` to mean `a` "
    "silently, and the extra may be misspelt (packaging standards leave it open; pip warns)"
)
_PRERELEASES = (
    "version specifiers, 'Handling of pre-releases': accept a pre-release when no final release satisfies "
    "the specifier, or when the specifier names one"
)
DIFFERENCES = {
    "extra-does-not-exist-backtrack": Difference({"a": "1.0.0", "b": "1.0.0"}, _MISSING_EXTRA),
    "missing-extra": Difference(None, _MISSING_EXTRA),
    "package-only-prereleases-in-range": Difference({"a": "1.0.0a1"}, _PRERELEASES),
    "transitive-package-only-prereleases-in-range": Difference({"a": "0.1.0", "b": "1.0.0a1"}, _PRERELEASES),
    "transitive-prerelease-and-stable-dependency-many-versions": Difference(
        {"a": "1.0.0", "b": "1.0.0", "c": "2.0.0b9"}, _PRERELEASES
    ),
    "python-less-than-current": Difference(
        None, "Requires-Python (core metadata) bounds both ends; pip refuses to install outside of it"
    ),
}


def one_target(scenario: Any) -> bool:
    options = scenario.data.get("resolver_options", {})
    return not options.get("universal") and not options.get("required_environments")


IDS = sorted(name for name, scenario in SCENARIOS.items() if one_target(scenario))


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    server, url, _ = scenario_index.serve(needed("scenarios"))
    yield url
    server.shutdown()
    server.server_close()


def locked(base_url: str, name: str) -> dict[str, str] | None:
    """The pins for a scenario, None when there is no solution."""
    data = SCENARIOS[name].data
    options = data.get("resolver_options", {})
    python = options.get("python") or data.get("environment", {}).get("python", "3.12")
    try:
        lock = compatlock.lock(
            data["root"].get("requires", []),
            target=compatlock.Target(python, options.get("python_platform", "x86_64-manylinux_2_28")),
            index_url=f"{base_url}/{name}/simple/",
            prerelease="allow" if options.get("prereleases") else "if-necessary-or-explicit",
            no_binary=options.get("no_binary", []),
            only_binary=options.get("no_build", []),
            shipped_facts=False,
            cache=False,
        )
    except compatlock.NoSolution:
        return None
    return lock.versions


def expected(name: str) -> dict[str, str] | bool:
    """The pins that a scenario expects; whether there is a solution, where it does not say."""
    wanted = SCENARIOS[name].data["expected"]
    if not wanted["satisfiable"]:
        return False
    pins: dict[str, str] | None = wanted.get("packages")
    return True if pins is None else pins


@pytest.mark.parametrize("name", IDS)
def test_scenario(base_url: str, name: str) -> None:
    found = locked(base_url, name)
    if name in DIFFERENCES:
        assert found == DIFFERENCES[name].pins, DIFFERENCES[name].reason
        return
    wanted = expected(name)
    if isinstance(wanted, bool):
        assert (found is not None) == wanted
    else:
        assert found == wanted


def test_the_argued_differences_are_differences() -> None:
    assert set(DIFFERENCES) <= set(IDS)
    for name, difference in DIFFERENCES.items():
        wanted = expected(name)
        same = (
            (difference.pins is not None) == wanted if isinstance(wanted, bool) else difference.pins == wanted
        )
        assert not same, f"{name} is no longer a difference"
