"""What one release needs, already evaluated for a target."""

from __future__ import annotations

from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


# Source of the metadata of a file that is not where the index says; unlike others it may come back.
MISSING = "missing"
# Source of the metadata that the build of an sdist gave.
BUILT = "built"


class Dependency(NamedTuple):
    """One `Requires-Dist` line whose marker holds: `name[extras]specifier`; `url` for a direct reference."""

    name: str
    specifier: str = ""
    extras: tuple[str, ...] = ()
    url: str = ""

    def __str__(self) -> str:
        extras = f"[{','.join(self.extras)}]" if self.extras else ""
        return f"{self.name}{extras}{self.specifier}"


class Dependencies(NamedTuple):
    """The dependencies of one release for one marker environment.

    `base` always hold; `extras[x]` are added when extra `x` is requested. `provides` are all extras
    that the release declares (normalised), also those without dependencies. `source` says where the
    metadata came from: `side-file`, `wheel`, `sdist` (static, metadata 2.2+), `sdist-unverified`
    (older PKG-INFO), BUILT, MISSING. `problem` is why the release cannot be used, `""` if it can. `repaired`
    are invalid Requires-Dist lines, of any marker, that were read as what follows the arrow:
    `b (>=1.*) -> b>=1`.
    """

    base: tuple[Dependency, ...]
    extras: Mapping[str, tuple[Dependency, ...]]
    provides: tuple[str, ...] = ()
    source: str = ""
    problem: str = ""
    repaired: tuple[str, ...] = ()

    def of(self, extra: str) -> tuple[Dependency, ...]:
        """The dependencies that extra `extra` adds; `""` for the base ones."""
        return self.base if not extra else self.extras.get(extra, ())
