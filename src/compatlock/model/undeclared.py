"""Dependencies that releases have without declaring them, as facts of kind undeclared say."""

from __future__ import annotations

from compatlock.model.dependencies import Dependency

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from compatlock.model.fact import Fact
    from compatlock.model.package import Package


def undeclared_dependencies(
    facts: Iterable[Fact], package: Package, index: int, extra: str
) -> list[Dependency]:
    """What the facts add to a candidate of `package` (or to an extra of it, `""` for none).

    A soft fact's bound may be broken at a price, so it is no part of the dependency; the need itself is.
    """
    return [
        Dependency(fact.on, "" if fact.is_soft else bound.bound)
        for fact in facts
        if fact.kind == "undeclared"
        and fact.package == package.name
        and fact.extra == extra
        and not fact.present
        for bound in fact.bounds
        if package.admits(bound.versions, index)
    ]
