"""Targets with a CUDA or a driver: options, settings, profiles, locks, contradictions, checks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from compatlock.environment import cuda as running
from compatlock.errors import InputError
from tests.support.command import Cli
from tests.support.index_server import IndexServer

TARGET = ("--python-version", "3.12", "--python-platform", "x86_64-manylinux_2_34")
PLACE = "CPython 3.12.0 on x86_64-manylinux_2_34"


@pytest.fixture(autouse=True)
def filled(index: IndexServer) -> None:
    """What the shipped facts know: torch and vllm for CUDA 12 and 13."""
    for day, (vllm, torch) in enumerate((("0.19.1", "2.10.0"), ("0.20.0", "2.11.0"), ("0.21.0", "2.12.0"))):
        moment = f"2026-05-{day + 1:02}T00:00:00Z"
        index.add("vllm", vllm, requires=[f"torch=={torch}"], upload_time=moment)
        index.add("torch", torch, upload_time=moment)
    index.add("plain", "1.0")


@pytest.fixture
def extra() -> Iterator[IndexServer]:
    """An index of builds for CUDA 12."""
    with IndexServer() as server:
        server.add("torch", "2.12.0+cu128")
        server.add("torch", "2.11.0+cu128")
        yield server


def lock(cli: Cli, *arguments: str) -> tuple[dict[str, str], str]:
    """The pins, and what the header says of CUDA."""
    run = cli("lock", *arguments, "-o", "-", *TARGET)
    assert run.code == 0, run.err
    (said,) = [line for line in run.out.splitlines() if line.startswith("#   cuda: ")] or [""]
    return run.pins, said.removeprefix("#   cuda: ")


def test_without_a_target_cuda_is_free(cli: Cli) -> None:
    assert lock(cli, "-r", "vllm") == ({"torch": "2.12.0", "vllm": "0.21.0"}, "CUDA 13 (free)")
    assert lock(cli, "-r", "vllm<0.20") == ({"torch": "2.10.0", "vllm": "0.19.1"}, "CUDA 12 (free)")
    assert lock(cli, "-r", "plain") == ({"plain": "1.0"}, "")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--driver", "570.133.20"), "CUDA 12 (driver 570.133.20)"),
        (("--driver", "570"), "CUDA 12 (driver 570)"),
        (("--cuda", "12.8"), "CUDA 12 (CUDA 12.8)"),
        (("--cuda", "12", "--driver", "580"), "CUDA 12 (driver 580, CUDA 12)"),
    ],
)
def test_a_target_for_cuda_12(cli: Cli, options: tuple[str, ...], said: str) -> None:
    assert lock(cli, "-r", "vllm", *options) == ({"torch": "2.10.0", "vllm": "0.19.1"}, said)
    assert lock(cli, "-r", "vllm", "--strategy", "greedy", *options)[0]["vllm"] == "0.19.1"


def test_a_newer_driver(cli: Cli) -> None:
    assert lock(cli, "-r", "vllm", "--driver", "580")[1] == "CUDA 13 (driver 580)"


def test_the_lock_tells_its_target_and_what_was_left_out(cli: Cli) -> None:
    run = cli("lock", "-r", "vllm", "--driver", "570", *TARGET, "-o", "-", "--json")
    told = json.loads(run.out)
    assert told["target"] == f"{PLACE}, driver 570"
    assert told["cuda"] == "CUDA 12 (driver 570)"
    assert "--driver 570" in told["command"]
    assert {pin["name"] for pin in told["pins"]} == {"torch", "vllm"}
    assert (
        "note: vllm 0.19.1: the newer 0.21.0 is built for CUDA 13, and the target runs CUDA 12 at most "
        "(driver 570)\n"
    ) in run.err


def test_a_lock_for_another_driver_is_outdated(cli: Cli) -> None:
    arguments = ("-r", "vllm<0.20", *TARGET, "--quiet")
    assert cli("lock", *arguments, "--driver", "570").code == 0
    assert cli("lock", *arguments, "--driver", "570", "--locked").code == 0
    run = cli("lock", *arguments, "--driver", "575", "--locked")
    assert run.code == 1
    assert "would change:\ntarget: CPython 3.12.0 on x86_64-manylinux_2_34, driver 570 -> " in run.err
    assert "\nno pin changed\n" in run.err


def test_another_driver_reads_nothing_again(cli: Cli, index: IndexServer) -> None:
    lock(cli, "-r", "vllm<0.20")
    asked = len(index.requests)
    lock(cli, "-r", "vllm<0.20", "--driver", "570", "--offline")
    assert len(index.requests) == asked


def test_settings(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPATLOCK_DRIVER", "570")
    assert lock(cli, "-r", "vllm")[1] == "CUDA 12 (driver 570)"
    assert lock(cli, "-r", "vllm", "--cuda", "13")[1] == "CUDA 13 (CUDA 13)"


def test_a_profile_may_have_a_driver(cli: Cli) -> None:
    text = '[profiles.mine]\nroots = ["vllm"]\ntarget = { driver = "570" }\n'
    Path("compatlock.toml").write_text(text, encoding="utf-8")
    assert lock(cli, "--profile", "mine")[1] == "CUDA 12 (driver 570)"
    assert lock(cli, "--profile", "mine", "--cuda", "13.0")[1] == "CUDA 13 (CUDA 13.0)"
    Path("compatlock.toml").write_text(text.replace("570", "57"), encoding="utf-8")
    run = cli("lock", "--profile", "mine", *TARGET)
    assert run.code == 2
    assert "driver: `57` is no version of an NVIDIA driver" in run.err


def test_the_running_driver(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "running_driver", lambda: "570.133.20")
    assert lock(cli, "-r", "vllm", "--cuda", "auto")[1] == "CUDA 12 (driver 570.133.20)"

    def absent() -> str:
        raise InputError("no NVIDIA driver was found on this machine", hints=["say what the target runs"])

    monkeypatch.setattr(running, "running_driver", absent)
    run = cli("lock", "-r", "vllm", "--cuda", "auto", *TARGET)
    assert (run.code, run.out) == (2, "")
    assert "error: no NVIDIA driver was found on this machine" in run.err
    run = cli("lock", "-r", "vllm", "--cuda", "auto", "--driver", "570", *TARGET)
    assert run.code == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--cuda", "cu128"), "`cu128` is no CUDA version"),
        (("--driver", "57"), "`57` is no version of an NVIDIA driver"),
        (("--cuda", "13", "--driver", "570"), "driver 570 runs CUDA 12 at most, not CUDA 13"),
        (("--cuda", "12", "--python-platform", "macos"), "there is no CUDA for aarch64-apple-darwin"),
    ],
)
def test_invalid_values(cli: Cli, options: tuple[str, ...], said: str) -> None:
    run = cli("lock", "-r", "vllm", *TARGET, *options)
    assert run.code == 2
    assert f"error: {said}\n" in run.err


def test_facts_are_about_linux_wheels(cli: Cli) -> None:
    run = cli("lock", "-r", "vllm", "--python-version", "3.12", "--python-platform", "macos", "-o", "-")
    assert run.pins["vllm"] == "0.21.0"
    assert "cuda:" not in run.out


def test_what_the_target_rules_out_is_a_cause_and_a_newer_driver_a_way_out(cli: Cli) -> None:
    run = cli("lock", "-r", "vllm>=0.20", "--driver", "570.133.20", *TARGET)
    assert run.code == 1
    assert run.err.startswith(
        f"error: `vllm>=0.20` cannot be satisfied for {PLACE}, driver 570.133.20:\n"
        "  --requirement asks for vllm>=0.20\n"
        "  vllm's wheels on the index are CUDA 13 builds from 0.20.0 on, CUDA 12 builds before (known fact "
        "`vllm-cuda`)\n"
        "  driver 570.133.20 runs CUDA 12.x at most; CUDA 13 needs driver 580.65.06 or newer\n"
    )
    assert "`--driver 580` (CUDA 13 needs driver 580.65.06 or newer)\n     gives vllm 0.21.0\n" in run.err
    assert "--waive" not in run.err
    run = cli("lock", "-r", "vllm>=0.20", "--cuda", "12.8", *TARGET)
    assert "the target runs CUDA 12.x at most" in run.err
    assert "`--cuda 13` (CUDA 13 needs driver 580.65.06 or newer)" in run.err


def test_cuda_can_not_be_waived(cli: Cli) -> None:
    run = cli("lock", "-r", "vllm>=0.20", "--driver", "570", "--waive", "vllm -> torch", *TARGET)
    assert run.code == 1
    run = cli("lock", "-r", "vllm>=0.20", "--driver", "570", "--auto-waive", *TARGET)
    assert run.code == 1


def test_a_newer_driver_with_the_cheapest_waiver(cli: Cli, index: IndexServer) -> None:
    index.add("app", "1.0", requires=["vllm>=0.20", "old", "lib>=2"])
    index.add("old", "1.0", requires=["lib<2"])
    index.add("old", "1.1", requires=["lib", "gone"])
    index.add("lib", "2.0")
    run = cli("lock", "-r", "app", "--driver", "570", *TARGET)
    assert run.code == 1
    assert "`--driver 580 --waive 'old -> lib'` (CUDA 13 needs driver 580.65.06 or newer)" in run.err


def test_builds_of_another_index_speak_for_themselves(cli: Cli, extra: IndexServer) -> None:
    pins, said = lock(cli, "-r", "torch", "--driver", "570", "--index", extra.url)
    assert (pins, said) == ({"torch": "2.12.0+cu128"}, "CUDA 12 (driver 570)")
    assert lock(cli, "-r", "torch", "--driver", "570") == ({"torch": "2.10.0"}, "CUDA 12 (driver 570)")
    # A vllm for CUDA 13 does not go with it, though its bound on torch would admit it.
    run = cli("lock", "-r", "vllm>=0.20", "--index", extra.url, *TARGET)
    assert run.code == 1
    assert "torch says in its local versions (+cu128 and the like) which CUDA they were built for" in run.err


def test_check(cli: Cli) -> None:
    Path("pins.txt").write_text("torch==2.12.0\nvllm==0.19.1\n", encoding="utf-8")
    run = cli("check", "pins.txt", *TARGET)
    assert run.code == 1
    assert "vllm 0.19.1 is built for CUDA 12, torch 2.12.0 for CUDA 13\n" in run.out
    Path("pins.txt").write_text("torch==2.12.0\n", encoding="utf-8")
    run = cli("check", "pins.txt", "--driver", "570", *TARGET)
    assert "torch 2.12.0 is built for CUDA 13, and the target runs CUDA 12 at most (driver 570)\n" in run.out
    assert cli("check", "pins.txt", "--driver", "580", *TARGET).code == 0
    Path("pins.txt").write_text("torch==2.12.0+cu128\n", encoding="utf-8")
    assert cli("check", "pins.txt", "--driver", "570", *TARGET).code == 0


def test_a_lock_is_checked_for_its_own_driver(cli: Cli) -> None:
    assert cli("lock", "-r", "vllm", "--driver", "570", *TARGET).code == 0
    assert f"for {PLACE}, driver 570" in cli("check", "requirements.lock").out


def test_explain(cli: Cli) -> None:
    run = cli("explain", "-r", "vllm", "vllm==0.21.0", "--driver", "570", *TARGET)
    assert "driver 570 runs CUDA 12.x at most" in run.out


def test_of_other_platforms_little_is_known_which_is_said(cli: Cli) -> None:
    run = cli("lock", "-r", "vllm", "--driver", "570", *TARGET[:3], "aarch64-manylinux_2_34", "-o", "-")
    assert run.pins["vllm"] == "0.21.0"
    assert "note: which CUDA the wheels for aarch64-manylinux_2_34 were built for is not known: " in run.err


def test_what_an_extra_names_is_guarded_from_the_newest_that_the_target_runs(
    cli: Cli, index: IndexServer
) -> None:
    index.add("app", "1.0", extras={"fast": ["vllm"]}, upload_time="2026-05-03T00:00:00Z")
    arguments = ("-r", "app[fast]", "--max-lag", "1d", *TARGET, "-o", "-")
    assert cli("lock", *arguments, "--driver", "570").pins["vllm"] == "0.19.1"
    run = cli("lock", *arguments, "-r", "torch==2.10.0")
    assert run.code == 0  # held by the user's own pin


def test_several_targets_with_one_driver(cli: Cli) -> None:
    arguments = (
        "-r",
        "vllm",
        "--driver",
        "570",
        "--target",
        "3.12@linux",
        "--target",
        "3.12@macos",
        "-o",
        "-",
    )
    run = cli("lock", *arguments)
    assert run.code == 0, run.err
    versions = {line.split()[0] for line in run.out.splitlines() if line.startswith("vllm==")}
    assert versions == {"vllm==0.19.1", "vllm==0.21.0"}
    assert "#   cuda: CUDA 12 (driver 570)\n" in run.out


def test_a_profile_with_a_driver_on_a_mac(cli: Cli) -> None:
    text = '[profiles.mine]\nroots = ["vllm"]\ntarget = { driver = "570" }\n'
    Path("compatlock.toml").write_text(text, encoding="utf-8")
    run = cli(
        "lock", "--profile", "mine", "--python-version", "3.12", "--python-platform", "macos", "-o", "-"
    )
    assert run.pins["vllm"] == "0.21.0"


OWN_FACT = """
[[fact]]
id = "own-torch-cuda"
package = "torch"
versions = ">=2.11"
kind = "cuda"
bound = "==13.*"
summary = "our torch from 2.11 on is a CUDA 13 build"
source = "our builds"
evidence = [ { type = "url", url = "https://index.example/builds" } ]
"""


def test_of_a_further_index_only_the_users_own_facts_tell(cli: Cli) -> None:
    Path("facts.toml").write_text(OWN_FACT, encoding="utf-8")
    with IndexServer() as other:
        other.add("torch", "2.12.0")
        other.add("torch", "2.10.0")
        arguments = ("-r", "torch", "--driver", "570", "--index", other.url)
        assert lock(cli, *arguments) == ({"torch": "2.12.0"}, "")
        assert lock(cli, *arguments, "--facts", "facts.toml")[0] == {"torch": "2.10.0"}


def test_a_newer_driver_where_the_shortest_core_is_about_something_else(cli: Cli, index: IndexServer) -> None:
    index.add("app", "1.0", requires=["between", "old", "lib>=2"])
    index.add("between", "1.0", requires=["vllm>=0.20"])
    index.add("old", "1.0", requires=["lib<2"])
    index.add("old", "1.1", requires=["lib", "gone"])
    index.add("lib", "2.0")
    run = cli("lock", "-r", "app", "--driver", "570", *TARGET)
    assert run.code == 1
    assert "`--driver 580 --waive 'old -> lib'` (CUDA 13 needs driver 580.65.06 or newer)" in run.err
