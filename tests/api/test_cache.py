"""Whole runs over one cache: damaged, shared, killed, full, switched off. The lock is always the same."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import compatlock
from compatlock.index import supply
from compatlock.index.store import FILE_NAME
from tests.support.command import finish, start
from tests.support.index_server import IndexServer
from tests.support.world import ROOTS, fill

KILLED_ROUNDS = 5


@pytest.fixture(scope="module")
def world() -> Iterator[IndexServer]:
    with IndexServer() as server:
        fill(server)
        yield server


@pytest.fixture(scope="module")
def expected(world: IndexServer) -> str:
    return compatlock.render(lock(world, cache=False))


def lock(server: IndexServer, **options: Any) -> compatlock.Lock:
    target = compatlock.Target("3.12", "linux")
    return compatlock.lock(ROOTS, target=target, index_url=server.url, shipped_facts=False, **options)


def arguments(server: IndexServer, cache: Path, output: str) -> list[str]:
    roots = [word for root in ROOTS for word in ("--requirement", root)]
    words = ["lock", *roots, "--python-version", "3.12", "--python-platform", "linux", "--no-shipped-facts"]
    return [*words, "--default-index", server.url, "--cache-dir", str(cache), "-o", output]


def damage(directory: Path, statement: str) -> None:
    with sqlite3.connect(directory / FILE_NAME) as database:
        database.execute(statement)
    database.close()


def test_a_second_run_asks_nothing(world: IndexServer, expected: str, tmp_path: Path) -> None:
    assert compatlock.render(lock(world, cache_dir=tmp_path)) == expected
    before = world.count()
    assert compatlock.render(lock(world, cache_dir=tmp_path)) == expected
    assert compatlock.render(lock(world, cache_dir=tmp_path, offline=True)) == expected
    assert world.count() == before


def test_one_store_serves_several_targets(world: IndexServer, expected: str, tmp_path: Path) -> None:
    other = compatlock.Target("3.11", "aarch64-manylinux_2_28")
    compatlock.lock(ROOTS, target=other, index_url=world.url, shipped_facts=False, cache_dir=tmp_path)
    listings = world.count("/")
    assert compatlock.render(lock(world, cache_dir=tmp_path)) == expected
    assert world.count("/") <= listings + 2


def test_an_old_listing_is_asked_for_again_and_may_be_unchanged(
    world: IndexServer, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock(world, cache_dir=tmp_path)
    before = world.count()
    monkeypatch.setattr(supply, "FRESH_SECONDS", -1)
    assert compatlock.render(lock(world, cache_dir=tmp_path)) == expected
    seen = world.requests[before:]
    assert seen
    assert all("if-none-match" in one.headers for one in seen)


def test_a_new_release_is_seen_when_the_listing_is_old(
    index: IndexServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.add("a", "1.0")
    options: dict[str, Any] = {"index_url": index.url, "cache_dir": tmp_path}
    assert compatlock.lock(["a"], **options).versions == {"a": "1.0"}
    index.add("a", "2.0")
    assert compatlock.lock(["a"], **options).versions == {"a": "1.0"}
    monkeypatch.setattr(supply, "FRESH_SECONDS", -1)
    assert compatlock.lock(["a"], **options).versions == {"a": "2.0"}


# Damage


@pytest.mark.parametrize(
    "table", ["listing", "files", "view", "runs", "installable", "metadata", "edges", "memo"]
)
@pytest.mark.parametrize("statement", ["update {} set body = x'00'", "delete from {}"])
def test_damaged_rows_are_made_again(
    world: IndexServer, expected: str, tmp_path: Path, table: str, statement: str
) -> None:
    lock(world, cache_dir=tmp_path)
    damage(tmp_path, statement.format(table))
    assert compatlock.render(lock(world, cache_dir=tmp_path)) == expected
    assert compatlock.render(lock(world, cache_dir=tmp_path, offline=True)) == expected


def test_damage_of_what_another_target_needs_too(world: IndexServer, expected: str, tmp_path: Path) -> None:
    """The listing's own row is not read on the warm path: only specifiers that are new need it."""
    lock(world, cache_dir=tmp_path)
    damage(tmp_path, "update listing set body = x'00'")
    damage(tmp_path, "delete from runs")
    assert compatlock.render(lock(world, cache_dir=tmp_path)) == expected


@pytest.mark.parametrize("part", [0.0, 0.3, 0.9])
def test_a_truncated_store_is_replaced(
    world: IndexServer, expected: str, tmp_path: Path, part: float
) -> None:
    lock(world, cache_dir=tmp_path)
    path = tmp_path / FILE_NAME
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * part)])
    assert compatlock.render(lock(world, cache_dir=tmp_path)) == expected
    assert compatlock.render(lock(world, cache_dir=tmp_path, offline=True)) == expected


def test_flipped_bytes_change_no_answer(world: IndexServer, expected: str, tmp_path: Path) -> None:
    lock(world, cache_dir=tmp_path)
    path = tmp_path / FILE_NAME
    data = path.read_bytes()
    source = random.Random(3)
    for _ in range(15):
        broken = bytearray(data)
        for _ in range(40):
            broken[source.randrange(len(broken))] ^= 1 << source.randrange(8)
        path.write_bytes(broken)
        assert compatlock.render(lock(world, cache_dir=tmp_path)) == expected


def test_a_cache_that_is_offline_and_damaged_says_so(world: IndexServer, tmp_path: Path) -> None:
    lock(world, cache_dir=tmp_path)
    damage(tmp_path, "update listing set body = x'00'")
    damage(tmp_path, "delete from view")
    with pytest.raises(compatlock.NotCached, match="offline, and the cache holds nothing about p0"):
        lock(world, cache_dir=tmp_path, offline=True)


# Read-only, or none


def test_without_a_cache_nothing_is_written(
    world: IndexServer, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPATLOCK_CACHE_DIR", str(tmp_path / "cache"))
    assert compatlock.render(lock(world, cache=False)) == expected
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def read_only() -> Iterator[Path]:
    """A folder for a cache that becomes read-only when `deny` is called, for whoever runs the tests."""
    if sys.platform == "win32":
        pytest.skip("needs POSIX permissions")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        user = os.geteuid()
        yield folder
        os.seteuid(user)
        folder.chmod(0o755)


def deny(folder: Path) -> None:
    folder.chmod(0o555)
    if os.geteuid() == 0:  # who may write everywhere
        os.seteuid(65534)


def test_a_read_only_cache_is_used_as_it_is(world: IndexServer, expected: str, read_only: Path) -> None:
    lock(world, cache_dir=read_only)
    before = {path.name: path.read_bytes() for path in read_only.iterdir()}
    deny(read_only)
    assert compatlock.render(lock(world, cache_dir=read_only)) == expected
    assert compatlock.render(lock(world, cache_dir=read_only, offline=True)) == expected
    other = compatlock.lock(["p20"], index_url=world.url, cache_dir=read_only, shipped_facts=False)
    assert "p20" in other.versions
    assert {path.name: path.read_bytes() for path in read_only.iterdir()} == before


def test_a_cache_that_cannot_be_made_is_an_error(world: IndexServer, read_only: Path) -> None:
    lock(world, cache=False)
    deny(read_only)
    with pytest.raises(compatlock.CompatlockError, match=r"the cache directory .* cannot be used"):
        lock(world, cache_dir=read_only / "new")


def test_a_full_disk_does_not_matter(
    world: IndexServer, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite reports a full disk by the same error as here, where the file may not grow."""
    from compatlock.index import database as module

    prepare = module._prepare

    def full(database: sqlite3.Connection, tables: module.Tables) -> sqlite3.Connection:
        prepared = prepare(database, tables)
        if database.execute("pragma database_list").fetchone()[2]:
            prepared.execute("pragma max_page_count = 24")
        return prepared

    monkeypatch.setattr(module, "_prepare", full)
    assert compatlock.render(lock(world, cache_dir=tmp_path)) == expected
    assert (tmp_path / FILE_NAME).stat().st_size <= 24 * 16_384


# Several processes, sudden ends


def test_two_runs_at_once_on_one_new_cache(world: IndexServer, expected: str, tmp_path: Path) -> None:
    for attempt in range(2):
        cache = tmp_path / f"cache{attempt}"
        running = [start(*arguments(world, cache, f"{number}.lock"), cwd=tmp_path) for number in range(3)]
        assert [(run.code, run.err.count("Traceback")) for run in map(finish, running)] == [(0, 0)] * 3
        texts = {(tmp_path / f"{number}.lock").read_text() for number in range(3)}
        assert {text.replace("0.lock", "requirements.lock") for text in texts if "0.lock" in text} == {
            expected
        }
        assert len({text.partition("# Install")[2].partition("\n\n")[2] for text in texts}) == 1


def killed_rounds(world: IndexServer, expected: str, tmp_path: Path, rounds: int, seed: int) -> None:
    """Kill cold runs at random moments, then let one finish: no trace of the killed ones."""
    source = random.Random(seed)
    output = tmp_path / "requirements.lock"
    began = time.monotonic()
    assert finish(start(*arguments(world, tmp_path / "whole", str(output)), cwd=tmp_path)).code == 0
    duration = time.monotonic() - began
    output.unlink()
    for number in range(rounds):
        cache = tmp_path / f"cache{number}"
        for _ in range(3):
            process = start(*arguments(world, cache, "requirements.lock"), cwd=tmp_path)
            time.sleep(source.uniform(0.2, 1.0) * duration)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            assert not output.exists() or output.read_text() == expected
        run = finish(start(*arguments(world, cache, "requirements.lock"), cwd=tmp_path))
        assert (run.code, output.read_text()) == (0, expected), run.err
        output.unlink()
        left = {path.name for path in tmp_path.iterdir() if path.is_file()}
        assert all(name.startswith(".compatlock-") for name in left)


def test_killed_at_any_moment(world: IndexServer, expected: str, tmp_path: Path) -> None:
    killed_rounds(world, expected, tmp_path, KILLED_ROUNDS, 1)


@pytest.mark.slow
def test_killed_at_any_moment_often(world: IndexServer, expected: str, tmp_path: Path) -> None:
    killed_rounds(world, expected, tmp_path, 60, 2)
