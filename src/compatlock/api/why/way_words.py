"""Ways out in words."""

from __future__ import annotations

from compatlock.api.why.phrases import bound
from compatlock.model.display import counted, excerpt, listed, printable
from compatlock.model.way_out import ACCEPT_LAG, MOVE, NEWER, SPLIT, TARGET, WAIVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from compatlock.model.way_out import BrokenEdge, WayOut

# So many pins, and so many broken bounds, are told.
_PINS = 8
_BREAKS = 6


def describe_ways_out(ways: Sequence[WayOut]) -> str:
    """Lines for people: what to do, what it gives, and what it breaks; `""` when there is none."""
    if not ways:
        return ""
    lines = ["ways out, the best first:" if len(ways) > 1 else "a way out:"]
    for number, way in enumerate(ways, 1):
        first, *rest = way_lines(way)
        lines.append(f"  {number}. {first}")
        lines += [f"     {line}" for line in rest]
    return "\n".join(printable(line) for line in lines)


def way_lines(way: WayOut) -> Iterator[str]:
    """One way out: the change, then what it gives, breaks and rests on."""
    yield _change(way)
    yield f"gives {_pins(way)}{_lag(way)}"
    for edge in way.breaks[:_BREAKS]:
        yield f"breaks {_broken(edge)}"
        for evidence in edge.evidence:
            yield f"  {excerpt(evidence.text, 300)}"
    if way.breaks[_BREAKS:]:
        yield f"and breaks {len(way.breaks) - _BREAKS} more bounds"
    if way.smallest:
        yield "proved: nothing cheaper suffices"


def _change(way: WayOut) -> str:
    note = f" ({way.note})" if way.note else ""
    if way.kind == MOVE and way.replaces and not way.accept.startswith("without"):
        return f"write `{way.accept}` instead of `{way.replaces}`{note}"
    if way.kind == MOVE:
        return f"{way.accept}{note}"
    if way.kind == ACCEPT_LAG:
        note = " (accepts how old it is; `--max-lag none` accepts any age)"
    if way.kind == WAIVE and not way.has_evidence:
        note += ", without evidence"
    words = way.accept if way.kind in (NEWER, SPLIT, TARGET) and "`" in way.accept else f"`{way.accept}`"
    return words + note


def _pins(way: WayOut) -> str:
    shown = [f"{name} {version}" for name, version in way.pins[:_PINS]]
    more = len(way.pins) - len(shown)
    return listed([*shown, f"{more} more"] if more else shown)


def _lag(way: WayOut) -> str:
    if not way.worst_lag:
        return ""
    return f" (a root is {counted(way.worst_lag, 'day')} behind)"


def _broken(edge: BrokenEdge) -> str:
    extra = f"[{edge.extra}]" if edge.extra else ""
    return f"{edge.package}{extra} {edge.version} needs {edge.on}{bound(edge.specifier)}, gets {edge.pinned}"
