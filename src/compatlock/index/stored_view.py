"""From a view's stored form (`index.view.encode_view`) to a package, for runs that need not make the view.

On the warm path: some 200 views are read in a run, so that lists are only made of what is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from compatlock.model.package import Package

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, overload

KEY_LENGTH = 20  # of a file's key, see `index.view.file_key`


class FileKeys(Sequence[str]):
    """The keys of the candidates' files, joined in one text."""

    def __init__(self, text: str) -> None:
        self._text = text

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, index: int) -> str: ...

        @overload
        def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        start = range(len(self))[index] * KEY_LENGTH
        return self._text[start : start + KEY_LENGTH]

    def __len__(self) -> int:
        return len(self._text) // KEY_LENGTH


class Times(Sequence["int | None"]):
    """The upload times of the candidates, parsed when the first is looked at."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._times: list[int | None] | None = None

    def _all(self) -> list[int | None]:
        if self._times is None:
            self._times = [int(time) if time else None for time in self._text.split(" ")]
        return self._times

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, index: int) -> int | None: ...

        @overload
        def __getitem__(self, index: slice) -> list[int | None]: ...

    def __getitem__(self, index: int | slice) -> int | list[int | None] | None:
        return self._all()[index]

    def __iter__(self) -> Iterator[int | None]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


def package_of(
    name: str,
    view: dict[str, Any],
    runs: dict[str, tuple[int, ...]],
    *,
    compute: Callable[[str], tuple[int, ...]],
    prerelease: str,
) -> Package:
    """The package that a stored view describes; `runs` are specifiers answered before, `compute` answers
    others, `prerelease` is the policy's mode."""
    return Package(
        name,
        view["v"].split("\n") if view["v"] else (),
        positions=_positions(view["x"]),
        times=Times(view["t"]) if view["v"] else (),
        gates={int(i): gate for i, gate in view["g"].items()},
        file_keys=FileKeys(view["f"]),
        full_runs=runs,
        compute=compute,
        found=view["e"],
        newest_hidden=view["h"],
        prerelease=prerelease,
    )


def _positions(bounds: list[int]) -> Sequence[int]:
    """The numbers within half-open ranges `[lo, hi, lo, hi, ...]`."""
    if len(bounds) == 2:
        return range(*bounds)
    return list(chain.from_iterable(map(range, bounds[::2], bounds[1::2])))
