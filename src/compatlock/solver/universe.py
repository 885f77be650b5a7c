"""What the solver knows so far, and what it asks for."""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from compatlock.model.dependencies import Dependencies
    from compatlock.model.package import Package


class Need(NamedTuple):
    """A batch that the search waits for: packages by name, and dependencies of candidates."""

    packages: tuple[str, ...] = ()
    releases: tuple[tuple[str, int], ...] = ()


class Universe:
    """Packages and dependencies at hand. Whoever drives a search adds what its `Need`s name."""

    def __init__(self) -> None:
        self.packages: dict[str, Package] = {}
        self.dependencies: dict[tuple[str, int], Dependencies] = {}

    def add(self, packages: dict[str, Package], dependencies: dict[tuple[str, int], Dependencies]) -> None:
        """Take in what a `Need` asked for."""
        self.packages.update(packages)
        self.dependencies.update(dependencies)

    def want_packages(self, names: Iterable[str]) -> Generator[Need, None, None]:
        """Yield a Need for those that are missing, if any."""
        missing = tuple(dict.fromkeys(n for n in names if n not in self.packages))
        if missing:
            yield Need(packages=missing)

    def want_dependencies(self, releases: Iterable[tuple[str, int]]) -> Generator[Need, None, None]:
        """Yield a Need for those that are missing, if any."""
        missing = tuple(dict.fromkeys(r for r in releases if r not in self.dependencies))
        if missing:
            yield Need(releases=missing)
