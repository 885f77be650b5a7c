"""What an older lock pins for a target."""

from __future__ import annotations

import pytest

from compatlock.api.older import pins_for
from compatlock.lockfile.compare import together
from compatlock.model.lock import OlderPin
from compatlock.model.target import Target

LINUX = Target("3.12", "linux").resolved()
WINDOWS = Target("3.11", "windows").resolved()


@pytest.mark.parametrize(
    ("pins", "linux", "windows"),
    [
        ([("a", "1", "")], {"a": "1"}, {"a": "1"}),
        (
            [("a", "1", "sys_platform == 'linux'"), ("a", "2", "sys_platform != 'linux'")],
            {"a": "1"},
            {"a": "2"},
        ),
        ([("a", "1", "python_version < '3.12'"), ("a", "2", "python_version < '3.13'")], {"a": "2"}, {}),
        ([("a", "1", ""), ("a", "2", "")], {}, {}),
        ([("a", "1", "sys_platform == 'win32'")], {}, {"a": "1"}),
        # Markers that are none, that compare what cannot be, and that ask for extras.
        ([("a", "1", "when ready"), ("b", "1", "")], {"a": "1", "b": "1"}, {"a": "1", "b": "1"}),
        ([("a", "1", "'x' in extras"), ("b", "1", "extra == 'x'")], {}, {}),
    ],
)
def test_pins_for(pins: list[tuple[str, str, str]], linux: dict[str, str], windows: dict[str, str]) -> None:
    memo: dict[str, str] = {}
    older = [OlderPin(*pin) for pin in pins]
    for _ in range(2):
        assert pins_for(older, LINUX, memo) == linux
        assert pins_for(older, WINDOWS, memo) == windows


def test_together() -> None:
    pins = [OlderPin("a", "1", "x"), OlderPin("b", "1"), OlderPin("a", "2", "y"), OlderPin("a", "1", "z")]
    assert together(pins) == {"a": "1, 2", "b": "1"}
