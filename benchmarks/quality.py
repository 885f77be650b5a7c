"""How good somebody's pins are, by compatlock's own measure: lag behind the newest, and what does not fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from compatlock.api.check.checking import check_pins
from compatlock.api.drive import drive
from compatlock.api.library import _given
from compatlock.api.options import LockOptions
from compatlock.api.request import Prepared
from compatlock.api.session import with_supply
from compatlock.index.supply import Supply
from compatlock.model.objective import DEEPEST
from compatlock.solver.depth import frame
from compatlock.solver.universe import Universe


class Quality(NamedTuple):
    """worst: days that the worst root is behind its newest release; root_days, root_releases: summed over the
    roots; depths: releases behind, summed over the packages at depth 1, 2, ..., and deeper; packages: how
    many there are. unfit: declared bounds and known conflicts that the pins break; None where they were not
    looked for. unknown: pins that are no candidates for the target."""

    worst: int
    root_days: int
    root_releases: int
    depths: tuple[int, ...]
    packages: int
    unfit: int | None = None
    unknown: int = 0

    @property
    def tiers(self) -> tuple[int, ...]:
        """What is compared, the most important first."""
        return (self.worst, self.root_days, self.root_releases, *self.depths, self.packages)


def quality(options: LockOptions, pins: Mapping[str, str]) -> Quality:
    """Measure pins for the request of `options`. Raises IndexUnavailable when a listing is not there."""

    def work(prepared: Prepared, supply: Supply) -> Quality:
        request = prepared.request
        universe = Universe(request.amendments, supply.is_compiled, supply.is_elsewhere)
        framed = drive(frame(universe, request), universe, supply)
        packages = supply.packages(pins)
        days, releases, unknown = [0], [0], 0
        depths = [0] * DEEPEST
        for name, version in pins.items():
            package = packages[name]
            index = package.index_of(version)
            if index is None:
                unknown += 1
                continue
            newest = framed.newest.get(name)
            if newest is not None:
                days.append(package.lag_days(index, newest))
                releases.append(package.lag_releases(index, newest))
            else:
                depth = framed.depths.get(name, DEEPEST)
                depths[depth - 1] += package.lag_releases(index, package.newest())
        return Quality(max(days), sum(days), sum(releases), tuple(depths), len(pins), None, unknown)

    return with_supply(options, work)


def unfit(options: LockOptions, pins: Mapping[str, str]) -> int:
    """How many declared bounds and known conflicts pins break, as `compatlock check` finds them."""
    given, subject = _given(dict(pins))
    return len(check_pins(options, given, subject).errors)
