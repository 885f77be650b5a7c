"""Files and releases that an index has and nobody can use: which there are of some packages, and in words."""

from __future__ import annotations

from compatlock.model.display import excerpt, printable
from compatlock.model.unusable import Unusable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from compatlock.index.supply import Supply
    from compatlock.solver.universe import Universe

# So many files that are unusable for one reason are named.
_NAMED = 3


def unusable_releases(universe: Universe, packages: Collection[str]) -> tuple[Unusable, ...]:
    """The releases of the packages that a search read and could not use, by name, newest first."""
    found = sorted(
        (n, i) for (n, i), release in universe.dependencies.items() if release.problem and n in packages
    )
    return tuple(
        Unusable(
            name, universe.packages[name].versions[index], reason=universe.dependencies[name, index].problem
        )
        for name, index in found
    )


def unusable_files(supply: Supply, packages: Iterable[str]) -> tuple[Unusable, ...]:
    """The files that the index lists for the packages and that no release has, by package and name."""
    return tuple(
        Unusable(name, filename=skipped.filename, reason=skipped.reason)
        for name in sorted(packages)
        for skipped in supply.skipped(name)
    )


def describe(unusable: Iterable[Unusable]) -> Iterator[str]:
    """A line for each release, and for all files of a package that are unusable for the same reason."""
    files: dict[tuple[str, str], list[str]] = {}
    for each in unusable:
        if each.version:
            yield printable(f"unusable: {each.package} {each.version}: {excerpt(each.reason, 300)}")
        else:
            files.setdefault((each.package, each.reason), []).append(each.filename)
    for (package, reason), names in files.items():
        named = ", ".join(excerpt(name) for name in names[:_NAMED] if name)
        more = f" and {len(names) - _NAMED} more" if names[_NAMED:] else ""
        who = f"{named}{more}" if named else "a file without a name"
        yield printable(f"unusable: {who} of {package}: {excerpt(reason, 300)}")
