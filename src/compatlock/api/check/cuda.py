"""Whether what somebody has was built for one CUDA, which the target runs."""

from __future__ import annotations

import re
from collections import Counter

from compatlock.model import report as kinds
from compatlock.model.cuda import MAJORS, majors_within
from compatlock.model.report import Discrepancy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from compatlock.api.check.rules import Held
    from compatlock.model.request import Request

_LOCAL = r"(?<![a-z])cu(1\d)"


def cuda_findings(
    held: Mapping[str, Held], request: Request, holds: Callable[[str, str], bool]
) -> Iterator[Discrepancy]:
    """A finding for each package that the target's CUDA, or that of most other packages, rules out.

    `holds(specifier, version)` says whether a version is within a specifier. Which index a package is from
    is not known here: without a local version it is taken for the default one.
    """
    built_for = {name: _built_for(held[name], request, holds) for name in sorted(held)}
    bound = {name: majors for name, majors in built_for.items() if majors != MAJORS}
    target = request.target.cuda_majors
    if any(all(major in majors for majors in bound.values()) for major in target):
        return
    foreign = [name for name, majors in bound.items() if majors and set(majors).isdisjoint(target)]
    for name in foreign:
        cuda = _cuda(bound[name])
        runs = f"the target runs CUDA {target[0]} at most ({request.target.cuda_origin})"
        text = f"{_who(held[name])} is built for {cuda}, and {runs}"
        yield _finding(held[name], request, holds, text, cuda)
    if not foreign:
        yield from _mixed(held, bound, request, holds)


def _mixed(
    held: Mapping[str, Held],
    bound: Mapping[str, tuple[str, ...]],
    request: Request,
    holds: Callable[[str, str], bool],
) -> Iterator[Discrepancy]:
    """A finding for each package that was not built for the CUDA of most; torch's goes before others."""
    counts = Counter(major for majors in bound.values() for major in majors)
    usual = max(MAJORS, key=lambda major: (major in bound.get("torch", ()), counts[major]))
    other = "torch" if usual in bound.get("torch", ()) else next(n for n, m in bound.items() if usual in m)
    for name, majors in bound.items():
        if usual not in majors:
            text = f"{_who(held[name])} is built for {_cuda(majors)}, {_who(held[other])} for CUDA {usual}"
            finding = _finding(held[name], request, holds, text, _cuda(majors))
            yield finding._replace(on=other, found=held[other].version)


def _built_for(item: Held, request: Request, holds: Callable[[str, str], bool]) -> tuple[str, ...]:
    local = item.version.partition("+")[2]
    if local:
        match = re.search(_LOCAL, local)
        return (match[1],) if match is not None else MAJORS
    if not item.version:
        return MAJORS
    facts = (fact for fact in request.facts if fact.kind == "cuda" and fact.package == item.name)
    rows = [row for fact in facts for row in fact.bounds if holds(row.versions, item.version)]
    return tuple(major for major in MAJORS if all(major in majors_within(row.bound) for row in rows))


def _finding(
    item: Held, request: Request, holds: Callable[[str, str], bool], text: str, needs: str
) -> Discrepancy:
    facts = [
        fact
        for fact in request.facts
        if fact.kind == "cuda"
        and fact.package == item.name
        and "+" not in item.version
        and any(holds(row.versions, item.version) for row in fact.bounds)
    ]
    return Discrepancy(
        kinds.FACT,
        kinds.ERROR,
        item.name,
        item.version,
        text,
        needs=needs,
        remarks=tuple(f"{fact.summary} (fact {fact.id})" for fact in facts),
        facts=tuple(fact.id for fact in facts),
        hints=tuple(f"`compatlock conflicts show {fact.id}` tells the evidence" for fact in facts),
    )


def _who(item: Held) -> str:
    return f"{item.name} {item.version}"


def _cuda(majors: tuple[str, ...]) -> str:
    return f"CUDA {' or '.join(majors)}" if majors else "no CUDA that is known"
