"""Small pieces of sentences about requirements and versions."""

from __future__ import annotations

from compatlock.model.display import listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# The order in which people write the clauses of a bound.
_OPERATORS = ("===", "==", "~=", ">=", ">", "!=", "<=", "<")
_SPANS = 6


def bound(specifier: str) -> str:
    """A version specifier with its lower bounds first: `>=1.0,<2`."""
    clauses = [clause.strip() for clause in specifier.split(",") if clause.strip()]

    def rank(clause: str) -> tuple[int, str]:
        operator = next(
            (o for o in ("===", "==", "~=", ">=", "!=", "<=", ">", "<") if clause.startswith(o)), ""
        )
        return (_OPERATORS.index(operator) if operator else 0, clause)

    return ",".join(sorted(clauses, key=rank))


def requirement(name: str, extras: Iterable[str], specifier: str = "") -> str:
    """`name[a,b]>=1.0,<2`."""
    extras = ",".join(extras)
    return f"{name}{f'[{extras}]' if extras else ''}{bound(specifier)}"


def spans(releases: Sequence[str]) -> str:
    """Versions and ranges of versions as a list; the middle of a long one is left out."""
    if len(releases) <= _SPANS + 1:
        return listed(releases)
    half = _SPANS // 2
    left_out = len(releases) - 2 * half
    return listed([*releases[:half], f"{left_out} more", *releases[-half:]])


def is_one(releases: Sequence[str]) -> bool:
    """Whether the spans are a single release."""
    return len(releases) == 1 and " to " not in releases[0]


def needs(releases: Sequence[str]) -> str:
    """`needs` for one release, `need` for several."""
    return "needs" if is_one(releases) else "need"
