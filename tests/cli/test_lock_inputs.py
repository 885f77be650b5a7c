"""Where requirements come from, and where the lock goes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import compatlock
from tests.support.command import Cli, pins_of
from tests.support.index_server import IndexServer


@pytest.fixture(autouse=True)
def projects(index: IndexServer) -> None:
    index.add("app", "1.0", requires=["lib>=1"], upload_time="2026-01-01T00:00:00Z")
    index.add("app", "2.0", requires=["lib>=2"], upload_time="2026-02-01T00:00:00Z")
    index.add("lib", "1.0", upload_time="2026-01-01T00:00:00Z")
    index.add("lib", "2.0", extras={"fast": ["speed"]}, upload_time="2026-01-11T00:00:00Z", sdist=True)
    index.add("lib", "3.0", extras={"fast": ["speed"]}, upload_time="2026-03-01T00:00:00Z")
    index.add("speed", "1.0", upload_time="2026-01-01T00:00:00Z")
    index.add("other", "1.0", upload_time="2026-01-01T00:00:00Z")


def write(name: str, *lines: str) -> str:
    Path(name).write_text("".join(f"{line}\n" for line in lines))
    return name


def locked() -> dict[str, str]:
    return pins_of(Path("requirements.lock").read_text())


# Input


def test_a_file(cli: Cli) -> None:
    run = cli("lock", write("requirements.in", "app  # the app", "", "lib[fast]<3"))
    assert (run.code, run.out) == (0, "")
    assert locked() == {"app": "2.0", "lib": "2.0", "speed": "1.0"}


def test_several_files_and_what_they_include(cli: Cli) -> None:
    write("base.in", "lib")
    write("limits.txt", "lib<3", "speed<1")
    write("one.in", "-r base.in", "-c limits.txt", "app")
    assert cli("lock", "one.in", write("two.in", "other")).code == 0
    assert locked() == {"app": "2.0", "lib": "2.0", "other": "1.0"}


def test_standard_input(cli: Cli) -> None:
    run = cli("lock", "-", stdin=b"app<2\nother\n")
    assert run.code == 0
    assert locked() == {"app": "1.0", "lib": "3.0", "other": "1.0"}
    text = Path("requirements.lock").read_text()
    assert "# via -r -\n" in text
    assert "command: compatlock lock - --default-index " in text


def test_requirements_as_options(cli: Cli) -> None:
    assert cli("lock", "--requirement", "app", "-r", "lib[fast]>=2,<3", "--requirement", "other").code == 0
    assert locked() == {"app": "2.0", "lib": "2.0", "other": "1.0", "speed": "1.0"}


def test_all_sources_together(cli: Cli) -> None:
    profile = write(
        "p.toml",
        'name = "mine"',
        'description = "d"',
        'roots = ["speed"]',
        'source = "https://index.example"',
    )
    arguments = ["-", write("r.in", "app"), "--requirement", "lib>2", "--profile", f"./{profile}"]
    run = cli("lock", *arguments, "-c", write("c.txt", "app<2"), stdin=b"other")
    assert run.code == 0, run.err
    assert locked() == {"app": "1.0", "lib": "3.0", "other": "1.0", "speed": "1.0"}


def test_constraints_pull_nothing_in(cli: Cli) -> None:
    constraints = write("c.txt", "lib[fast]==2.0", "speed==0.1")
    run = cli("lock", "-r", "app", "--constraint", constraints)
    assert run.code == 0
    assert locked() == {"app": "2.0", "lib": "2.0"}
    assert "note: c.txt:1: the extras of lib[fast] are ignored: a constraint adds no package\n" in run.err


def test_markers_on_roots(cli: Cli) -> None:
    lines = ["app ; sys_platform == 'linux'", "other ; python_version < '3.8'", "speed ; os_name == 'nt'"]
    run = cli("lock", write("r.in", *lines), "--python-platform", "linux", "--python-version", "3.12")
    assert run.code == 0
    assert locked() == {"app": "2.0", "lib": "3.0"}
    assert 'note: left out, its marker is false: other ; python_version < "3.8"\n' in run.err
    assert cli("lock", "r.in", "--python-platform", "windows", "--python-version", "3.12").code == 0
    assert locked() == {"speed": "1.0"}


def test_only_lines_with_false_markers_lock_to_nothing(cli: Cli) -> None:
    run = cli("lock", "-r", "app ; python_version < '3'", "-o", "-")
    assert run.code == 0
    assert run.pins == {}


def test_names_are_normalised(cli: Cli, index: IndexServer) -> None:
    index.add("Odd_Name.x", "1.0")
    assert cli("lock", "-r", "ODD-name_X").code == 0
    assert locked() == {"odd-name-x": "1.0"}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "utf-8"])
def test_encodings_of_files(cli: Cli, encoding: str) -> None:
    Path("r.in").write_bytes("app\r\nother\r\n".encode(encoding))
    assert cli("lock", "r.in").code == 0
    assert locked() == {"app": "2.0", "lib": "3.0", "other": "1.0"}


# Output


def test_the_default_output_file_as_a_whole(cli: Cli, index: IndexServer) -> None:
    write("requirements.in", "app", "lib[fast]<3")
    run = cli("lock", "requirements.in", "--python-version", "3.12", "--python-platform", "linux")
    assert run.err == (
        "3 packages for CPython 3.12.0 on x86_64-manylinux_2_28, index newest release of these packages "
        "2026-03-01T00:00:00Z\n"
        "  app 2.0\n"
        "  lib 2.0\n"
        "wrote requirements.lock\n"
    )
    lib = sorted(index.sha256(name) for name in ("lib-2.0-py3-none-any.whl", "lib-2.0.tar.gz"))
    assert Path("requirements.lock").read_text() == EXPECTED.format(
        command="compatlock lock requirements.in --python-version 3.12 --python-platform linux "
        f"--default-index {index.url}",
        app=index.sha256("app-2.0-py3-none-any.whl"),
        lib1=lib[0],
        lib2=lib[1],
        speed=index.sha256("speed-1.0-py3-none-any.whl"),
    )


EXPECTED = """\
# Locked by compatlock 0.1.0
# Made by this command; to change a pin, change its input and lock again.
#   command: {command}
#   target: CPython 3.12.0 on x86_64-manylinux_2_28
#   index: newest release of these packages 2026-03-01T00:00:00Z
# Objective, the most important first:
#   worst root lag: 0 days (proved)
#   summed root lag: 0 days (proved)
#   summed root lag: 0 releases (proved)
#   summed lag at depth 1: 0 releases (proved)
#   summed lag at depth 2: 0 releases (proved)
#   summed lag at depth 3: 0 releases (proved)
#   summed lag deeper: 0 releases (proved)
#   packages: 3 packages (proved)
# Install (--no-deps, because the pins are complete):
#   pip install --no-deps --require-hashes -r requirements.lock
#   uv pip install --no-deps --require-hashes -r requirements.lock

app==2.0 \\
    --hash=sha256:{app}
    # via -r requirements.in
lib==2.0 \\
    --hash=sha256:{lib1} \\
    --hash=sha256:{lib2}
    # via
    #   -r requirements.in
    #   app
speed==1.0 \\
    --hash=sha256:{speed}
    # via lib
"""


def test_another_output_file(cli: Cli) -> None:
    Path("sub").mkdir()
    run = cli("lock", "-r", "other", "-o", "sub/my.lock")
    assert run.err.endswith("\nwrote sub/my.lock\n")
    assert "#   uv pip install --no-deps --require-hashes -r sub/my.lock" in Path("sub/my.lock").read_text()
    assert not Path("requirements.lock").exists()


def test_output_on_standard_output(cli: Cli) -> None:
    run = cli("lock", "-r", "app", "--output-file", "-")
    assert run.code == 0
    assert run.pins == {"app": "2.0", "lib": "3.0"}
    assert "wrote" not in run.err
    assert list(Path().iterdir()) == []


def test_json(cli: Cli) -> None:
    run = cli("lock", "-r", "app", "--json", "-o", "-")
    lock = compatlock.from_json(json.loads(run.out))
    assert lock.versions == {"app": "2.0", "lib": "3.0"}
    assert lock == compatlock.from_json(compatlock.to_json(lock))
    assert list(Path().iterdir()) == []
    both = cli("lock", "-r", "app", "--json")
    assert both.out == run.out
    assert locked() == lock.versions


def test_quiet_and_verbose(cli: Cli) -> None:
    assert cli("lock", "-r", "app", "-q").err == ""
    run = cli("lock", "-r", "app", "-v", "-o", "-")
    assert "  worst root lag: 0 days (proved)\n" in run.err
    assert "\nsearch: rounds " in run.err


def test_a_root_that_is_held_back_is_said_so(cli: Cli, index: IndexServer) -> None:
    index.add("app", "3.0", requires=["lib<3"], upload_time="2026-04-01T00:00:00Z")
    run = cli("lock", "-r", "app", "-r", "lib", "-o", "-")
    assert "  app 3.0\n  lib 2.0 (49 days behind 3.0, held back: app 3.0 needs lib<3)\n" in run.err
    assert "    # newest 3.0 (1 release, 49 days ahead) held back by app 3.0 needs lib<3\n" in run.out


def test_help_needs_no_index(cli: Cli, index: IndexServer) -> None:
    for arguments in (("--help",), ("-h",), ("lock", "--help"), ("--version",), ()):
        run = cli(*arguments)
        assert run.code in (0, 2)
        assert "compatlock" in run.out + run.err
    assert index.count() == 0


def test_one_package_without_an_upload_time(cli: Cli, index: IndexServer) -> None:
    index.add("bare", "1.0")
    run = cli("lock", "-r", "bare", "--python-version", "3.12", "--python-platform", "linux")
    assert run.err == (
        "1 package for CPython 3.12.0 on x86_64-manylinux_2_28\n  bare 1.0\nwrote requirements.lock\n"
    )
