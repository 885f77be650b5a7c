"""`compatlock conflicts verify`, against wheels with planted members."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest

from tests.support.command import Cli
from tests.support.elf_writer import shared_object
from tests.support.index_server import IndexServer

MINE = ("--no-shipped-facts", "--facts", "mine.toml")
ABI = "cp312-cp312-manylinux_2_28_x86_64"


def fact(*evidence: str, **fields: str) -> None:
    """Write a facts file with one fact."""
    known = {"id": "it", "package": "app", "kind": "api", "on": "lib", "versions": "<2", "bound": "<3"}
    lines = [f'{key} = "{value}"' for key, value in {**known, **fields}.items() if value != "-"]
    text = "\n".join(["[[fact]]", *lines, 'summary = "app and lib"', 'source = "somebody"', "evidence = ["])
    Path("mine.toml").write_text(text + "\n" + "".join(f"  {{ {one} }},\n" for one in evidence) + "]\n")


@pytest.fixture
def planted(index: IndexServer) -> IndexServer:
    """app 1.0 and 1.1 import what lib has from 2.0 on; lib 4.0 has something else again; ext is binary."""
    for minor in (0, 1):
        index.add(
            "app", f"1.{minor}", requires=["lib>=1"], files={"app/core.py": b"from lib.api import pack\n"}
        )
    index.add("app", "2.0", requires=["lib>=2"], files={"app/core.py": b"import lib.api\n"})
    sources = {
        "1.0": b"x = 1\n",
        "2.0": b"def pack(): ...\n",
        "3.0": b"class C:\n  def pack(self): ...\n",
        "4.0": b"",
    }
    for version, source in sources.items():
        files = {"lib/__init__.py": b"", "lib/api.py": source, "lib/shared.py": version.encode()}
        index.add("lib", version, files=files)
    for version, major in (("1.0", 12), ("2.0", 13)):
        needed = [f"libcudart.so.{major}"]
        member = shared_object(needed=needed, undefined=["torch_one", "torch_two"])
        index.add("ext", version, tags=[ABI], files={"ext/_C.abi3.so": member})
    for version, symbols in (("1.0", ["torch_one"]), ("2.0", ["torch_one", "torch_two"])):
        index.add("core", version, tags=[ABI], files={"core/lib.so": shared_object(defined=symbols)})
    return index


WHEELS = 'a = "lib-1.0-py3-none-any.whl", b = "lib-2.0-py3-none-any.whl"'
REQUIRES = 'type = "metadata", package = "app", version = '
IMPORT = (
    'type = "member_import", package = "app", member = "app/core.py", imports = "lib.api:pack", version = '
)
SYMBOL = 'type = "member_symbol", package = "lib", member = "lib/api.py", symbol = "pack", '
REGEX = 'type = "member_regex", package = "lib", member = "lib/shared.py", '
NEEDED = 'type = "elf_needed", package = "ext", member = "ext/_C.abi3.so", '
UNDEFINED = 'type = "elf_undefined", package = "ext", version = "2.0", member = "ext/_C.abi3.so", '
CORE = 'provider = { package = "core", member = "core/lib.so", '


@pytest.mark.parametrize(
    ("evidence", "verdict", "told"),
    [
        (REQUIRES + '"1.0", requires = "lib>=1"', "confirmed", ""),
        (REQUIRES + '"2.0", requires = "lib>=1"', "refuted", "declares `lib>=2`, not `lib>=1`"),
        (REQUIRES + '"7.0", requires = "lib>=1"', "unchecked", "the index has no app 7.0"),
        (IMPORT + '"1.0"', "confirmed", ""),
        (IMPORT + '"2.0"', "refuted", "does not import lib.api:pack"),
        (SYMBOL + 'version = "3.0"', "confirmed", ""),
        (SYMBOL + 'present = ">=2,<4", absent = "<2"', "confirmed", ""),
        (SYMBOL + 'present = ">=2"', "stale", "what holds: present: >=2.0,<=3.0"),
        (SYMBOL + 'present = "<=3"', "refuted", "what holds: present: >=2.0,<=3.0"),
        (REGEX + 'version = "3.0", regex = "^3"', "confirmed", ""),
        (REGEX + 'version = "3.0", regex = "^4"', "refuted", "does not have `^4`"),
        (
            'type = "member_regex", wheel = "lib-3.0.tar.gz", member = "x", regex = "y"',
            "unchecked",
            "the index has no lib-3.0.tar.gz",
        ),
        (
            'type = "member_regex", wheel = "lib-3.0-py3-none-any.whl", member = "x", regex = "y"',
            "refuted",
            "lib-3.0-py3-none-any.whl has no `x`",
        ),
        (NEEDED + 'present = "<2", needed = "libcudart.so.12"', "confirmed", ""),
        (NEEDED + 'version = "2.0", needed = "libcudart.so.12"', "refuted", "but libcudart.so.13"),
        (UNDEFINED + 'symbol = "torch_two"', "confirmed", ""),
        (UNDEFINED + 'symbol = "torch_three"', "refuted", "does not leave torch_three undefined"),
        (UNDEFINED + 'symbol_regex = "^torch", min_count = 2', "confirmed", ""),
        (UNDEFINED + 'symbol_regex = "^torch", min_count = 3', "refuted", "leaves fewer than 3 symbols"),
        (
            UNDEFINED + 'symbol = "torch_two", ' + CORE + 'present = ">=2", absent = "<2" }',
            "confirmed",
            "",
        ),
        (
            UNDEFINED + 'symbol = "torch_one", ' + CORE + 'present = ">=2", absent = "<2" }',
            "refuted",
            "core 1.0: core/lib.so has it",
        ),
        (
            f'type = "overlap", {WHEELS}, files = 3, differ = 2',
            "confirmed",
            "",
        ),
        (
            f'type = "overlap", {WHEELS}, files = 3, differ = 1',
            "refuted",
            "they share 3 paths, 2 with different content",
        ),
        ('type = "executed", cmd = "import app", expect = "ok"', "unchecked", "it was executed"),
        ('type = "lint", cmd = "ruff check app", expect = "ok"', "unchecked", "a static checker"),
        ('type = "url", url = "https://github.com/a/b"', "unchecked", "a report on the web"),
    ],
)
@pytest.mark.usefixtures("planted")
def test_every_type_of_evidence(cli: Cli, evidence: str, verdict: str, told: str) -> None:
    # A kind that says nothing by itself.
    fact(evidence, kind="policy", versions="==1.0", bound="-")
    run = cli("conflicts", "verify", *MINE, "-v")
    assert run.out.startswith(f"{verdict:<9}  it: app and lib\n")
    assert run.code == (1 if verdict in ("refuted", "stale") else 0)
    assert told in run.out
    word = "not checkable here" if verdict == "unchecked" else verdict
    assert f"  {word}: " in run.out
    assert f"1 fact: 1 {word}" in run.out.splitlines()[-1]


@pytest.mark.usefixtures("planted")
def test_a_fact_whose_newer_releases_changed(cli: Cli) -> None:
    fact(
        NEEDED + 'version = "1.0", needed = "libcudart.so.12"', package="ext", versions="*", kind="cuda",
        bound="==12.*", on="-",
    )  # fmt: skip
    run = cli("conflicts", "verify", *MINE)
    assert run.code == 1
    assert run.out.startswith("stale      it: app and lib\n  stale: beyond its evidence")
    assert "    ext 2.0 is built for CUDA 13\n    what holds: ext <=1.0\n" in run.out


@pytest.mark.usefixtures("planted")
def test_what_one_release_shows_and_newer_ones_do_not(cli: Cli) -> None:
    fact(IMPORT + '"1.0"', kind="policy", versions=">=1", bound="-")
    run = cli("conflicts", "verify", *MINE)
    assert run.code == 1
    assert "app-2.0-py3-none-any.whl: app/core.py does not import lib.api:pack" in run.out
    assert "    what holds: versions: >=1,<=1.1\n" in run.out


@pytest.mark.usefixtures("planted")
def test_an_import_that_other_releases_have_too(cli: Cli) -> None:
    fact(IMPORT + '"1.1"', bound=">=2,<4")
    assert cli("conflicts", "verify", *MINE).code == 1  # in lib 3.0 it is a method
    fact(IMPORT + '"1.1"', bound="==2.0")
    assert cli("conflicts", "verify", *MINE).code == 0
    fact(IMPORT + '"1.1"', bound=">=1")
    run = cli("conflicts", "verify", *MINE)
    assert run.code == 1
    assert "lib 4.0 lacks lib.api:pack, too" in run.out


@pytest.mark.usefixtures("planted")
def test_an_overlap_that_is_over(cli: Cli, planted: IndexServer) -> None:
    names = 'a = "one-1.0-py3-none-any.whl", b = "two-1.0-py3-none-any.whl"'
    for name in ("one", "two"):
        planted.add(name, "1.0", files={"shared/a.py": name.encode(), "shared/b.py": b""})
    shared = f'type = "overlap", {names}, files = 2, differ = 1'
    fact(shared, package="one", on="two", kind="overlap", bound="", versions="==1.0")
    assert cli("conflicts", "verify", *MINE).code == 0
    planted.add("two", "2.0", files={"two/a.py": b""})
    run = cli("conflicts", "verify", *MINE, "--no-cache")
    assert run.code == 1
    assert "one 1.0 and two 2.0 overwrite nothing of each other\n    what holds: two <=1.0\n" in run.out


@pytest.mark.usefixtures("planted")
def test_declarations_that_contradict_each_other(cli: Cli, index: IndexServer) -> None:
    index.add("both", "1.0", requires=["app<2"], extras={"new": ["app>=2"]})
    declared = 'type = "metadata", package = "both", version = "1.0", requires = "app<2"'
    fact(declared, package="both", on="app", kind="declared-unsat", bound="-", versions="==1.0")
    with Path("mine.toml").open("a") as file:
        file.write('[fact.when]\nextra = "new"\n')
    run = cli("conflicts", "verify", *MINE, "-v")
    assert run.code == 0
    assert "nothing satisfies both[new]==1.0" in run.out
    fact(declared, package="both", on="app", kind="declared-unsat", bound="-", versions="==1.0")
    run = cli("conflicts", "verify", *MINE)
    assert run.code == 1
    assert "what is declared can be satisfied: both 1.0" in run.out


def test_a_second_run_asks_for_nothing(cli: Cli, planted: IndexServer) -> None:
    fact(SYMBOL + 'present = ">=2,<4", absent = "<2"', IMPORT + '"1.0"', kind="policy", bound="-")
    first = cli("conflicts", "verify", *MINE)
    before = len(planted.requests)
    second = cli("conflicts", "verify", *MINE, "--offline")
    assert (first.code, second.code) == (0, 0)
    assert len(planted.requests) == before
    assert "(read " in first.out
    assert "(read " not in second.out


def test_offline_without_a_cache(cli: Cli) -> None:
    fact(SYMBOL + 'version = "3.0"')
    run = cli("conflicts", "verify", *MINE, "--offline")
    assert (run.code, run.out) == (3, "")
    assert "offline, and the cache holds nothing about" in run.err


def test_wheels_that_cannot_be_read_are_no_refutation(cli: Cli, planted: IndexServer) -> None:
    fact(SYMBOL + 'version = "3.0"', kind="policy", bound="-")
    planted.files["/files/lib-3.0-py3-none-any.whl"] = b"no archive"
    run = cli("conflicts", "verify", *MINE, "-v")
    assert run.code == 0
    assert "  not checkable here: " in run.out


@pytest.mark.usefixtures("planted")
def test_as_json(cli: Cli) -> None:
    fact(SYMBOL + 'present = ">=2"', 'type = "url", url = "https://github.com/a/b"', kind="policy", bound="-")
    run = cli("conflicts", "verify", "it", "--json", *MINE)
    assert run.code == 1
    value = json.loads(run.out)
    assert (value["version"], value["holds"], len(value["facts"])) == (1, False, 1)
    (found,) = value["facts"]
    assert (found["id"], found["verdict"]) == ("it", "stale")
    first, second = found["evidence"]
    assert (first["type"], first["verdict"], first["correction"]) == (
        "member_symbol", "stale", "present: >=2.0,<=3.0",
    )  # fmt: skip
    assert (second["type"], second["verdict"]) == ("url", "unchecked")


def test_an_unknown_id(cli: Cli) -> None:
    fact(SYMBOL + 'version = "3.0"')
    run = cli("conflicts", "verify", "itt", *MINE)
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("error: unknown fact `itt`\nhint: did you mean `it`?\n")


@pytest.mark.usefixtures("planted")
def test_quiet_prints_what_is_wrong(cli: Cli) -> None:
    fact(SYMBOL + 'version = "3.0"', kind="policy", bound="-")
    run = cli("conflicts", "verify", "-q", *MINE)
    assert run == (0, "", "")
    fact(SYMBOL + 'version = "1.0"', kind="policy", bound="-")
    run = cli("conflicts", "verify", "-q", *MINE)
    assert (run.code, run.err) == (1, "")
    assert run.out.startswith(
        "refuted    it: app and lib\n  refuted: read: lib/api.py of lib 1.0 defines pack\n"
    )


def test_source_distributions(cli: Cli, index: IndexServer) -> None:
    """They are read whole, and remembered; of what they would install, their top folder is no part."""
    index.add("lib", "1.0", files={"lib/a.py": b"one\n", "lib/b.py": b"same\n"})
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for path, data in (
            ("lib/a.py", b"other\n"),
            ("lib/b.py", b"same\n"),
            ("setup.py", b"import numpy\n"),
        ):
            entry = tarfile.TarInfo(f"app-1.0/{path}")
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    index.add_file("app", "app-1.0.tar.gz", archive.getvalue())
    inside = 'wheel = "app-1.0.tar.gz", member = "app-1.0/setup.py", '
    names = 'a = "app-1.0.tar.gz", b = "lib-1.0-py3-none-any.whl"'
    fact(
        f'type = "overlap", {names}, files = 2, differ = 1',
        f'type = "member_regex", {inside} regex = "import numpy"',
        kind="overlap", bound="", versions="*",
    )  # fmt: skip
    run = cli("conflicts", "verify", *MINE, "-v")
    assert run.code == 0
    assert run.out.count("  confirmed: ") == 2
    before = index.count("app-1.0.tar.gz")
    assert cli("conflicts", "verify", *MINE, "--offline").out.startswith("confirmed  it")
    assert index.count("app-1.0.tar.gz") == before
    del index.files["/files/app-1.0.tar.gz"]
    run = cli("conflicts", "verify", *MINE, "-v", "--no-cache")
    assert run.code == 0
    assert run.out.startswith("unchecked  it")
    assert "the server has no `app-1.0.tar.gz` (it answered 404)" in run.out


@pytest.mark.parametrize(("version", "verdict"), [("2.1", "unchecked"), ("2.2", "refuted")])
def test_metadata_of_source_distributions(cli: Cli, index: IndexServer, version: str, verdict: str) -> None:
    """Old ones need not say all: what they do not say is not known."""
    index.add("app", "1.0", tags=[], sdist=True, requires=["lib>=1"], metadata_version=version)
    fact(REQUIRES + '"1.0", requires = "lib>=1"', kind="policy", bound="-")
    assert cli("conflicts", "verify", *MINE).out.startswith("confirmed  it")
    fact(REQUIRES + '"1.0", requires = "lib>=2"', kind="policy", bound="-")
    assert cli("conflicts", "verify", *MINE).out.startswith(f"{verdict:<9}  it")


@pytest.mark.usefixtures("planted")
def test_what_was_uploaded_later_does_not_count(cli: Cli, index: IndexServer) -> None:
    for version, year in (("1.0", 2024), ("2.0", 2026)):
        source = b"gone = 1\n" if year == 2024 else b""
        index.add("dated", version, files={"dated.py": source}, upload_time=f"{year}-01-01T00:00:00Z")
    look = 'type = "member_symbol", package = "dated", member = "dated.py", symbol = "gone", present = ">=1"'
    fact(look, package="dated", kind="policy", versions="*", bound="-", on="-")
    assert cli("conflicts", "verify", *MINE).code == 1
    assert cli("conflicts", "verify", *MINE, "--exclude-newer", "2025-01-01").code == 0


@pytest.mark.parametrize(
    ("bound", "code", "told"),
    [
        (">=2", 0, ""),
        ("!=2.0", 1, "torch 3.0 lacks what ext 1.0 wants, too"),
        # That a release has all symbols is not claimed: large libraries are not read whole.
        (">=2.1", 0, "whether torch lacks what ext 1.0 wants cannot be told"),
    ],
)
def test_symbols_of_the_other_end(cli: Cli, index: IndexServer, bound: str, code: int, told: str) -> None:
    """torch has the symbol in 2.0 and 2.1; ext 1.0 wants it."""
    for version, given in (("1.0", []), ("2.0", ["torch_new"]), ("2.1", ["torch_new"]), ("3.0", [])):
        if version != "3.0" or bound == "!=2.0":
            member = shared_object(soname="libtorch_cpu.so", defined=given)
            index.add("torch", version, tags=[ABI], files={"torch/lib/libtorch_cpu.so": member})
    member = shared_object(needed=["libtorch_cpu.so"], undefined=["torch_new"])
    index.add("ext", "1.0", tags=[ABI], files={"ext/_C.so": member})
    look = (
        'type = "elf_undefined", package = "ext", version = "1.0", member = "ext/_C.so", symbol = "torch_new"'
    )
    fact(look, package="ext", on="torch", versions="==1.0", bound=bound)
    run = cli("conflicts", "verify", *MINE, "-v")
    assert run.code == code
    assert told in run.out
