"""For which releases something holds that was seen in one: found by looking into few of them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def interval(size: int, seen: int, shows: Callable[[int], bool]) -> tuple[int, int]:
    """Return the first and the last index around `seen`, of `size` candidates, for which `shows` is true.

    It is asked at growing distances, then by halves: of n releases about 2 log n on either side. What
    changes twice in between is not noticed, so that only the ends, and what was asked, are certain.
    """
    return seen - _reach(seen, lambda step: shows(seen - step)), seen + _reach(
        size - 1 - seen, lambda step: shows(seen + step)
    )


def _reach(most: int, shows: Callable[[int], bool]) -> int:
    """The largest step up to `most` that shows it, where small steps do and large ones do not."""
    good, bad = 0, 1
    while good < most:
        bad = min(bad, most)
        if not shows(bad):
            break
        good, bad = bad, bad * 2
    else:
        return most
    while bad - good > 1:
        middle = (good + bad) // 2
        if shows(middle):
            good = middle
        else:
            bad = middle
    return good


def specifier_of(versions: Sequence[str], first: int, last: int) -> str:
    """Return the specifier (PEP 440) of the candidates `first` to `last` of `versions`, newest first."""
    if first == last:
        return f"=={versions[first]}"
    return f">={versions[last]},<={versions[first]}"
