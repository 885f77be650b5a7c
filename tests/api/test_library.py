"""`import compatlock`: locking from Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import compatlock
from tests.support.index_server import IndexServer

TARGET = compatlock.Target(python="3.12", platform="linux")


@pytest.fixture(autouse=True)
def world(index: IndexServer) -> IndexServer:
    index.add("app", "1.0", requires=["lib"], upload_time="2026-01-01T00:00:00Z")
    index.add("app", "2.0", requires=["lib[fast]>=2"], upload_time="2026-01-11T00:00:00Z")
    index.add("lib", "1.0", upload_time="2026-01-01T00:00:00Z")
    index.add("lib", "2.0", extras={"fast": ["speed"]}, upload_time="2026-02-01T00:00:00Z")
    index.add("speed", "1.0", upload_time="2026-01-01T00:00:00Z")
    return index


def lock(index: IndexServer, *requirements: str, **options: Any) -> compatlock.Lock:
    chosen = {"target": TARGET, "index_url": index.url, "cache": False, **options}
    return compatlock.lock(requirements, **chosen)


def test_a_typed_result(index: IndexServer) -> None:
    found = lock(index, "app", "lib")
    assert isinstance(found, compatlock.Lock)
    assert found.versions == {"app": "2.0", "lib": "2.0", "speed": "1.0"}
    assert found.roots == ("app", "lib")
    assert found.target == "CPython 3.12.0 on x86_64-manylinux_2_28"
    assert found.strategy == "optimal"
    assert (found.waivers, found.broken_soft_facts, found.notes) == ((), (), ())
    app, lib, speed = found.pins
    assert (app.is_root, lib.is_root, speed.is_root) == (True, True, False)
    assert lib.extras == ("fast",)
    assert [file.filename for file in app.files] == ["app-2.0-py3-none-any.whl"]
    assert app.files[0].sha256 == index.sha256("app-2.0-py3-none-any.whl")
    assert app.files[0].upload_time == 1_768_089_600
    assert found.edges == (
        compatlock.LockedEdge("", "app", origin="--requirement"),
        compatlock.LockedEdge("", "lib", origin="--requirement"),
        compatlock.LockedEdge("app", "lib", ">=2", extras=("fast",)),
        compatlock.LockedEdge("lib", "speed", extra="fast"),
    )
    assert found.objective[0] == compatlock.TierValue("worst root lag", 0, "days", True)


def test_why_a_version(index: IndexServer) -> None:
    (app,) = (pin for pin in lock(index, "app", "lib<2").pins if pin.name == "app")
    assert (app.version, app.newest, app.lag_days, app.lag_releases) == ("1.0", "2.0", 10, 1)
    assert app.held_by == ("app 2.0 needs lib>=2",)
    (lib,) = (pin for pin in lock(index, "app==1.0", "lib<2").pins if pin.name == "lib")
    assert (lib.newest, lib.lag_days, lib.held_by) == ("1.0", 0, ("--requirement needs lib<2",))


def test_files_constraints_and_profiles(index: IndexServer, tmp_path: Path) -> None:
    (tmp_path / "r.in").write_text("app\n")
    (tmp_path / "c.txt").write_text("lib<2\n")
    (tmp_path / "mine.toml").write_text(
        'name = "mine"\ndescription = "d"\nroots = ["speed"]\nsource = "https://index.example"\n'
        '[target]\npython = "3.11"\n'
    )
    found = lock(
        index,
        files=[tmp_path / "r.in"],
        constraints=[str(tmp_path / "c.txt")],
        profile=[str(tmp_path / "mine.toml")],
        target=None,
    )
    assert found.versions == {"app": "1.0", "lib": "1.0", "speed": "1.0"}
    assert found.target.startswith("CPython 3.11.0 on ")


def test_an_older_lock_is_kept(index: IndexServer) -> None:
    old = lock(index, "app", exclude_newer="2026-01-05")
    assert old.versions == {"app": "1.0", "lib": "1.0"}
    assert lock(index, "app", older=old).versions == old.versions
    assert lock(index, "app", older={"lib": "1.0"}).versions == old.versions
    assert lock(index, "app").versions["app"] == "2.0"


def test_written_compared_and_as_json(index: IndexServer, tmp_path: Path) -> None:
    old, new = lock(index, "app<2"), lock(index, "app")
    path = tmp_path / "requirements.lock"
    compatlock.write(new, path)
    assert path.read_text() == compatlock.render(new, path=str(path))
    assert compatlock.compare(old, new) == (
        compatlock.Change("app", "1.0", "2.0"),
        compatlock.Change("speed", "", "1.0"),
    )
    assert compatlock.compare(new, new.versions) == ()
    assert compatlock.from_json(json.loads(json.dumps(compatlock.to_json(new)))) == new


def test_options_reach_the_search(index: IndexServer) -> None:
    index.add("pre", "1.0a1")
    assert lock(index, "lib", exclude_newer="2026-01-15T00:00:00Z").versions == {"lib": "1.0"}
    assert lock(index, "pre").versions == {"pre": "1.0a1"}
    with pytest.raises(compatlock.NoSolution):
        lock(index, "pre", prerelease="disallow")
    with pytest.raises(compatlock.NoSolution):
        lock(index, "lib", no_binary=["lib"])
    assert lock(index, "lib", only_binary=[":all:"]).versions == {"lib": "2.0"}
    assert lock(index, "app", prefer=["app"]).objective[0].value == 0
    greedy = lock(index, "app", strategy="greedy")
    assert (greedy.strategy, greedy.objective) == ("greedy", ())


def test_a_waiver_is_spent_when_needed(index: IndexServer) -> None:
    waiver = compatlock.Waiver("app", "lib", reason="it works")
    assert lock(index, "lib", "app>=2", waivers=[waiver]).waivers == ()
    found = lock(index, "lib<2", "app>=2", waivers=[waiver])
    assert found.versions == {"app": "2.0", "lib": "1.0"}
    assert found.waivers == ("app -> lib (it works)",)
    assert [edge for edge in found.edges if edge.waived] == [
        compatlock.LockedEdge("app", "lib", ">=2", extras=("fast",), waived=True)
    ]
    assert found.pins[1].notes == ("has no extra `fast`, which app 2.0 asks for",)


def test_progress(index: IndexServer) -> None:
    seen: list[tuple[int, int]] = []
    lock(index, "app", on_progress=lambda progress: seen.append((progress.done, progress.wanted)))
    assert seen
    assert seen[-1][0] == seen[-1][1]
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, compatlock.InputError, "nothing to lock"),
        ({"requirements": ["lib>="]}, compatlock.InputError, "no version follows"),
        ({"requirements": ["lib"], "prerelease": "some"}, compatlock.InputError, "unknown pre-release mode"),
        ({"requirements": ["lib"], "strategy": "some"}, compatlock.InputError, "unknown strategy `some`"),
        ({"requirements": ["lib"], "exclude_newer": "x"}, compatlock.InputError, "`x` is no point in time"),
        ({"requirements": ["lib"], "facts": ["no.toml"]}, compatlock.FactError, "no.toml"),
        ({"profile": "no"}, compatlock.InputError, "unknown profile `no`"),
        ({"requirements": ["lib>9"]}, compatlock.NoSolution, "`lib>9` cannot be satisfied"),
        ({"requirements": ["lib"], "offline": True}, compatlock.NotCached, "the cache holds nothing about"),
        ({"requirements": ["lib"], "target": compatlock.Target("2.7")}, compatlock.InputError, "2.7"),
    ],
)
def test_errors(index: IndexServer, arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    chosen = {"target": TARGET, "index_url": index.url, "cache": False, **arguments}
    with pytest.raises(error, match=message) as caught:
        compatlock.lock(**chosen)
    assert isinstance(caught.value, compatlock.CompatlockError)


def test_a_contradiction_has_its_core(index: IndexServer) -> None:
    with pytest.raises(compatlock.NoSolution) as caught:
        lock(index, "app>=2", "lib<2")
    core = caught.value.core
    assert core is not None
    assert {(edge.kind, edge.package, edge.on) for edge in core.edges} == {
        ("root", "", "app"),
        ("root", "", "lib"),
        ("edge", "app", "lib"),
    }


def test_everything_public_is_there() -> None:
    for name in compatlock.__all__:
        assert getattr(compatlock, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        compatlock.nothing  # noqa: B018


def test_one_requirement_may_be_a_plain_string(index: IndexServer) -> None:
    assert compatlock.lock("speed", index_url=index.url, cache=False).versions == {"speed": "1.0"}


def test_names_are_listed_before_they_are_imported() -> None:
    assert {"lock", "NoSolution", "Target"} <= set(dir(compatlock))


def test_a_constraint_admits_a_pre_release(index: IndexServer, tmp_path: Path) -> None:
    index.add("early", "1.0", upload_time="2026-01-01T00:00:00Z")
    index.add("early", "2.0rc1", upload_time="2026-02-01T00:00:00Z")
    (tmp_path / "c.txt").write_text("early==2.0rc1\n")
    found = lock(index, "early", constraints=[tmp_path / "c.txt"])
    assert found.versions == {"early": "2.0rc1"}


def test_functions_are_not_hidden_by_the_rooms_of_their_names() -> None:
    """`compatlock.audit` is a package too, and importing it would make an attribute of it."""
    from compatlock.audit.layout import is_harmless

    assert is_harmless("tests/data.py")
    assert compatlock.audit.__module__ == "compatlock.api.library"
