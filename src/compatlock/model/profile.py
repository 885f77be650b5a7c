"""Profiles: named sets of root requirements with what belongs to them."""

from __future__ import annotations

from compatlock.model.named_tuple import NamedTuple
from compatlock.model.requirement import Requirement
from compatlock.model.waiver import Waiver


class Profile(NamedTuple):
    """A named use case: roots, waivers that its documentation allows, features whose facts apply,
    imports that must work in the finished environment, the target it is meant for, and its source.

    `python`, `platform`, `cuda` and `driver` are the default target (`""` when the profile leaves it to the
    user).
    """

    name: str
    description: str
    roots: tuple[Requirement, ...]
    waivers: tuple[Waiver, ...] = ()
    features: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    python: str = ""
    platform: str = ""
    cuda: str = ""
    driver: str = ""
    source: str = ""
    origin: str = ""
