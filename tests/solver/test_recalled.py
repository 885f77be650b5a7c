"""Searches that begin with releases that an earlier one read, against searches that find them themselves."""

from __future__ import annotations

import random

import pytest
from tests.support.draw import SHAPES, Shape, random_case
from tests.support.universes import Memory

from compatlock.solver.search import search


@pytest.mark.parametrize("thorough", [True, False])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_whatever_is_recalled_the_answer_is_the_same(shape: Shape, thorough: bool) -> None:
    compared = 0
    for seed in range(150):
        rng = random.Random(seed)
        case = random_case(rng, shape)
        memory = Memory(case)
        universe = memory.universe()
        alone = memory.drive(search(universe, case.request, thorough=thorough), universe)
        if alone is None or alone.presumed or not alone.proved:
            continue
        releases = [(name, i) for name in sorted(case.projects) for i in range(memory.packages[name].size)]
        for share in (0.2, 0.7, 1.0):
            recalling = memory.universe()
            recalling.recalled = rng.sample(releases, round(share * len(releases)))
            found = memory.drive(search(recalling, case.request, thorough=thorough), recalling)
            assert found is not None
            assert found._replace(counters={}) == alone._replace(counters={}), case.source()
            compared += 1
    assert compared > 100
