"""One requirement line, parsed."""

from __future__ import annotations

from compatlock.model.named_tuple import NamedTuple
from compatlock.model.names import normalise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from packaging.requirements import Requirement as Parsed

# Origins of lines that are not the user's to move: the guard against old answers (with its limit), and the
# version that a question is about.
GUARD = "--max-lag"
QUESTION = "the question"


class Requirement(NamedTuple):
    """A bound on one project (PEP 508), with where it was written.

    `name` is normalised, `specifier` is the comma-joined version specifier (`""` is any version),
    `extras` are normalised and sorted, `marker` and `url` are their text or `""`. `origin` says where
    the line stands, for messages: `requirements.in:3`, `profile async-grpo`, `--requirement`.
    """

    name: str
    specifier: str = ""
    extras: tuple[str, ...] = ()
    marker: str = ""
    url: str = ""
    origin: str = ""

    def __str__(self) -> str:
        extras = f"[{','.join(self.extras)}]" if self.extras else ""
        where = f" @ {self.url}" if self.url else ""
        marker = f" ; {self.marker}" if self.marker else ""
        return f"{self.name}{extras}{self.specifier}{where}{marker}"


def requirement_of(parsed: Parsed, origin: str) -> Requirement:
    """Return what packaging parsed, which names no URL; `origin` says where it was written."""
    return Requirement(
        name=normalise(parsed.name),
        specifier=str(parsed.specifier),
        extras=tuple(sorted({normalise(extra) for extra in parsed.extras})),
        marker=str(parsed.marker) if parsed.marker is not None else "",
        origin=origin,
    )
