"""Why there is no solution: one minimal set of statements that contradict each other."""

from __future__ import annotations

from compatlock.model.named_tuple import NamedTuple
from compatlock.model.requirement import GUARD as GUARD
from compatlock.model.requirement import QUESTION as QUESTION

# Kinds of statements.
ROOT = "root"  # the user asks for `on`
CONSTRAINT = "constraint"  # the user bounds `on`, should it be installed
EXTRA = "extra"  # the user asks for an extra of `on` that `releases` of it lack
EDGE = "edge"  # `releases` of `package` (or an extra of it) need `on`
URL = "url"  # the same, as a direct reference, which no index can serve
FACT = "fact"  # a known fact about `package` and `on`; for an undeclared dependency also about `releases`
TARGET = "target"  # the target runs only versions of CUDA (`on`) within `specifier`
PROBLEM = "problem"  # `releases` of `package` cannot be used at all

OVERRIDE = "override"


class CoreEdge(NamedTuple):
    """One statement of a core; dropping any one of them removes the contradiction.

    `releases` are those releases of `package` (of `on` for kind EXTRA) that the statement is about and that
    the statements before it leave: versions and ranges of candidates, oldest first, such as `0.7.1 to
    0.8.0`; empty for the user's lines and for facts that speak of bounds themselves. `among` are the
    releases of all edges of the core that bind `package` (and `extra`) to `on`, if there are several.
    `origin` says where the user's line stands, is the id of a fact, OVERRIDE for an edge whose bound the user
    has replaced, or says what the target runs (`driver 570`). `detail` is the fact's summary, the problem, or
    the URL; `offers` are the extras that the newest of `releases` has instead (EXTRA).
    """

    kind: str
    package: str = ""
    extra: str = ""
    on: str = ""
    specifier: str = ""
    extras: tuple[str, ...] = ()
    origin: str = ""
    releases: tuple[str, ...] = ()
    detail: str = ""
    offers: tuple[str, ...] = ()
    among: tuple[str, ...] = ()


class Gap(NamedTuple):
    """A package of the core that has no candidate where one is needed.

    found:     whether the index knows the project at all
    newest:    version of the newest candidate, `""` when the target has none
    specifiers: bounds of the core that no candidate satisfies
    gated:     candidates that would have to be asked for, newest first, each with `pre-release` or `yanked`
    """

    package: str
    found: bool = True
    newest: str = ""
    specifiers: tuple[str, ...] = ()
    gated: tuple[tuple[str, str], ...] = ()


class Core(NamedTuple):
    """A minimal unsatisfiable set of statements, parents before children, and the gaps that it rests on."""

    edges: tuple[CoreEdge, ...]
    gaps: tuple[Gap, ...] = ()

    @property
    def roots(self) -> tuple[CoreEdge, ...]:
        """The user's requirements among the statements."""
        return tuple(edge for edge in self.edges if edge.kind == ROOT)
