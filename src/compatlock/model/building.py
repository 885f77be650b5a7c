"""Building an sdist for its metadata: what is to be built, and what came of it."""

from __future__ import annotations

from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from compatlock.model.target import Target

    class Builder(Protocol):
        """Builds sdists, as far as that is permitted; `builds` are those that were made in this run."""

        builds: list[Build]

        def permits(self, project: str, target: Target) -> bool:
            """Whether sdists of a project may be built, and a build here tells what holds for the target."""

        def refusal(self, target: Target) -> str:
            """Why a build here would tell nothing of the target, in words; `""` when it does."""

        def key(self, target: Target) -> str:
            """What the metadata of a build depends on beside the sdist: platform and Python."""

        def build(self, sdist: Sdist, target: Target) -> bytes:
            """The core metadata (METADATA) of the wheel that the sdist makes for the target. Raises
            BuildFailed."""


class Sdist(NamedTuple):
    """A source distribution; `data` is what the index says it is, by its hash."""

    project: str
    version: str
    filename: str
    data: bytes


class Build(NamedTuple):
    """A build that was made: how long it took, what it said, and why it failed, `""` when it did not."""

    project: str
    version: str
    seconds: float
    output: str
    problem: str = ""
