"""A core in words: what was asked, who needs what, and why the index has nothing that fits."""

from __future__ import annotations

from compatlock.api.why.hidden_words import Obstacles, helpful, hidden_lines, newer_than
from compatlock.api.why.phrases import bound, is_one, needs, requirement, spans
from compatlock.model import core as kinds
from compatlock.model.cuda import MAJORS, majors_within, oldest_driver
from compatlock.model.display import excerpt, listed, printable
from compatlock.model.package import YANKED
from compatlock.model.way_out import NEWER, TARGET
from compatlock.solver.guards import LOCAL_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from compatlock.errors import NoSolution
    from compatlock.index.view import Hidden
    from compatlock.model.core import Core, CoreEdge, Gap
    from compatlock.model.target import Target
    from compatlock.model.way_out import WayOut
    from compatlock.solver.cores import Cores

# More bounds of one package on another than this are told in one line, and so many of them in full.
_LINES = 3
_BOUNDS = 8
_YANKED = 3
# So many extras are named.
_NAMES = 20


def no_solution(
    cores: Cores, target: Target, hidden: Callable[[str], Sequence[Hidden]], ways_out: Sequence[WayOut] = ()
) -> NoSolution:
    """The error that says the shortest core in words, with hints and ways out; the other arguments are those
    of `describe_core`."""
    from compatlock.api.why.hints import hints
    from compatlock.errors import NoSolution

    obstacles = Obstacles(hidden)
    core = cores.cores[0]
    message = describe_core(core, target, obstacles)
    return NoSolution(
        message,
        core=core,
        cores=cores.cores,
        all_cores=cores.complete,
        hints=_untold(hints(core, target, obstacles, loosen=not ways_out), ways_out),
        ways_out=ways_out,
    )


def _untold(hints: Sequence[str], ways_out: Sequence[WayOut]) -> list[str]:
    """The hints that no way out tells."""
    told = [way.accept for way in ways_out if way.kind in (NEWER, TARGET)]
    # A platform or a Python that is known to help is better than one that admits a single release.
    told += [f"`{text.split()[0]} " for text in told if text.startswith("--python-")]
    return [hint for hint in hints if not any(text in hint for text in told)]


def describe_core(core: Core, target: Target, hidden: Callable[[str], Sequence[Hidden]]) -> str:
    """Sentences that a reader can check: what was asked and that it is impossible, a line for each edge
    of the core, then for packages without a fitting candidate what the index has and why it is hidden.

    `hidden(name)` gives the releases of a project that are no candidates (see `api.why.obstacles`); it is
    asked only about packages of the core.
    """
    lines = [_headline(core, target), *edge_lines(core)]
    for gap in core.gaps:
        lines += _gap_lines(gap, core, target, hidden)
    lines += _newer_lines(core, target, hidden)
    return "\n  ".join(printable(line) for line in lines)


def _headline(core: Core, target: Target) -> str:
    asked = [f"`{_asked(edge)}`" for edge in core.roots]
    together = " together" if len(asked) > 1 else ""
    old = [edge for edge in core.edges if edge.origin.startswith(f"{kinds.GUARD} ")]
    if old:
        days = listed(list(dict.fromkeys(edge.origin for edge in old)), "or")
        names = dict.fromkeys([*(edge.on for edge in core.roots), *(edge.on for edge in old)])
        exclude = "exclude each other" if len(names) > 1 else "cannot be installed"
        recent = listed([f"`{name}`" for name in names])
        return f"recent releases ({days}) of {recent} {exclude} for {target}:"
    return f"{listed(asked)} cannot be satisfied{together} for {target}:"


def _asked(edge: CoreEdge) -> str:
    return requirement(edge.on, edge.extras, edge.specifier)


# Edges


def edge_lines(core: Core) -> Iterable[str]:
    """What the statements of a core say, a line for each, or for many bounds on the same package."""
    told: set[tuple[str, str, str]] = set()
    for edge in core.edges:
        key = (edge.package, edge.extra, edge.on)
        if edge.kind != kinds.EDGE:
            yield _line(edge)
            continue
        alike = [e for e in core.edges if e.kind == kinds.EDGE and (e.package, e.extra, e.on) == key]
        if len(alike) <= _LINES:
            yield _line(edge)
        elif key not in told:
            told.add(key)
            yield _merged(alike)


def _line(edge: CoreEdge) -> str:
    who = _who(edge.package, edge.extra, edge.releases)
    what = _asked(edge)
    if edge.kind == kinds.ROOT:
        return f"{edge.origin or 'you'} {'asks' if edge.origin else 'ask'} for {what}"
    if edge.kind == kinds.CONSTRAINT:
        return f"{edge.origin or 'a constraint of yours'} allows only {what}"
    if edge.kind == kinds.EXTRA:
        return _extra_line(edge)
    if edge.kind == kinds.FACT:
        return _fact_line(edge, who)
    if edge.kind == kinds.TARGET:
        return _target_line(edge)
    if edge.kind == kinds.URL:
        return f"{who} {needs(edge.releases)} {edge.on} from {excerpt(edge.detail)}, which no index can serve"
    if edge.kind == kinds.PROBLEM:
        return f"{who} cannot be used: {excerpt(edge.detail, 300)}"
    if edge.origin == kinds.OVERRIDE:
        return f"{who} {needs(edge.releases)} {edge.on}, of which an override of yours allows only {what}"
    return f"{who} {needs(edge.releases)} {what}"


def _who(package: str, extra: str, releases: Sequence[str]) -> str:
    return f"{requirement(package, (extra,) if extra else ())} {spans(releases)}"


def _merged(alike: Sequence[CoreEdge]) -> str:
    """Many bounds on the same dependency in one line, those of the oldest releases first."""
    from packaging.version import Version

    alike = sorted(alike, key=lambda e: Version(e.releases[0].split()[0]))
    first = alike[0]
    texts = list(dict.fromkeys(f"`{bound(e.specifier) or 'any'}`" for e in alike))
    count = len(texts)
    if count > _BOUNDS:
        half = _BOUNDS // 2
        texts = [*texts[:half], f"{count - 2 * half} more", *texts[-half:]]
    who = _who(first.package, first.extra, first.among)
    extras = requirement("", sorted({x for e in alike for x in e.extras}))
    return f"{who} need {first.on}{extras} within, depending on the release, {listed(texts, 'or')}"


def _extra_line(edge: CoreEdge) -> str:
    extra = edge.extras[0]
    has = "has" if is_one(edge.releases) else "have"
    newest = edge.releases[-1].split()[-1]
    offers = f"{newest} has {_some(edge.offers)}" if edge.offers else f"{newest} has none at all"
    return f"{edge.on} {spans(edge.releases)} {has} no extra `{extra}`; {offers}"


def _some(names: Sequence[str]) -> str:
    """Names as a list; of very many only the first."""
    return listed(
        names if len(names) <= _NAMES else [*names[: _NAMES - 1], f"{len(names) - _NAMES + 1} more"]
    )


def _target_line(edge: CoreEdge) -> str:
    """What the target runs, and what it would take to run the next CUDA."""
    newest = majors_within(edge.specifier)[0]
    following = MAJORS[MAJORS.index(newest) - 1]
    takes = f"CUDA {following} needs driver {oldest_driver(following)} or newer"
    who = "the target" if edge.origin.startswith("CUDA") else edge.origin
    return f"{who} runs CUDA {newest}.x at most; {takes}"


def _fact_line(edge: CoreEdge, who: str) -> str:
    if edge.origin == LOCAL_VERSION:
        return excerpt(edge.detail, 300)
    summary = f"{excerpt(edge.detail, 300)} (known fact `{edge.origin}`)"
    if not edge.releases:
        return summary
    return f"{who} {needs(edge.releases)} {_asked(edge)}, though it is not declared: {summary}"


# Packages of which nothing fits


def _gap_lines(
    gap: Gap, core: Core, target: Target, hidden: Callable[[str], Sequence[Hidden]]
) -> Iterable[str]:
    name = gap.package
    if not gap.found:
        yield f"the index has no project `{name}`"
        return
    fitting = helpful(core, name, hidden(name))
    if not gap.newest and not gap.gated:
        yield f"no release of {name} can be used for {target}"
        fitting = fitting or list(hidden(name))
    else:
        for specifier in gap.specifiers:
            yield _unmet_line(gap, specifier, hidden(name), fitting)
    yield from hidden_lines(name, fitting, target)
    yield from _gated_lines(gap, hidden(name))


def _unmet_line(gap: Gap, specifier: str, hidden: Sequence[Hidden], fitting: Sequence[Hidden]) -> str:
    newer = newer_than([gap.newest], hidden) if gap.newest else []
    usable = "usable " if fitting else ""
    line = f"no {usable}release of {gap.package} is {bound(specifier)}"
    if gap.newest:
        line += f"; the newest {'usable one ' if newer else ''}is {gap.newest}"
    return line + (f", the newest of all {newer[0].version}" if newer else "")


def _gated_lines(gap: Gap, hidden: Sequence[Hidden]) -> Iterable[str]:
    prereleases = [version for version, gate in gap.gated if gate != YANKED]
    if len(prereleases) == 1:
        yield f"{gap.package} {prereleases[0]} is left out: it is a pre-release and nothing asks for one"
    elif prereleases:
        yield (
            f"{len(prereleases)} pre-releases of {gap.package} up to {prereleases[0]} are left out: "
            "nothing asks for one"
        )
    reasons = {h.version: h.detail for h in hidden if h.reason == YANKED}
    yanked = [version for version, gate in gap.gated if gate == YANKED]
    for version in yanked[:_YANKED]:
        because = f" ({excerpt(reasons[version])})" if reasons.get(version) else ""
        yield f"{gap.package} {version} is left out: it was yanked{because}, and only an exact pin admits it"
    if yanked[_YANKED:]:
        yield f"{len(yanked) - _YANKED} older yanked releases of {gap.package} are left out too"


def _newer_lines(core: Core, target: Target, hidden: Callable[[str], Sequence[Hidden]]) -> Iterable[str]:
    """Hidden releases that might resolve the contradiction between packages that have candidates."""
    gaps = {gap.package for gap in core.gaps}
    for name in dict.fromkeys(edge.on for edge in core.edges if edge.on and edge.on not in gaps):
        yield from hidden_lines(name, helpful(core, name, hidden(name)), target)
