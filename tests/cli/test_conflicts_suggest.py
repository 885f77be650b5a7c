"""`compatlock conflicts suggest`: findings of an audit as entries of a facts file that can be verified."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from compatlock.knowledge.documented import DocumentedFact, documented_facts
from compatlock.knowledge.load import load_facts
from compatlock.model.fact import FactBound
from tests.support.command import Cli, Run, pins_of
from tests.support.elf_writer import shared_object
from tests.support.index_server import IndexServer

FROM = ("--no-shipped-facts", "--facts", "mine.toml")
LINUX = ("--python-version", "3.12", "--python-platform", "x86_64-manylinux_2_35")
TAGS = ["cp312-cp312-manylinux_2_28_x86_64"]


def suggested(cli: Cli, pins: str, *options: str) -> tuple[Run, dict[str, DocumentedFact]]:
    """What is suggested for pins; it is written to `mine.toml`."""
    Path("freeze.txt").write_text(pins)
    run = cli("conflicts", "suggest", "freeze.txt", *options)
    assert run.code == 0
    Path("mine.toml").write_text(run.out)
    return run, {item.fact.id: item for item in documented_facts(["mine.toml"], shipped=False)}


def evidence(item: DocumentedFact) -> list[Mapping[str, object]]:
    return [piece.model_dump(exclude_none=True) for piece in item.evidence]


@pytest.fixture
def overlapping(index: IndexServer) -> IndexServer:
    """Two projects, of which the releases from 2.0 and 3.0 on install the same module, each its own."""
    for minor, moment in enumerate(("01", "05", "10", "20", "25")):
        for name, shared in (("left", "2"), ("right", "3")):
            version = f"1.{minor}" if minor < 2 else f"{shared}.{minor - 2}"
            files = {f"{name}/__init__.py": b""}
            if minor >= 2:
                files["shared/a.py"] = f"x = '{name}'\n".encode()
            index.add(name, version, files=files, upload_time=f"2026-01-{moment}T00:00:00Z")
    return index


@pytest.mark.usefixtures("overlapping")
def test_an_overlap(cli: Cli) -> None:
    run, facts = suggested(cli, "left==2.1\nright==3.2\n")
    assert run.err == ""
    ((name, item),) = facts.items()
    assert name == "audit-overlap-left-2-1-right-3-2"
    assert (item.fact.package, item.fact.kind, item.fact.on) == ("left", "overlap", "right")
    assert item.fact.bounds == (FactBound("<=2.2,>=2.0", "<=3.2,>=3.0"),)
    assert item.fact.source.startswith("an audit of freeze.txt: left-2.1-py3-none-any.whl")
    names = {"a": "left-2.1-py3-none-any.whl", "b": "right-3.2-py3-none-any.whl"}
    assert evidence(item) == [{"type": "overlap", **names, "files": 1, "differ": 1}]
    assert cli("conflicts", "verify", *FROM).code == 0


@pytest.mark.usefixtures("overlapping")
def test_with_what_is_suggested_a_lock_is_what_its_audit_makes_of_it(cli: Cli) -> None:
    roots = ("-r", "left", "-r", "right")
    assert cli("lock", *roots, "-q", "-o", "plain.lock").code == 0
    Path("mine.toml").write_text(cli("conflicts", "suggest", "plain.lock").out)
    assert cli("lock", *roots, "-q", "-o", "with.lock", *FROM).code == 0
    assert cli("lock", *roots, "-q", "-o", "audited.lock", "--audit").code == 0
    locks = [pins_of(Path(f"{name}.lock").read_text()) for name in ("plain", "with", "audited")]
    assert locks[0] == {"left": "2.2", "right": "3.2"}
    assert locks[1] == locks[2] == {"left": "2.2", "right": "1.1"}


def test_imports(cli: Cli, index: IndexServer) -> None:
    sources = {"1.0": b"def gone(): ...\n", "2.0": b"def new(): ...\n", "2.1": b"def new(): ...\n"}
    for version, source in sources.items():
        index.add("lib", version, files={"lib/__init__.py": b"", "lib/api.py": source})
    for version in ("1.0", "1.1"):
        index.add("app", version, requires=["lib"], files={"app/__init__.py": b"from lib.api import gone\n"})
    index.add("app", "1.2", requires=["lib"], files={"app/__init__.py": b""})
    _, facts = suggested(cli, "app==1.0\nlib==2.1\n")
    ((_, item),) = facts.items()
    assert (item.fact.kind, item.fact.on) == ("too-loose", "lib")
    assert item.fact.bounds == (FactBound("<=1.1,>=1.0", "<2.0"),)
    assert evidence(item) == [
        {
            "type": "member_import",
            "wheel": "app-1.0-py3-none-any.whl",
            "member": "app/__init__.py",
            "imports": "lib.api:gone",
        }
    ]
    assert cli("conflicts", "verify", *FROM).code == 0
    # Another release of lib that has it again makes the fact stale.
    index.add("lib", "3.0", files={"lib/__init__.py": b"", "lib/api.py": b"gone = 1\n"})
    run = cli("conflicts", "verify", *FROM, "--no-cache")
    assert run.code == 1
    assert "lib 3.0 has lib.api:gone again\n    what holds: bound: <2.0 or >2.1\n" in run.out


def test_cuda_and_symbols(cli: Cli, index: IndexServer) -> None:
    for version, major, given in (("2.10.0", 12, []), ("2.11.0", 13, ["torch_new"])):
        members = {
            "torch/lib/libtorch_cpu.so": shared_object(soname="libtorch_cpu.so", defined=given),
            "torch/lib/libc10_cuda.so": shared_object(needed=[f"libcudart.so.{major}"]),
        }
        index.add("torch", version, tags=TAGS, files=members)
    needed = ["libtorch_cpu.so", "libcudart.so.13"]
    for version in ("1.0", "1.1"):
        member = shared_object(needed=needed, undefined=["torch_new"])
        index.add("audio", version, tags=TAGS, files={"audio/_C.so": member})
    _, facts = suggested(cli, "torch==2.10.0\naudio==1.0\n", *LINUX)
    assert set(facts) == {
        "audit-cuda-audio-1-0",
        "audit-cuda-torch-12",
        "audit-symbols-audio-1-0-torch-2-10-0",
    }
    of_audio = facts["audit-cuda-audio-1-0"]
    assert (of_audio.fact.kind, of_audio.fact.bounds) == ("cuda", (FactBound("<=1.1,>=1.0", "==13.*"),))
    where = {"wheel": f"audio-1.0-{TAGS[0]}.whl", "member": "audio/_C.so"}
    assert evidence(of_audio) == [{"type": "elf_needed", **where, "needed": "libcudart.so.13"}]
    symbols = facts["audit-symbols-audio-1-0-torch-2-10-0"]
    assert symbols.fact.bounds == (FactBound("<=1.1,>=1.0", ">=2.11.0"),)
    assert evidence(symbols) == [
        {"type": "elf_undefined", **where, "symbol": "torch_new", "min_count": 1},
        {
            "type": "member_symbol",
            "package": "torch",
            "member": "torch/lib/libtorch_cpu.so",
            "symbol": "torch_new",
            "absent": "==2.10.0",
        },
    ]
    run = cli("conflicts", "verify", *FROM, "-v")
    assert run.code == 0
    assert run.out.splitlines()[-1].startswith("3 facts: 3 confirmed")


def test_what_is_only_possible_is_asked_for(cli: Cli, index: IndexServer) -> None:
    index.add("app", "1.0", requires=["lib<2; python_version > '3'"])
    index.add("app", "1.1", requires=["lib"])
    index.add("lib", "1.0")
    index.add("lib", "2.0")
    pins = "app==1.1\nlib==2.0\n"
    run, facts = suggested(cli, pins)
    assert (facts, run.out) == ({}, "")
    assert run.err == "freeze.txt: nothing found that breaks\n"
    _, facts = suggested(cli, pins, "--possible")
    ((_, item),) = facts.items()
    assert item.fact.bounds == (FactBound("==1.1", "<2"),)
    assert evidence(item) == [
        {"type": "metadata", "package": "app", "version": "1.0", "requires": 'lib<2; python_version > "3"'}
    ]
    assert cli("conflicts", "verify", *FROM).code == 0


def test_nothing_to_say(cli: Cli, index: IndexServer) -> None:
    index.add("app", "1.0")
    run, facts = suggested(cli, "app==1.0\n", "-q")
    assert (run.out, run.err, facts) == ("", "", {})
    assert load_facts(["mine.toml"], shipped=False) == ()


@pytest.mark.parametrize("words", [(), ("none.lock",), ("empty.lock",), ("",)])
def test_bad_usage(cli: Cli, words: tuple[str, ...]) -> None:
    Path("empty.lock").write_text("")
    run = cli("conflicts", "suggest", *words)
    assert (run.code, run.out) == (2, "")
    assert run.err
