"""`--allow-builds`: what is built, when, what is said of it, and that nothing is built without it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

import compatlock
from compatlock.index.progress import Progress
from compatlock.model.platforms import running_platform
from tests.support.artifacts import sdist_filename
from tests.support.buildable import SYSTEM, buildable
from tests.support.command import Cli
from tests.support.index_server import IndexServer

OUT = ("-o", "-", "-q")
OTHER = "windows" if sys.platform != "win32" else "linux"
# A wheel's tag that fits no machine which tests run on.
FOREIGN = "cp312-cp312-manylinux_2_17_s390x"


@pytest.fixture
def witness(tmp_path: Path) -> Path:
    """A file that a build writes a line to, for each time that the backend is imported for the metadata."""
    return tmp_path / "witness"


def add(index: IndexServer, witness: Path, project: str, version: str = "1.0", **given: object) -> None:
    first = f"open({str(witness)!r}, 'a').write({f'{project} {version}'!r} + chr(10))\n"
    data = buildable(project, version, first=first + str(given.pop("first", "")), **given)  # type: ignore[arg-type]
    index.add_file(project, sdist_filename(project, version), data)


def built(witness: Path) -> set[str]:
    """The releases whose code ran."""
    return set(witness.read_text().splitlines()) if witness.exists() else set()


def versions(cli: Cli, *arguments: str) -> dict[str, str]:
    run = cli("lock", *arguments, *OUT)
    assert run.code == 0, run.err
    return run.pins


@pytest.fixture
def filled(index: IndexServer, witness: Path) -> IndexServer:
    """`a` needs `b<2` when it is built, and says nothing of it in its PKG-INFO; `c` likewise; `d` is sure."""
    for version in ("1.0", "2.0"):
        index.add("b", version)
    add(index, witness, "a", requires=["b<2"], static=["b"])
    add(index, witness, "c", requires=["b"], static=["b"])
    index.add("d", "1.0", requires=["b"], tags=(), sdist=True, metadata_version="2.2")
    return index


def test_nothing_is_built_unless_allowed(cli: Cli, filled: IndexServer, witness: Path) -> None:
    run = cli("lock", "-r", "a", "-r", "c", "-r", "d", "-o", "-")
    assert run.pins == {"a": "1.0", "b": "2.0", "c": "1.0", "d": "1.0"}
    assert "note: a 1.0: sdist metadata, unverified\n" in run.err
    flags = "`--allow-builds a --allow-builds c` builds them"
    assert f"note: what a 1.0, c 1.0 need is not certain: {flags} (their code runs then)\n" in run.err
    assert built(witness) == set()
    assert filled.count("/files/a-1.0.tar.gz") == 1


@pytest.mark.usefixtures("filled")
def test_what_is_built_is_certain(cli: Cli, witness: Path) -> None:
    run = cli("lock", "-r", "a", "-r", "c", "--allow-builds", "A", "-o", "-")
    assert run.pins == {"a": "1.0", "b": "1.0", "c": "1.0"}
    assert built(witness) == {"a 1.0"}
    assert "    # note: built for its metadata\n" in run.out
    assert "note: c 1.0: sdist metadata, unverified\n" in run.err
    assert re.search(r"^note: built a 1\.0 for its metadata \([\d.]+ s\)$", run.err, re.MULTILINE)
    assert "preparing the metadata" not in run.err
    assert "#   command: compatlock lock --requirement a --requirement c --allow-builds A " in run.out


@pytest.mark.usefixtures("filled")
def test_all_that_is_needed(cli: Cli, witness: Path) -> None:
    assert versions(cli, "-r", "a", "-r", "c", "-r", "d", "--allow-builds")["b"] == "1.0"
    assert built(witness) == {"a 1.0", "c 1.0"}, "the static metadata of d is certain"


@pytest.mark.usefixtures("filled")
def test_the_output_of_a_build_is_shown_when_asked_for(cli: Cli) -> None:
    run = cli("lock", "-r", "a", "--allow-builds", "a", "-v", "-o", "-")
    assert "  preparing the metadata of a\n" in run.err


def test_a_build_is_remembered(cli: Cli, filled: IndexServer, witness: Path) -> None:
    wanted = ("-r", "a", "--allow-builds", "a")
    assert versions(cli, *wanted)["b"] == "1.0"
    witness.unlink()
    asked = len(filled.requests)
    for _ in range(2):
        run = cli("lock", *wanted, "--offline", "-o", "-")
        assert run.pins["b"] == "1.0"
        assert "built a" not in run.err
    assert built(witness) == set()
    assert len(filled.requests) == asked
    # What was built counts only for those who allow it: the cache decides nothing.
    assert versions(cli, "-r", "a", "--offline")["b"] == "2.0"


@pytest.mark.usefixtures("filled")
def test_offline_nothing_is_built(cli: Cli, witness: Path) -> None:
    versions(cli, "-r", "a")
    run = cli("lock", "-r", "a", "--allow-builds", "a", "--offline", *OUT)
    assert run.code == 3
    assert "offline, and the cache holds no build of a 1.0" in run.err
    assert built(witness) == set()


def test_the_hash_is_checked_before_anything_runs(cli: Cli, filled: IndexServer, witness: Path) -> None:
    versions(cli, "-r", "a")
    filled.files["/files/a-1.0.tar.gz"] = buildable("a", "1.0", requires=["evil"])
    run = cli("lock", "-r", "a", "--allow-builds", "a", *OUT)
    assert run.code == 3
    assert "a-1.0.tar.gz" in run.err
    assert built(witness) == set()


def test_without_a_hash_nothing_is_built(cli: Cli, filled: IndexServer, witness: Path) -> None:
    filled.edit("a-1.0.tar.gz", hashes={})
    run = cli("lock", "-r", "a", "--allow-builds", "a", *OUT)
    assert run.code == 3
    assert "the index gives no SHA-256 hash of `a-1.0.tar.gz`" in run.err
    assert built(witness) == set()


def test_of_a_release_that_cannot_be_built_the_sdist_counts(
    cli: Cli, filled: IndexServer, witness: Path
) -> None:
    add(filled, witness, "a", "2.0", requires=["b"], first="print('looking for gcc')\nsys.exit('no gcc')")
    assert versions(cli, "-r", "a") == {"a": "2.0"}
    run = cli("lock", "-r", "a", "--allow-builds", "a", "-o", "-")
    assert run.pins == {"a": "2.0"}
    assert "warning: a 2.0 could not be built for its metadata: no gcc\n" in run.err
    assert "  looking for gcc\n" in run.err
    assert "note: a 2.0: sdist metadata, unverified\n" in run.err
    assert "is not certain" not in run.err


def test_what_neither_says_what_it_needs_nor_can_be_built(
    cli: Cli, index: IndexServer, witness: Path
) -> None:
    versions_of_a = [f"1.{n}" for n in range(6)]
    for version in versions_of_a:
        add(index, witness, "a", version, static=None, first="sys.exit('no gcc')")
    run = cli("lock", "-r", "a", "--allow-builds", *OUT)
    assert run.code == 1
    assert "the sdist has no PKG-INFO, and it cannot be built: no gcc" in run.err
    assert "hint: a 1.5 could not be built: no gcc\n" in run.err
    assert built(witness) == {"a 1.5", "a 1.4", "a 1.3"}, "the others would fail too"


def test_warnings_of_a_backend_are_part_of_its_output(cli: Cli, index: IndexServer, witness: Path) -> None:
    add(index, witness, "a", first="import warnings\nwarnings.warn('old classifiers')")
    for flag, shown in (("-q", False), ("-v", True)):
        run = cli("lock", "-r", "a", "--allow-builds", "a", "--no-cache", flag, "-o", "-")
        assert ("old classifiers" in run.err) is shown


def test_an_sdist_without_metadata(cli: Cli, index: IndexServer, witness: Path) -> None:
    add(index, witness, "a", requires=["b"], static=None)
    index.add("b", "1.0")
    run = cli("lock", "-r", "a", *OUT)
    assert run.code == 1
    assert "the sdist has no PKG-INFO" in run.err
    assert "hint: `--allow-builds a` builds a 1.0 to find out what it needs (its code runs then)\n" in run.err
    assert built(witness) == set()
    assert versions(cli, "-r", "a", "--allow-builds", "a") == {"a": "1.0", "b": "1.0"}


def test_metadata_that_excludes_the_python_is_believed(cli: Cli, index: IndexServer, witness: Path) -> None:
    from tests.support.artifacts import build_sdist, core_metadata

    told = core_metadata("a", "2.0", requires_python=">=4")
    index.add_file("a", "a-2.0.tar.gz", build_sdist("a", "2.0", told))
    add(index, witness, "a")
    assert versions(cli, "-r", "a", "--allow-builds") == {"a": "1.0"}
    assert built(witness) == {"a 1.0"}


@pytest.mark.usefixtures("filled")
def test_another_platform(cli: Cli, witness: Path) -> None:
    run = cli("lock", "-r", "a", "--allow-builds", "a", "--python-platform", OTHER, "-o", "-")
    assert run.pins["b"] == "2.0"
    assert "note: a 1.0: sdist metadata, unverified\n" in run.err
    assert "warning: nothing was built: the target is " in run.err
    assert built(witness) == set()


@pytest.mark.usefixtures("filled")
def test_a_python_that_is_not_there(cli: Cli, witness: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from compatlock.api.builds import SdistBuilder

    monkeypatch.setattr(SdistBuilder, "_find_python", lambda *_: "")
    minor = "3.10" if sys.version_info[:2] != (3, 10) else "3.11"
    run = cli("lock", "-r", "a", "--allow-builds", "a", "--python-version", minor, "-o", "-")
    assert run.pins["b"] == "2.0"
    assert f"warning: nothing was built: this machine has no Python {minor}\n" in run.err
    assert built(witness) == set()


# Releases with wheels for other machines


@pytest.fixture
def native(index: IndexServer, witness: Path) -> IndexServer:
    """`n` has an sdist and wheels: of 1.0 for everybody, of 2.0 for others."""
    index.add("n", "1.0")
    index.add("n", "2.0", tags=(FOREIGN,))
    add(index, witness, "n", "2.0", requires=["m"], static=["m"])
    index.add("m", "1.0")
    return index


@pytest.mark.usefixtures("native")
def test_native_builds_have_to_be_named(cli: Cli, witness: Path) -> None:
    assert versions(cli, "-r", "n") == {"n": "1.0"}
    assert versions(cli, "-r", "n", "--allow-builds") == {"n": "1.0"}
    assert built(witness) == set()
    assert versions(cli, "-r", "n", "--allow-builds", "n") == {"n": "2.0", "m": "1.0"}
    assert built(witness) == {"n 2.0"}
    again = versions(cli, "-r", "n", "--allow-builds", ":all:", "--allow-builds", "n")
    assert again == {"n": "2.0", "m": "1.0"}


@pytest.mark.usefixtures("native")
def test_an_allowed_build_is_a_way_out(cli: Cli, witness: Path) -> None:
    run = cli("lock", "-r", "n>=2", "--json", *OUT)
    assert run.code == 1
    error = json.loads(run.out)["error"]
    (way,) = [way for way in error["ways_out"] if "builds" in way["accept"]]
    assert (way["kind"], way["accept"], way["pins"]) == ("target", "--allow-builds n", {"n": "2.0"})
    assert built(witness) == set(), "a way out is looked for without running anything"
    text = cli("lock", "-r", "n>=2", *OUT).err
    assert "would have to be built from source" in text
    assert "--allow-builds n" in text
    assert versions(cli, "-r", "n>=2", *way["accept"].split()) == {"n": "2.0", "m": "1.0"}


@pytest.mark.usefixtures("native")
def test_a_lock_with_a_native_build_is_checked_as_such(cli: Cli, witness: Path) -> None:
    assert cli("lock", "-r", "n", "--allow-builds", "n", "-q").code == 0
    witness.unlink()
    run = cli("check", "requirements.lock")
    assert run.code == 0, run.out + run.err
    assert built(witness) == set()
    Path("plain.txt").write_text("n==2.0\nm==1.0\n", encoding="utf-8")
    assert "n 2.0 has no file for" in cli("check", "plain.txt").out


@pytest.mark.usefixtures("native")
def test_builds_for_another_machine_take_what_the_sdist_says(cli: Cli, witness: Path) -> None:
    target = ("--python-platform", OTHER)
    assert versions(cli, "-r", "n", *target, "--allow-builds", "n") == {"n": "2.0", "m": "1.0"}
    assert built(witness) == set()
    assert running_platform() not in OTHER


# What builds need


@pytest.mark.usefixtures("filled")
def test_build_requirements_are_from_the_index(cli: Cli, filled: IndexServer, witness: Path) -> None:
    hooks = "def prepare_metadata_for_build_wheel(folder, config_settings=None):\n    import os\n"
    hooks += "    os.mkdir(folder + '/e-1.0.dist-info')\n"
    hooks += "    with open(folder + '/e-1.0.dist-info/METADATA', 'w') as file:\n"
    hooks += "        file.write('Metadata-Version: 2.1\\nName: e\\nVersion: 1.0\\nRequires-Dist: b<2\\n')\n"
    hooks += "    return 'e-1.0.dist-info'\n"
    filled.add("made-up-backend", "1.0", files={"made_up_backend.py": hooks.encode()})
    system = '[build-system]\nrequires = ["made-up-backend"]\nbuild-backend = "made_up_backend"\n'
    data = buildable("e", "1.0", static=["b"], system=system)
    filled.add_file("e", "e-1.0.tar.gz", data)
    assert versions(cli, "-r", "e", "--allow-builds", "e") == {"e": "1.0", "b": "1.0"}
    # One that would have to be built itself is not permitted by that.
    add(filled, witness, "built-backend")
    data = buildable("f", "1.0", system=SYSTEM.replace("[]", '["built-backend"]', 1))
    filled.add_file("f", "f-1.0.tar.gz", data)
    run = cli("lock", "-r", "f", "--allow-builds", "f", "-o", "-")
    assert "warning: f 1.0 could not be built for its metadata: " in run.err
    assert built(witness) == set()


# From Python


def test_a_build_is_announced(filled: IndexServer) -> None:
    told: list[Progress] = []
    lock = compatlock.lock("a", index_url=filled.url, cache=False, allow_builds=True, on_progress=told.append)
    assert lock.versions == {"a": "1.0", "b": "1.0"}
    assert [progress.building for progress in told if progress.building] == ["a 1.0"]


def test_a_snapshot_remembers_builds(cli: Cli, filled: IndexServer, witness: Path) -> None:
    assert cli("snapshot", "-r", "a", "--allow-builds", "a", "-i", filled.url, "-q").code == 0
    witness.unlink()
    run = cli("lock", "-r", "a", "--snapshot", "snapshot.json.xz", *OUT)
    assert run.pins == {"a": "1.0", "b": "1.0"}
    assert "    # note: built for its metadata\n" in run.out
    assert built(witness) == set()


@pytest.mark.usefixtures("filled")
def test_of_several_targets_only_the_running_one(cli: Cli, witness: Path) -> None:
    targets = ("--target", running_platform(), "--target", OTHER)
    run = cli("lock", "-r", "a", "--allow-builds", "a", *targets, "-v")
    assert run.code == 0, run.err
    assert built(witness) == {"a 1.0"}
    assert "warning: nothing was built: the target is " in run.err
    assert "note: built a 1.0 for its metadata" in run.err
    assert "  preparing the metadata of a\n" in run.err
    text = Path("requirements.lock").read_text(encoding="utf-8")
    assert set(re.findall(r"^b==(\S+)", text, re.MULTILINE)) == {"1.0"}, "one pin does for both"
