"""Specifiers answered over a project's full list of releases."""

from __future__ import annotations

from functools import lru_cache

from packaging.specifiers import InvalidSpecifier, Specifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from compatlock.model.package import IS_PIN, NAMES_PRERELEASE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


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
    for index, text in enumerate(versions):
        holds = admitted.contains(_version(text), prereleases=True)
        if holds != inside:
            runs.append(index)
            inside = holds
    if inside:
        runs.append(len(versions))
    return tuple(runs)
