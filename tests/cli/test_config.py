"""`compatlock config`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.support.command import Cli

URL = "https://user:hunter2@index.example/simple/"


@pytest.fixture(autouse=True)
def _bare(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001 - comes after that fixture
    """No settings but those of the test, and the cache directory."""
    for name in list(os.environ):
        if name.startswith(("UV_", "PIP_", "COMPATLOCK_")) and name != "COMPATLOCK_CACHE_DIR":
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("COMPATLOCK_CACHE_DIR", "/cache")


def test_the_defaults(cli: Cli) -> None:
    assert cli("config") == (
        0,
        "setting                value                     from\n"
        "default-index          the public index          default\n"
        "index                  none                      default\n"
        "index-for              none                      default\n"
        "cache-dir              /cache                    COMPATLOCK_CACHE_DIR\n"
        "offline                no                        default\n"
        "exclude-newer          none                      default\n"
        "exclude-newer-package  none                      default\n"
        "prerelease             if-necessary-or-explicit  default\n"
        "prerelease-package     none                      default\n"
        "allow-yanked           none                      default\n"
        "no-yanked              no                        default\n"
        "allow-builds           none                      default\n"
        "cert                   none                      default\n"
        "timeout                30 seconds                default\n"
        "cuda                   none                      default\n"
        "driver                 none                      default\n",
        "",
    )


def test_everything(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "pip.conf"
    path.write_text("[global]\nextra-index-url = https://p.example\nfind-links = /wheels\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(path))
    monkeypatch.setenv("UV_INDEX", f"cu128=https://a.example {URL}")
    monkeypatch.setenv("COMPATLOCK_OFFLINE", "1")
    monkeypatch.setenv("COMPATLOCK_PRERELEASE", "allow, torch=explicit")
    monkeypatch.setenv("COMPATLOCK_ALLOW_YANKED", "a,b")
    run = cli(
        "config", "-i", URL, "--index-for", "torch=cu128", "--exclude-newer", "2026-11-01",
        "--cert", "ca.pem",
        "--prerelease", "torch=disallow", "--no-yanked", "--allow-builds",
    )  # fmt: skip
    assert run == (
        0,
        "setting                value                               from\n"
        "default-index          https://****@index.example/simple/  --default-index\n"
        "index                  cu128=https://a.example/            UV_INDEX\n"
        "index                  https://****@index.example/simple/  UV_INDEX\n"
        "index-for              torch=cu128=https://a.example/      --index-for\n"
        "cache-dir              /cache                              COMPATLOCK_CACHE_DIR\n"
        "offline                yes                                 COMPATLOCK_OFFLINE\n"
        "exclude-newer          2026-11-01                          --exclude-newer\n"
        "exclude-newer-package  none                                default\n"
        "prerelease             allow                               COMPATLOCK_PRERELEASE\n"
        "prerelease-package     torch=disallow                      --prerelease\n"
        "allow-yanked           a                                   COMPATLOCK_ALLOW_YANKED\n"
        "allow-yanked           b                                   COMPATLOCK_ALLOW_YANKED\n"
        "no-yanked              yes                                 --no-yanked\n"
        "allow-builds           :all:                               --allow-builds\n"
        "cert                   ca.pem                              --cert\n"
        "timeout                30 seconds                          default\n"
        "cuda                   none                                default\n"
        "driver                 none                                default\n",
        f"note: {path} [global] find-links is left out: only indexes can be asked\n",
    )
    run = cli("config", "--json", "--index", f"mine={URL}", "--index-for", "a,b=mine")
    value = json.loads(run.out)
    mine = {"name": "mine", "url": "https://index.example/simple/", "credentials": True}
    assert value["version"] == 1
    assert value["settings"]["indexes"] == {"value": [mine], "from": "--index"}
    assert value["settings"]["index_for"]["value"] == {"a": mine, "b": mine}
    assert value["settings"]["default_index"] == {
        "value": {"name": None, "url": None, "credentials": False},
        "from": "default",
    }
    assert value["settings"]["offline"] == {"value": True, "from": "COMPATLOCK_OFFLINE"}
    assert value["notes"] == [f"{path} [global] find-links is left out: only indexes can be asked"]
    assert "hunter2" not in run.out + run.err


def test_a_wrong_setting(cli: Cli) -> None:
    run = cli("config", "--index", "https://user:hunter2@[x")
    assert run.code == 2
    assert run.err.startswith("error: `https://****@[x` (from --index) is not the URL of an index")
