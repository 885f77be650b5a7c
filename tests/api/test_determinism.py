"""The same requirements and index state give a byte-identical lock, however they are put."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import compatlock
from tests.support.command import run_apart
from tests.support.index_server import IndexServer
from tests.support.world import ROOTS, fill

TARGET = compatlock.Target("3.12", "linux")
LINES = (*ROOTS, "p04<0.6", "p05", "p05!=0.1")
CONSTRAINTS = ("p10<0.6", "p11", "p12!=0.2", "p23<9")


@pytest.fixture(scope="module", params=[2, 3])
def world(request: pytest.FixtureRequest) -> Iterator[IndexServer]:
    with IndexServer() as server:
        fill(server, seed=request.param)
        yield server


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(LINES, CONSTRAINTS)


def write(lines: tuple[str, ...] | list[str], constraints: tuple[str, ...] | list[str]) -> None:
    half = len(LINES) // 2
    Path("a.in").write_text("\n".join(line for line in lines if line in LINES[:half]))
    Path("b.in").write_text("\n".join(line for line in lines if line in LINES[half:]))
    Path("c.txt").write_text("\n".join(constraints))


def lock(server: IndexServer, files: tuple[str, ...] = ("a.in", "b.in"), **options: Any) -> str:
    chosen = {"cache": False, "shipped_facts": False, **options}
    made = compatlock.lock(
        files=files,
        constraints=["c.txt"],
        target=TARGET,
        index_url=server.url,
        **chosen,
    )
    return compatlock.render(made)


@pytest.mark.usefixtures("files")
def test_lines_and_files_in_any_order(world: IndexServer, tmp_path: Path) -> None:
    expected = lock(world, cache=True, cache_dir=tmp_path / "cache")
    source = random.Random(1)
    for _ in range(12):
        write(source.sample(LINES, len(LINES)), source.sample(CONSTRAINTS, len(CONSTRAINTS)))
        order = tuple(source.sample(("a.in", "b.in"), 2))
        assert lock(world, order, cache=True, cache_dir=tmp_path / "cache") == expected


@pytest.mark.usefixtures("files")
def test_blank_lines_comments_and_spelling_do_not_matter(world: IndexServer) -> None:
    expected = lock(world)
    text = Path("a.in").read_text()
    Path("a.in").write_text(f"# first\r\n\r\n{text.upper()}   # last\r\n\t\r\n")
    assert lock(world) == expected


@pytest.mark.usefixtures("files")
def test_requirement_options_in_any_order(world: IndexServer) -> None:
    def locked(roots: list[str]) -> str:
        return compatlock.render(
            compatlock.lock(roots, target=TARGET, index_url=world.url, cache=False, shipped_facts=False)
        )

    expected = locked(list(LINES))
    source = random.Random(2)
    for _ in range(4):
        assert locked(source.sample(LINES, len(LINES))) == expected


@pytest.mark.usefixtures("files")
def test_cold_warm_and_offline(world: IndexServer, tmp_path: Path) -> None:
    cold = lock(world)
    cache: dict[str, Any] = {"cache": True, "cache_dir": tmp_path / "cache"}
    assert lock(world, **cache) == cold
    assert lock(world, **cache) == cold
    assert lock(world, offline=True, **cache) == cold


@pytest.mark.usefixtures("files")
def test_a_cache_that_knows_more_changes_nothing(world: IndexServer, tmp_path: Path) -> None:
    """What other runs have read is at hand earlier than in a run of its own."""
    expected = lock(world)
    cache: dict[str, Any] = {"cache": True, "cache_dir": str(tmp_path / "cache")}
    for number in range(0, 24, 2):
        for bound in ("", "<0.4"):
            try:
                compatlock.lock(
                    [f"p{number:02}{bound}"],
                    target=TARGET,
                    index_url=world.url,
                    shipped_facts=False,
                    cache_dir=str(tmp_path / "cache"),
                )
            except compatlock.NoSolution:
                continue
    assert lock(world, **cache) == expected


@pytest.mark.usefixtures("files")
def test_an_index_in_another_order() -> None:
    """Files of a listing come in any order, and answers at any time."""
    texts = set()
    for seed in range(3):
        with IndexServer() as server:
            fill(server, seed=3)
            server.shuffle(seed)
            texts.add(lock(server).replace(server.url, "<index>"))
    assert len(texts) == 1


@pytest.mark.usefixtures("files")
def test_hash_seeds(world: IndexServer, tmp_path: Path) -> None:
    words = ["lock", "a.in", "b.in", "-c", "c.txt", "--python-version", "3.12", "--python-platform", "linux"]
    words += ["--no-shipped-facts", "--default-index", world.url, "-o", "-", "-q"]
    texts = set()
    for seed in ("0", "1", "2", "4711"):
        for cache in (["--no-cache"], ["--cache-dir", str(tmp_path / f"cache{seed}")]):
            run = run_apart(*words, *cache, cwd=tmp_path, env={"PYTHONHASHSEED": seed})
            assert run.code == 0, run.err
            texts.add(run.out)
    assert len(texts) == 1
    assert texts == {lock(world)}
