"""Imports go one way: cli -> api -> rooms -> model -> errors; no room knows another one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src"
ROOMS = ("inputs", "index", "knowledge", "solver", "lockfile", "environment", "audit")
LEVELS = {"errors": 0, "model": 1, **dict.fromkeys(ROOMS, 2), "api": 3, "cli": 4, "": 5, "__main__": 5}

# The solver's own promises.
NO_IO = (
    "os",
    "io",
    "sqlite3",
    "httpx",
    "socket",
    "asyncio",
    "subprocess",
    "pathlib",
    "time",
    "logging",
    "random",
)


def _modules() -> dict[str, ast.Module]:
    modules = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        modules[name] = ast.parse(path.read_text(encoding="utf-8"))
    return modules


MODULES = _modules()


def _typing_only(tree: ast.Module) -> set[int]:
    """Ids of the nodes below `if TYPE_CHECKING:`."""
    guarded: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            guarded.update(id(inner) for statement in node.body for inner in ast.walk(statement))
    return guarded


def _imports(name: str, *, typing: bool = True) -> Iterator[str]:
    """Modules that a module imports, wherever in its text; `typing` False leaves out those for typing."""
    left_out = set() if typing else _typing_only(MODULES[name])
    for node in ast.walk(MODULES[name]):
        if id(node) in left_out:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name} has a relative import"
            assert node.module
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in MODULES else node.module


def _part(module: str) -> str:
    """The part of the package that a module belongs to, `""` for the package itself."""
    return module.split(".")[1] if "." in module else ""


def _own_imports(name: str) -> set[str]:
    """Modules of ours that count for the direction. errors and model may name what is above them in
    annotations; what the package itself says of its version is for all."""
    typing = _part(name) not in ("errors", "model")
    found = {m for m in _imports(name, typing=typing) if m.split(".")[0] == "compatlock"}
    return found - {"compatlock", name}


def test_every_part_is_known() -> None:
    assert {_part(name) for name in MODULES} <= set(LEVELS)
    assert len(MODULES) > 50


@pytest.mark.parametrize("name", MODULES)
def test_imports_go_down(name: str) -> None:
    own = _part(name)
    for imported in sorted(_own_imports(name)):
        other = _part(imported)
        assert LEVELS[other] <= LEVELS[own], f"{name} imports {imported}, which is above it"
        if own in ROOMS and other in ROOMS:
            assert own == other, f"{name} imports {imported}: a room knows another one"


def test_no_cycles() -> None:
    """Not even by imports within functions. Two modules of one room may name each other's types."""
    graph = {
        name: {m for m in _imports(name, typing=False) if m in MODULES} - {"compatlock"}
        for name in MODULES
        if name != "compatlock"
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"modules import each other: {' -> '.join(error.args[1])}")


@pytest.mark.parametrize("name", [name for name in MODULES if _part(name) in ("solver", "model")])
def test_solver_and_model_do_no_io(name: str) -> None:
    """The operating system is asked in one place of the model: what platform this is."""
    allowed = {"os"} if name == "compatlock.model.platforms" else set()
    used = {module.split(".")[0] for module in _imports(name, typing=False)}
    assert not used & set(NO_IO) - allowed
