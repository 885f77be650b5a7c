"""What the user decrees over declared metadata: overridden bounds and excluded dependencies."""

from __future__ import annotations

from compatlock.model.waiver import is_release

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from compatlock.model.dependencies import Dependencies, Dependency
    from compatlock.model.requirement import Requirement
    from compatlock.model.waiver import EdgeOverride, Exclusion


class Amendments:
    """Overrides replace every declared bound on a package, or that of one edge (which goes before),
    exclusions take edges away.

    False when there is nothing to amend.
    """

    def __init__(
        self,
        overrides: Iterable[Requirement] = (),
        exclusions: Iterable[Exclusion] = (),
        edge_overrides: Iterable[EdgeOverride] = (),
    ) -> None:
        self._overrides = {override.name: override.specifier for override in overrides}
        self._exclusions = tuple(exclusions)
        # Those of one release go before those of all.
        self._edges = sorted(edge_overrides, key=lambda each: not each.version)
        # The packages whose releases may be amended at all; "" is every one.
        self._named = {key[0] for key in self._edges} | {exclusion.package for exclusion in self._exclusions}
        self._named |= {""} if self._overrides else set()

    def __bool__(self) -> bool:
        return bool(self._overrides or self._exclusions or self._edges)

    def excludes(self, package: str, extra: str, on: str, version: str) -> bool:
        """Whether the edge of a release is taken away."""
        return any(exclusion.covers(package, extra, on, version) for exclusion in self._exclusions)

    def override(self, package: str, on: str, version: str) -> str | None:
        """The bound that replaces a declared one of a release on `on`, None when none does."""
        for each in self._edges:
            if (each.package, each.on) == (package, on) and is_release(each.version, version):
                return each.specifier
        return self._overrides.get(on)

    def release(self, package: str, declared: Dependencies, version: str) -> Dependencies:
        """What the release `version` of `package` needs, after all."""
        if self._named.isdisjoint(("", package)):
            return declared

        def amend(extra: str, needs: Iterable[Dependency]) -> tuple[Dependency, ...]:
            amended = []
            for need in needs:
                # A self-edge only asks for extras of the same release.
                if need.name != package:
                    if self.excludes(package, extra, need.name, version):
                        continue
                    bound = self.override(package, need.name, version)
                    if bound is not None:
                        need = need._replace(specifier=bound, url="")
                amended.append(need)
            return tuple(amended)

        extras = {extra: amend(extra, needs) for extra, needs in declared.extras.items()}
        return declared._replace(base=amend("", declared.base), extras=extras)
