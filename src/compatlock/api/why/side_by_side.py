"""Several searches over one index, driven side by side: what all of them wait for is read in one round."""

from __future__ import annotations

from compatlock.errors import IndexUnavailable, SearchGivenUp
from compatlock.index.supply import CacheChanged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence
    from typing import TypeVar

    from compatlock.index.supply import Supply
    from compatlock.solver.universe import Need, Universe

    Answer = TypeVar("Answer")


def drive_side_by_side(
    searches: Sequence[tuple[Generator[Need, None, Answer], Universe]], supply: Supply
) -> list[Answer | IndexUnavailable | SearchGivenUp]:
    """What each search returns, or the error that ended it. They take turns, from one need to the next, so
    that the order in which universes that they share grow is always the same. Raises CacheChanged.
    """
    ended: dict[int, Answer | IndexUnavailable | SearchGivenUp] = {}
    while len(ended) < len(searches):
        needs: dict[int, Need] = {}
        for number, (search, _) in enumerate(searches):
            if number in ended:
                continue
            try:
                needs[number] = next(search)
            except StopIteration as finished:
                ended[number] = finished.value
            except SearchGivenUp as error:
                ended[number] = error
        _read_ahead(needs.values(), supply)
        for number, need in needs.items():
            search, universe = searches[number]
            try:
                universe.add(supply.packages(need.packages), supply.dependencies(need.releases))
            except CacheChanged:
                raise
            except IndexUnavailable as error:
                search.close()
                ended[number] = error
    return [ended[number] for number in range(len(searches))]


def _read_ahead(needs: Iterable[Need], supply: Supply) -> None:
    """Have the supply hold all that is needed, as far as it can be had; who misses something will see."""
    packages = supply.missing_packages(dict.fromkeys(name for need in needs for name in need.packages))
    releases = supply.missing_dependencies(dict.fromkeys(each for need in needs for each in need.releases))
    if not packages and not releases:
        return
    try:
        supply.fetch(packages, releases)
    except CacheChanged:
        raise
    except IndexUnavailable:
        # One of many may be what cannot be had.
        return
