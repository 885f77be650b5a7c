"""Releases that are no candidates: which of them matter to a core, and why they are hidden, in words."""

from __future__ import annotations

from compatlock.model import core as kinds
from compatlock.model.cuda import CUDA
from compatlock.model.display import excerpt
from compatlock.model.package import YANKED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from compatlock.index.view import Hidden
    from compatlock.model.core import Core
    from compatlock.model.target import Target

# Reasons that another target would lift (see `index.view`).
_TARGET_REASONS = frozenset({"python", "tags", "native"})
# So many different reasons are told for a package.
_GROUPS = 3


class Obstacles:
    """Asks about each project once."""

    def __init__(self, hidden: Callable[[str], Sequence[Hidden]]) -> None:
        self._hidden = hidden
        self._known: dict[str, Sequence[Hidden]] = {}

    def __call__(self, name: str) -> Sequence[Hidden]:
        """The hidden releases of a project."""
        if name not in self._known:
            self._known[name] = self._hidden(name)
        return self._known[name]


def helpful(core: Core, name: str, hidden: Sequence[Hidden]) -> list[Hidden]:
    """Hidden releases of a package of the core that fit all of the core's bounds on it. When the core
    speaks of what releases of the package need, then only newer ones, which may need something else, and
    only those that another target admits."""
    if any(e.kind == kinds.FACT and e.package == name and e.on == CUDA for e in core.edges):
        # Releases for a newer CUDA are no way out for a target that does not run it.
        return []
    if any(e.kind == kinds.FACT and e.on == name for e in core.edges):
        # Which of them the fact allows does not stand in the core: nothing is promised.
        return []
    fitting = within(hidden, _bounds(core, name))
    speaks = [e for e in core.edges if e.releases and name == (e.on if e.kind == kinds.EXTRA else e.package)]
    unmet = any(g.package == name and (g.specifiers or not g.newest) for g in core.gaps)
    if unmet or not speaks:
        return fitting
    fitting = [h for h in fitting if h.reason in _TARGET_REASONS]
    return newer_than([e.releases[-1].split()[-1] for e in speaks], fitting)


def newer_than(versions: Sequence[str], hidden: Iterable[Hidden]) -> list[Hidden]:
    """Those that are newer than all the versions, newest first."""
    from packaging.version import Version

    newest = max(map(Version, versions))
    newer = [h for h in hidden if Version(h.version) > newest]
    return sorted(newer, key=lambda h: Version(h.version), reverse=True)


def _bounds(core: Core, name: str) -> list[list[str]]:
    """The bounds on a package: all lists have to be met, each by one of its members."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for edge in core.edges:
        if edge.on == name and edge.kind in (kinds.ROOT, kinds.CONSTRAINT, kinds.EDGE):
            line = "" if edge.package else f"{edge.origin} {edge.specifier}"
            groups.setdefault((edge.package, edge.extra, line), []).append(edge.specifier)
    return list(groups.values())


def within(hidden: Iterable[Hidden], bounds: Iterable[Iterable[str]]) -> list[Hidden]:
    """Those that meet all bounds, newest first."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet
    from packaging.version import Version

    def sets(specifiers: Iterable[str]) -> Iterator[SpecifierSet]:
        for specifier in specifiers:
            try:
                yield SpecifierSet(specifier)
            except InvalidSpecifier:
                continue

    parsed = [list(sets(specifiers)) for specifiers in bounds]
    fitting = [
        h
        for h in hidden
        if all(any(s.contains(h.version, prereleases=True) for s in group) for group in parsed)
    ]
    return sorted(fitting, key=lambda h: Version(h.version), reverse=True)


def hidden_lines(name: str, hidden: Iterable[Hidden], target: Target) -> list[str]:
    """One line for all releases that are hidden for the same reason, newest first, three at most."""
    from packaging.version import Version

    groups: dict[tuple[str, str], list[Hidden]] = {}
    for release in sorted(hidden, key=lambda h: Version(h.version), reverse=True):
        # Yanked releases are candidates, if reluctant ones.
        if release.reason != YANKED:
            # Days of upload differ from release to release; the oldest is the one of interest.
            key = (release.reason, "" if release.reason == "date" else release.detail)
            groups.setdefault(key, []).append(release)
    lines = [_line(name, group, target) for group in list(groups.values())[:_GROUPS]]
    rest = sum(map(len, list(groups.values())[_GROUPS:]))
    if rest:
        lines.append(
            f"{rest} older {'release is' if rest == 1 else 'releases are'} hidden for similar reasons"
        )
    return lines


def _line(name: str, group: Sequence[Hidden], target: Target) -> str:
    """`group` is newest first."""
    newest, oldest = group[0], group[-1]
    one = len(group) == 1
    has, was, it = ("has", "was", "it") if one else ("have", "were", "them")
    who = f"{name} {newest.version}" if one else f"{name} {oldest.version} to {newest.version}"
    if len(group) == 2:
        who = f"{name} {oldest.version} and {newest.version}"
    elif not one:
        who += f" ({len(group)} releases)"
    detail = excerpt(newest.detail)
    nowhere = f"{who} {has} no wheel for {target.platform}"
    built = f"{nowhere} and would have to be built from source"
    sentences = {
        "date": f"{who} {was} uploaded too late for `--exclude-newer`"
        + (f", on {oldest.detail}" if one else f", from {oldest.detail} on" if oldest.detail else ""),
        "undated": f"`--exclude-newer` hides {who}: the index does not say when {it} {was} uploaded",
        "python": f"{who} {'needs' if one else 'need'} Python {detail}, the target has {target.python}"
        + patch_note(newest.detail, target),
        "tags": nowhere + _where(detail),
        "native": built + _where(detail),
        "no-binary": f"{who} {has} no source distribution, and `--no-binary` rules out wheels",
        "only-binary": f"{who} {has} no wheel that fits, and `--only-binary` rules out source distributions",
        "unusable": f"{who} cannot be used: {detail}",
        "pre-release": f"`--prerelease disallow` rules out {who}",
        "no-yanked": f"{who} {was} yanked, and `--no-yanked` rules {it} out",
    }
    return sentences.get(newest.reason, f"{who} cannot be used: {newest.reason} {detail}".rstrip())


def is_platform(detail: str) -> bool:
    """Whether the detail of a hidden release names a platform."""
    return bool(detail) and " " not in detail


def _where(detail: str) -> str:
    if not detail:
        return ""
    return f"; wheels fit from {detail} on" if is_platform(detail) else f"; its wheels are {detail}"


def patch_note(requires_python: str, target: Target) -> str:
    """Says so when only the patch release of the target's Python is excluded."""
    patch = fitting_patch(requires_python, target)
    return f" (its minor version fits: {patch} would do)" if patch else ""


def fitting_patch(requires_python: str, target: Target) -> str:
    """A Python of the target's minor version that satisfies the bound, `""` when there is none."""
    major, minor = target.python_minor
    return next((v for k in range(30) if accepts(requires_python, v := f"{major}.{minor}.{k}")), "")


def accepts(requires_python: str, version: str) -> bool:
    """Whether a Requires-Python includes a Python version."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        return SpecifierSet(requires_python).contains(version)
    except InvalidSpecifier:
        return True
