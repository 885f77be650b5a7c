"""Facts against an index: does what they say still concern any release?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from packaging.specifiers import SpecifierSet

from compatlock.model.fact import Fact

# Kinds whose `on` is no project of an index.
_NOT_ON_AN_INDEX = frozenset({"cuda"})
# Kinds whose bound has to exclude something to mean anything.
_EXCLUDING = frozenset({"too-loose"})


def unmatched_versions(facts: Sequence[Fact], versions_of: Callable[[str], Sequence[str]]) -> list[str]:
    """Return a message for every range of `facts` that concerns no release.

    `versions_of` gives the valid versions (PEP 440) of a project, none when the index does not know it.
    Reported are: a `versions` or a `bound` that matches no release, a too-loose bound that excludes
    none, and a `present` package that does not exist.
    """
    return [
        f'{fact.origin}: fact "{fact.id}": {problem}'
        for fact in facts
        for problem in _problems(fact, versions_of)
    ]


def _problems(fact: Fact, versions_of: Callable[[str], Sequence[str]]) -> list[str]:
    problems = [f"when.present: no release of {name}" for name in fact.present if not versions_of(name)]
    releases = versions_of(fact.package)
    on_releases = versions_of(fact.on) if fact.on and fact.kind not in _NOT_ON_AN_INDEX else None
    if on_releases is not None and not on_releases:
        problems.append(f"on: no release of {fact.on}")
    for row in fact.bounds:
        if not _matching(row.versions, releases):
            problems.append(f"versions: `{row.versions or '*'}` matches no release of {fact.package}")
        if on_releases and row.bound:
            matching = _matching(row.bound, on_releases)
            if matching == 0:
                problems.append(f"bound: `{row.bound}` matches no release of {fact.on}")
            elif matching == len(on_releases) and fact.kind in _EXCLUDING:
                problems.append(f"bound: `{row.bound}` excludes no release of {fact.on}")
    return problems


def _matching(specifier: str, versions: Sequence[str]) -> int:
    parsed = SpecifierSet(specifier)
    return sum(parsed.contains(version, prereleases=True) for version in versions)
