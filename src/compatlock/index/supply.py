"""Answers what the solver needs: from the store when it can, from the network when it must.

A warm run touches only the store: packages and dependencies come out ready-made. What is missing is
fetched in one concurrent batch, evaluated for the target, and stored.
"""

from __future__ import annotations

import time

from compatlock.errors import NotCached
from compatlock.index.stored_edges import decode_dependencies, encode_dependencies
from compatlock.index.stored_view import package_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from compatlock.index.compile import Compiler
    from compatlock.index.lazy_network import LazyNetwork
    from compatlock.index.store import PackageRow, Store
    from compatlock.index.view import Hidden, View, Viewer
    from compatlock.model.dependencies import Dependencies
    from compatlock.model.listing import File, Listing
    from compatlock.model.metadata import Metadata
    from compatlock.model.package import Package
    from compatlock.model.policy import Policy
    from compatlock.model.target import Target

# How long a listing is believed without asking again, in seconds (what the public index itself allows).
FRESH_SECONDS = 600


class CacheChanged(NotCached):
    """The store no longer holds what a run relies on: another process replaced it, or it is damaged. The
    run has to begin again."""


class Supply:
    """The universe of one index for one target and policy.

    `network` None means offline: a missing listing or metadata raises NotCached. `requests` for things
    already held cost nothing. `fetched_listings` and `fetched_metadata` count what had to be fetched.
    """

    def __init__(
        self,
        store: Store,
        source: str,
        target: Target,
        policy: Policy,
        network: LazyNetwork | None,
        now: int | None = None,
    ) -> None:
        self.source = source_key(source)
        self.target = target
        self.policy = policy
        self._store = store
        self._network = network
        self._now = int(time.time()) if now is None else now
        self._view_key = f"{target.key}/{policy.key}"
        self._packages: dict[str, Package] = {}
        self._digests: dict[str, str] = {}
        self._dependencies: dict[tuple[str, int], Dependencies] = {}
        self._installable: dict[tuple[str, int], list[File]] = {}
        self._answered: dict[str, int] = {}
        self._versions: dict[str, list[str]] = {}
        # The views that this run made itself: they still have the files.
        self._views: dict[str, View] = {}
        self._viewer: Viewer | None = None
        self._compiler: Compiler | None = None
        self.fetched_listings = 0
        self.fetched_metadata = 0

    # Packages

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

    def missing_packages(self, names: Iterable[str]) -> list[str]:
        """Those of the packages that only the network can give."""
        unread = [n for n in names if n not in self._packages]
        if unread:
            for name, row in self._store.packages(self.source, self._view_key, unread).items():
                if self._network is None or 0 <= self._now - row.fetched <= FRESH_SECONDS:
                    self._load_package(name, row)
        return [n for n in unread if n not in self._packages]

    def _load_package(self, name: str, row: PackageRow) -> None:
        if row.view is not None:
            self._add_package(name, row.digest, row.view, row.runs)
            return
        listing = self._store.listing(self.source, name)
        if listing is not None:
            self._add_package(name, listing.digest, self._make_view(listing), None)

    def _make_view(self, listing: Listing) -> Any:
        from compatlock.index.view import encode_view

        view = self._views[listing.project] = self.viewer.view(listing)
        encoded = encode_view(view)
        encoded["e"] = listing.found
        self._store.put_view(self.source, self._view_key, listing.project, listing.digest, encoded)
        return encoded

    def _view(self, name: str) -> View:
        """The view of a package of this run, with all files."""
        view = self._views.get(name)
        if view is None:
            listing = self._store.listing(self.source, name)
            if listing is None or listing.digest != self._digests[name]:
                raise self._lost(name)
            view = self._views[name] = self.viewer.view(listing)
        return view

    @property
    def viewer(self) -> Viewer:
        """What judges files for the target; made when first needed."""
        if self._viewer is None:
            from compatlock.index.view import Viewer

            self._viewer = Viewer(self.target, self.policy)
        return self._viewer

    def _add_package(self, name: str, digest: str, view: Any, runs: dict[str, Any] | None) -> None:
        known = runs or {}

        def compute(specifier: str) -> tuple[int, ...]:
            return self._answer(name, specifier)

        prerelease = self.policy.prerelease
        self._packages[name] = package_of(name, view, known, compute=compute, prerelease=prerelease)
        self._digests[name] = digest
        self._answered[name] = len(known)

    def _answer(self, name: str, specifier: str) -> tuple[int, ...]:
        from compatlock.index.specifiers import answer

        versions = self._versions.get(name)
        if versions is None:
            versions = self._store.versions(self.source, name, self._digests[name])
            if versions is None:
                raise self._lost(name)
            self._versions[name] = versions
        return answer(specifier, versions)

    # Dependencies

    def dependencies(self, releases: Iterable[tuple[str, int]]) -> dict[tuple[str, int], Dependencies]:
        """Dependencies of candidates `(package, index)`. Raises as `packages` does."""
        wanted = list(dict.fromkeys(releases))
        missing = self.missing_dependencies(wanted)
        if missing:
            self.fetch((), missing)
        return {r: self._dependencies[r] for r in wanted}

    def release(self, name: str, index: int) -> Dependencies:
        """Dependencies of one candidate; see `dependencies`."""
        known = self._dependencies.get((name, index))
        return known if known is not None else self.dependencies([(name, index)])[name, index]

    def missing_dependencies(self, releases: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
        """Those of the candidates whose dependencies only the network can give."""
        unread = [r for r in releases if r not in self._dependencies]
        keys = {r: self._packages[r[0]].file_keys[r[1]] for r in unread}
        rows = self._store.edges(self.source, self.target.key, list(keys.values())) if keys else {}
        missing = []
        for release, key in keys.items():
            row = rows.get(key)
            if row is not None:
                self._dependencies[release] = decode_dependencies(row)
                continue
            fields = self._store.metadata(self.source, key)
            if fields is None:
                missing.append(release)
            else:
                self._dependencies[release] = self._compile(key, _metadata(fields))
        return missing

    def _compile(self, key: str, metadata: Metadata) -> Dependencies:
        if self._compiler is None:
            from compatlock.index.compile import Compiler

            self._compiler = Compiler(self.target)
        release = self._compiler.compile(metadata)
        self._store.put_edges(self.source, self.target.key, key, encode_dependencies(release))
        return release

    # Fetching

    def fetch(self, names: Iterable[str], releases: Iterable[tuple[str, int]]) -> None:
        """Fetch listings and metadata in one concurrent batch, and with them, for speed, what is very
        likely asked for next: the metadata of each new package's newest candidate and the listings of
        what a fetched release needs."""
        names, releases = list(names), list(releases)
        if self._network is None:
            what = names[0] if names else self._release_text(*releases[0])
            raise NotCached(
                f"offline, and the cache holds nothing about {what}",
                hints=["run once without `--offline`, with the same target and index"],
            )
        from compatlock.index.prefetch import Batch

        batch = Batch(self)
        listings, metadata = batch.ask(names, releases)
        self._network.fetch(listings, metadata, on_listing=batch.on_listing, on_metadata=batch.on_metadata)
        self._store.flush()

    def _release_text(self, name: str, index: int) -> str:
        return f"{name} {self._packages[name].versions[index]}"

    def file_of(self, name: str, index: int) -> File:
        """The file whose metadata speaks for a candidate."""
        return self._view(name).candidates[index].file

    def is_compiled(self, name: str, index: int) -> bool:
        """Whether an installer would take a wheel for a platform."""
        filename = self.file_of(name, index).filename
        return filename.endswith(".whl") and not filename.endswith("-any.whl")

    def _lost(self, name: str) -> CacheChanged:
        return CacheChanged(
            f"the cache lost what it held about {name}", hints=["run again, without `--offline`"]
        )

    def take_listing(self, name: str, listing: Listing | None, etag: str) -> None:
        """Take the index's answer about a project (None: unchanged) into the store and the universe."""
        self.fetched_listings += 1
        if listing is None:
            self._store.touch_listing(self.source, name, self._now)
            listing = self._store.listing(self.source, name)
            if listing is None:
                raise self._lost(name)
        else:
            self._store.put_listing(self.source, listing, etag, self._now)
        self._add_package(name, listing.digest, self._make_view(listing), None)
        self._versions[name] = [release.version for release in listing.releases]
        self._store.flush()

    def take_metadata(self, name: str, index: int, metadata: Metadata) -> Dependencies:
        """Take a file's metadata into the store and the universe."""
        self.fetched_metadata += 1
        key = self._packages[name].file_keys[index]
        self._store.put_metadata(self.source, key, metadata)
        release = self._dependencies[name, index] = self._compile(key, metadata)
        return release

    def newest_dependencies(self, name: str) -> Dependencies | None:
        """The dependencies of a package's newest candidate, if this run has read them."""
        package = self._packages.get(name)
        return self._dependencies.get((name, package.newest())) if package is not None else None

    def etag(self, name: str) -> str:
        """Entity tag of the stored listing."""
        return self._store.etag(self.source, name)

    # At the end of a run

    def installable_files(self, releases: Mapping[str, int]) -> dict[str, list[File]]:
        """The files of candidates, `{package: index}`, that the target could install, best first."""
        unread = [release for release in releases.items() if release not in self._installable]
        wanted = {n: (self._packages[n].versions[i], self._digests[n]) for n, i in unread}
        found = self._store.installable(self.source, self._view_key, wanted)
        for name, index in unread:
            files = found.get(name)
            if files is None:
                files = list(self._view(name).candidates[index].files)
                self._store.put_installable(self.source, self._view_key, name, *wanted[name], files)
            self._installable[name, index] = files
        return {name: self._installable[name, index] for name, index in releases.items()}

    def hidden(self, name: str) -> tuple[Hidden, ...]:
        """The releases of a project that are no candidates, each with the reason."""
        return self._view(name).hidden

    def listing(self, name: str) -> Listing | None:
        """The stored listing of a project."""
        return self._store.listing(self.source, name)

    def listings_read(self) -> Iterator[Listing]:
        """The listings of all projects that this run looked at."""
        for name in sorted(self._packages):
            listing = self._store.listing(self.source, name)
            if listing is not None:
                yield listing

    def metadata_read(self) -> Iterator[tuple[str, File, Metadata]]:
        """The metadata of all candidates that this run looked at: project, file, metadata."""
        for name, index in sorted(self._dependencies):
            fields = self._store.metadata(self.source, self._packages[name].file_keys[index])
            if fields is not None:
                yield name, self.file_of(name, index), _metadata(fields)

    def save(self) -> None:
        """Store what was derived during the run."""
        for name, package in self._packages.items():
            if len(package.full_runs) > self._answered[name]:
                self._store.put_runs(self.source, name, self._digests[name], package.full_runs)
                self._answered[name] = len(package.full_runs)
        self._store.flush()


def source_key(source: str) -> str:
    """How the store names an index: a URL, which may hold a password, by its hash; another word as it is."""
    if "://" not in source:
        return source
    # Only here: its import takes 3 ms, and the public index goes by a word.
    from hashlib import sha256

    return sha256(source.encode()).hexdigest()[:16]


def _metadata(fields: list[Any]) -> Metadata:
    from compatlock.model.metadata import Metadata

    requires_dist, provides_extra, *rest = fields
    return Metadata(tuple(requires_dist), tuple(provides_extra), *rest)
