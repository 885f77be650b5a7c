"""What the user decrees over declared metadata: overridden bounds and excluded dependencies."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from compatlock.model.dependencies import Dependencies, Dependency
    from compatlock.model.requirement import Requirement
    from compatlock.model.waiver import Exclusion


class Amendments:
    """Overrides replace every declared bound on a package, exclusions take edges away.

    False when there is nothing to amend.
    """

    def __init__(self, overrides: Iterable[Requirement] = (), exclusions: Iterable[Exclusion] = ()) -> None:
        self._overrides = {override.name: override.specifier for override in overrides}
        self._exclusions = tuple(exclusions)

    def __bool__(self) -> bool:
        return bool(self._overrides or self._exclusions)

    def excludes(self, package: str, extra: str, on: str) -> bool:
        """Whether the edge is taken away."""
        return any(exclusion.covers(package, extra, on) for exclusion in self._exclusions)

    def release(self, package: str, declared: Dependencies) -> Dependencies:
        """What a release of `package` needs, after all."""
        extras = {extra: self._amend(package, extra, needs) for extra, needs in declared.extras.items()}
        return declared._replace(base=self._amend(package, "", declared.base), extras=extras)

    def _amend(self, package: str, extra: str, needs: Iterable[Dependency]) -> tuple[Dependency, ...]:
        amended = []
        for need in needs:
            # A self-edge only asks for extras of the same release.
            if need.name != package:
                if self.excludes(package, extra, need.name):
                    continue
                if need.name in self._overrides:
                    need = need._replace(specifier=self._overrides[need.name], url="")
            amended.append(need)
        return tuple(amended)
