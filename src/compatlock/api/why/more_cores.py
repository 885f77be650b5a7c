"""Cores beyond the first in words: what they say that was not said before."""

from __future__ import annotations

from compatlock.api.why.phrases import bound
from compatlock.api.why.words import edge_lines
from compatlock.model.display import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from compatlock.errors import NoSolution
    from compatlock.model.core import Core, Gap

# So many further cores, of so many lines together, are told where nobody asked for them.
_CORES = 2
_LINES = 12


def describe_more_cores(error: NoSolution, *, full: bool = False) -> str:
    """Lines about the cores beyond the first: those statements of each that the first one does not share.
    Where there are many they are only counted, unless `full`. `""` when there is nothing to tell."""
    first, more = error.cores[:1], error.cores[1:]
    if not more:
        return "there is no other contradiction" if full and error.all_cores else ""
    count = f"{len(more)} further contradictions" if len(more) > 1 else "a further contradiction"
    # Where not all were looked for there are probably many.
    at_least = "" if error.all_cores else "at least "
    blocks = [list(_own_lines(core, first[0])) for core in more]
    if not full and (len(more) > _CORES or sum(map(len, blocks)) > _LINES):
        whose = "there are" if len(more) > 1 or at_least else "there is"
        return f"{whose} {at_least}{count}; `compatlock explain` tells {'them' if len(more) > 1 else 'it'}"
    lines = [f"{at_least}{count}:"]
    for number, block in enumerate(blocks, 2):
        head, *rest = block
        lines += [f"  {number}. {head}", *(f"     {line}" for line in rest)]
    return "\n".join(map(printable, lines))


def _own_lines(core: Core, first: Core) -> Iterator[str]:
    told = set(edge_lines(first))
    lines = list(edge_lines(core))
    own = [line for line in lines if line not in told]
    shared = len(lines) - len(own)
    yield from own
    for gap in core.gaps:
        if gap not in first.gaps:
            yield from _gap_lines(gap)
    if shared:
        yield (
            f"together with {shared} of the statements above"
            if shared > 1
            else "together with a statement above"
        )


def _gap_lines(gap: Gap) -> Iterator[str]:
    """What nothing fits. (Why, and what is hidden, is told of the first core only.)"""
    if not gap.found:
        yield f"the index has no project `{gap.package}`"
    elif not gap.newest:
        yield f"no release of {gap.package} can be used"
    else:
        for specifier in gap.specifiers:
            unmet = f"no usable release of {gap.package} is {bound(specifier)}"
            yield f"{unmet}; the newest usable one is {gap.newest}"
