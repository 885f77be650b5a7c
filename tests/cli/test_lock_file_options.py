"""Options in requirements files, followed by whole runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import Cli
from tests.support.index_server import IndexServer


def write(text: str, name: str = "requirements.in") -> None:
    Path(name).write_text(text)


def hashes(text: str) -> list[str]:
    return [line.strip().removesuffix(" \\") for line in text.splitlines() if line.startswith("    --hash=")]


def test_an_index_of_the_file(cli: Cli, index: IndexServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COMPATLOCK_DEFAULT_INDEX")
    index.add("app", "1.0")
    write(f"--index-url {index.url} --trusted-host index.example\napp\n")
    run = cli("lock", "requirements.in", "-o", "-")
    assert (run.code, run.pins) == (0, {"app": "1.0"})
    assert "note: requirements.in:1: `--trusted-host` is left out: certificates are always checked" in run.err


def test_what_the_run_says_of_the_default_index_stands(cli: Cli, index: IndexServer) -> None:
    index.add("app", "1.0")
    write("-i https://user:secret@index.example/simple\napp\n")
    run = cli("lock", "requirements.in", "-o", "-")
    assert run.code == 0
    assert "note: requirements.in:1: the index https://****@index.example/simple/ is left out" in run.err
    assert "secret" not in run.err + run.out


def test_several_default_indexes_are_too_many(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COMPATLOCK_DEFAULT_INDEX")
    write("-i https://index.example/a\n-i https://index.example/a/\napp\n-i https://index.example/b\n")
    run = cli("lock", "requirements.in")
    assert run.code == 2
    assert "several default indexes (requirements.in:1, requirements.in:4)" in run.err


def test_a_further_index_goes_before_the_default_one(cli: Cli, index: IndexServer) -> None:
    index.add("app", "1.0", requires=["lib"])
    index.add("lib", "1.0")
    with IndexServer() as other:
        other.add("lib", "0.5")
        write(f"--extra-index-url={other.url}\napp\n")
        run = cli("lock", "requirements.in", "-o", "-")
        assert run.pins == {"app": "1.0", "lib": "0.5"}
        assert f"--extra-index-url {other.url}" in run.out


def test_a_bad_index_is_named(cli: Cli) -> None:
    write("app\n--extra-index-url ftp://index.example\n")
    run = cli("lock", "requirements.in")
    assert run.code == 2
    assert "`ftp://index.example` (from requirements.in:2) is not the URL of an index" in run.err


def test_pre_releases(cli: Cli, index: IndexServer) -> None:
    index.add("app", "1.0")
    index.add("app", "2.0rc1")
    write("app\n")
    assert cli("lock", "requirements.in", "-o", "-").pins == {"app": "1.0"}
    write("--pre\napp\n")
    assert cli("lock", "requirements.in", "-o", "-").pins == {"app": "2.0rc1"}
    run = cli("lock", "requirements.in", "-o", "-", "--prerelease", "disallow")
    assert run.pins == {"app": "1.0"}
    assert "requirements.in:1: `--pre` is left out: the run says `--prerelease disallow`" in run.err


def test_wheels_and_source_distributions(cli: Cli, index: IndexServer) -> None:
    index.add("app", "1.0")
    index.add("app", "2.0", tags=(), sdist=True)
    write("--only-binary :all:\n--only-binary=:none:,app\napp\n")
    assert cli("lock", "requirements.in", "-o", "-").pins == {"app": "1.0"}


# Hashes


def test_hashes_restrict_the_files(cli: Cli, index: IndexServer) -> None:
    index.add("app", "1.0", tags=["py3-none-any", "cp312-cp312-manylinux_2_17_x86_64"])
    index.add("lib", "1.0")
    target = ("--python-version", "3.12", "--python-platform", "linux", "-o", "-")
    write("app==1.0\nlib\n")
    all_hashes = hashes(cli("lock", "requirements.in", *target).out)
    assert len(all_hashes) == 3
    write(f"app==1.0 {all_hashes[0]} --hash=sha256:{'0' * 64}\nlib\n")
    assert hashes(cli("lock", "requirements.in", *target).out) == [all_hashes[0], all_hashes[2]]
    write("app==1.0\nlib\n-c limits.txt\n")
    write(f"app==1.0 \\\n  {all_hashes[1]}\n", "limits.txt")
    assert hashes(cli("lock", "requirements.in", *target).out) == all_hashes[1:]


def test_hashes_of_no_file_are_refused(cli: Cli, index: IndexServer) -> None:
    index.add("app", "1.0")
    index.add("lib", "1.0")
    nothing = f"--hash=sha256:{'0' * 64}"
    write(f"app==1.0 {nothing}\nlib {nothing}\nother ; python_version < '3' # {nothing}\n")
    run = cli("lock", "requirements.in")
    assert run.code == 2
    assert run.err.splitlines()[:2] == [
        "error: requirements.in:1: none of its hashes is that of a file of app 1.0 on the index",
        "requirements.in:2: none of its hashes is that of a file of lib 1.0 on the index",
    ]
    assert not Path("requirements.lock").exists()


def test_a_lock_is_an_input_with_its_hashes(cli: Cli, index: IndexServer) -> None:
    index.add("app", "1.0", requires=["lib"])
    index.add("lib", "1.0")
    assert cli("lock", "-r", "app").code == 0
    first = Path("requirements.lock").read_text()
    run = cli("lock", "requirements.lock", "-o", "-")
    assert run.code == 0
    assert hashes(run.out) == hashes(first)


def test_a_check_of_a_lock_with_fewer_files_is_clean(cli: Cli, index: IndexServer) -> None:
    index.add("app", "1.0", tags=["py3-none-any", "cp312-cp312-manylinux_2_17_x86_64"], sdist=True)
    target = ("--python-version", "3.12", "--python-platform", "linux")
    write("app==1.0\n")
    digest = hashes(cli("lock", "requirements.in", "-o", "-", *target).out)[0]
    write(f"app==1.0 {digest}\n")
    for name in ("requirements.lock", "pylock.toml", "lock.json"):
        assert cli("lock", "requirements.in", "-o", name, *target).code == 0
        run = cli("check", name)
        assert (run.code, "hash" in run.out) == (0, False), run.out
        assert cli("lock", "requirements.in", "-o", name, "--locked", *target).code == 0


def test_hashes_for_each_target(cli: Cli, index: IndexServer) -> None:
    index.add("app", "1.0", tags=["cp312-cp312-win_amd64", "cp312-cp312-manylinux_2_17_x86_64"])
    index.add("app", "2.0")
    two = "\n".join(
        f"app==1.0 ; sys_platform == '{system}' --hash=sha256:{index.sha256(name)}"
        for system, name in (
            ("win32", "app-1.0-cp312-cp312-win_amd64.whl"),
            ("linux", "app-1.0-cp312-cp312-manylinux_2_17_x86_64.whl"),
        )
    )
    write(f"{two}\n")
    targets = ("--target", "3.12@linux", "--target", "3.12@windows")
    run = cli("lock", "requirements.in", *targets, "-o", "-")
    assert run.code == 0, run.err
    assert len(hashes(run.out)) == 2
    write(two.replace("'win32'", "'linux'") + "\n")
    run = cli("lock", "requirements.in", *targets, "-o", "-")
    assert run.code == 2
    assert "requirements.in:1: none of its hashes is that of a file of app 1.0" in run.err
