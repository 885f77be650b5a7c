"""Specifiers answered over a project's full list of releases."""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache

from packaging.specifiers import InvalidSpecifier, Specifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from compatlock.model.package import IS_PIN, NAMES_PRERELEASE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# So many versions are sooner looked at one by one.
_FEW = 16


@lru_cache(maxsize=20_000)
def _clause_flags(clause: str) -> int:
    specifier = Specifier(clause)
    flags = 0
    version = specifier.version
    try:
        if Version(version.removesuffix(".*")).is_prerelease and specifier.operator != "!=":
            flags |= NAMES_PRERELEASE
    except InvalidVersion:
        pass
    if specifier.operator == "===" or (specifier.operator == "==" and not version.endswith(".*")):
        flags |= IS_PIN
    return flags


def specifier_flags(specifier: str) -> int:
    """NAMES_PRERELEASE and IS_PIN of a valid specifier set."""
    flags = [_clause_flags(clause) for clause in specifier.split(",") if clause.strip()]
    result = 0
    for flag in flags:
        result |= flag & NAMES_PRERELEASE
    if len(flags) == 1:
        result |= flags[0] & IS_PIN
    return result


@lru_cache(maxsize=200_000)
def _version(text: str) -> Version:
    return Version(text)


def answer(specifier: str, versions: Sequence[str]) -> tuple[int, ...]:
    """`(flags, lo, hi, lo, hi, ...)`: where in `versions` (newest first) the specifier holds (PEP 440,
    pre-releases included). An invalid specifier holds nowhere."""
    try:
        admitted = SpecifierSet(specifier).to_range()
    except InvalidSpecifier:
        return (0,)
    runs: list[int] = [specifier_flags(specifier)]
    inside = False
    for index in _worth_a_look(specifier, versions):
        holds = admitted.contains(_version(versions[index]), prereleases=True)
        if holds != inside:
            runs.append(index)
            inside = holds
    if inside:
        runs.append(len(versions))
    return tuple(runs)


def _worth_a_look(specifier: str, versions: Sequence[str]) -> Iterable[int]:
    """The indexes at which a valid specifier may begin or cease to hold. Of the thousands of releases that
    some projects have, few are near a version that it names."""
    size = len(versions)
    if size <= _FEW:
        return range(size)
    found = {0}
    for clause in specifier.split(","):
        if clause.strip():
            around = _around(clause)
            if around is None:
                return range(size)
            lowest, above = around
            # From the newest that is below `above` to the newest that is below `lowest`.
            first, last = (_first_below(bound, versions) for bound in (above, lowest))
            found.update(range(first, min(last + 1, size)))
    return sorted(found)


@lru_cache(maxsize=20_000)
def _around(clause: str) -> tuple[Version, Version] | None:
    """A range of versions, from the first up to the second, beyond which nothing changes: those whose release
    begins as the one that a clause names. None for one that goes by the text of versions."""
    specifier = Specifier(clause)
    if specifier.operator == "===":
        return None
    version = Version(specifier.version.removesuffix(".*"))
    *front, last = version.release[:-1] if specifier.operator == "~=" else version.release
    lowest, above = (
        Version(f"{version.epoch}!{'.'.join(map(str, (*front, end)))}.dev0") for end in (last, last + 1)
    )
    return lowest, above


def _first_below(bound: Version, versions: Sequence[str]) -> int:
    return bisect_left(versions, True, key=lambda text: _version(text) < bound)
