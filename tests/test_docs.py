"""What the documents show is true: examples run, options and names exist, links lead somewhere."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from compatlock.cli.lock_options import OPTIONS
from compatlock.index import lazy_network
from compatlock.knowledge.parse import parse_facts, parse_profile
from tests.support.index_server import IndexServer

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted(
    path for pattern in ("*.md", "docs/*.md", "benchmarks/*.md") for path in ROOT.glob(pattern)
)
_NAMES = {"model", "inputs", "index", "knowledge", "solver", "lockfile", "environment", "api", "cli"}


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(document: str, language: str) -> list[str]:
    """The code blocks of a document in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", read(document), re.MULTILINE | re.DOTALL)


@pytest.fixture
def releases(index: IndexServer, monkeypatch: pytest.MonkeyPatch) -> IndexServer:
    """An index with releases of what the README asks for, as the public one."""
    monkeypatch.setattr(lazy_network, "_public_index", lambda: index.url)
    for version, day in (("1.15.0", 1), ("1.16.0", 20)):
        index.add("trl", version, requires=["transformers>=5.2"], upload_time=f"2026-11-{day:02}T00:00:00Z")
    for version, day in (("0.22.0", 2), ("0.30.0", 5)):
        index.add("vllm", version, requires=["transformers<5.24"], upload_time=f"2026-11-{day:02}T00:00:00Z")
    for version, day in (("3.0", 1), ("5.20.2", 8), ("5.24.0", 28)):
        index.add("transformers", version, upload_time=f"2026-11-{day:02}T00:00:00Z")
    return index


def test_the_python_example_runs(
    releases: IndexServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COMPATLOCK_CACHE_DIR", str(tmp_path / "cache"))
    (example,) = blocks("README.md", "python")
    exec(compile(example, "README.md", "exec"), {})
    said = capsys.readouterr().out
    assert "transformers 5.20.2 20 days behind ('vllm 0.30.0 needs transformers<5.24',)" in said
    assert "['transformers', 'trl']" in said or "['trl', 'transformers']" in said
    assert "trl==1.16.0" in (tmp_path / "requirements.lock").read_text(encoding="utf-8")
    assert releases.count("/simple/trl/")


def test_the_options_exist() -> None:
    known = {name for option in OPTIONS for name in option.names} | {"--help", "--env", "--fix"}
    lines = [*read("README.md").splitlines(), *read("docs/lock.md").splitlines()]
    text = "\n".join(line for line in lines if "pip install" not in line)
    shown = set(re.findall(r"(?<![\w-])-{1,2}[A-Za-z][A-Za-z-]*", text)) - {"-m"}
    assert len(shown) > 20
    # Options that the lock's own header says to give to pip and uv.
    assert shown - {"--no-deps", "--require-hashes"} <= known


def test_the_first_two_commands() -> None:
    """.ci/run takes the second one from the README."""
    first, second = blocks("README.md", "sh")[:2]
    assert first.startswith("python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/compatlock lock")
    assert second.endswith("&& .venv/bin/python -m pytest\n")


def test_the_examples_of_facts_and_profiles_are_valid() -> None:
    fact, profile = blocks("CONTRIBUTING.md", "toml")
    (found,) = parse_facts(fact.encode(), "CONTRIBUTING.md")
    assert found.kind == "overlap"
    assert parse_profile(profile.encode(), "CONTRIBUTING.md").waivers


@pytest.mark.parametrize("document", [path.relative_to(ROOT).as_posix() for path in DOCUMENTS])
def test_links_and_names_lead_somewhere(document: str) -> None:
    folder = (ROOT / document).parent
    text = read(document)
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (folder / link).exists(), f"{document} links to {link}"
    for path in re.findall(r"`((?:src|tests|benchmarks|docs)/[\w./-]+)`", text):
        assert (ROOT / path).exists(), f"{document} speaks of {path}"
    for name in re.findall(r"`([a-z_]+(?:\.\w+)+)(?:\(\))?`", text):
        if name.split(".")[0] in _NAMES and not name.endswith((".py", ".md", ".toml")):
            _resolve(name)


def _resolve(name: str) -> None:
    """Import `room.module.name...` of compatlock."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            value: object = import_module(".".join(["compatlock", *parts[:count]]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            value = getattr(value, part)
        return
    pytest.fail(f"there is no compatlock.{name}")
