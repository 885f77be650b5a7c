"""What input files ask for besides their lines, under what the run itself says."""

from __future__ import annotations

from compatlock.api.options import Asked
from compatlock.api.policies import with_policies
from compatlock.errors import InputError
from compatlock.inputs.requirement_line import parse_requirements
from compatlock.model.index import Indexes, PackageIndex, parse_index
from compatlock.model.names import normalise
from compatlock.model.waiver import EdgeOverride, Exclusion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence

    from compatlock.api.options import LockOptions
    from compatlock.inputs.file_settings import FileIndex, FileSettings, ScopedEdge
    from compatlock.model.requirement import Requirement

_IGNORED_EXTRAS = (
    "{}: the extras of {}[{}] are ignored: an override is about versions, the extras stay those asked for"
)


def under_options(
    options: LockOptions,
    settings: FileSettings,
    holds: Callable[[str], bool],
    memo: MutableMapping[str, str] | None = None,
) -> Asked:
    """Return what files ask for, where the run's own options (and the environment) do not say otherwise.
    `holds` evaluates a marker for the target.

    Raises InputError for indexes and requirements that cannot be used, and for several default indexes.
    """
    notes: list[str] = []
    indexes = _indexes(options.indexes, settings, holds, notes)
    prerelease = options.prerelease
    if settings.prereleases:
        if not prerelease:
            prerelease = "allow"
        elif prerelease != "allow":
            notes += (
                f"{origin}: `--pre` is left out: the run says `--prerelease {prerelease}`"
                for origin in settings.prereleases
            )
    changed = with_policies(options._replace(prerelease=prerelease), settings.policies)._replace(
        indexes=indexes,
        no_binary=(*options.no_binary, *settings.no_binary),
        only_binary=(*options.only_binary, *settings.only_binary),
    )
    overrides, edges, void = _overrides(settings.overrides, holds, memo, notes)
    return Asked(
        changed,
        tuple(overrides),
        tuple(edges),
        tuple(sorted({*_exclusions(settings.exclusions), *void})),
        tuple(notes),
    )


# Indexes


def _indexes(
    given: Indexes, settings: FileSettings, holds: Callable[[str], bool], notes: list[str]
) -> Indexes:
    named = {index.name: index for index in (*given.extra, given.default) if index.name}
    read = [(each, _index(each)) for each in settings.indexes]
    for each, index in read:
        if each.name:
            named.setdefault(each.name, index)
    default = _default(given.default, [(each, index) for each, index in read if each.default], notes)
    assigned = dict(given.assigned)
    for project, name, origin, marker in settings.assigned:
        if name not in named:
            raise InputError(f"{origin}: no index is called `{name}`", hints=["name it in [[tool.uv.index]]"])
        if project in dict(given.assigned):
            notes.append(f"{origin}: the index of {project} is that of `--index-for`")
        elif not marker or holds(marker):
            assigned[project] = named[name]
    further = [index for each, index in read if not each.default and not each.explicit]
    only = [index for index in further if index in assigned.values()]
    notes += (
        f"the index {index.shown} is asked only for the packages that are assigned to it"
        for index in dict.fromkeys(only)
    )
    extra = dict.fromkeys((*given.extra, *further))
    pairs = tuple(sorted(assigned.items(), key=lambda pair: pair[0]))
    return Indexes(default, tuple(extra), pairs)


def _index(each: FileIndex) -> PackageIndex:
    index = parse_index(each.url, each.origin)
    return index._replace(name=each.name) if each.name else index


def _default(
    given: PackageIndex, asked: Sequence[tuple[FileIndex, PackageIndex]], notes: list[str]
) -> PackageIndex:
    """The default index: the run's own, else the one that the files name."""
    if given.url:
        notes += (
            f"{each.origin}: the index {index.shown} is left out: the run's default index is {given.shown}"
            for each, index in asked
            if index.url != given.url
        )
        return given
    different = {index.url: (each, index) for each, index in reversed(asked)}
    if len(different) > 1:
        places = ", ".join(sorted(each.origin for each, _ in different.values()))
        raise InputError(
            f"the files name several default indexes ({places})",
            hints=["decide with `--default-index URL`; further ones are named with `--extra-index-url`"],
        )
    return asked[0][1] if asked else given


# Amended dependencies


def _overrides(
    asked: Iterable[ScopedEdge],
    holds: Callable[[str], bool],
    memo: MutableMapping[str, str] | None,
    notes: list[str],
) -> tuple[list[Requirement], list[EdgeOverride], list[Exclusion]]:
    """The overrides of every bound on a package, and those of single edges; and, as in uv, what is overridden
    but under markers that do not hold is not needed at all."""
    asked = list(asked)
    parsed = parse_requirements([(each.text, each.origin) for each in asked], memo)
    by_edge: dict[tuple[str, str, str], list[Requirement]] = {}
    for each, override in zip(asked, parsed, strict=True):
        if override.extras:
            notes.append(_IGNORED_EXTRAS.format(override.origin, override.name, ",".join(override.extras)))
        by_edge.setdefault((each.package, override.name, each.version), []).append(override)
    everywhere: list[Requirement] = []
    edges: list[EdgeOverride] = []
    void: list[Exclusion] = []
    for (package, on, version), overrides in by_edge.items():
        held = [each for each in overrides if not each.marker or holds(each.marker)]
        bounds = ",".join(sorted({each.specifier for each in held if each.specifier}))
        if not held:
            void.append(Exclusion(package, on, version=version))
        elif package:
            edges.append(EdgeOverride(package, on, bounds, version))
        else:
            everywhere.append(held[0]._replace(specifier=bounds, extras=(), marker=""))
    return sorted(everywhere), sorted(edges), void


def _exclusions(asked: Iterable[ScopedEdge]) -> Iterator[Exclusion]:
    for each in asked:
        yield Exclusion(each.package, normalise(each.text), version=each.version)
