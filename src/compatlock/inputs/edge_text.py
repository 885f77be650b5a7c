"""Edges on the command line: `a -> b`, `a[x] -> b`, `a -> b>=1.26`."""

from __future__ import annotations

import re

from compatlock.errors import InputError
from compatlock.inputs.requirement_line import parse_requirements
from compatlock.model.display import excerpt
from compatlock.model.names import normalise
from compatlock.model.requirement import Requirement
from compatlock.model.waiver import Exclusion, Waiver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import MutableMapping, Sequence

# As a text: only runs with such options need it.
_EDGE = r"\s*([A-Za-z0-9][A-Za-z0-9._-]*?)\s*(?:\[\s*([A-Za-z0-9._-]+)\s*\])?\s*(?:->|→)\s*(\S.*?)\s*\Z"


def parse_waivers(
    texts: Sequence[str], memo: MutableMapping[str, str] | None = None, option: str = "--waive"
) -> tuple[Waiver, ...]:
    """Return the waivers that `texts` state: `package -> dependency`, `package[extra] -> dependency`, each
    with a bound that replaces the waived one or without.

    Raises InputError for anything else, and for an edge of a package on itself.
    """
    result = []
    for text in texts:
        package, extra, on = _parts(text, option, memo)
        result.append(Waiver(package, on.name, extra, source=option, bound=on.specifier))
    return tuple(result)


def parse_exclusions(
    texts: Sequence[str],
    memo: MutableMapping[str, str] | None = None,
    option: str = "--exclude-dependency",
) -> tuple[Exclusion, ...]:
    """Return the edges that `texts` take away. Raises InputError for what is no edge, or has a bound."""
    result = []
    for text in texts:
        package, extra, on = _parts(text, option, memo)
        if on.specifier:
            raise InputError(
                f"{option} '{excerpt(text)}': a dependency is left out whatever its bound",
                hints=[f"write `{option} '{package} -> {on.name}'`"],
            )
        result.append(Exclusion(package, on.name, extra))
    return tuple(result)


def parse_overrides(
    texts: Sequence[str], memo: MutableMapping[str, str] | None = None, option: str = "--override"
) -> tuple[Requirement, ...]:
    """Return the bounds that replace every declared one on a package, their markers not yet evaluated.

    Raises InputError for what is no requirement, or has extras.
    """
    parsed = parse_requirements([(text, option) for text in texts], memo)
    for override in parsed:
        if override.extras:
            raise InputError(
                f"{option} '{override}': an override is about versions, the extras stay those asked for",
                hints=[f"write `{option} '{override.name}{override.specifier}'`"],
            )
    return parsed


def _parts(text: str, option: str, memo: MutableMapping[str, str] | None) -> tuple[str, str, Requirement]:
    match = re.match(_EDGE, text)
    if match is None:
        raise InputError(
            f"{option} '{excerpt(text)}' names no edge",
            hints=[f"write the package, an arrow and what it needs: `{option} 'verl -> numpy'`"],
        )
    (on,) = parse_requirements([(match[3], option)], memo)
    package, extra = normalise(match[1]), normalise(match[2] or "")
    if on.extras or on.marker:
        raise InputError(
            f"{option} '{excerpt(text)}': extras and markers have no place behind the arrow",
            hints=[f"write `{option} '{package} -> {on.name}{on.specifier}'`"],
        )
    if on.name == package:
        raise InputError(f"{option} '{excerpt(text)}': what a package asks of itself cannot be waived")
    return package, extra, on
