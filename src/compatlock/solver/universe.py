"""What the solver knows so far, and what it asks for."""

from __future__ import annotations

from compatlock.model.cuda import CUDA, cuda_package
from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from compatlock.model.amendments import Amendments
    from compatlock.model.dependencies import Dependencies, Dependency
    from compatlock.model.package import Package


class Need(NamedTuple):
    """A batch that the search waits for: packages by name, and dependencies of candidates."""

    packages: tuple[str, ...] = ()
    releases: tuple[tuple[str, int], ...] = ()


class Universe:
    """Packages and dependencies at hand. Whoever drives a search adds what its `Need`s name.

    `amendments` change what releases declare, `compiled` tells whether a candidate is a platform's wheel,
    `is_elsewhere` whether a package is from another index than the default one. `__cuda` is always there.
    """

    def __init__(
        self,
        amendments: Amendments | None = None,
        compiled: Callable[[str, int], bool] = lambda _name, _index: False,
        is_elsewhere: Callable[[str], bool] = lambda _name: False,
    ) -> None:
        self.packages: dict[str, Package] = {CUDA: cuda_package()}
        self.dependencies: dict[tuple[str, int], Dependencies] = {}
        self.compiled = compiled
        self.is_elsewhere = is_elsewhere
        self._amendments = amendments
        # Releases that searches begin with, because they will want them; it changes no answer.
        self.recalled: Sequence[tuple[str, int]] = ()

    def add(self, packages: dict[str, Package], dependencies: dict[tuple[str, int], Dependencies]) -> None:
        """Take in what a `Need` asked for."""
        self.packages.update(packages)
        if self._amendments:
            amend = self._amendments.release
            dependencies = {
                (name, index): amend(name, found, self.packages[name].versions[index])
                for (name, index), found in dependencies.items()
            }
        self.dependencies.update(dependencies)

    def is_overridden(self, package: str, index: int, on: str) -> bool:
        """Whether an override of the user's stands for what a candidate declares of a dependency."""
        if not self._amendments:
            return False
        version = self.packages[package].versions[index]
        return self._amendments.override(package, on, version) is not None

    def amended(self, amendments: Amendments) -> Universe:
        """What is known so far, further amended. (What is added later is amended by `amendments` only.)"""
        other = Universe(amendments, self.compiled, self.is_elsewhere)
        other.add(self.packages, self.dependencies)
        return other

    def is_abi_pin(self, name: str, index: int, dependency: Dependency) -> bool:
        """Whether a candidate pins (== or ~=) a dependency and both are platform wheels: their compiled
        interfaces have to match, which is why such a pin is never waived."""
        if not dependency.specifier.startswith(("==", "~=")) or "," in dependency.specifier:
            return False
        if not self.compiled(name, index):
            return False
        on = self.packages[dependency.name]
        runs = on.runs(dependency.specifier)
        pinned = runs[0][0] if runs else on.newest()
        return pinned < on.size and self.compiled(dependency.name, pinned)

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
