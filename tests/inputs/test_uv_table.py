"""[tool.uv]: what means the same here."""

from __future__ import annotations

from pathlib import Path

import pytest

from compatlock.errors import InputError
from compatlock.inputs.file_settings import Assigned, FileIndex, FileSettings, ScopedEdge
from compatlock.inputs.pyproject import read_pyproject
from compatlock.inputs.requirements_file import RequirementsFile

PROJECT = """\
[project]
name = "p"
dependencies = ["torch"]
optional-dependencies = { cpu = ["torch", "torchvision"] }

"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(uv: str, *, memo: dict[str, str] | None = None, extras: tuple[str, ...] = ()) -> RequirementsFile:
    """What is read of a project with `uv`, whose first line is the seventh of the file."""
    Path("pyproject.toml").write_text(f"{PROJECT}[tool.uv]\n{uv}")
    return read_pyproject("pyproject.toml", memo=memo, extras=extras)


AMENDED = """\
constraint-dependencies = ["numpy<2", "grpcio[x]<1.65"]
override-dependencies = [
    "torchcodec>=0.6 ; sys_platform == 'linux'",
    { package = { name = "Verl", version = "0.5" }, dependencies = ["numpy>=1.26", "tensordict"] },
    { package = { name = "trl" }, dependencies = ["vllm"] },
]
exclude-dependencies = [
    "Werk.zeug",
    { package = { name = "a", version = "1.0.0" }, dependencies = ["b"] },
]
"""


def test_amended_dependencies() -> None:
    found = read(AMENDED)
    assert found.constraints == (
        ("numpy<2", "pyproject.toml:7"),
        ("grpcio[x]<1.65", "pyproject.toml:7"),
    )
    assert found.settings == FileSettings(
        overrides=(
            ScopedEdge("torchcodec>=0.6 ; sys_platform == 'linux'", "pyproject.toml:9"),
            ScopedEdge("numpy>=1.26", "pyproject.toml:10", "verl", "0.5"),
            ScopedEdge("tensordict", "pyproject.toml:10", "verl", "0.5"),
            ScopedEdge("vllm", "pyproject.toml:11", "trl"),
        ),
        exclusions=(
            ScopedEdge("Werk.zeug", "pyproject.toml:14"),
            ScopedEdge("b", "pyproject.toml:15", "a", "1.0.0"),
        ),
    )
    assert found.notes == ()


INDEXES = """\
index-url = "https://index.example/old"
extra-index-url = ["https://index.example/extra"]
prerelease = "allow"
no-binary-package = ["a"]
no-build-package = ["b"]
no-build = true

[[tool.uv.index]]
name = "cpu"
url = "https://index.example/cpu"
explicit = true

[[tool.uv.index]]
name = "main"
url = "https://index.example/main"
default = true

[[tool.uv.index]]
name = "wheels"
url = "https://index.example/wheels"
format = "flat"

[tool.uv.sources]
Torch = [
    { index = "cpu", marker = "sys_platform == 'darwin'" },
    { index = "main", extra = "cpu" },
]
torchvision = { index = "cpu" }
"""


def test_indexes_and_policies() -> None:
    found = read(INDEXES)
    assert found.settings == FileSettings(
        indexes=(
            FileIndex("https://index.example/cpu", "pyproject.toml:16", "cpu", explicit=True),
            FileIndex("https://index.example/main", "pyproject.toml:21", "main", default=True),
            FileIndex("https://index.example/old", "pyproject.toml:7", default=True),
            FileIndex("https://index.example/extra", "pyproject.toml:8"),
        ),
        assigned=(Assigned("torch", "cpu", "pyproject.toml:30", 'sys_platform == "darwin"'),),
        prereleases=("pyproject.toml:9",),
        no_binary=("a",),
        only_binary=("b", ":all:"),
    )
    assert found.notes == ("pyproject.toml:26: tool.uv.index: wheels is no Simple index",)


def test_sources_of_extras() -> None:
    found = read(INDEXES, extras=("cpu",))
    assert [(each.project, each.index_name) for each in found.settings.assigned] == [
        ("torch", "cpu"),
        ("torch", "main"),
        ("torchvision", "cpu"),
    ]


def test_memo() -> None:
    memo: dict[str, str] = {}
    first = read(AMENDED + INDEXES, memo=memo)
    assert read(AMENDED + INDEXES, memo=memo) == first
    (key,) = memo
    for damaged in ("[]", "{", '[[], [], [], [], [["what", 1]]]', '[[], [], [], [], [["pre", "1"]]]'):
        assert read(AMENDED + INDEXES, memo={key: damaged}) == first


def test_every_bad_item_is_named() -> None:
    with pytest.raises(InputError) as caught:
        read(
            'constraint-dependencies = ["a>>1", 3]\n'
            "override-dependencies = [\n"
            '    "b @ https://x.example/b.whl",\n'
            '    { package = { version = "1" }, dependencies = ["c"] },\n'
            '    { package = { name = "d" }, dependencies = ["e=1"] },\n'
            "]\n"
            'exclude-dependencies = ["f>1"]\n'
            'index = [{ name = "x" }]\n'
            "[tool.uv.sources]\n"
            'torch = [{ index = "x", marker = "when ready" }, 3]\n'
        )
    item = "an item must be a text or `{ package = { name = ... }, dependencies = [...] }`"
    assert caught.value.message.splitlines() == [
        "pyproject.toml:7: tool.uv.constraint-dependencies: a>>1: `>1` is not a version (PEP 440)",
        "pyproject.toml:7: tool.uv.constraint-dependencies: an item must be a text",
        "pyproject.toml:9: tool.uv.override-dependencies: b @ https://x.example/b.whl: "
        "a root URL is not supported yet; name a release instead, b==VERSION",
        f"pyproject.toml:9: tool.uv.override-dependencies: {item}",
        "pyproject.toml:11: tool.uv.override-dependencies: e=1: `=` is no version operator; write `e==1`",
        "pyproject.toml:13: tool.uv.exclude-dependencies: f>1: is no package name",
        "pyproject.toml:14: tool.uv.index: an index is a table with a `url`",
        "pyproject.toml:16: tool.uv.sources: torch: `when ready` is not an environment marker",
        "pyproject.toml:16: tool.uv.sources: torch: must be a table",
    ]
