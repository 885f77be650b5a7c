"""Ways out to a newer platform, which everything that is needed has to have wheels for."""

from __future__ import annotations

import pytest

from tests.support.command import Cli
from tests.support.index_server import IndexServer

ASKED = ("-r", "engine>=2", "--python-version", "3.12", "--python-platform", "x86_64-manylinux_2_17")


@pytest.fixture(autouse=True)
def engine(index: IndexServer) -> None:
    tags = ("cp312-cp312-manylinux_2_28_x86_64",)
    index.add("engine", "2.0", requires=["guide"], tags=tags, upload_time="2026-01-01T00:00:00Z")


@pytest.mark.parametrize(("glibc", "floor"), [(17, 28), (28, 28), (30, 31), (31, 31), (34, 34), (39, 39)])
def test_the_lowest_that_is_enough_for_all(cli: Cli, index: IndexServer, glibc: int, floor: int) -> None:
    """Else it is the next usual one after the one that what was asked for has wheels for."""
    index.add("guide", "1.0", tags=(f"cp312-cp312-manylinux_2_{glibc}_x86_64",))
    run = cli("lock", *ASKED)
    platform = f"--python-platform x86_64-manylinux_2_{floor}"
    assert run.code == 1
    assert f"a way out:\n  1. `{platform}`\n     gives engine 2.0\n" in run.err
    # No lower one is recommended beside.
    assert run.err.count("--python-platform") == 1
    assert cli("lock", *ASKED[:-2], *platform.split(), "-o", "-").pins == {"engine": "2.0", "guide": "1.0"}


def test_none_is_enough(cli: Cli, index: IndexServer) -> None:
    index.add("guide", "1.0", tags=("cp312-cp312-win_amd64",))
    run = cli("lock", *ASKED)
    assert run.code == 1
    assert "way out" not in run.err
    assert "hint: `--python-platform x86_64-manylinux_2_28` admits engine 2.0" in run.err
