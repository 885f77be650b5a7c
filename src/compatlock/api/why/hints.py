"""What a reader can do about a core."""

from __future__ import annotations

import re

from compatlock.api.why.hidden_words import accepts, fitting_patch, helpful, is_platform
from compatlock.api.why.phrases import requirement
from compatlock.model import core as kinds
from compatlock.model.display import listed
from compatlock.model.package import YANKED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from compatlock.index.view import Hidden
    from compatlock.model.core import Core, CoreEdge, Gap
    from compatlock.model.target import Target

# Where a line of a pyproject.toml stands: file, line, extra or group.
_PART = re.compile(r"(?P<file>.*?)(?::\d+)? \((?P<kind>extra|group) (?P<name>[^()]*)\)\Z")

# Minor versions of Python 3 that may be proposed.
_MINORS = range(8, 17)


def hints(
    core: Core, target: Target, hidden: Callable[[str], Sequence[Hidden]], *, loosen: bool = True
) -> tuple[str, ...]:
    """Ways to get rid of the contradiction; the arguments are those of `words.describe_core`. `loosen` False
    leaves out that lines may be loosened, where a better way out is known."""
    found: list[str] = []
    for edge in core.edges:
        if edge.kind == kinds.EXTRA:
            found += _extra_hints(edge)
    found += _part_hints(core)
    for gap in core.gaps:
        found += _gap_hints(gap)
    for name in dict.fromkeys(edge.on for edge in core.edges if edge.on):
        found += _hidden_hints(name, helpful(core, name, hidden(name)), target)
    if loosen:
        found += _loosen(core)
    return tuple(dict.fromkeys(found))


def _extra_hints(edge: CoreEdge) -> Iterator[str]:
    from difflib import get_close_matches

    for extra in get_close_matches(edge.extras[0], edge.offers, 1):
        yield f"did you mean `{requirement(edge.on, [extra], edge.specifier)}`?"


def _part_hints(core: Core) -> Iterator[str]:
    """Which extras and groups of a project (inputs/pyproject.py writes them into origins) cannot be had
    together."""
    parts: dict[str, dict[str, None]] = {}
    for edge in core.roots:
        if found := _PART.match(edge.origin):
            parts.setdefault(found["file"], {})[f"{found['kind']} `{found['name']}`"] = None
    for file, names in parts.items():
        if len(names) > 1:
            yield f"{listed(sorted(names))} of {file} exclude each other: lock them apart"


def _gap_hints(gap: Gap) -> Iterator[str]:
    name = gap.package
    if not gap.found:
        yield f"check the spelling of `{name}`, or name the index that has it with `--default-index`"
    newest = {gate: version for version, gate in reversed(gap.gated)}
    for gate, version in newest.items():
        if gate == YANKED:
            yield f"the requirement `{name}=={version}` admits the yanked release"
        else:
            yield f"the requirement `{name}>={version}`, or `--prerelease allow`, admits the pre-release"


def _hidden_hints(name: str, releases: Sequence[Hidden], target: Target) -> Iterator[str]:
    """For each reason the easiest change that admits one of the releases (which are newest first)."""
    by_reason: dict[str, list[Hidden]] = {}
    for release in releases:
        by_reason.setdefault(release.reason, []).append(release)
    yield from _platform_hints(name, [*by_reason.get("tags", ()), *by_reason.get("native", ())])
    if native := by_reason.get("native"):
        yield f"`--allow-builds {name}` admits {native[0].version}, which then has to be built from source"
    if python := by_reason.get("python"):
        yield from _python_hints(name, python, target)
    if (dated := by_reason.get("date")) and dated[-1].detail:
        oldest = dated[-1]
        yield f"`--exclude-newer {oldest.detail}` or later admits {name} {oldest.version}"
    for reason, option in (("only-binary", "--only-binary"), ("no-binary", "--no-binary")):
        if reason in by_reason:
            yield f"leave {name} out of `{option}`"


def _platform_hints(name: str, releases: Iterable[Hidden]) -> Iterator[str]:
    found = nearest_platform(releases)
    if found:
        yield f"`--python-platform {found[0]}` admits {name} {found[1]}, if the machine is that new"


def nearest_platform(releases: Iterable[Hidden]) -> tuple[str, str] | None:
    """The lowest floor that admits one of the releases, and which."""
    platforms = [(h.detail, h.version) for h in releases if is_platform(h.detail)]
    return min(platforms, key=lambda pair: floor(pair[0]), default=None)


def floor(platform: str) -> tuple[int, int]:
    """The libc or system version that a platform's name states."""
    from compatlock.model.platforms import parse_platform

    return parse_platform(platform).floor


def _python_hints(name: str, releases: Sequence[Hidden], target: Target) -> Iterator[str]:
    found = nearest_python(releases, target)
    if found:
        yield f"`--python-version {found[0]}` admits {name} {found[1]}"


def nearest_python(releases: Sequence[Hidden], target: Target) -> tuple[str, str] | None:
    """The nearest Python that one of the releases accepts, and which: another patch release, else another
    minor version."""
    minor = target.python_minor[1]
    found: list[tuple[int, str, str]] = []
    for release in releases:
        if patch := fitting_patch(release.detail, target):
            found.append((0, patch, release.version))
        others = (m for m in _MINORS if m != minor and accepts(release.detail, f"3.{m}.0"))
        found += [(abs(other - minor), f"3.{other}", release.version) for other in others]
    if not found:
        return None
    _, python, version = min(found, key=lambda entry: entry[0])
    return python, version


def _loosen(core: Core) -> Iterator[str]:
    lines = [
        f"`{requirement(edge.on, edge.extras, edge.specifier)}`"
        + (f" ({edge.origin})" if edge.origin else "")
        for edge in core.edges
        if edge.kind in (kinds.ROOT, kinds.CONSTRAINT) and edge.specifier
    ]
    if lines:
        yield f"loosen {listed(lines, 'or')}"
