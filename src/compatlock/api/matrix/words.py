"""Why a cell is impossible, in a sentence."""

from __future__ import annotations

from compatlock.api.why.words import describe_core, edge_lines
from compatlock.model.core import EDGE, ROOT, Core
from compatlock.model.display import excerpt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from compatlock.index.view import Hidden
    from compatlock.model.target import Target

# So long a reason may be, in characters.
_LENGTH = 600


def reason_of(core: Core, target: Target, hidden: Callable[[str], Sequence[Hidden]]) -> str:
    """The statements of a core, and what the index has of packages of which nothing fits. Left out is what
    every cell asks for: packages without a bound. `hidden` is that of `describe_core`."""
    plain = [edge for edge in core.edges if edge.kind == ROOT and not edge.specifier and not edge.extras]
    known = set(edge_lines(Core(tuple(plain))))
    lines = describe_core(core, target, hidden).split("\n  ")[1:]
    return excerpt("; ".join(line for line in lines if line not in known), _LENGTH)


def may_be_waived(core: Core) -> bool:
    """Whether the core has an edge, which a waiver could be for; what facts and the user say always holds."""
    return any(edge.kind == EDGE for edge in core.edges)
