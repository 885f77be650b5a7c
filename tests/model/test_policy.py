"""Which files `--no-binary` and `--only-binary` rule out."""

from __future__ import annotations

import pytest

from compatlock.model.policy import ALL, Policy


@pytest.mark.parametrize(
    ("policy", "wheels", "sdists"),
    [
        (Policy(), False, False),
        (Policy(no_binary=("a",)), True, False),
        (Policy(only_binary=("a",)), False, True),
        (Policy(no_binary=(ALL,)), True, False),
        (Policy(only_binary=(ALL,)), False, True),
        # A package's name goes before `:all:` of the other option.
        (Policy(no_binary=("a",), only_binary=(ALL,)), True, False),
        (Policy(no_binary=(ALL,), only_binary=("a",)), False, True),
        (Policy(no_binary=("b",), only_binary=(ALL,)), False, True),
        (Policy(no_binary=(ALL,), only_binary=(ALL,)), True, True),
    ],
)
def test_names_and_all(policy: Policy, wheels: bool, sdists: bool) -> None:
    assert (policy.forbids_wheels("a"), policy.forbids_sdists("a")) == (wheels, sdists)
