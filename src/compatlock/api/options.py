"""Everything that a lock can be asked for with."""

from __future__ import annotations

import os

from compatlock.model.display import quote, without_credentials
from compatlock.model.index import Indexes
from compatlock.model.lock import OlderPin
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.requirement import Requirement
from compatlock.model.target import Target
from compatlock.model.waiver import EdgeOverride, Exclusion, Waiver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class LockOptions(NamedTuple):
    """The options of `compatlock.lock` and of `compatlock lock`, by their names there.

    requirements:     requirement strings; files: requirements files (`-` is standard input), pyproject.toml
                      and setup.cfg files and scripts (PEP 723); constraints: constraints files
    extras, groups, all_extras, all_groups, only_groups: what of pyproject.toml files is wanted beside the
                      project's dependencies
    profiles:         names or files of profiles
    target:           what to lock for; empty fields fall back to the profile's, then to the running
                      interpreter and platform
    targets:          what to lock for instead, all together: `PYTHON@PLATFORM`, `PYTHON` or `PLATFORM` each;
                      universal: the usual platforms, over the Pythons that pyproject.toml files allow
    indexes:          the package indexes; the public one unless given
    exclude_newer:    files uploaded after this time do not exist (timestamp or date; `none`: no cut, whatever
                      files say)
    prerelease:       one of `model.policy.PRERELEASE_MODES`, the first unless said otherwise
    exclude_newer_package, prerelease_package: what holds for one package instead (`PKG=...`)
    allow_yanked:     packages whose yanked releases count as any other (`:all:`); no_yanked: those of all
                      others may not even be pinned
    allow_builds:     packages whose sdists may be built for their metadata, on this machine (`:all:`); those
                      that are named, also in the place of wheels for other platforms
    no_binary, only_binary: packages whose wheels, or whose sdists, may not be used (`:all:`)
    cert:             a PEM file with further certificate authorities
    timeout:          seconds of every wait for a server
    offline:          ask nothing of the network; refresh: ask again, whatever the cache believes
    snapshot:         a recorded snapshot (`compatlock snapshot`) that answers instead of an index
    cache_dir:        where the cache lives; `""` is the user's cache folder; cache False keeps it in memory
    facts:            further facts files; shipped_facts and soft_facts switch those off
    prefer:           packages whose own lag goes before that of the roots
    waivers:          edges whose bounds may be waived when needed; waive: more of them, as text (`a -> b`,
                      `a[x] -> b`, `a -> b>=1`); no_waivers refuses those of profiles, auto_waive permits
                      the cheapest ones that have evidence and help
    max_lag:          how many days roots and packages named in their extras may be behind (`90d`,
                      `PKG=90d`, `none`); 365 unless said otherwise
    overrides:        bounds that replace every declared one on a package
    exclude_dependencies: edges that are taken away, as text
    older:            `{name: version}` of an older lock that is changed as little as possible
    older_pins:       the same with markers: what an older lock for several targets pins
    audit:            look into the chosen artefacts, learn what breaks, and solve again
    resolution:       `highest`, `lowest`, or `lowest-direct`: the lowest of what is asked for only
    strategy:         `optimal`, or `greedy` for what pip would choose
    """

    requirements: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    all_extras: bool = False
    all_groups: bool = False
    only_groups: bool = False
    profiles: tuple[str, ...] = ()
    target: Target = Target()
    indexes: Indexes = Indexes()
    cert: str = ""
    timeout: float = 30.0
    exclude_newer: str = ""
    prerelease: str = ""
    no_binary: tuple[str, ...] = ()
    only_binary: tuple[str, ...] = ()
    offline: bool = False
    refresh: bool = False
    snapshot: str = ""
    cache_dir: str = ""
    cache: bool = True
    facts: tuple[str, ...] = ()
    shipped_facts: bool = True
    soft_facts: bool = True
    prefer: tuple[str, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    older: dict[str, str] = {}  # noqa: RUF012 - a default that nobody mutates
    strategy: str = "optimal"
    resolution: str = "highest"
    waive: tuple[str, ...] = ()
    no_waivers: bool = False
    auto_waive: bool = False
    max_lag: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    exclude_dependencies: tuple[str, ...] = ()
    audit: bool = False
    targets: tuple[str, ...] = ()
    universal: bool = False
    older_pins: tuple[OlderPin, ...] = ()
    exclude_newer_package: tuple[str, ...] = ()
    prerelease_package: tuple[str, ...] = ()
    allow_yanked: tuple[str, ...] = ()
    no_yanked: bool = False
    allow_builds: tuple[str, ...] = ()

    def command(self) -> str:
        """The command line that asks for the same lock, for its header, without credentials. What cannot
        change the answer (cache, verbosity, output) is left out."""
        return " ".join(quote(without_credentials(word)) for word in self._words())

    def _words(self) -> Iterator[str]:
        yield from ("compatlock", "lock")
        yield from sorted(self.files)
        for option, values in (
            ("--profile", self.profiles),
            ("--requirement", self.requirements),
            ("--constraint", self.constraints),
            ("--extra", self.extras),
            ("--group", self.groups),
            ("--no-binary", self.no_binary),
            ("--only-binary", self.only_binary),
            ("--facts", self.facts),
            ("--waive", (*self.waive, *map(str, self.waivers))),
            ("--max-lag", self.max_lag),
            ("--override", self.overrides),
            ("--exclude-dependency", self.exclude_dependencies),
            ("--target", self.targets),
            ("--exclude-newer", self.exclude_newer_package),
            ("--prerelease", self.prerelease_package),
            ("--allow-yanked", self.allow_yanked),
            ("--allow-builds", self.allow_builds),
        ):
            for value in sorted(values):
                yield from (option, value)
        for value in self.prefer:
            yield from ("--prefer", value)
        for index in self.indexes.extra:
            yield from ("--index", index.written)
        names = {index.name for index in self.indexes.extra}
        for project, index in self.indexes.assigned:
            known = bool(index.name) and index.name in names
            yield from ("--index-for", f"{project}={index.name if known else index.written}")
        for option, text, default in (
            ("--python-version", self.target.python, ""),
            ("--python-platform", self.target.platform, ""),
            ("--cuda", self.target.cuda, ""),
            ("--driver", self.target.driver, ""),
            ("--default-index", self.indexes.default.written, ""),
            ("--exclude-newer", self.exclude_newer, ""),
            ("--prerelease", self.prerelease, ""),
            ("--strategy", self.strategy, "optimal"),
            ("--resolution", self.resolution, "highest"),
            ("--snapshot", self.snapshot, ""),
        ):
            if text != default:
                yield from (option, text)
        for option, given in (
            ("--all-extras", self.all_extras),
            ("--all-groups", self.all_groups),
            ("--only-groups", self.only_groups),
            ("--no-shipped-facts", not self.shipped_facts),
            ("--no-soft-facts", not self.soft_facts),
            ("--no-waivers", self.no_waivers),
            ("--auto-waive", self.auto_waive),
            ("--audit", self.audit),
            ("--universal", self.universal),
            ("--no-yanked", self.no_yanked),
        ):
            if given:
                yield option

    def cache_directory(self) -> str | None:
        """Folder of the cache; None for a cache in memory."""
        if not self.cache:
            return None
        if self.cache_dir:
            return self.cache_dir
        named = os.environ.get("COMPATLOCK_CACHE_DIR")
        if named:
            return named
        from compatlock.api.cache_folder import user_cache_folder

        return user_cache_folder()


class Asked(NamedTuple):
    """Options with what files add to them, and what the files amend: overrides (their markers evaluated),
    bounds of single edges, and edges taken away. `notes` tell what was left out."""

    options: LockOptions
    overrides: tuple[Requirement, ...] = ()
    edge_overrides: tuple[EdgeOverride, ...] = ()
    exclusions: tuple[Exclusion, ...] = ()
    notes: tuple[str, ...] = ()
