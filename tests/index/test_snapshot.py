"""Recorded snapshots replay to the same answers, and keep no addresses."""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compatlock.errors import InputError, NotCached
from compatlock.index.lazy_network import LazyNetwork
from compatlock.index.snapshot import Snapshot
from compatlock.index.store import Store
from compatlock.index.supply import Supply
from compatlock.model.policy import Policy
from compatlock.model.target import Target
from tests.support.index_server import IndexServer

TARGET = Target("3.12", "x86_64-manylinux_2_28").resolved()
NOW = 1_800_000_000


@pytest.fixture
def server() -> Iterator[IndexServer]:
    with IndexServer() as server:
        server.add("app", "2.0", requires=["lib>=1"], upload_time="2026-01-02T00:00:00Z")
        server.add("app", "1.0", requires=["lib<1"], upload_time="2025-01-02T00:00:00Z", yanked="broken")
        server.add("lib", "1.5", requires_python=">=3.10", tags=["cp312-cp312-win_amd64"], sdist=False)
        server.add("lib", "1.0", requires_python=">=3.9", extras={"x": ["app"]})
        yield server


def read_all(supply: Supply) -> dict[str, object]:
    """Everything that a search could see of app, lib and a project that does not exist."""
    packages = supply.packages(["app", "lib", "missing"])
    releases = [(name, i) for name, p in sorted(packages.items()) for i in range(p.size)]
    dependencies = supply.dependencies(releases)
    return {
        "candidates": {n: (list(p.versions), list(p.times), p.gates, p.found) for n, p in packages.items()},
        "runs": packages["lib"].runs(">=1.2"),
        "hidden": [(h.version, h.reason) for h in supply.hidden("lib")],
        "dependencies": {r: (d.base, d.extras, d.provides, d.problem) for r, d in dependencies.items()},
    }


def recorded(server: IndexServer, pins: dict[str, str]) -> tuple[bytes, dict[str, object]]:
    network = LazyNetwork(server.url)
    supply = Supply(Store(None), "live", TARGET, Policy(), network, now=NOW)
    seen = read_all(supply)
    snapshot = Snapshot()
    snapshot.record(supply, pins)
    network.close()
    return snapshot.dump(), seen


def replay(document: bytes) -> Supply:
    store = Store(None)
    offline = Supply(store, "recorded", TARGET, Policy(), None, now=NOW)
    Snapshot.load(document, "test").fill(store, "recorded", NOW)
    return offline


def test_a_replayed_snapshot_shows_what_the_index_showed(server: IndexServer) -> None:
    document, seen = recorded(server, {"app": "2.0"})
    assert read_all(replay(document)) == seen


def test_only_pinned_releases_keep_hashes_and_nothing_keeps_addresses(server: IndexServer) -> None:
    document, _ = recorded(server, {"app": "2.0"})
    text = lzma.decompress(document).decode()
    assert "127.0.0.1" not in text
    assert "http" not in text
    supply = replay(document)
    supply.packages(["app", "lib"])
    assert all(f.sha256 and f.size for f in supply.installable_files({"app": 0})["app"])
    assert not any(f.sha256 for f in supply.installable_files({"lib": 0})["lib"])


def test_recording_twice_gives_the_same_bytes(server: IndexServer) -> None:
    assert recorded(server, {})[0] == recorded(server, {})[0]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (b"not xz", "test is no snapshot: it is neither JSON nor JSON compressed by xz"),
        (lzma.compress(b"{"), "test is no snapshot: it is neither JSON nor JSON compressed by xz"),
        (lzma.compress(b"{}")[:-9], "test is no snapshot: it is damaged or cut off"),
        (b"[" * 100_000, "test is no snapshot: it is neither JSON nor JSON compressed by xz"),
        (b'{"a": "\\ud800"}', "test is no snapshot: it is neither JSON nor JSON compressed by xz"),
        (b"[]", "test is no snapshot: it is JSON of something else"),
        (b"{}", "test is no snapshot: it does not say its format"),
        (b'{"format": 99}', "test is a snapshot of format 99, this version reads 1"),
        (b'{"format": 1, "metadata": []}', "test is no snapshot: `projects` or `metadata` is missing"),
        (b'{"format": 1, "projects": {}, "metadata": 1}', "test is no snapshot: `projects` or `metadata`"),
    ],
)
def test_what_is_no_snapshot_is_an_input_error(document: bytes, message: str) -> None:
    with pytest.raises(InputError, match="^" + re.escape(message)) as caught:
        Snapshot.load(document, "test")
    assert caught.value.hints == ("record it again with `compatlock snapshot`",)


WHEEL = "a-1.0-py3-none-any.whl"
FILE_ROW = (
    "should be [name, Requires-Python, seconds after the release's first file, yank, size, SHA-256], not "
)


def _listing(name: str, *releases: object) -> dict[str, object]:
    return {"projects": {name: [*releases]}, "metadata": []}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (_listing("A", ["1.0", 0, []]), "project `A`: is not a normalised name (PEP 503)"),
        (
            {"projects": {"a": 1}, "metadata": []},
            "project `a`: is neither a list of releases nor null, not `1`",
        ),
        (
            _listing("a", 1),
            "project `a`: release 1: should be [version, time of its first file, files], not `1`",
        ),
        (
            _listing("a", ["not a version", 0, []]),
            "project `a`: release `not a version`: is no version (PEP 440)",
        ),
        (_listing("a", ["1.0-1", 0, []]), "project `a`: release `1.0-1`: should be written 1.0.post1"),
        (
            _listing("a", ["1.0", 0, []], ["2.0", 0, []]),
            "project `a`: release `2.0`: is not older than the release before it; the newest comes first",
        ),
        (
            _listing("a", ["1.0", 10**30, []]),
            f"project `a`: release `1.0`: its time should be in seconds since 1970, not `{10**30}`",
        ),
        (_listing("a", ["1.0", 0, [7]]), f"project `a`: release `1.0`: file 1: {FILE_ROW}`7`"),
        (
            _listing("a", ["1.0", 0, [[WHEEL, None]]]),
            f'project `a`: release `1.0`: file 1: {FILE_ROW}`["{WHEEL}", null]`',
        ),
        (
            _listing("a", ["1.0", 0, [["../../x.whl"]]]),
            "project `a`: release `1.0`: file `../../x.whl`: not a valid file name",
        ),
        (_listing("a", ["1.0", 0, [["a-1.0.egg"]]]), "project `a`: release `1.0`: file `a-1.0.egg`: "),
        (
            _listing("a", ["2.0", 0, [[WHEEL]]]),
            f"project `a`: release `2.0`: file `{WHEEL}`: is a file of another release",
        ),
        (
            _listing("a", ["1.0", 0, [[WHEEL, "", -5]]]),
            f"project `a`: release `1.0`: file `{WHEEL}`: its time should be in seconds after the release's "
            "first file, not `-5`",
        ),
        (
            _listing("a", ["1.0", 0, [[WHEEL, "", 0, None, 1, "abc"]]]),
            f"project `a`: release `1.0`: file `{WHEEL}`: its size should be in bytes, and its hash a "
            "SHA-256 in hexadecimal digits",
        ),
        (
            {"projects": {}, "metadata": [["a", WHEEL, [], []], ["a", WHEEL, [1], []]]},
            "metadata, entry 2: should be [project, file name, [Requires-Dist, ...], [extra, ...], "
            f'Requires-Python, source, problem], not `["a", "{WHEEL}", [1], []]`',
        ),
        ({"projects": {}, "metadata": [3]}, "metadata, entry 1: should be [project, file name, "),
    ],
)
def test_an_entry_that_is_wrong_is_named(changed: dict[str, object], message: str) -> None:
    document = json.dumps({"format": 1, **changed}).encode()
    with pytest.raises(InputError, match="^" + re.escape(f"test: {message}")) as caught:
        Snapshot.load(document, "test")
    assert caught.value.hints == ("correct this entry, or record it again with `compatlock snapshot`",)


def test_any_value_put_anywhere_is_refused_or_can_be_used(server: IndexServer) -> None:
    """Whatever is put in the place of whatever stands in a snapshot."""
    text = lzma.decompress(recorded(server, {"app": "2.0"})[0])
    refused = 0
    values: tuple[object, ...] = (None, True, -1, 1.5, 10**40, "", "x", "\0", [], [[]], {}, {"": 1})
    for path in [*_paths(json.loads(text), ())]:
        for value in values:
            changed = json.loads(text)
            place = changed
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = value
            try:
                read_all(replay(json.dumps(changed).encode()))
            except InputError:
                refused += 1
            except NotCached:
                pass
    assert refused > 300


def _paths(value: object, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in items:
        yield from _paths(below, (*path, key))


def test_plain_json_is_read_as_well(server: IndexServer) -> None:
    document, seen = recorded(server, {})
    snapshot = Snapshot.load(document, "test")
    plain = snapshot.dump(plain=True)
    assert json.loads(plain)["format"] == 1
    assert read_all(replay(plain)) == seen


def test_a_snapshot_survives_being_written_to_a_file(server: IndexServer, tmp_path: Path) -> None:
    document, seen = recorded(server, {})
    path = tmp_path / "index.json.xz"
    path.write_bytes(document)
    assert read_all(replay(path.read_bytes())) == seen
