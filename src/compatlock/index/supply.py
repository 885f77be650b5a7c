"""Answers what the solver needs: from the store when it can, from the network when it must.

What is missing is fetched in one concurrent batch and taken into the store and the universe.
"""

from __future__ import annotations

import time

from compatlock.errors import NotCached
from compatlock.index.holdings import CacheChanged, Holdings
from compatlock.index.indexes import index_set_of, request_key
from compatlock.index.stored_edges import decode_dependencies
from compatlock.model.dependencies import MISSING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from compatlock.index.indexes import IndexSet
    from compatlock.index.lazy_network import LazyNetwork
    from compatlock.index.prefetch import UnderWay
    from compatlock.index.store import Store
    from compatlock.model.building import Builder, Sdist
    from compatlock.model.dependencies import Dependencies
    from compatlock.model.listing import Listing
    from compatlock.model.metadata import Metadata
    from compatlock.model.package import Package
    from compatlock.model.policy import Policy
    from compatlock.model.requirement import Requirement
    from compatlock.model.target import Target

__all__ = ["FRESH_SECONDS", "CacheChanged", "IndexChanged", "Supply"]

# How long a listing is believed without asking again, in seconds (what the public index itself allows).
FRESH_SECONDS = 600


class IndexChanged(CacheChanged):
    """The index says something newer than what a run believed from the cache: the run has to begin again."""


class Supply(Holdings):
    """The universe of one index, or of several, for one target and policy.

    `network` None means offline: a missing listing or metadata raises NotCached. With `refresh`, listings of
    earlier runs are not believed. What is already held costs nothing; `fetched_listings` and
    `fetched_metadata` count what had to be fetched.
    """

    def __init__(
        self,
        store: Store,
        source: str | IndexSet,
        target: Target,
        policy: Policy,
        network: LazyNetwork | None,
        now: int | None = None,
        *,
        refresh: bool = False,
        builder: Builder | None = None,
    ) -> None:
        indexes = index_set_of(source) if isinstance(source, str) else source
        now = int(time.time()) if now is None else now
        max_age = None if network is None else 0 if refresh else FRESH_SECONDS
        super().__init__(store, indexes, target, policy, now, max_age)
        self._network = network
        self._refresh = refresh
        self._builder = builder
        self._under_way: UnderWay | None = None
        # The releases of which it is settled whether they are built.
        self._settled: set[tuple[str, int]] = set()
        # What the user asks for: it is not read here, but tells what is worth to be fetched along.
        self.expected: tuple[Requirement, ...] = ()
        # To be called with what the run goes on to, for who watches it.
        self.tell: Callable[[str], None] = lambda _stage: None
        self.fetched_listings = 0
        self.fetched_metadata = 0

    @property
    def builder(self) -> Builder | None:
        """What builds sdists, if anything may."""
        return self._builder

    def under(self, *, target: Target | None = None, policy: Policy | None = None) -> Supply:
        """The same index for another target or policy."""
        other = Supply(
            self._store,
            self.indexes,
            target or self.target,
            policy or self.policy,
            self._network,
            self._now,
            refresh=self._refresh,
            builder=self._builder,
        )
        other.expected = self.expected
        return other

    def package(self, name: str) -> Package:
        """One package; see `packages`."""
        return self._packages.get(name) or self.packages([name])[name]

    def packages(self, names: Iterable[str]) -> dict[str, Package]:
        """The named packages as the target sees them; a project that the index does not know has no
        candidates. Raises NotCached when offline, IndexUnavailable when the index cannot be asked."""
        wanted = list(dict.fromkeys(names))
        missing = self.missing_packages(wanted)
        if missing:
            self.fetch(missing, ())
        return {n: self._packages[n] for n in wanted}

    def dependencies(self, releases: Iterable[tuple[str, int]]) -> dict[tuple[str, int], Dependencies]:
        """Dependencies of candidates `(package, index)`. Raises as `packages` does."""
        wanted = list(dict.fromkeys(releases))
        missing = self.missing_dependencies(wanted)
        if missing:
            self.fetch((), missing)
        if self._builder is not None:
            self._settle(wanted, self._builder)
        return {r: self._dependencies[r] for r in wanted}

    def release(self, name: str, index: int) -> Dependencies:
        """Dependencies of one candidate; see `dependencies`."""
        known = self._dependencies.get((name, index)) if self._builder is None else None
        return known if known is not None else self.dependencies([(name, index)])[name, index]

    # Builds

    def to_be_built(self, releases: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
        """Those of the candidates that were read, and of which only a build would tell with certainty what
        they need."""
        return [
            (name, index)
            for name, index in releases
            if (name, index) in self._dependencies
            and _is_uncertain(self._dependencies[name, index])
            and not self.file_of(name, index).filename.endswith(".whl")
        ]

    def _take_build(
        self, release: tuple[str, int], builds_key: str, metadata: Metadata | None = None
    ) -> bool:
        """Let the metadata that a build gave, now or (None) in an earlier run, speak for a candidate. Whether
        there is any."""
        name, index = release
        source = self.source_of(name)
        key = f"{self._packages[name].file_keys[index]}/{builds_key}"
        if metadata is not None:
            self._store.put_metadata(source, key, metadata)
            known: Dependencies | None = self._compile(source, key, metadata)
        else:
            row = self._store.edges(source, self.target.key, [key]).get(key)
            known = decode_dependencies(row) if row is not None else self._compile_stored(source, key)
        if known is None:
            return False
        self._built[release] = key
        self._dependencies[release] = known
        return True

    def _settle(self, releases: Iterable[tuple[str, int]], builder: Builder) -> None:
        """Build those of the releases that have to be and may be. Of one that cannot be built, what its sdist
        says stays: it may be built elsewhere, or in an environment that has more."""
        unsettled = [release for release in releases if release not in self._settled]
        self._settled.update(unsettled)
        for release in self.to_be_built(unsettled):
            name, index = release
            if not builder.permits(name, self.target):
                continue
            key = f"built-{builder.key(self.target)}"
            if not self._take_build(release, key):
                from compatlock.index.built import build

                metadata = build(builder, self.target, self._sdist(name, index))
                known = self._dependencies[release]
                if not metadata.problem:
                    self._take_build(release, key, metadata)
                elif known.problem:
                    problem = f"{known.problem}, and {metadata.problem}"
                    self._dependencies[release] = known._replace(problem=problem)
        self._store.flush()

    def _sdist(self, name: str, index: int) -> Sdist:
        if self._network is None:
            raise NotCached(
                f"offline, and the cache holds no build of {self._release_text(name, index)}",
                hints=["run once without `--offline`, or leave `--allow-builds` out"],
            )
        from compatlock.model.building import Sdist

        file = self.file_of(name, index)
        data = self._network.download(self.request_key(name), file)
        return Sdist(name, self._packages[name].versions[index], file.filename, data)

    def confirm(self, names: Iterable[str]) -> None:
        """Ask the index again about those of the packages that an earlier run asked it about: before it is
        said that there is no answer. Raises IndexChanged when it says something else now."""
        asked = [name for name in names if name in self._believed] if self._network is not None else []
        if not asked:
            return
        before = {name: self._digests[name] for name in asked}
        self.fetch(asked, ())
        self._believed.difference_update(asked)
        if any(self._digests[name] != digest for name, digest in before.items()):
            self.save()
            raise IndexChanged("the index changed meanwhile", hints=["run again"])

    # Fetching

    def fetch(self, names: Iterable[str], releases: Iterable[tuple[str, int]]) -> None:
        """Fetch listings and metadata in one concurrent batch, and have the network go on with what is very
        likely asked for next (see `prefetch.Batch`)."""
        names, releases = list(names), list(releases)
        if self._network is None:
            what = names[0] if names else self._release_text(*releases[0])
            raise NotCached(
                f"offline, and the cache holds nothing about {what}",
                hints=["run once without `--offline`, with the same target and index"],
            )
        from compatlock.index.prefetch import Batch, UnderWay

        self._network.judge_for(self.target, self.policy)
        if self._under_way is None:
            self._under_way = UnderWay()
        batch = Batch(self, self._under_way)
        while True:
            self._network.fetch(
                *batch.want(names, releases),
                on_listing=batch.on_listing,
                on_metadata=batch.on_metadata,
                until=batch.is_complete,
            )
            if batch.is_complete():
                break
            # Another fetch failed, with which all was given up that was under way.
            self._under_way.clear()
        self._store.flush()

    def _release_text(self, name: str, index: int) -> str:
        return f"{name} {self._packages[name].versions[index]}"

    def is_elsewhere(self, name: str) -> bool:
        """Whether a package is from another index than the default one."""
        return self.index_of(name) != self.indexes.default

    def request_key(self, name: str) -> str:
        """How a request to the network names a package."""
        return request_key(name, self._position(name))

    def etag(self, name: str) -> str:
        """Entity tag of the stored listing."""
        return self._store.etag(self.source_of(name), name)

    def take_listing(self, name: str, listing: Listing | None, etag: str) -> bool:
        """Take the answer of the index that was asked for a project (None: unchanged) into the store and the
        universe. Whether that settles it: not if another index is to be asked."""
        self.fetched_listings += 1
        source = self.source_of(name)
        if listing is None:
            self._store.touch_listing(source, name, self._now)
            row = self._look(source, [name]).get(name)
            if row is None:
                raise self._lost(name)
            found = not row.is_absent
        else:
            row = None
            self._store.put_listing(source, listing, etag, self._now)
            found = listing.found
        if not found and self._position(name) != self.indexes.order(name)[-1]:
            self._store.flush()
            return False
        if listing is not None:
            self._take_package(listing)
        elif row is not None and not self._load_package(name, row):
            raise self._lost(name)
        self._store.flush_soon()
        return True

    def take_metadata(self, name: str, index: int, metadata: Metadata) -> Dependencies:
        """Take a file's metadata into the store and the universe."""
        self.fetched_metadata += 1
        key = self._packages[name].file_keys[index]
        source = self.source_of(name)
        self._store.put_metadata(source, key, metadata)
        release = self._dependencies[name, index] = self._compile(source, key, metadata)
        return release


def _is_uncertain(release: Dependencies) -> bool:
    """Whether the static metadata of an sdist leaves open what it needs. (What excludes the target's Python
    is never built.)"""
    if release.source == MISSING or release.problem.startswith("requires Python "):
        return False
    return release.source == "sdist-unverified" or bool(release.problem)
