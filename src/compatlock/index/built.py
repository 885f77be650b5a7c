"""The metadata of an sdist from its build."""

from __future__ import annotations

from compatlock.errors import BuildFailed
from compatlock.index.metadata import parse_metadata
from compatlock.model.dependencies import BUILT
from compatlock.model.metadata import Metadata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compatlock.model.building import Builder, Sdist
    from compatlock.model.target import Target


def build(builder: Builder, target: Target, sdist: Sdist) -> Metadata:
    """Build an sdist for its metadata; a build that fails is a `problem`."""
    try:
        return parse_metadata(builder.build(sdist, target), BUILT)
    except BuildFailed as error:
        return Metadata(source=BUILT, problem=f"it cannot be built: {error.message}")
